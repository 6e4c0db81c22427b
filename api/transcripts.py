"""Sessions as JSONL: a metadata line, then a line per message. What is exported can be imported."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from soulgraph.api.auth import chatter
from soulgraph.api.fields import Content, Id, Title, UserId
from soulgraph.api.services import Served, Services
from soulgraph.api.sessions import SessionOut
from soulgraph.errors import InvalidInput
from soulgraph.soul.timestamps import epoch, iso
from soulgraph.soul.validation import explain
from soulgraph.stores.factories import DEFAULT_USER, new_id, new_session
from soulgraph.stores.records import Json, Message, NewMessage, Session

router = APIRouter(prefix="/v1/sessions", tags=["sessions"], dependencies=[chatter])
_PAGE = 500


def _readable(timestamp: str) -> str:
    epoch(timestamp)
    return timestamp


Timestamp = Annotated[str, AfterValidator(_readable)]
L = TypeVar("L", bound=BaseModel)


class Metadata(BaseModel):
    type: Literal["metadata"] = "metadata"
    soul_id: str | None = None
    character_id: Id | None = None
    background_id: Id | None = None
    template_id: Id | None = None
    title: Title = ""
    created_at: Timestamp | None = None
    continued_from: Id | None = None


class Line(BaseModel):
    role: Literal["user", "assistant"]
    content: Content
    archived: bool = False
    timestamp: Timestamp = Field(examples=["2025-10-13T10:30:00Z"])
    proactive: bool = False


@router.get("/{session_id}/export")
async def export_session(session_id: Id, services: Served) -> StreamingResponse:
    async with services.stores.read() as tx:
        session = await tx.sessions.get(session_id)
    name = f'attachment; filename="{session_id}.jsonl"'
    return StreamingResponse(
        _lines(session, services), media_type="application/x-ndjson", headers={"Content-Disposition": name}
    )


@router.post("/import", status_code=201)
async def import_session(soul_id: Id, request: Request, services: Served, user_id: UserId = DEFAULT_USER) -> SessionOut:
    """All of it or nothing: a line that cannot be read is named, and no session is made."""
    metadata, lines = _read(await request.body())
    persona, now = services.settings.persona, services.now()
    async with services.stores.write() as tx:
        session = await new_session(
            tx,
            await tx.souls.get(soul_id),
            session_id=new_id("sess"),
            user_id=user_id,
            title=metadata.title,
            character_id=metadata.character_id,
            background_id=metadata.background_id,
            template_id=metadata.template_id or persona.default_template,
            mode=persona.default_mode,
            now=epoch(metadata.created_at) if metadata.created_at else now,
            continued_from=metadata.continued_from,
        )
        await tx.sessions.add(session)
        ids = await tx.messages.append(session.session_id, [_message(line) for line in lines])
        # What was lived elsewhere was thought about there.
        await tx.sessions.reflected(session.session_id, max(ids, default=0))
    return SessionOut.of(session)


async def _lines(session: Session, services: Services) -> AsyncIterator[str]:
    snapshot = session.character_snapshot
    yield _json(
        Metadata(
            **{name: getattr(session, name) for name in ("soul_id", "background_id", "template_id", "title")},
            character_id=snapshot["source_preset"],
            created_at=iso(session.created_at),
            continued_from=session.continued_from,
        ).model_dump()
    )
    after = 0
    while page := await _page(session.session_id, after, services):
        for message in page:
            yield _json(_line(message))
        after = page[-1].message_id


async def _page(session_id: str, after: int, services: Services) -> list[Message]:
    """Each page by itself: a slow reader holds no connection."""
    async with services.stores.read() as tx:
        return await tx.messages.page(session_id, after, _PAGE)


def _line(message: Message) -> Json:
    """What was said of the soul's own accord says so; the other lines have only the keys everybody's have."""
    line = {"role": message.role, "content": message.content, "archived": message.archived}
    unprompted = {"proactive": True} if message.proactive else {}
    return {**line, "timestamp": iso(message.created_at), **unprompted}


def _message(line: Line) -> NewMessage:
    spoken = line.model_dump(exclude={"timestamp"})
    return NewMessage(turn_id="imported", created_at=epoch(line.timestamp), **spoken)


def _json(data: Json) -> str:
    return json.dumps(data, ensure_ascii=False) + "\n"


def _read(body: bytes) -> tuple[Metadata, list[Line]]:
    try:
        rows = [(number, row) for number, row in enumerate(body.decode().splitlines(), 1) if row.strip()]
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the file is not UTF-8: {error}") from error
    if not rows:
        raise InvalidInput("the file is empty: send a metadata line, then a line per message")
    return _row(Metadata, *rows[0]), [_row(Line, *row) for row in rows[1:]]


def _row(kind: type[L], number: int, row: str) -> L:
    try:
        return kind.model_validate_json(row)
    except ValidationError as error:
        raise InvalidInput(f"line {number}: {explain(error)}", line=number) from error
