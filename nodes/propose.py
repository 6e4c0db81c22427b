"""Asks the model for wishes that the rules may have missed; the preference guard decides about them as in a turn."""

from langgraph.runtime import Runtime

from soulgraph.errors import BudgetExhausted, ModelError
from soulgraph.nodes.context import Context
from soulgraph.nodes.preferences import keep_preferences, report_decisions
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.senses.text import normalise
from soulgraph.soul.language import lang_of
from soulgraph.soul.preferences import Decision, decide_later
from soulgraph.soul.signals import Signal, may_state_wish, proposed_signal
from soulgraph.stores.records import Message, Session
from soulgraph.voices.factory import OFFLINE
from soulgraph.voices.proposals import PROPOSE_WISHES
from soulgraph.voices.tasks import run_task

_MESSAGES = 40  # among which that of the turn is looked for; a wish that is older is not asked about any more


async def propose(state: AfterglowState, runtime: Runtime[Context]) -> AfterglowState:
    """Only with a model, and only if the message has something of a wish. A model that fails has proposed nothing."""
    follow_up = state["follow_up"]
    context = runtime.context
    weak = context.voice.habits.carrier == "plain"  # what cannot keep a form finds wishes in everything
    if context.voice.name == OFFLINE or weak or not context.persona.write_back:
        return state
    said = await _unread(follow_up, context)
    text = normalise(said.content) if said else ""
    if said and may_state_wish(text) and (signals := await _signals(text, follow_up["soul_id"], context)):
        decisions = await _decide(signals, said, follow_up, context)
        ids = {"session_id": follow_up["session_id"], "soul_id": follow_up["soul_id"], "turn_id": follow_up["turn_id"]}
        report_decisions(decisions, context.telemetry, **ids)
    return state


async def _unread(follow_up: FollowUp, context: Context) -> Message | None:
    """What the person said in the turn; None if it was read before, or is gone."""
    async with context.stores.read() as tx:
        session = await tx.sessions.find(follow_up["session_id"])
        if session is None or _was_read(session, follow_up):
            return None
        messages = await tx.messages.last(session.session_id, _MESSAGES)
    return next((one for one in messages if one.turn_id == follow_up["turn_id"] and one.role == "user"), None)


async def _signals(text: str, soul_id: str, context: Context) -> list[Signal]:
    try:
        async with context.budget.background(soul_id, "reflect"):
            proposals = await run_task(context.voice.model, PROPOSE_WISHES, lang_of(text), message=text)
    except (ModelError, BudgetExhausted):
        return []
    found = [proposed_signal(text, **proposal.model_dump()) for proposal in proposals.wishes]
    return [*{signal.key: signal for signal in found if signal}.values()]


async def _decide(signals: list[Signal], said: Message, follow_up: FollowUp, context: Context) -> list[Decision]:
    """Under the session's lock, because a turn writes the guard too; a job that is run again decides nothing twice.

    Those know of it who were present when it was said, and not who has joined since then.
    """
    session_id, last_message = follow_up["session_id"], follow_up["last_message"]
    async with context.locks.hold(session_id), context.stores.write() as tx:
        session = await tx.sessions.find(session_id)
        if session is None or _was_read(session, follow_up):
            return []
        user_id = _speaker(session, follow_up)
        guard, decisions = decide_later(session.guard_of(user_id), signals, last_message)
        await keep_preferences(tx, follow_up["soul_id"], user_id, decisions, context.clock(), said.people)
        await tx.sessions.set_guard(session_id, {**session.guard, user_id: guard})
    return decisions


def _speaker(session: Session, follow_up: FollowUp) -> str:
    return follow_up.get("user_id", session.user_id)


def _was_read(session: Session, follow_up: FollowUp) -> bool:
    return session.guard_of(_speaker(session, follow_up)).get("proposed_to", 0) >= follow_up["last_message"]
