"""Session modes: set by the user's words, else by a rule, else the default; a mode expires after `ttl_turns`."""

from typing import Literal, NamedTuple, NotRequired

from typing_extensions import TypedDict

from soulgraph.soul.mode_words import Mode as Mode
from soulgraph.soul.mode_words import mode_hint_in, mode_request_in

Source = Literal["default", "user", "rule"]

COOLDOWN_TURNS = 3  # after a switch, so that rules do not switch back and forth
_MAX_NOTES = 200


class PersonaState(TypedDict):
    mode: Mode
    mode_source: Source
    since: str
    ttl_turns: int
    notes: str
    cooldown_turns: NotRequired[int]
    """Turns until a rule may switch; absent when it may."""
    begins_next: NotRequired[bool]
    """Chosen between two turns: the next one is its first."""


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
        "notes": notes[:_MAX_NOTES],
        "cooldown_turns": COOLDOWN_TURNS,
    }


def chosen_between_turns(mode: Mode, since: str, ttl_turns: int, notes: str) -> PersonaState:
    """A user's choice that acts for `ttl_turns` turns from the next one on."""
    return {**chosen_state(mode, "user", since, ttl_turns, notes), "begins_next": True}


def advance(state: PersonaState, text: str, default: Mode, ttl_turns: int, now: str) -> PersonaState:
    """The state for this turn: as the user requests it, else one turn later, when a rule may switch the mode."""
    if (request := mode_request_in(text)) is not None:
        mode = default if request.mode == "default" else request.mode
        return chosen_state(mode, "user", now, ttl_turns, request.evidence)
    later = one_turn_later(state, default, now)
    if later["mode_source"] == "user" or (hint := mode_hint_in(text)) is None:
        return later
    if hint.mode == later["mode"]:
        return {**later, "ttl_turns": ttl_turns} if later["mode_source"] == "rule" else later
    return later if "cooldown_turns" in later else chosen_state(hint.mode, "rule", now, ttl_turns, hint.evidence)


def changed(before: PersonaState, after: PersonaState) -> ModeChange | None:
    """The change of mode or of its source between two states; None when both are the same."""
    if (before["mode"], before["mode_source"]) == (after["mode"], after["mode_source"]):
        return None
    return ModeChange(before["mode"], after["mode"], after["mode_source"], after["notes"])


def one_turn_later(state: PersonaState, default: Mode, now: str) -> PersonaState:
    """The state if nothing in the text changes it: a chosen mode has one turn less, or is over."""
    later = state.copy()
    if later.pop("begins_next", False):
        return later
    if state["mode_source"] != "default" and state["ttl_turns"] <= 1:
        return {**default_state(default, now), "cooldown_turns": COOLDOWN_TURNS}
    if state["mode_source"] != "default":
        later["ttl_turns"] -= 1
    if later.pop("cooldown_turns", 0) > 1:
        later["cooldown_turns"] = state["cooldown_turns"] - 1
    return later
