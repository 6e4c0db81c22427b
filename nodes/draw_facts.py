"""Draws facts from what people have said: by rules after every turn, and by a model some messages at a time.

The rules cost a millisecond and miss much; a model finds more and costs a call. So a model reads several messages at
once: those of three turns, or what there is when the turn has changed the soul, because then something was told.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from langgraph.runtime import Runtime

from soulgraph.errors import BudgetExhausted, ModelError, ModelTimeout, ModelUnavailable
from soulgraph.nodes.context import Context
from soulgraph.nodes.facts import is_told, keep_statements, names_of, read_statements
from soulgraph.nodes.person import witnessed
from soulgraph.nodes.quality import Reason, drawn_fact_flaw, report_refusals
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.nodes.transcript import as_heard, language_of
from soulgraph.senses.facts.admission import plays_a_role
from soulgraph.senses.grounding import says_nothing
from soulgraph.soul.facts import SELF, Statement
from soulgraph.soul.people import may_know
from soulgraph.stores.records import Fact, FactSource, Message, Session
from soulgraph.voices.fact_extraction import EXTRACT_FACTS, ExtractedFact
from soulgraph.voices.factory import OFFLINE
from soulgraph.voices.tasks import run_task

EVERY = 6
"""Messages of a session after which a model is asked for facts."""

_PAGE = 100  # messages that are read at a time: an imported conversation is read over many turns
_BEFORE = 12  # messages before those, for what they hang on
_MAX_ASKED = 40  # the newest ones; a model is not asked about what was said long ago

Said = list[tuple[Message, Statement]]


class _Material(NamedTuple):
    """Messages that were not read yet, and what is known of those who spoke, by soul and person."""

    session: Session
    before: list[Message]
    messages: list[Message]
    known: dict[str, dict[str, list[Fact]]]
    names: dict[str, dict[str, str]]

    @property
    def tells(self) -> bool:
        """Whether it is worth a call: greetings and bare feelings are not."""
        return any(is_told(one) and not says_nothing(one.content) for one in self.messages)

    @property
    def last(self) -> int:
        return self.messages[-1].message_id


async def draw_facts(state: AfterglowState, runtime: Runtime[Context]) -> AfterglowState:
    """A static soul draws none. How far a session was read is stored with what was found: nothing is drawn twice."""
    follow_up, context = state["follow_up"], runtime.context
    if context.persona.static or not context.persona.write_back:
        return state
    if material := await _unread(follow_up, context, asked=False):
        await _keep(material, _by_rules(material, context), "pattern", follow_up, context)
    material = await _unread(follow_up, context, asked=True) if _asks_model(context) else None
    if material and material.tells and (len(material.messages) >= EVERY or follow_up["archive_now"]):
        await _ask_and_keep(material, follow_up, context)
    return state


def _asks_model(context: Context) -> bool:
    """A model that cannot keep a form finds facts in everything."""
    return context.voice.name != OFFLINE and context.voice.habits.carrier == "tags"


async def _unread(follow_up: FollowUp, context: Context, asked: bool) -> _Material | None:
    """The messages up to the turn's last one that were not read yet, by the rules or by a model."""
    async with context.stores.read() as tx:
        session = await tx.sessions.find(follow_up["session_id"])
        if session is None:
            return None
        read_to = session.facts_asked_to if asked else session.facts_to
        last = follow_up["last_message"]
        if asked:
            unread = await tx.messages.last(session.session_id, _MAX_ASKED, last + 1)
        else:
            unread = await tx.messages.page(session.session_id, read_to, _PAGE)
        messages = [message for message in unread if read_to < message.message_id <= last]
        if not messages:
            return None
        before = await tx.messages.last(session.session_id, _BEFORE, messages[0].message_id)
        speakers = {message.user_id for message in messages if is_told(message)}
        souls = {soul_id for message in messages for soul_id in message.witnesses}
        known = {soul_id: {one: await tx.facts.of(soul_id, one) for one in speakers} for soul_id in souls}
        hearers = {one for message in messages for one in message.hearers} | {*session.audience}
        names = {soul_id: await names_of(tx, soul_id, speakers, hearers) for soul_id in souls}
    return _Material(session, before, messages, known, names)


def _by_rules(material: _Material, context: Context) -> dict[str, Said]:
    """What was said, by soul: every soul that was present has heard it."""
    found: dict[str, Said] = {}
    for soul_id, known in material.known.items():
        found[soul_id] = []
        for user_id, facts in known.items():
            heard, before = (_said(some, user_id, soul_id) for some in (material.messages, material.before))
            found[soul_id] += read_statements(heard, facts, material.names[soul_id].get(user_id), context, before)
    return found


