import pytest

from soulgraph.soul.modes import advance, commanded, default_state

NOW, LATER = "2027-01-15T08:00:00.000Z", "2027-01-15T09:00:00.000Z"
DEFAULT = default_state("hybrid", NOW)
SMALL_TALK = ["", "你好", "I am a rational person", "what a strict teacher", "my idol sang", "today was normal"]


def chosen(mode, ttl_turns=3):
    return {**DEFAULT, "mode": mode, "mode_source": "user", "ttl_turns": ttl_turns, "notes": f"{mode} mode"}


def after(state, *texts, default="hybrid"):
    for text in texts:
        state = advance(state, text, default, 3, LATER)
    return state


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("请用理性模式", "rational"),
        ("理性一点好吗", "rational"),
        ("Switch to Rational Mode, please", "rational"),
        ("be more rational", "rational"),
        ("开偶像模式！", "idol"),
        ("给我打气", "idol"),
        ("CHEER ME ON", "idol"),
        ("严格模式", "strict"),
        ("只说重点", "strict"),
        ("Just the facts, please", "strict"),
        ("恢复正常吧", "hybrid"),
        ("back to normal", "hybrid"),
        ("default mode", "hybrid"),
    ],
)
def test_what_the_user_asks_for_holds_in_the_same_turn(text, mode):
    assert commanded(text) == mode
    state = {"mode": mode, "mode_source": "user", "since": LATER, "ttl_turns": 3, "notes": text}
    assert after(DEFAULT, text) == state
    assert after(chosen("idol", 1), text) == state


@pytest.mark.parametrize("text", SMALL_TALK)
def test_small_talk_switches_nothing(text):
    assert commanded(text) is None
    assert after(DEFAULT, text) == DEFAULT


def test_a_choice_holds_for_its_turns_and_then_falls_back():
    state = after(DEFAULT, "strict mode")
    held = []
    while state["mode_source"] == "user":
        held.append((state["mode"], state["ttl_turns"]))
        state = after(state, "hm")
    assert held == [("strict", 3), ("strict", 2), ("strict", 1)]
    assert state == default_state("hybrid", LATER)


def test_it_falls_back_to_the_configured_default():
    assert after(chosen("idol", 1), "hm", default="rational") == default_state("rational", LATER)


def test_asking_again_begins_anew():
    assert after(chosen("strict", 1), "strict mode")["ttl_turns"] == 3


def test_the_default_never_counts():
    assert after(DEFAULT, *["hm"] * 50) == DEFAULT


def test_a_rule_s_choice_fades_too():
    assert after({**chosen("idol", 1), "mode_source": "rule"}, "hm") == default_state("hybrid", LATER)


def test_advancing_leaves_its_input_untouched():
    state = chosen("idol")
    after(state, "hm", "strict mode")
    assert state == chosen("idol")


def test_the_words_of_a_choice_are_kept_short():
    assert len(after(DEFAULT, "strict mode " + "x" * 1000)["notes"]) == 200
