"""Asks the model what a turn has changed in the soul, if its answer has not told so itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from langgraph.runtime import Runtime

from soulgraph.errors import ModelError, ModelTimeout, ModelUnavailable
from soulgraph.nodes.answer import UpdateFate
from soulgraph.nodes.context import Context
from soulgraph.nodes.person import Person, read_person, speakers_in, witnessed
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.nodes.transcript import as_heard, language_of, person_said
from soulgraph.prompts.budget import cut
from soulgraph.prompts.quotation import quoted
from soulgraph.soul.mood import describe
from soulgraph.soul.own_words import own_words
from soulgraph.soul.people import others
from soulgraph.soul.profile import Profile, StateUpdate, apply, known_to, owned_by
from soulgraph.soul.state_updates import changes_of, without_known
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Json, Message, Session, Soul, Turn
from soulgraph.stores.stores import Transaction
from soulgraph.voices.probe import learn_habits
from soulgraph.voices.tasks import run_task
from soulgraph.voices.updates import UPDATE_STATE, Belief, beliefs_of, update_of

_MESSAGES = 6  # the turn's own, and those before it
_MAX_QUOTE = 200
_CANDIDATES = 2  # beliefs that the words have most to do with, among which the model chooses
_SURPRISING = 0.5
_SURPRISING_WITHOUT_BELIEFS = 0.8  # who expects little is surprised by little
_IDS = ("soul_id", "session_id", "turn_id")


@dataclass(frozen=True, slots=True)
class _Material:
    """The soul's profile is what everybody who was present may know of it."""

    turn: Turn
    soul: Soul
    session: Session
    person: Person
    messages: list[Message]

    @property
    def said(self) -> str:
        """The person's own words of this turn: what they read aloud surprises nobody, and is not kept."""
        words = (one.content for one in reversed(self.messages) if one.role == "user")
        return " ".join(own_words(next(words, "")).split())


async def update_state(state: AfterglowState, runtime: Runtime[Context]) -> AfterglowState:
    """Nobody waits for this. What cannot be used is dropped, and the stored answer says so.

    After a model's first turn it is also found out how that model answers best.
    """
    context = runtime.context
    follow_up = state["follow_up"]
    material = await _material(follow_up, context) if follow_up.get("update_pending") else None
    if material is None:
        return state
    async with context.budget.background(follow_up["soul_id"], "reflect"):
        fate, update = await _ask(material, context)
        later = _with_changes(follow_up, update, material.soul.dynamic_profile)
        async with context.stores.write() as tx:
            kept = await _keep(tx, material, fate, update, later, context.clock())
        if kept:
            _report(follow_up, material.person.user_id, fate, update, context)
        if not context.voice.habits.known:
            await learn_habits(context.voice)
    return {"follow_up": later} if kept else state


def _with_changes(follow_up: FollowUp, update: StateUpdate, profile: Profile) -> FollowUp:
    """What is left to do: a turn that has changed the soul is kept as an event at once."""
    changes = [*follow_up["state_changes"], *changes_of(profile, update)]
    archive_now = follow_up["archive_now"] or not update.is_empty
    return {**follow_up, "update_pending": False, "archive_now": archive_now, "state_changes": changes}


async def _material(follow_up: FollowUp, context: Context) -> _Material | None:
    """None if it was asked before, or if the turn is gone, or the person from the session.

    Those count who were present in the turn: whoever has joined since then has not heard it.
    """
    async with context.stores.read() as tx:
        turn = next((turn for turn in await tx.turns.of([follow_up["turn_id"]]) if _pending_answer(turn)), None)
        session = await tx.sessions.find(follow_up["session_id"])
        user_id = follow_up.get("user_id", session.user_id if session else "")
        if turn is None or session is None or user_id not in session.audience:
            return None
        soul = await tx.souls.get(follow_up["soul_id"])
        messages = await tx.messages.last(session.session_id, 10 * _MESSAGES)
        said = [message for message in messages if message.message_id <= follow_up["last_message"]]
        session = _as_it_was(session, said)
        heard = witnessed(said, session, soul.soul_id)[-_MESSAGES:]
        person = await read_person(tx, session, soul.soul_id, user_id, speakers_in(heard, soul.soul_id, user_id))
    known = replace(soul, dynamic_profile=known_to(soul.dynamic_profile, session.audience))
    return _Material(turn, known, session, person, heard)


