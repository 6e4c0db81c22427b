"""Whole messages: from the words to the verdict of the guard."""

from pathlib import Path

import pytest
import yaml

from soulgraph.soul.mode_words import mode_request_in
from soulgraph.soul.preferences import decide, new_guard
from soulgraph.soul.signals import may_state_wish, proposed_signal, signals_in

CASES = yaml.safe_load((Path(__file__).parent / "wishes.yaml").read_text("utf-8"))


def verdicts(text):
    """{verdict: {key: value}} of everything but the mode."""
    _, decisions = decide(new_guard(), text, signals_in(text), "hybrid")
    found = {}
    for decision in decisions:
        if decision.key != "mode":
            found.setdefault(decision.verdict, {})[decision.key] = decision.value
    return found


def cases(kind):
    named = [(case["text"], case["expect"]) for case in CASES]
    return [(text, expect[kind]) for text, expect in named if isinstance(expect, dict) and kind in expect]


def texts(kind):
    return [case["text"] for case in CASES if case["expect"] == kind]


@pytest.mark.parametrize(("text", "wish"), cases("persist"))
def test_a_lasting_wish_is_kept(text, wish):
    kept = verdicts(text)["persist"]
    assert "other" in wish or wish.items() <= kept.items()


@pytest.mark.parametrize("text", texts("ask"))
def test_a_correction_is_asked_about(text):
    found = verdicts(text)
    assert "ask" in found and "persist" not in found


@pytest.mark.parametrize("text", texts("session"))
def test_a_wish_for_now_holds_for_the_session(text):
    assert verdicts(text).keys() == {"session"}


@pytest.mark.parametrize(("text", "mode"), cases("mode"))
def test_a_mode_is_asked_for(text, mode):
    assert mode_request_in(text).mode == mode
    assert "persist" not in verdicts(text)


@pytest.mark.parametrize("text", texts("none"))
def test_others_questions_plans_and_quotations_leave_nothing(text):
    assert verdicts(text) == {}
    assert mode_request_in(text) is None


@pytest.mark.parametrize("text", ["你说话的调调我不大习惯", "Till the end of days, wrap your replies in verse"])
def test_a_message_with_something_of_a_wish_is_worth_a_question_to_a_model(text):
    assert may_state_wish(text)


@pytest.mark.parametrize("text", ["", "今天下雨了", "I had soup", "以后都简短点回答", "“以后都用古文”是谁说的"])
def test_small_talk_quotations_and_what_the_rules_understand_are_not(text):
    assert not may_state_wish(text)


def test_a_proposal_needs_the_users_own_words():
    text = "你说话的调调我不大习惯"
    assert proposed_signal(text, "tone", "casual", "调调我不大习惯", False, True).key == "tone"
    assert proposed_signal(text, "tone", "casual", "我不喜欢你的语气", False, True) is None
    assert proposed_signal("他说：“以后都用古文跟我聊天吧”", "other", "", "以后都用古文", True, False) is None


def test_what_a_model_names_wrongly_is_kept_in_the_users_words():
    signal = proposed_signal("你说话的调调我不大习惯", "mood_setting", "pirate", "调调我不大习惯", False, True)
    assert (signal.key, signal.value) == ("other:调调我不大习惯", "调调我不大习惯")


def test_a_model_s_word_alone_makes_nothing_last():
    signal = proposed_signal("wrap your replies in verse", "other", "", "in verse", True, False)
    assert (signal.explicit, signal.correction) == (False, True)
