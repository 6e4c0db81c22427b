"""Session modes: what the user says decides at once; a choice fades after some turns."""

import re
from typing import Literal

from typing_extensions import TypedDict

Mode = Literal["rational", "idol", "hybrid", "strict"]

_COMMANDS: dict[Mode, re.Pattern[str]] = {
    "rational": re.compile(r"\b(rational|logical) mode\b|\bbe (more )?rational\b|理性模式|理性一点|理性点"),
    "idol": re.compile(r"\bidol mode\b|\bcheer me on\b|偶像模式|给我打气"),
    "strict": re.compile(r"\bstrict mode\b|\bjust the facts\b|严格模式|严肃一点|只说重点"),
    "hybrid": re.compile(r"\b(hybrid|normal|default) mode\b|\bback to normal\b|混合模式|默认模式|恢复正常"),
}


class PersonaState(TypedDict):
    mode: Mode
    mode_source: Literal["default", "user", "rule"]
    since: str
    ttl_turns: int
    notes: str


def default_state(mode: Mode, since: str) -> PersonaState:
    return {"mode": mode, "mode_source": "default", "since": since, "ttl_turns": 0, "notes": ""}


def advance(state: PersonaState, text: str, default: Mode, ttl_turns: int, now: str) -> PersonaState:
    """The state for this turn: the user's words act in it, otherwise a chosen mode is one turn older."""
    if (asked := commanded(text)) is not None:
        return {
            "mode": asked,
            "mode_source": "user",
            "since": now,
            "ttl_turns": ttl_turns,
            "notes": text[:200],
        }
    if state["mode_source"] == "default":
        return state
    left = state["ttl_turns"] - 1
    return {**state, "ttl_turns": left} if left > 0 else default_state(default, now)


def commanded(text: str) -> Mode | None:
    lowered = text.lower()
    return next((mode for mode, words in _COMMANDS.items() if words.search(lowered)), None)
