"""Notices when a conversation has changed so much that its memory should be updated, and says so once."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import yaml
from langgraph.runtime import Runtime

from soulgraph.library.persona_config import HintConfig
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import AfterglowState
from soulgraph.soul.language import lang_of
from soulgraph.stores.records import Session, Turn
from soulgraph.stores.stores import Transaction


async def suggest_update(state: AfterglowState, runtime: Runtime[Context]) -> AfterglowState:
    """Asks no model. Once memory is updated, counting begins anew."""
    context = runtime.context
    async with context.stores.write() as tx:
        session = await tx.sessions.find(state["follow_up"]["session_id"])
        # A hint that stands is not counted again: so never more turns are read than it takes to give one.
        if session is None or session.memory_hint:
            return state
        reason = await _reason(tx, session, context.persona.memory_hint)
        if not reason:
            return state
        await tx.sessions.hint(session.session_id, reason)
    ids = {"soul_id": session.soul_id, "session_id": session.session_id}
    hint = {"memory_update_suggested": True, "memory_update_reason": reason}
    context.outlets.listeners.tell(session.soul_id, session.user_id, "state_changed", ids | hint)
    return state


async def _reason(tx: Transaction, session: Session, enough: HintConfig) -> str:
    """The first thing of which there was enough, in words; empty if there was not."""
    latest = await tx.personas.latest(session.session_id)
    since = latest.created_at if latest else session.created_at
    turns = await tx.turns.after(session.session_id, since)
    happened = _counts(turns, enough) | {"events": await tx.events.drawn_since(session.session_id, since)}
    for kind, line in _lines()[lang_of(session.title)].items():
        if happened[kind] >= getattr(enough, kind):
            return line.format(n=happened[kind])
    return ""


def _counts(turns: Sequence[Turn], enough: HintConfig) -> dict[str, int]:
    answers = [turn.answer for turn in turns if turn.answer]
    strong = [turn for turn in turns if turn.user_emotion.get("intensity", 0) >= enough.strong_intensity]
    changed = [answer for answer in answers if answer["state_changed"]]
    return {"turns": len(answers), "state_changes": len(changed), "strong_emotions": len(strong)}


@cache
def _lines() -> dict[str, dict[str, str]]:
    lines: dict[str, dict[str, str]] = yaml.safe_load((files(__package__) / "suggest_update.yaml").read_text("utf-8"))
    return lines
