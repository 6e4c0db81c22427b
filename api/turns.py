"""What a stored turn has heard, recalled, used and cost."""

from collections.abc import Collection
from typing import Any, Literal, cast

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from soulgraph.api.access import Caller
from soulgraph.api.auth import Reader
from soulgraph.api.fields import Id
from soulgraph.api.services import Served, Services
from soulgraph.errors import NotFound, StoreUnavailable
from soulgraph.memory.events import audience_of
from soulgraph.nodes.answer import Answer, UserEmotionReport
from soulgraph.nodes.emotion import UNKNOWN
from soulgraph.soul.emotions import UserEmotion
from soulgraph.soul.people import EVERYONE
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Session, Turn
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1/sessions/{session_id}/turns", tags=["sessions"])

MemoryKind = Literal["episode", "event", "summary"]
_KINDS = ("episode", "event", "summary")


class RecalledSource(BaseModel):
    source: str = Field(examples=["episode:12"])
    kind: MemoryKind
    id: str
    text: str | None = Field(description="null if it is forgotten, or not the caller's to know")


class TurnOut(BaseModel):
    turn_id: str
    session_id: str
    soul_id: str
    at: str
    user_emotion: UserEmotionReport
    answer: Answer | None = Field(
        description="as it was given; null if the turn did not end well. Answers of older versions have fewer fields"
    )
    recalled: list[RecalledSource] = Field(description="the memories that were in its prompt")


@router.get("/{turn_id}", response_model=TurnOut)
async def read_turn(session_id: Id, turn_id: Id, caller: Reader, services: Served) -> Response:
    """Read what a turn heard, which memories it had before it, what it answered and what that cost."""
    async with services.stores.read() as tx:
        session = await caller.session(tx, session_id)
        turn = await heard_turn(tx, session, turn_id, caller)
        sources = [source for source in _sources(turn) if source.partition(":")[0] in _KINDS]
        known = await _known(tx, turn.soul_id, sources, session, caller)
    texts = await _texts(turn.soul_id, known, services)
    # Not validated: an answer that was stored by an older version may lack a field.
    return JSONResponse(
        {
            "turn_id": turn.turn_id,
            "session_id": session_id,
            "soul_id": turn.soul_id,
            "at": iso(turn.created_at),
            "user_emotion": _user_emotion(turn),
            "answer": turn.answer,
            "recalled": [_recalled(source, texts) for source in sources],
        }
    )


async def heard_turn(tx: Transaction, session: Session, turn_id: str, caller: Caller) -> Turn:
    """The turn; raises NotFound also for one that the caller's person was not there to hear."""
    found = [turn for turn in await tx.turns.of([turn_id]) if turn.session_id == session.session_id]
    said = await tx.messages.by_input(session.session_id, found[0].input_id) if found else None
    # Of a turn that has no message it cannot be told who was there.
    heard = caller.heard(said) if said else caller.person is None or not session.people
    if not found or not heard:
        raise NotFound("turn", turn_id)
    return found[0]


def _sources(turn: Turn) -> list[str]:
    sources: list[str] = turn.answer["persona"]["sources"] if turn.answer else []
    return sources


async def _known(
    tx: Transaction, soul_id: str, sources: Collection[str], session: Session, caller: Caller
) -> list[str]:
    """Those of the sources that the caller may know, as if they were recalled for them now."""
    ids: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    for source in sources:
        kind, _, id_ = source.partition(":")
        ids[kind].append(id_)
    episodes = await tx.episodes.messages(soul_id, [int(id_) for id_ in ids["episode"]], caller.audience)
    uses = await tx.events.uses(ids["event"])
    backgrounds = [await tx.backgrounds.find(id_) for id_ in ids["summary"]]
    audiences = _event_audiences(soul_id, session, caller)
    return [
        *(f"episode:{id_}" for id_ in episodes),
        *(f"event:{id_}" for id_, use in uses.items() if audiences is None or use.audience in audiences),
        *(f"summary:{one.id}" for one in backgrounds if one and caller.sees_background(one)),
    ]


def _event_audiences(soul_id: str, session: Session, caller: Caller) -> set[str] | None:
    """The audiences of events that the caller belongs to as one of this session; None if that is all of them."""
    if caller.audience is None:
        return None
    return {EVERYONE, audience_of(soul_id, caller.audience), audience_of(soul_id, session.audience)}


async def _texts(soul_id: str, sources: Collection[str], services: Services) -> dict[str, str]:
    """Without those that cannot be read now: the rest of the turn can be shown all the same."""
    recall = services.context.memory.recall
    try:
        return await recall.texts(soul_id, sources) if recall and sources else {}
    except StoreUnavailable:
        return {}


def _recalled(source: str, texts: dict[str, str]) -> dict[str, Any]:
    kind, _, id_ = source.partition(":")
    return RecalledSource(source=source, kind=cast(MemoryKind, kind), id=id_, text=texts.get(source)).model_dump()


def _user_emotion(turn: Turn) -> dict[str, Any]:
    emotion = UserEmotion.from_dict(turn.user_emotion)
    return emotion.to_dict() | {"unavailable": emotion == UNKNOWN}
