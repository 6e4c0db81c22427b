"""Growth on request: evolve a session's persona from its conversation, and continue a session in a new one."""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, TypeVar

from fastapi import APIRouter
from pydantic import BaseModel, Field

from soulgraph.api.access import Caller
from soulgraph.api.auth import Owner, Reader
from soulgraph.api.fields import Id, VersionNumber
from soulgraph.api.raising import ASKING, NO_EVENT_LIBRARY, SESSION_BUSY, SESSION_EMPTY, raises
from soulgraph.api.services import Served, Services
from soulgraph.api.sessions import SessionOut
from soulgraph.errors import Conflict, ModelError, ModelTimeout
from soulgraph.nodes.outside import sources_in
from soulgraph.nodes.person import read_person, witnessed
from soulgraph.nodes.quality import report_refusals, without_planted
from soulgraph.nodes.state import OutboxPayload
from soulgraph.nodes.transcript import Names, as_heard, language_of
from soulgraph.runtime.tracing.trace import traced
from soulgraph.senses.planted import Sources
from soulgraph.soul.growth import Dimensions
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import new_id
from soulgraph.stores.presets import SUMMARY
from soulgraph.stores.records import Json, Message, PersonaVersion, Preset, Session
from soulgraph.stores.stores import Transaction
from soulgraph.voices.task_outputs import Summary
from soulgraph.voices.tasks import SUMMARIZE, UPDATE_MEMORY, run_task

router = APIRouter(prefix="/v1/sessions/{session_id}", tags=["growth"])
T = TypeVar("T")


class VersionOut(BaseModel):
    n: int
    evolved_persona: str
    dimensions: Dimensions | None = Field(description="null if the text was not written in dimensions")
    source: str
    created_at: str

    @classmethod
    def of(cls, version: PersonaVersion) -> "VersionOut":
        return cls(
            n=version.n,
            evolved_persona=version.evolved_persona,
            dimensions=version.dimensions,
            source=version.source,
            created_at=iso(version.created_at),
        )


@router.post("/update-memory")
@raises(SESSION_EMPTY, SESSION_BUSY, *ASKING)
async def update_memory(session_id: Id, caller: Owner, services: Served) -> VersionOut:
    """Let the model rewrite the evolved persona from the conversation, and store it as a new version.

    Waits for a running turn. 409 if the user has said nothing yet.
    """
    # The lock is held during the model call: a turn that ran meanwhile would be missing from the new persona.
    async with services.locks.hold(session_id):
        session, messages, names = await _conversation(session_id, caller, services)
        lang = language_of(messages)
        task = run_task(
            services.context.voice.model,
            UPDATE_MEMORY,
            lang,
            messages=as_heard(messages, names, lang, session.soul_id),
            base_persona=session.character_snapshot["base_persona"],
            evolved_persona=await _evolved_persona(session, services),
        )
        grown = await _in_time(task, session, services)
        dimensions = _own_growth(grown.model_dump(), session, _sources(session, messages), services)
        async with services.stores.write() as tx:
            version = await tx.personas.grow(session_id, dimensions, "update-memory", services.now())
    services.announce_session(session, "persona")
    return VersionOut.of(version)


async def _evolved_persona(session: Session, services: Services) -> Dimensions | str:
    """What the persona has become so far: in dimensions if it was written so, else as text."""
    async with services.stores.read() as tx:
        latest = await tx.personas.latest(session.session_id)
    return latest.dimensions if latest and latest.dimensions else session.character_snapshot["evolved_persona"]


@router.get("/persona-versions")
async def list_versions(session_id: Id, caller: Reader, services: Served) -> list[VersionOut]:
    """List the versions of the session's evolved persona, the newest first."""
    async with services.stores.read() as tx:
        await caller.session(tx, session_id)
        return [VersionOut.of(version) for version in await tx.personas.all(session_id)]


@router.post("/persona-versions/{n}/restore")
@raises(SESSION_BUSY)
async def restore_version(session_id: Id, n: VersionNumber, caller: Owner, services: Served) -> VersionOut:
    """Restore version n of the evolved persona as a new version; 0 is the state before the first one."""
    async with services.locks.hold(session_id), services.stores.write() as tx:
        session = await caller.session(tx, session_id)
        if n == 0:
            version = await tx.personas.evolve(session_id, "", "restored:0", services.now())
        else:
            version = await tx.personas.restore(session_id, n, services.now())
    services.announce_session(session, "persona")
    return VersionOut.of(version)


