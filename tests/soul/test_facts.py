"""When a fact is known, when it contradicts another, and when it ends one."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.soul.facts import ANY, SINGLE, Statement, contradicts, says_the_same, settle, together


@dataclass(frozen=True)
class Kept:
    subject: str
    attribute: str
    value: str
    content: str
    said_at: float = 1.0
    holds: bool = True


def kept(statement: Statement, **fields) -> Kept:
    return Kept(statement.subject, statement.attribute, statement.value, statement.content, **fields)


def about(attribute: str, value: str, subject: str = "self", **fields) -> Statement:
    return Statement(subject, attribute, value, f"{subject} {attribute} {value}", **fields)


BRISTOL, CARDIFF = about("home", "Bristol"), about("home", "Cardiff")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (BRISTOL, CARDIFF),
        (about("age", "8"), about("age", "9")),
        (about("likes", "coffee"), about("dislikes", "coffee")),
        (about("job", "engineer"), about("job", "structural engineer")),
        (about("favourite:food", "rice"), about("favourite:food", "noodles")),
    ],
)
def test_what_can_only_be_one_thing_is_superseded(old, new):
    assert settle(new, [kept(old)], 2.0).ended == [kept(old)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (about("likes", "tea"), about("likes", "coffee")),
        (about("likes", "coffee"), about("dislikes", "coriander")),
        (about("home", "Rome", "sister:Mia"), about("home", "Oslo", "sister:Ada")),
        (about("name", "Mia", "sister:Mia"), about("name", "Ada", "sister:Ada")),
        (about("home", "Rome", "sister:Mia"), CARDIFF),
        (about("speaks", "Polish"), about("speaks", "Czech")),
    ],
)
def test_what_can_be_many_things_or_is_about_somebody_else_adds_up(old, new):
    settled = settle(new, [kept(old)], 2.0)
    assert (settled.same, settled.ended) == ([], [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (BRISTOL, BRISTOL),
        (about("home", "Bristol, near the river"), BRISTOL),
        (about("allergic", "the peanuts"), about("allergic", "peanuts")),
        (about("other", ""), about("other", "")),
        (about("home", "Oslo", "sister:Mia"), about("home", "Oslo", "sister")),
    ],
)
def test_what_is_known_is_not_new(old, new):
    assert settle(new, [kept(old)], 2.0).same == [kept(old)]


def test_giving_something_up_ends_all_that_speaks_of_it():
    fan = kept(about("team", "Arsenal"))
    other = kept(about("likes", "rain"))
    gave_up = about("past", "Arsenal", ends=(ANY,))
    assert settle(gave_up, [fan, other], 2.0).ended == [fan]


def test_what_was_said_since_is_not_ended_and_the_old_gives_way_to_it():
    later = kept(CARDIFF, said_at=9.0)
    settled = settle(BRISTOL, [later], 2.0)
    assert (settled.ended, settled.later) == ([], later)


def test_what_holds_no_more_is_not_in_the_way():
    past = kept(BRISTOL, holds=False)
    assert settle(BRISTOL, [past], 2.0) == settle(BRISTOL, [], 2.0)


_STATEMENTS = st.builds(
    about,
    st.sampled_from([*sorted(SINGLE), "likes", "has"]),
    st.text("abc 上海", min_size=1, max_size=6),
    st.sampled_from(["self", "sister", "sister:Mia"]),
)


@given(_STATEMENTS)
def test_every_fact_is_known_once_it_was_told(statement):
    assert says_the_same(kept(statement), statement)
    assert not contradicts(kept(statement), statement)


@given(_STATEMENTS, _STATEMENTS)
def test_of_two_the_same_is_never_also_ended(one, other):
    settled = settle(other, [kept(one)], 2.0)
    assert not [fact for fact in settled.same if fact in settled.ended]


@given(st.lists(st.integers(1, 60)), st.lists(st.integers(1, 60)))
def test_evidence_is_sorted_bounded_and_keeps_the_first_and_the_last(some, more):
    every = together(some, more)
    assert every == sorted(set(every))
    assert len(every) <= 20
    if some or more:
        assert {min([*some, *more]), max([*some, *more])} <= {*every}