def _said(messages: Iterable[Message], user_id: str, soul_id: str) -> list[Message]:
    """What this person has said in the soul's presence."""
    return [one for one in messages if is_told(one) and one.user_id == user_id and soul_id in one.witnesses]


async def _keep(
    material: _Material, found: Mapping[str, Said], source: FactSource, follow_up: FollowUp, context: Context
) -> None:
    """The session's row is written before the soul's, as a turn does it: else the two could wait for each other."""
    session_id, now = material.session.session_id, context.clock()
    async with context.stores.write() as tx:
        session = await tx.sessions.find(session_id)
        if session is None or (session.facts_asked_to if source == "model" else session.facts_to) >= material.last:
            return
        await tx.sessions.facts_drawn(session_id, material.last, asked=source == "model")
        still_there = await tx.messages.page(session_id, material.messages[0].message_id - 1, len(material.messages))
        stored = {message.message_id for message in still_there}
        new: list[Fact] = []
        for soul_id, said in sorted(found.items()):
            if said:
                await tx.souls.lock(soul_id)
                still = [pair for pair in said if pair[0].message_id in stored]
                new += await keep_statements(tx, soul_id, still, source, now)
    if new:
        sources = sorted({f"episode:{message_id}" for fact in new for message_id in fact.message_ids})
        context.telemetry.emit("facts.drawn", **_ids(follow_up), source=source, count=len(new), sources=sources)


async def _ask_and_keep(material: _Material, follow_up: FollowUp, context: Context) -> None:
    """A model that does not answer, or may not be asked today, is asked when more was said."""
    try:
        found = await _by_model(material, follow_up, context)
    except (ModelUnavailable, ModelTimeout, BudgetExhausted):
        return
    except ModelError:
        found = []
    said = {soul_id: [pair for pair in found if soul_id in pair[0].witnesses] for soul_id in material.known}
    await _keep(material, said, "model", follow_up, context)


async def _by_model(material: _Material, follow_up: FollowUp, context: Context) -> Said:
    """Of a group the model sees only what all who take part have heard and may know."""
    soul_id, session = follow_up["soul_id"], material.session
    messages = witnessed(material.messages, session, soul_id)
    lang = language_of(messages)
    names = material.names.get(soul_id, {})
    told = [fact for facts in material.known.get(soul_id, {}).values() for fact in facts if fact.holds]
    known = [one.content for one in told if may_know(session.audience, one.user_id, one.shared_with)]
    heard = as_heard(messages, names, lang, soul_id)
    numbered = [{**one, "speaker": f"{n}. {one['speaker']}"} for n, one in enumerate(heard, 1)]
    async with context.budget.background(soul_id, "reflect"):
        answer = await run_task(context.voice.model, EXTRACT_FACTS, lang, messages=numbered, known=known[-_MAX_ASKED:])
    said, reasons = _admitted(answer.facts, messages, names, known)
    report_refusals(context.telemetry, "fact", reasons, **_ids(follow_up))
    return said


def _admitted(
    facts: Iterable[ExtractedFact], messages: Sequence[Message], names: Mapping[str, str], known: Sequence[str]
) -> tuple[Said, list[Reason]]:
    """The facts that their person has said in so many words, each with its message, and why others are not kept."""
    said: Said = []
    reasons: list[Reason] = []
    for fact in facts:
        message = messages[fact.message - 1] if fact.message <= len(messages) else None
        if message is None or not is_told(message):
            reasons.append("not_said")
            continue
        own = [one.content for one in messages if is_told(one) and one.user_id == message.user_id]
        name = names.get(message.user_id, "")
        kept = [*known, *(statement.content for _, statement in said)]
        if plays_a_role(message.content, own[: own.index(message.content)]):
            reasons.append("not_said")
        elif flaw := drawn_fact_flaw(fact.fact, kept, message.content, own, [*filter(None, [name])]):
            reasons.append(flaw)
        else:
            said.append((message, _statement(fact, name)))
    return said, reasons


def _statement(fact: ExtractedFact, name: str) -> Statement:
    about = fact.about.strip()
    is_self = about.casefold() in ("", SELF, name.casefold(), "user", "用户", "本人", "自己", "对方")
    relation, _, called = about.partition(" ")
    subject = SELF if is_self else f"{relation.casefold()}:{called}" if called else relation.casefold()
    ends = (fact.kind,) if fact.ended else ()
    return Statement(subject, "past" if fact.ended else fact.kind, fact.value, fact.fact, None, ends)


def _ids(follow_up: FollowUp) -> dict[str, str]:
    return {
        "session_id": follow_up["session_id"],
        "soul_id": follow_up["soul_id"],
        "turn_id": follow_up["turn_id"],
    }
