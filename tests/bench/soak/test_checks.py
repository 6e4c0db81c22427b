"""A check that cannot fail would prove nothing: each finds what was forged for it, and nothing in what is right."""

from random import Random
from types import SimpleNamespace as Row

import pytest

from soulgraph.bench.soak import checks
from soulgraph.bench.soak.ledger import Ledger, Said
from soulgraph.bench.soak.stored import Stored
from soulgraph.soul.people import EVERYONE
from soulgraph.tests.household import Secrets


def message(number, role, turn_id, content, **fields):
    kept = {"session_id": "s1", "input_id": None, "proactive": False, "user_id": "ann", **fields}
    return Values(message_id=number, role=role, turn_id=turn_id, content=content, **kept)


class Values(Row):
    """A row as the driver gives it: fields by name, and its values in order."""

    def __iter__(self):
        return iter(vars(self).values())


def session(**fields):
    return Values(**{"session_id": "s1", "user_id": "ann", "people": "", "turn": 2, **fields})


def plan(**fields):
    kept = {"plan_id": "p1", "user_id": "ann", "shared_with": "", "kind": "reminder", "content": "fetch the lamp"}
    return Values(**{**kept, "status": "delivered", "due": 1.0, "delivery_id": "life_1", **fields})


@pytest.fixture
def ledger():
    said = [
        Said("ann", "s1", "ann-1", "Remind me to fetch the lamp", "t1", "I will"),
        Said("ann", "s1", "ann-2", "Good morning", "t2", "Hello"),
    ]
    ledger = Ledger(Secrets(Random(1)), said, {"lamp": "ann"})
    ledger.heard["life_1"].add("It is time: the lamp")
    return ledger


def right():
    """Two turns, and a reminder that was said between them."""
    return {
        "sessions": [session()],
        "messages": [
            message(1, "user", "t1", "Remind me to fetch the lamp", input_id="ann-1"),
            message(2, "assistant", "t1", "I will"),
            message(3, "assistant", "life_1", "It is time: the lamp", proactive=True),
            message(4, "user", "t2", "Good morning", input_id="ann-2"),
            message(5, "assistant", "t2", "Hello"),
        ],
        "turns": [Values(input_id="ann-1", answer={}), Values(input_id="ann-2", answer={})],
        "jobs": [Values(job_id=n, turn_id=f"t{n}", status="done", error="") for n in (1, 2)],
        "plans": [plan()],
        "events": [Values(event_id="e1", audience="soul\nann", document="Somebody spoke")],
        "provenance": [Values(event_id="e1", message_ids=[1, 2])],
        "memories": {"facts": [Values(user_id="ann", shared_with="", content="likes lamps")]},
    }


def flaws(ledger, **changed):
    return checks.settled(Stored(**{**right(), **changed}), ledger)


def without(*numbers):
    return [one for one in right()["messages"] if one.message_id not in numbers]


def with_message(place, *args, **fields):
    told = right()["messages"]
    return [*told[:place], message(*args, **fields), *told[place:]]


def test_what_is_right_is_not_complained_of(ledger):
    assert flaws(ledger) == []


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        (without(2), "are no pair"),
        (without(5), "3 messages in 2 turns"),
        (with_message(1, 9, "assistant", "life_2", "Thinking again", proactive=True), "between a question"),
        (with_message(5, 6, "user", "t3", "Hm"), "5 messages in 2 turns"),
        ([*without(), message(6, "user", "t2", "a"), message(7, "assistant", "t2", "b")], "6 messages in 2 turns"),
    ],
)
def test_a_question_without_its_answer(ledger, messages, complaint):
    assert any(complaint in flaw for flaw in flaws(ledger, messages=messages))


def test_a_turn_that_is_stored_twice(ledger):
    again = [*without(), message(6, "user", "t2", "a"), message(7, "assistant", "t2", "b")]
    assert any("a turn is there twice" in one for one in flaws(ledger, messages=again, sessions=[session(turn=3)]))


def test_what_was_acknowledged_is_lost_or_has_another_answer(ledger):
    lost = flaws(ledger, messages=without(4, 5), sessions=[session(turn=1)])
    assert any("ann-2 was acknowledged as t2" in flaw for flaw in lost)
    other = [*without(5), message(5, "assistant", "t2", "Something else")]
    assert any("ann-2 was acknowledged as t2" in flaw for flaw in flaws(ledger, messages=other))


def test_words_in_another_order(ledger):
    ledger.said.reverse()
    assert any("ann-1 stands before" in flaw for flaw in flaws(ledger))


def test_words_that_are_there_twice(ledger):
    again = with_message(5, 6, "user", "t3", "Good morning", input_id="ann-3")
    assert "said twice: Good morning" in flaws(ledger, messages=again)


