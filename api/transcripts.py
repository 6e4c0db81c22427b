"""Export and import of sessions as JSONL: a metadata line, then one line per message."""

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


def _check_timestamp(timestamp: str) -> str:
    epoch(timestamp)  # raises ValueError if it cannot be read
    return timestamp


Timestamp = Annotated[str, AfterValidator(_check_timestamp)]
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
    """Export a session as JSONL, in the format that the import reads."""
    async with services.stores.read() as tx:
        session = await tx.sessions.get(session_id)
    headers = {"Content-Disposition": f'attachment; filename="{session_id}.jsonl"'}
    return StreamingResponse(_lines(session, services), media_type="application/x-ndjson", headers=headers)


@router.post("/import", status_code=201)
async def import_session(soul_id: Id, request: Request, services: Served, user_id: UserId = DEFAULT_USER) -> SessionOut:
    """Import a JSONL transcript as a new session of this soul; the request body is the file.

    If a line cannot be read, the error names it and nothing is stored.
    """
    metadata, lines = _parse(await request.body())
    persona = services.context.persona
    now = services.now()
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
        # Not to be reflected on again: that was done where the conversation took place.
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
    """One page in a transaction of its own, so that a slow client does not occupy a database connection."""
    async with services.stores.read() as tx:
        return await tx.messages.page(session_id, after, _PAGE)


def _line(message: Message) -> Json:
    """A message as a line of the export; only proactive messages have the key `proactive`, which others do not know."""
    line = {"role": message.role, "content": message.content, "archived": message.archived}
    proactive = {"proactive": True} if message.proactive else {}
    return {**line, "timestamp": iso(message.created_at), **proactive}


def _message(line: Line) -> NewMessage:
    fields = line.model_dump(exclude={"timestamp"})
    return NewMessage(turn_id="imported", created_at=epoch(line.timestamp), **fields)


def _json(data: Json) -> str:
    return json.dumps(data, ensure_ascii=False) + "\n"


def _parse(body: bytes) -> tuple[Metadata, list[Line]]:
    """Raises InvalidInput with the number of the first line that cannot be read."""
    try:
        rows = [(number, row) for number, row in enumerate(body.decode().splitlines(), 1) if row.strip()]
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the file is not UTF-8: {error}") from error
    if not rows:
        raise InvalidInput("the file is empty: send a metadata line, then a line per message")
    metadata = _parse_line(Metadata, *rows[0])
    return metadata, [_parse_line(Line, *row) for row in rows[1:]]


def _parse_line(kind: type[L], number: int, row: str) -> L:
    try:
        return kind.model_validate_json(row)
    except ValidationError as error:
        raise InvalidInput(f"line {number}: {explain(error)}", line=number) from error
