"""The event library, of which most is shared by all souls; and a preview of what a soul would recall."""

from dataclasses import asdict
from typing import Annotated, Any, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from soulgraph.api.access import Caller
from soulgraph.api.auth import Owner, Reader, server_owner
from soulgraph.api.edits import Body, example
from soulgraph.api.fields import MAX_INTEGER, Id, Offset, Text
from soulgraph.api.raising import NO_EVENT_LIBRARY, not_found, raises
from soulgraph.api.services import Served, Services
from soulgraph.errors import MemoryUnavailable, NotFound
from soulgraph.memory.episodes import RecalledEpisode
from soulgraph.memory.event_source import RecalledEvent
from soulgraph.memory.events import Event, EventLibrary, audience_of
from soulgraph.memory.facts import RecalledFact
from soulgraph.memory.summaries import RecalledSummary
from soulgraph.soul.people import EVERYONE, Visibility
from soulgraph.soul.timestamps import iso
from soulgraph.soul.validation import NUMBER
from soulgraph.stores.records import EventUse, Provenance
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1", tags=["memory"])

Limit = Annotated[int, Query(ge=1, le=200)]
Few = Annotated[int, Query(ge=1, le=20)]
Question = Annotated[Text, Query(max_length=1000, examples=["a storm at sea"])]


class Source(BaseModel):
    session_id: str
    soul_id: str
    message_ids: list[int]
    created_at: str

    @classmethod
    def of(cls, provenance: Provenance) -> Self:
        fields = {name: getattr(provenance, name) for name in ("session_id", "soul_id", "message_ids")}
        return cls(**fields, created_at=iso(provenance.created_at))


class EventOut(BaseModel):
    event_id: str
    summary: str
    pattern: dict[str, str]
    impact: dict[str, Any]
    narrative_fragment: str
    timestamp: str
    recalled: int
    useful: int
    merged: int
    visibility: Visibility = Field(description="`private`: only its soul recalls it, with those who were there")

    @classmethod
    def of(cls, event: Event, use: EventUse, **more: Any) -> Self:
        visibility = "shared" if use.audience == EVERYONE else "private"
        counts = {"recalled": use.recalled, "useful": use.useful, "merged": use.merged}
        return cls(**asdict(event), **counts, visibility=visibility, **more)


class TracedEvent(EventOut):
    provenance: list[Source]


class Forgotten(BaseModel):
    forgotten: list[str]


class LineOut(BaseModel):
    message_id: int
    user_id: str
    role: str
    content: str


class EpisodeOut(BaseModel):
    message_id: int
    session_id: str
    user_id: str
    role: str
    content: str
    score: float
    at: str
    lines: list[LineOut] = Field(description="what a prompt shows of it: the message and lines from around it")
    doubtful: bool = Field(description="whether it is probably not about whom the question names")

    @classmethod
    def of(cls, episode: RecalledEpisode) -> Self:
        message = episode.message
        fields = {name: getattr(message, name) for name in ("message_id", "session_id", "user_id", "role", "content")}
        lines = [
            LineOut(message_id=line.message_id, user_id=line.user_id, role=line.role, content=line.content)
            for line in episode.lines
        ]
        at = iso(message.created_at)
        return cls(**fields, score=episode.score, at=at, lines=lines, doubtful=episode.doubtful)


class RecalledOut(BaseModel):
    event_id: str
    summary: str
    score: float

    @classmethod
    def of(cls, recalled: RecalledEvent) -> Self:
        event = recalled.event
        return cls(event_id=event.event_id, summary=event.summary, score=recalled.score)


class RecalledFactOut(BaseModel):
    """A fact as `/facts` lists it, in short."""

    fact_id: str
    user_id: str
    content: str
    said_at: str
    valid_to: str | None
    score: float

    @classmethod
    def of(cls, recalled: RecalledFact) -> Self:
        fact = recalled.fact
        return cls(
            fact_id=fact.fact_id,
            user_id=fact.user_id,
            content=fact.content,
            said_at=iso(fact.said_at),
            valid_to=None if fact.valid_to is None else iso(fact.valid_to),
            score=recalled.score,
        )


class SummaryOut(BaseModel):
    summary_id: str
    session_id: str
    text: str
    score: float
    at: str

    @classmethod
    def of(cls, summary: RecalledSummary) -> Self:
        fields = {name: getattr(summary, name) for name in ("summary_id", "session_id", "text", "score")}
        return cls(**fields, at=iso(summary.created_at))


class Memories(BaseModel):
    episodes: list[EpisodeOut]
    events: list[RecalledOut]
    summaries: list[SummaryOut] = []
    facts: list[RecalledFactOut] = []
    problem: str | None = None


