from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.soul.modes import (
    COOLDOWN_TURNS,
    Mode,
    ModeChange,
    advance,
    changed,
    chosen_between_turns,
    chosen_state,
    default_state,
)

NOW, LATER = "2027-01-15T08:00:00.000Z", "2027-01-15T09:00:00.000Z"
DEFAULT = default_state("hybrid", NOW)
COOLING = {**default_state("hybrid", LATER), "cooldown_turns": COOLDOWN_TURNS}
TTL = 6
BROKEN, CREATIVE, TALK = "运行就报错了", "write me a poem", "hm"

sayings = st.sampled_from([BROKEN, CREATIVE, TALK, "strict mode", "给我打气", "恢复默认", "别用偶像模式"])


def chosen(mode, ttl_turns=TTL):
    return chosen_state(mode, "user", NOW, ttl_turns, f"{mode} mode")


def after(state, *texts, default="hybrid"):
    for text in texts:
        state = advance(state, text, default, TTL, LATER)
    return state


def where(state):
    return state["mode"], state["mode_source"]


@pytest.mark.parametrize("before", [DEFAULT, chosen("idol"), after(DEFAULT, CREATIVE)])
def test_what_the_user_asks_for_holds_in_the_same_turn(before):
    assert after(before, "好的，严格模式") == chosen_state("strict", "user", LATER, TTL, "严格模式")


def test_small_talk_changes_nothing():
    assert after(DEFAULT, *[TALK] * 50) == DEFAULT


def test_back_to_normal_is_the_configured_default_by_the_user_s_choice():
    assert where(after(chosen("idol"), "back to normal", default="rational")) == ("rational", "user")


def test_a_choice_holds_for_its_turns_and_then_falls_back():
    state, held = after(DEFAULT, "strict mode"), []
    while state["mode_source"] == "user":
        held.append((state["mode"], state["ttl_turns"]))
        state = after(state, TALK)
    assert held == [("strict", left) for left in range(TTL, 0, -1)]
    assert state == COOLING


@pytest.mark.parametrize("turns", [1, 2, 5])
def test_a_choice_between_turns_holds_for_so_many_of_them(turns):
    state, held = chosen_between_turns("strict", NOW, turns, ""), 0
    while (state := after(state, TALK))["mode"] == "strict":
        held += 1
    assert held == turns


def test_it_falls_back_to_the_configured_default():
    assert where(after(chosen("idol", 1), TALK, default="rational")) == ("rational", "default")


def test_asking_again_begins_anew():
    assert after(chosen("strict", 1), "strict mode")["ttl_turns"] == TTL


def test_a_rule_speaks_in_the_first_turn_of_a_session():
    assert after(DEFAULT, BROKEN) == chosen_state("rational", "rule", LATER, TTL, "报错")


@pytest.mark.parametrize("turns", range(1, 6))
def test_a_rule_switches_again_only_three_turns_after_a_switch(turns):
    state = after(DEFAULT, BROKEN, *[TALK] * (turns - 1), CREATIVE)
    assert where(state) == (("idol", "rule") if turns >= COOLDOWN_TURNS else ("rational", "rule"))


@pytest.mark.parametrize("turns", range(1, 6))
def test_falling_back_is_a_switch_too(turns):
    state = after(chosen("strict", 1), TALK, *[TALK] * (turns - 1), BROKEN)
    assert where(state) == (("rational", "rule") if turns >= COOLDOWN_TURNS else ("hybrid", "default"))


def test_a_rule_never_overrides_an_unexpired_choice():
    assert where(after(chosen("idol"), *[BROKEN] * (TTL - 1))) == ("idol", "user")


def test_the_user_overrides_a_rule_at_once():
    assert where(after(DEFAULT, BROKEN, "给我打气")) == ("idol", "user")


def test_a_rule_s_choice_fades_unless_its_reason_lasts():
    assert where(after(DEFAULT, BROKEN, *[TALK] * TTL)) == ("hybrid", "default")
    assert where(after(DEFAULT, *[BROKEN] * TTL, TALK)) == ("rational", "rule")


def test_a_rule_that_suits_the_default_changes_nothing():
    assert after(default_state("rational", NOW), BROKEN, default="rational") == default_state("rational", NOW)


def test_a_state_stored_without_a_cool_down_may_be_switched_by_a_rule():
    old = {key: value for key, value in after(DEFAULT, CREATIVE).items() if key != "cooldown_turns"}
    assert where(after(old, BROKEN)) == ("rational", "rule")


def test_advancing_leaves_its_input_untouched():
    state = chosen("idol")
    after(state, TALK, "strict mode")
    assert state == chosen("idol")


def test_the_words_of_a_choice_are_kept_short():
    assert len(after(DEFAULT, "switch to strict mode " + "x" * 1000)["notes"]) == 200


def test_a_change_is_told_with_its_source_and_evidence():
    assert changed(DEFAULT, after(DEFAULT, BROKEN)) == ModeChange("hybrid", "rational", "rule", "报错")
    assert changed(DEFAULT, after(DEFAULT, "正经点")) == ModeChange("hybrid", "strict", "user", "正经点")
    assert changed(chosen("idol"), COOLING) == ModeChange("idol", "hybrid", "default", "")


def test_a_turn_older_is_no_change():
    assert changed(chosen("idol"), after(chosen("idol"), TALK)) is None
    assert changed(chosen("idol"), after(chosen("idol"), "idol mode")) is None


@given(st.lists(sayings, max_size=60), st.sampled_from(get_args(Mode)))
def test_no_choice_outlives_its_turns_and_rules_keep_their_distance(texts, default):
    state, since_switch = default_state(default, NOW), COOLDOWN_TURNS
    for text in texts:
        before, state = state, advance(state, text, default, TTL, LATER)
        since_switch += 1
        if change := changed(before, state):
            assert change.source != "rule" or (since_switch >= COOLDOWN_TURNS and before["mode_source"] != "user")
            since_switch = 0
        assert (state["mode_source"] == "default") == (state["ttl_turns"] == 0)
        assert state["ttl_turns"] in (before["ttl_turns"] - 1, 0, TTL)
        assert state["mode_source"] != "default" or state["mode"] == default
