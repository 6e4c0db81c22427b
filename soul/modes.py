"""Session modes: the user's words decide at once, then a rule, then the default; a choice fades after some turns."""

from typing import Literal, NamedTuple, NotRequired

from typing_extensions import TypedDict

from soulgraph.soul.mode_words import Mode as Mode
from soulgraph.soul.mode_words import commanded, inferred

Source = Literal["default", "user", "rule"]

COOL_DOWN = 3  # turns after a switch in which no rule switches again
_NOTES = 200


class PersonaState(TypedDict):
    mode: Mode
    mode_source: Source
    since: str
    ttl_turns: int
    notes: str
    cooldown_turns: NotRequired[int]
    """Turns until a rule may switch; absent when it may."""


class ModeChange(NamedTuple):
    mode_before: Mode
    mode_after: Mode
    source: Source
    evidence: str


def default_state(mode: Mode, since: str) -> PersonaState:
    return {"mode": mode, "mode_source": "default", "since": since, "ttl_turns": 0, "notes": ""}


def chosen_state(mode: Mode, source: Source, since: str, ttl_turns: int, notes: str) -> PersonaState:
    return {
        "mode": mode,
        "mode_source": source,
        "since": since,
        "ttl_turns": ttl_turns,
        "notes": notes[:_NOTES],
        "cooldown_turns": COOL_DOWN,
    }


def advance(state: PersonaState, text: str, default: Mode, ttl_turns: int, now: str) -> PersonaState:
    """The state for this turn: the user's words act in it, otherwise it is a turn older and a rule may speak."""
    if (wish := commanded(text)) is not None:
        mode = default if wish.mode == "default" else wish.mode
        return chosen_state(mode, "user", now, ttl_turns, wish.evidence)
    older = _a_turn_older(state, default, now)
    if older["mode_source"] == "user" or (sign := inferred(text)) is None:
        return older
    if sign.mode == older["mode"]:
        return {**older, "ttl_turns": ttl_turns} if older["mode_source"] == "rule" else older
    return older if "cooldown_turns" in older else chosen_state(sign.mode, "rule", now, ttl_turns, sign.evidence)


def changed(before: PersonaState, after: PersonaState) -> ModeChange | None:
    """What a turn, or a choice made by hand, changed: the mode, or who answers for it."""
    if (before["mode"], before["mode_source"]) == (after["mode"], after["mode_source"]):
        return None
    return ModeChange(before["mode"], after["mode"], after["mode_source"], after["notes"])


def _a_turn_older(state: PersonaState, default: Mode, now: str) -> PersonaState:
    if state["mode_source"] != "default" and state["ttl_turns"] <= 1:
        return {**default_state(default, now), "cooldown_turns": COOL_DOWN}
    older = state.copy()
    if state["mode_source"] != "default":
        older["ttl_turns"] -= 1
    if older.pop("cooldown_turns", 0) > 1:
        older["cooldown_turns"] = state["cooldown_turns"] - 1
    return older
