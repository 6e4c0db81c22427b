import inspect
import re

import pytest

from soulgraph import errors
from soulgraph.errors import (
    BudgetExhausted,
    Busy,
    ConfigurationError,
    Conflict,
    InvalidInput,
    NotFound,
    ServerBusy,
    SoulgraphError,
)

EVERY = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, SoulgraphError)]
LEAVES = [kind for kind in EVERY if not kind.__subclasses__()]
SPECIAL = {
    ConfigurationError: ("SOULGRAPH_PORT", "too high"),
    NotFound: ("soul", "soul_1"),
    Conflict: ("soul_exists", "choose another name"),
    Busy: ("wait a little", 3),
    ServerBusy: ("come back later", 5),
    BudgetExhausted: ("enough for today", 1_800_000_000.0),
}


def raised(kind):
    return kind(*SPECIAL.get(kind, ("what happened",)))


def test_every_leaf_has_a_code_and_a_title_of_its_own():
    problems = [raised(kind).problem() for kind in LEAVES]
    assert len({problem["code"] for problem in problems}) == len(LEAVES)
    assert len({problem["title"] for problem in problems}) == len(LEAVES)


@pytest.mark.parametrize("kind", EVERY)
def test_every_error_is_a_complete_problem(kind):
    error = raised(kind)
    problem = error.problem()
    assert problem["type"] == f"urn:soulgraph:problem:{problem['code']}"
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", problem["code"])
    assert 400 <= problem["status"] <= 599
    assert problem["title"]
    assert problem["detail"] == str(error) != ""


@pytest.mark.parametrize("kind", EVERY)
def test_every_error_is_drawn_in_the_tree(kind):
    assert re.search(rf"\b{kind.__name__}\b", errors.__doc__)


def test_a_problem_carries_its_details_as_members():
    assert raised(NotFound).problem()["kind"] == "soul"
    assert raised(ConfigurationError).problem()["setting"] == "SOULGRAPH_PORT"
    assert raised(Busy).problem()["retry_after_s"] == 3
    assert SoulgraphError("x", turn_id="turn_1").problem()["turn_id"] == "turn_1"


def test_a_conflict_says_which():
    assert raised(Conflict).problem()["code"] == "soul_exists"
    assert raised(Conflict).problem_code == "soul_exists"


def test_what_an_error_quotes_can_be_sent_whatever_it_is():
    assert InvalidInput("unknown: a\ud800").problem()["detail"].encode() == rb"unknown: a\ud800"
