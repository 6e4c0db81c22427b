"""Presence: what makes sense is kept until it is taken, the rest is counted and dropped."""

import logging

import pytest

from soulgraph.stores.records import Sighting
from soulgraph.terminals import presence as module
from soulgraph.terminals.presence import Presence


@pytest.fixture
def dropped():
    return []


@pytest.fixture
def presence(dropped):
    return Presence(lambda: 7.0, lambda: dropped.append(1))


@pytest.mark.parametrize(
    ("kind", "payload", "online"),
    [("online", b"online", True), ("online", b"offline", False), ("heartbeat", b"1", True)],
)
def test_a_terminal_says_that_it_is_there_or_has_gone(presence, dropped, kind, payload, online):
    presence.hear(f"soul/terminal/客厅的灯/{kind}", payload)
    assert presence.take() == [Sighting("客厅的灯", online, 7.0)]
    assert dropped == []


@pytest.mark.parametrize(
    ("topic", "payload"),
    [
        ("soul/terminal/lamp/online", b""),
        ("soul/terminal/lamp/online", b"Online"),
        ("soul/terminal/lamp/online", b'{"online": true}'),
        ("soul/terminal/lamp/online", b"\xff" * 300_000),
        ("soul/terminal/lamp/heartbeat", b"0"),
        ("soul/terminal/lamp/heartbeat", b"online"),
        ("soul/terminal/lamp/mood", b"online"),
        ("soul/terminal/lamp", b"1"),
        ("soul/terminal//heartbeat", b"1"),
        (f"soul/terminal/{'x' * 129}/heartbeat", b"1"),
        ("", b""),
    ],
)
def test_what_makes_no_sense_is_counted_logged_and_dropped(presence, dropped, caplog, topic, payload):
    presence.hear(topic, payload)
    assert presence.take() == []
    assert dropped == [1]
    [record] = caplog.records
    assert (record.levelno, len(record.getMessage()) < 700) == (logging.WARNING, True)


def test_only_the_newest_of_each_terminal_is_kept_and_taken_once(presence):
    presence.seen("lamp")
    presence.seen("fan")
    presence.seen("lamp", online=False)
    assert presence.take() == [Sighting("lamp", False, 7.0), Sighting("fan", True, 7.0)]
    assert presence.take() == []


def test_a_crowd_of_strangers_takes_no_more_than_the_room_there_is(presence, monkeypatch):
    monkeypatch.setattr(module, "_MOST", 3)
    for terminal_id in ("a", "b", "c", "d"):
        presence.seen(terminal_id)
    presence.seen("a", online=False)
    assert [(one.terminal_id, one.online) for one in presence.take()] == [("a", False), ("b", True), ("c", True)]
