from datetime import datetime

import pytest

from soulgraph.nodes.turn_plans import Change, TurnPlans
from soulgraph.tests.stores.samples import NOW, plan

HERE = datetime.fromtimestamp(NOW)
REMINDER = plan(zone="", content="take my pills")


def of(**fields):
    return TurnPlans(HERE, None, **fields)


def test_what_was_noted_is_said_to_the_person_and_told_to_a_model():
    plans = of(new=[REMINDER])
    (said,) = plans.said("en")
    assert "take your pills" in said
    assert plans.told("en") == [f"You have noted, and confirm it in a few words: {said}"]
    assert plans.heeds


def test_what_is_unsure_is_asked_about_and_not_confirmed():
    unsure = plan(zone="", status="unsure")
    assert of(new=[unsure]).said("en") == []
    assert of(new=[unsure]).question("en").startswith("Is it settled")
    assert of(new=[plan(status="unsure", due=None)]).question("zh") == "什么时候提醒你：take the pills？"


@pytest.mark.parametrize(("line", "word"), [("moved", "instead"), ("cancelled", "let go"), ("confirmed", "settled")])
def test_what_was_changed_is_confirmed(line, word):
    assert word in of(changed=[Change(line, REMINDER)]).said("en")[0]


def test_what_is_overdue_is_said_first():
    plans = of(waiting=[REMINDER])
    assert plans.first("en")[0].startswith("Before anything else")
    assert "say it first" in plans.told("en")[0]


def test_what_lies_ahead_and_what_is_over_is_shown_by_plan():
    plans = of(ahead=[REMINDER], over=[plan("exam", kind="plan", content="the exam", zone="")])
    shown = plans.shown("en")
    assert shown.keys() == {"plan_1", "exam"}
    assert "you may ask" in shown["exam"]
    assert not plans.heeds