def test_an_input_that_was_answered_in_two_turns(ledger):
    turns = [Values(input_id="ann-1", answer={})] * 2
    assert "ann-1 was answered 2 times" in flaws(ledger, turns=turns)
    failed_first = [Values(input_id="ann-1", answer=None), Values(input_id="ann-1", answer={})]
    assert flaws(ledger, turns=failed_first) == []


def test_a_message_of_which_two_events_tell(ledger):
    events = [Values(event_id=one, audience="soul\nann", document="") for one in ("e1", "e2")]
    twice = [Values(event_id="e1", message_ids=[1, 2]), Values(event_id="e2", message_ids="[2, 3]")]
    assert flaws(ledger, events=events, provenance=twice) == ["message 2 is in 2 events"]


def test_an_event_that_comes_from_nowhere(ledger):
    assert flaws(ledger, provenance=[]) == ["e1 comes from nowhere"]


def test_a_reminder_that_is_said_twice(ledger):
    twice = with_message(3, 6, "assistant", "life_2", "Do not forget the lamp", proactive=True)
    assert any("lamp was reminded of 2 times" in flaw for flaw in flaws(ledger, messages=twice))
    ledger.heard["life_2"].add("Do not forget the lamp")
    assert any("and heard 2 times" in flaw for flaw in flaws(ledger))


def test_a_reminder_that_is_told_to_another(ledger):
    other = [*without(3), message(3, "assistant", "life_1", "It is time: the lamp", proactive=True, user_id="bob")]
    assert "lamp was told to another" in flaws(ledger, messages=other)


@pytest.mark.parametrize(
    ("plans", "complaint"),
    [
        ([], "lamp has 0 plans"),
        ([plan(), plan()], "lamp has 2 plans"),
        ([plan(status="open")], "the reminder of lamp is open"),
        ([plan(delivery_id="life_9")], "said as 'life_9'"),
    ],
)
def test_a_reminder_that_is_not_said(ledger, plans, complaint):
    assert any(complaint in flaw for flaw in flaws(ledger, plans=plans))


def test_a_reminder_that_says_nothing_of_it(ledger):
    ledger.heard.clear()
    empty = [*without(3), message(3, "assistant", "life_1", "Hm", proactive=True)]
    assert any("nothing was said of it" in flaw for flaw in flaws(ledger, messages=empty))


def test_what_was_heard_is_not_what_is_stored(ledger):
    ledger.heard["life_1"] = {"It is time: the spoon"}
    assert any("life_1 was heard as" in flaw for flaw in flaws(ledger))


def test_what_was_heard_under_one_id_in_two_ways(ledger):
    ledger.heard["life_7"] = {"Hello", "Hello again"}
    assert any("life_7 was heard as" in flaw for flaw in flaws(ledger))


@pytest.mark.parametrize("place", ["messages", "plans", "memories", "events", "events for everyone", "answers"])
def test_what_somebody_else_has_confided(ledger, place):
    secret = ledger.secrets.new("bob")
    shared = ledger.secrets.new("ann", "bob")
    for word, is_foreign in ((secret, True), (shared, place == "events for everyone")):
        event = Values(event_id="e1", audience=EVERYONE if "everyone" in place else "soul\nann", document=word)
        forged = {
            "messages": [*without(5), message(5, "assistant", "t2", word)],
            "plans": [plan(content=f"fetch the lamp and {word}")],
            "memories": {"slots": [Values(user_id="ann", shared_with="", content=word)]},
            "events": [event],
        }
        name = place.split(" ", maxsplit=1)[0]
        if place == "answers":
            ledger.wrong.clear()
            ledger.note_foreign(word, "an answer", ["ann"])
            found = ledger.wrong
        else:
            found = flaws(ledger, **{name: forged[name]})
        assert any(f"['{word}']" in flaw for flaw in found) == is_foreign


@pytest.mark.parametrize(
    ("status", "complaint"), [("dead", "job 1 is dead: no"), ("pending", "job 1 of t1 is pending")]
)
def test_work_that_is_not_done(ledger, status, complaint):
    jobs = [Values(job_id=1, turn_id="t1", status=status, error="no"), right()["jobs"][1]]
    assert complaint in flaws(ledger, jobs=jobs)


def test_a_turn_that_nothing_follows(ledger):
    assert flaws(ledger, jobs=right()["jobs"][:1]) == ["t2 has no job"]


def test_what_is_known_to_be_wrong_is_told_once(ledger):
    assert ledger.complain(["a", "b", "a"]) == ["a", "b"]
    assert ledger.complain(["b", "c"]) == ["c"]
    assert ledger.wrong == ["a", "b", "c"]