@router.post("/summarize", status_code=201)
@raises(SESSION_EMPTY, SESSION_BUSY, NO_EVENT_LIBRARY, *ASKING)
async def summarize(session_id: Id, caller: Owner, services: Served) -> SessionOut:
    """Summarize the session and continue it in a new one.

    The new session has a background with the summary, and the same evolved persona. 409 if the user has said nothing.
    """
    async with services.locks.hold(session_id):
        session, messages, names = await _conversation(session_id, caller, services)
        lang = language_of(messages)
        heard = as_heard(messages, names, lang, session.soul_id)
        task = run_task(services.context.voice.model, SUMMARIZE, lang, messages=heard)
        written = (await _in_time(task, session, services)).model_dump()
        sources = _sources(session, messages)._replace(replies=())  # a summary may tell what the soul has answered
        told = _own_growth(written, session, sources, services)
        summary = Summary(title=told["title"] or session.title, summary=told["summary"])
        follower = await _continue(session, messages[-1].message_id, summary, services)
    services.afterglow.wake()  # after the transaction, so that the workers can see the job
    services.announce_session(follower, "created")
    return SessionOut.of(follower)


def _sources(session: Session, messages: list[Message]) -> Sources:
    return sources_in(messages, session.character_snapshot["base_persona"])


def _own_growth(texts: dict[str, str], session: Session, sources: Sources, services: Services) -> dict[str, str]:
    """What the model has written, without what was planted in the conversation; raises ModelError if that is all."""
    kept, reasons = without_planted(texts, sources)
    ids = {"session_id": session.session_id, "soul_id": session.soul_id}
    report_refusals(services.context.telemetry, "persona", reasons, **ids)
    if not any(text for name, text in kept.items() if name != "title"):
        raise ModelError("the model has only written what was planted in the conversation: nothing was changed")
    return kept


async def _conversation(session_id: str, caller: Caller, services: Services) -> tuple[Session, list[Message], Names]:
    """The session, the messages that all who take part have heard, and what they are called.

    Raises Conflict if no message is a person's.
    """
    async with services.stores.read() as tx:
        session = await caller.session(tx, session_id)
        messages = witnessed(await tx.messages.page(session_id), session, session.soul_id)
        person = await read_person(tx, session, session.soul_id, session.user_id)
    if not any(message.role == "user" for message in messages):
        raise Conflict("session_empty", "the user has said nothing in this session yet: there is nothing to grow from")
    return session, messages, person.names


async def _continue(session: Session, last_message: int, summary: Summary, services: Services) -> Session:
    """Store the new session with its background, and have the old conversation archived."""
    now = services.now()
    title = summary.title
    background_id = new_id(SUMMARY)
    follower = replace(
        session,
        session_id=new_id("sess"),
        title=title,
        background_id=background_id,
        turn=0,
        continued_from=session.session_id,
        created_at=now,
        updated_at=now,
        guard={},
        facts_to=0,
        facts_asked_to=0,
        memory_hint="",
    )
    if summaries := services.context.memory.summaries:
        # Before the rows: one that is findable and not stored is left out of recall, not the other way round.
        await summaries.add(background_id, session.soul_id, session.user_id, session.session_id, summary.summary)
    async with services.stores.write() as tx:
        world = await tx.backgrounds.find(session.background_id) if session.background_id else None
        await tx.backgrounds.add(background_id, title, _background_data(session, world, summary.summary), now)
        await tx.sessions.add(follower)
        if grown := session.character_snapshot["evolved_persona"]:
            source = f"inherited:{session.session_id}"
            latest = await tx.personas.latest(session.session_id)
            await tx.personas.evolve(follower.session_id, grown, source, now, latest.dimensions if latest else None)
        await _archive(tx, session, last_message, now)
    return follower


async def _archive(tx: Transaction, session: Session, last_message: int, now: float) -> None:
    """Queue a job that makes an event from the conversation, as after a turn.

    The summary cannot be that event: all souls share the events, so they must be abstract.
    """
    job: OutboxPayload = {
        "last_message": last_message,
        "archive_now": True,
        "state_changes": [],
        "soul_turn": (await tx.souls.get(session.soul_id)).turns,
    }
    await tx.outbox.add("afterglow", session.soul_id, session.session_id, new_id("turn"), {**job}, now)


def _background_data(session: Session, world: Preset | None, summary: str) -> Json:
    """The background of the old session with the summary as its initial context."""
    data = world.data if world else {}
    people = {"user_id": session.user_id, "people": list(session.people)}
    origin = {"session_id": session.session_id, "soul_id": session.soul_id, **people}
    extensions = data.get("extensions", {}) | {"summary_of": origin}
    return {**data, "initial_context": summary, "extensions": extensions}


async def _in_time(task: Coroutine[Any, Any, T], session: Session, services: Services) -> T:
    """Run a model task, traced and metered; raises ModelTimeout if it takes longer than a turn may."""
    limit, mode = services.settings.turn_timeout_s, session.persona_state["mode"]
    ids = {"session_id": session.session_id, "soul_id": session.soul_id, "user_id": session.user_id}
    try:
        with traced(ids, persona_mode=mode):
            async with services.budget.metering(session.soul_id, "growth"), asyncio.timeout(limit):
                return await task
    except TimeoutError as error:
        raise ModelTimeout(f"the model took longer than {limit:g} s, and nothing was changed: try again") from error
