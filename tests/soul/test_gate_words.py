from dataclasses import replace

from soulgraph.soul.dynamics import born
from soulgraph.soul.gate import judge
from soulgraph.soul.gate_words import gate_report
from soulgraph.soul.personality import traits_of

INFJ = traits_of("INFJ")
CALM = born(INFJ, 0.0)


def reported(lang="en", **emotion):
    return gate_report(judge(INFJ, replace(CALM, **emotion), 0.0), lang)


def test_an_open_gate_needs_no_words():
    assert reported() == {
        "exec_mode": "auto_execute",
        "reason": None,
        "why": None,
        "helps": None,
        "lock_remaining_s": 0.0,
    }


def test_a_locked_gate_says_in_both_languages_what_hurt_and_what_would_help():
    assert reported(lock_until=90.0) == {
        "exec_mode": "blocked",
        "reason": "hurt",
        "why": "hurt by what was said",
        "helps": "an apology or a kind word",
        "lock_remaining_s": 90.0,
    }
    assert reported("zh", lock_until=90.0)["helps"] == "一句道歉，或一句暖心的话"


def test_a_gate_that_joy_has_closed_is_no_hurt():
    joyful = reported(p=1.0, a=1.0, extreme_memory=1.0)
    assert (joyful["exec_mode"], joyful["reason"]) == ("blocked", "excited")
    assert "excited" in joyful["why"]