def _as_it_was(session: Session, said: Sequence[Message]) -> Session:
    """The session with those who took part when the last of this was said."""
    if not said:
        return session
    return replace(session, people=others(session.user_id, (said[-1].user_id, *said[-1].people)))


def _pending_answer(turn: Turn | None) -> Json | None:
    """The answer of a turn whose update is still to be asked for."""
    answer = turn.answer if turn else None
    return answer if answer and answer["state_update"] == "pending" else None


async def _ask(material: _Material, context: Context) -> tuple[UpdateFate, StateUpdate]:
    """A model that is away is asked again with the whole job; one that talks nonsense is not.

    Whether there was a surprise at all is the engine's to say: small models see one everywhere, or nowhere.
    """
    lang = language_of(material.messages)
    beliefs = beliefs_of(material.soul.dynamic_profile, lang)
    surprised = await _surprised(material, beliefs, context) if material.said else False
    if surprised is False:
        return "unchanged", StateUpdate()
    if context.senses.surprise:
        nearest = await context.senses.surprise.nearest(material.said, [belief.text for belief in beliefs])
        beliefs = [beliefs[at] for at in nearest[:_CANDIDATES]]
    lines = {str(n): belief.line(lang) for n, belief in enumerate(beliefs, 1)}
    heard = as_heard(material.messages, material.person.names, lang, material.soul.soul_id)
    data = {"name": material.soul.name, "beliefs": lines, "messages": heard, "surprised": bool(surprised)}
    feeling = describe(material.soul.emotion_state, lang, context.constants)
    quotation = f"{person_said(material.person.name, lang)}: {quoted(cut(material.said, _MAX_QUOTE))}"
    try:
        change = await run_task(context.voice.model, UPDATE_STATE, lang, **data)
        update = without_known(update_of(change, beliefs, quotation, feeling), material.soul.dynamic_profile)
    except (ModelUnavailable, ModelTimeout):
        raise
    except ModelError:
        return "dropped", StateUpdate()
    return "unchanged" if update.is_empty else "applied", update


async def _surprised(material: _Material, beliefs: Sequence[Belief], context: Context) -> bool | None:
    """Whether the turn's words were a surprise; None if nobody but the model can tell."""
    sense = context.senses.surprise
    if sense is None:
        return None
    bar = _SURPRISING if any(belief.stored for belief in beliefs) else _SURPRISING_WITHOUT_BELIEFS
    return await sense.probability(material.said, [belief.text for belief in beliefs]) >= bar


async def _keep(
    tx: Transaction, material: _Material, fate: UpdateFate, update: StateUpdate, later: FollowUp, now: float
) -> bool:
    """The change, the note that it was made, and what is left to do, in one transaction: a job that is run again goes
    on from there. False if another worker was faster, or if the turn is gone meanwhile.
    """
    turn, soul_id = material.turn, material.soul.soul_id
    soul = await tx.souls.lock(soul_id)
    # By its own id: the input may have been answered anew, by another turn.
    pending = _pending_answer(next(iter(await tx.turns.of([turn.turn_id])), None))
    if pending is None:
        return False
    if not update.is_empty:
        audience = material.session.audience
        owner = owned_by(material.person.user_id, others(material.person.user_id, audience))
        await tx.souls.grow(soul_id, apply(soul.dynamic_profile, update, iso(now), audience, owner), now)
    answer = {**pending, "state_update": fate, "state_changed": not update.is_empty}
    await tx.turns.answered(turn.session_id, turn.input_id, answer)
    await tx.outbox.amend(turn.turn_id, {key: value for key, value in later.items() if key not in _IDS})
    return True


def _report(follow_up: FollowUp, user_id: str, fate: UpdateFate, update: StateUpdate, context: Context) -> None:
    ids = {key: value for key, value in follow_up.items() if key in _IDS}
    context.telemetry.emit(
        "state.updated", **ids, state_update=fate, fields=sorted({change["field"] for change in update.in_words()})
    )
    if fate == "applied":
        context.outlets.listeners.tell(follow_up["soul_id"], user_id, "state_changed", ids)
