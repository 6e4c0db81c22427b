"""Presence: valid reports are kept until they are taken."""

import pytest

from soulgraph.errors import InvalidInput
from soulgraph.stores.records import PresenceReport
from soulgraph.terminals import presence as module
from soulgraph.terminals.presence import Presence


@pytest.fixture
def presence():
    return Presence(lambda: 7.0)


@pytest.mark.parametrize(
    ("kind", "payload", "online"),
    [("online", b"online", True), ("online", b"offline", False), ("heartbeat", b"1", True)],
)
def test_a_terminal_says_that_it_is_there_or_has_gone(presence, kind, payload, online):
    presence.receive("客厅的灯", kind, payload)
    assert presence.take() == [PresenceReport("客厅的灯", online, 7.0)]


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("online", b""),
        ("online", b"Online"),
        ("online", b'{"online": true}'),
        ("online", b"\xff" * 300_000),
        ("heartbeat", b"0"),
        ("heartbeat", b"online"),
    ],
)
def test_other_words_say_nothing_of_it(presence, kind, payload):
    with pytest.raises(InvalidInput):
        presence.receive("lamp", kind, payload)
    assert presence.take() == []


def test_only_the_newest_of_each_terminal_is_kept_and_taken_once(presence):
    presence.seen("lamp")
    presence.seen("fan")
    presence.seen("lamp", online=False)
    assert presence.take() == [PresenceReport("lamp", False, 7.0), PresenceReport("fan", True, 7.0)]
    assert presence.take() == []


def test_one_that_has_gone_is_back_by_its_own_word_and_not_because_somebody_speaks_at_it(presence):
    presence.spoken_at("lamp")
    assert presence.take() == [PresenceReport("lamp", True, 7.0)]
    for kind, word in (("online", b"online"), ("heartbeat", b"1")):
        presence.receive("lamp", "online", b"offline")
        presence.take()
        presence.spoken_at("lamp")
        assert (presence.take(), presence.gone) == ([], {"lamp"})
        presence.receive("lamp", kind, word)
        assert presence.gone == set()


def test_one_that_another_server_hears_is_back_unless_we_have_just_heard_that_it_went():
    presence = Presence(lambda: 7.0, gone=["lamp", "fan"])
    presence.receive("lamp", "online", b"offline")
    presence.confirm(["lamp", "fan"])
    assert presence.gone == {"lamp"}
    presence.take()
    presence.confirm(["lamp", "fan"])
    assert presence.gone == set()


def test_a_crowd_of_strangers_takes_no_more_than_the_room_there_is(presence, monkeypatch):
    monkeypatch.setattr(module, "MAX_TERMINALS", 3)
    for terminal_id in ("a", "b", "c", "d"):
        presence.seen(terminal_id)
    presence.seen("a", online=False)
    assert [(one.terminal_id, one.online) for one in presence.take()] == [("a", False), ("b", True), ("c", True)]
    for terminal_id in ("a", "b", "c", "d"):
        presence.seen(terminal_id, online=False)
    assert presence.gone == {"a", "b", "c"}


def test_a_terminal_that_was_deleted_is_forgotten(presence):
    presence.seen("lamp", online=False)
    presence.forget("lamp")
    presence.forget("never heard of")
    assert (presence.take(), presence.gone) == ([], set())
