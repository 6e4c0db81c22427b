from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from soulgraph.nodes.plan_records import When, names_plan, new_plan, next_occurrence, scheduled
from soulgraph.senses.plans.finding import FoundPlan

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2027, 3, 27, 12)  # the day before clocks are put forward
NOW = NOON.replace(tzinfo=BERLIN).timestamp()
SEVEN = datetime(2027, 3, 27, 19)


def found(kind="reminder", begins=SEVEN, grain="minute", **fields):
    length = timedelta(days=1) if grain == "day" else timedelta(minutes=1)
    return FoundPlan(kind, "take my pills", begins, begins and begins + length, grain, **fields)


def made(plan):
    return new_plan(plan, "soul_1", "ann", NOW, "Europe/Berlin", BERLIN)


def local(at):
    return datetime.fromtimestamp(at, BERLIN).replace(tzinfo=None)


def test_a_reminder_is_to_be_said_when_it_is_due_and_a_plan_to_be_asked_about_when_it_is_over():
    reminder, plan = made(found()), made(found("plan"))
    assert (local(reminder.due), reminder.next_at, reminder.follow_up_at) == (SEVEN, reminder.due, None)
    assert plan.next_at is None
    assert local(plan.follow_up_at) == SEVEN + timedelta(hours=3, minutes=1)


def test_what_is_unsure_is_neither():
    unsure, timeless = made(found(unsure=True)), made(found(begins=None, unsure=True))
    assert (unsure.status, unsure.next_at, unsure.follow_up_at) == ("unsure", None, None)
    assert (timeless.due, timeless.local_due) == (None, "")


def test_one_for_a_day_is_due_in_its_morning():
    tomorrow = made(found(begins=datetime(2027, 3, 28), grain="day"))
    assert local(tomorrow.due) == datetime(2027, 3, 28, 9)


def test_moved_it_is_open_at_its_new_time():
    moved = scheduled(
        made(found(unsure=True)), When(SEVEN + timedelta(hours=1), SEVEN, "minute", "", ""), "open", NOW, BERLIN
    )
    assert (local(moved.due), moved.status, moved.next_at) == (datetime(2027, 3, 27, 20), "open", moved.due)
    assert moved.ends >= moved.due


@pytest.mark.parametrize(("later", "day"), [(timedelta(0), 28), (timedelta(days=3), 30), (timedelta(days=-2), 28)])
def test_what_recurs_comes_at_the_same_wall_time_once_after_now_and_after_its_last_time(later, day):
    plan = made(found(recurs="daily"))
    now = NOW + later.total_seconds() + 3600
    assert local(next_occurrence(plan, now, BERLIN).due) == datetime(2027, 3, day, 19)
    assert next_occurrence(replace(plan, recurs=""), now, BERLIN) is None


def test_a_text_names_a_plan_by_one_of_its_words():
    plan = made(found())
    assert names_plan("the pills!", plan)
    assert not names_plan("what a day", plan)