@router.get("/events")
@raises(NO_EVENT_LIBRARY)
async def list_events(
    caller: Reader,
    services: Served,
    q: Question | None = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> list[EventOut]:
    """List events, the newest first; with `q` those that are similar to it, the best match first.

    They are those that all souls share, and those that are private to conversations of the caller's.
    """
    library = _library(services)
    async with services.stores.read() as tx:
        audiences = await _audiences(tx, caller)
    if q is None:
        found = await library.page(limit, offset, audiences)
    else:
        found = await library.search(q, limit, audiences=audiences)
    return [EventOut.of(event, use) for event, use in found]


async def _audiences(tx: Transaction, caller: Caller) -> set[str] | None:
    """The audiences whose events the caller may see; None if that is all of them."""
    if caller.person is None and not caller.soul_ids:
        return None
    sessions = await (tx.sessions.all() if caller.person is None else tx.sessions.with_person(caller.person))
    seen = filter(caller.sees_session, sessions)
    private = {audience_of(soul_id, one.audience) for one in seen for soul_id in (one.soul_id, *one.souls)}
    return {EVERYONE, *private}


class Tidying(Body):
    model_config = example({"keep": 500})

    keep: Annotated[int, Field(ge=0, le=MAX_INTEGER), NUMBER]


@router.post("/events/tidy", dependencies=[server_owner])
@raises(NO_EVENT_LIBRARY)
async def tidy_events(tidying: Tidying, services: Served) -> Forgotten:
    """Delete all but `keep` events; the least recalled go first, and among those the oldest."""
    return Forgotten(forgotten=await _library(services).tidy(tidying.keep))


@router.get("/events/{event_id}")
@raises(NO_EVENT_LIBRARY)
async def read_event(event_id: Id, caller: Reader, services: Served) -> TracedEvent:
    """Read an event, with those sessions and messages it was made from that the caller may see."""
    event = await _library(services).get(event_id)
    async with services.stores.read() as tx:
        use = (await tx.events.uses([event_id])).get(event_id)
        audiences = await _audiences(tx, caller)
        if use is None or (audiences is not None and use.audience not in audiences):
            raise NotFound("event", event_id)
        return TracedEvent.of(event, use, provenance=await _sources(tx, event_id, caller))


async def _sources(tx: Transaction, event_id: str, caller: Caller) -> list[Source]:
    sources = [(one, await tx.sessions.find(one.session_id)) for one in await tx.events.provenance(event_id)]
    return [Source.of(one) for one, session in sources if session and caller.sees_session(session)]


@router.delete("/events/{event_id}", status_code=204, dependencies=[server_owner])
@raises(NO_EVENT_LIBRARY)
async def delete_event(event_id: Id, services: Served) -> None:
    """Delete an event; the messages it was made from stay."""
    await _library(services).delete(event_id)


@router.delete("/events")
@raises(NO_EVENT_LIBRARY, *not_found("session"))
async def forget_session(session_id: Id, caller: Owner, services: Served) -> Forgotten:
    """Delete the events made from this session alone, and remove it from the sources of the others.

    The transcript of the session stays.
    """
    async with services.stores.read() as tx:
        session = await tx.sessions.find(session_id)
    if session and not caller.sees_session(session):
        raise NotFound("session", session_id)
    return Forgotten(forgotten=await _library(services).forget_session(session_id))


@router.get("/souls/{soul_id}/recall")
async def recall(soul_id: Id, q: Question, caller: Reader, services: Served, k: Few = 3) -> Memories:
    """Show what the soul would recall for a text that a person says. It does not count as a recall.

    An owner who names nobody is shown everybody's. `problem` says which part of memory could not be searched; null if
    all could.
    """
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
    memory = services.context.memory.recall
    if memory is None:
        return Memories(episodes=[], events=[], problem="this server recalls nothing")
    found = await memory.recall(soul_id, q, k, count_use=False, audience=caller.audience)
    return Memories(
        episodes=[EpisodeOut.of(episode) for episode in found.episodes],
        events=[RecalledOut.of(event) for event in found.of(RecalledEvent)],
        summaries=[SummaryOut.of(summary) for summary in found.of(RecalledSummary)],
        facts=[RecalledFactOut.of(one) for one in found.of(RecalledFact)],
        problem=found.problem or None,
    )


def _library(services: Services) -> EventLibrary:
    """Raises MemoryUnavailable if this server has no event library."""
    if services.context.memory.events is None:
        raise MemoryUnavailable("this server keeps no event library")
    return services.context.memory.events
