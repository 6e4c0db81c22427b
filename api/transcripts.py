"""Export and import of sessions as JSONL: a metadata line, then one line per message."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import tzinfo
from typing import Annotated, Literal, TypeVar
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from soulgraph.api.access import Caller
from soulgraph.api.auth import Reader
from soulgraph.api.fields import Content, Id, Title
from soulgraph.api.groups import MAX_PEOPLE
from soulgraph.api.media import NDJSON, sent, text
from soulgraph.api.messages import heard_messages
from soulgraph.api.raising import ANOTHER_SPEAKER, BAD_LINE, not_found, raises
from soulgraph.api.services import Served, Services
from soulgraph.api.sessions import SessionOut
from soulgraph.errors import Forbidden, InvalidInput
from soulgraph.soul.timestamps import check_moment, epoch, iso
from soulgraph.soul.validation import explain
from soulgraph.stores.episodes import index_columns
from soulgraph.stores.factories import new_id, new_session
from soulgraph.stores.records import Json, Message, NewMessage, Session

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
_PAGE = 500
_FILE = text(
    NDJSON,
    "a metadata line, then a line per message",
    '{"type": "metadata", "title": "By the lamp"}\n'
    '{"role": "user", "content": "Are you there?", "timestamp": "2026-11-16T04:45:14.150Z"}\n'
    '{"role": "assistant", "content": "The lamp is lit.", "timestamp": "2026-11-16T04:45:15.020Z"}\n',
)


def _check_timestamp(timestamp: str) -> str:
    check_moment(epoch(timestamp))
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
    speaker: Id | None = Field(None, description="in a group: who said it")


class ImportedSession(SessionOut):
    messages: int = Field(description="how many were imported")


@router.get("/{session_id}/export", response_class=StreamingResponse, responses={200: _FILE})
async def export_session(session_id: Id, caller: Reader, services: Served) -> StreamingResponse:
    """Export a session as JSONL, in the format that the import reads. A person gets what they have heard."""
    async with services.stores.read() as tx:
        session = await caller.session(tx, session_id)
    lines = _lines(session, caller, services)
    return StreamingResponse(lines, media_type=NDJSON, headers=attachment(f"{session_id}.jsonl"))


@router.post("/import", status_code=201, openapi_extra=sent(_FILE))
@raises(*not_found("soul", "character", "background", "template"), ANOTHER_SPEAKER, BAD_LINE)
async def import_session(soul_id: Id, request: Request, caller: Reader, services: Served) -> ImportedSession:
    """Import a JSONL transcript as a new session of this soul; the request body is the file.

    What others have said, by their `speaker`, makes it a group, and is for owners and keys that act for anybody. If a
    line cannot be read, the error names it and nothing is stored.
    """
    # In a thread, and before the transaction: to read and index a hundred thousand lines takes many seconds.
    metadata, lines, indexed = await asyncio.to_thread(_parse, await request.body(), services.stores.zone)
    user_id = caller.one_person
    people = _other_speakers(lines, caller)
    persona = services.context.persona
    now = services.now()
    async with services.stores.write() as tx:
        await caller.check_background(tx, metadata.background_id)
        session = await new_session(
            tx,
            await caller.soul(tx, soul_id),
            session_id=new_id("sess"),
            user_id=user_id,
            title=metadata.title,
            character_id=metadata.character_id,
            background_id=metadata.background_id,
            template_id=metadata.template_id or persona.default_template,
            mode=persona.default_mode,
            now=epoch(metadata.created_at) if metadata.created_at else now,
            continued_from=metadata.continued_from,
            people=people,
        )
        await tx.sessions.add(session)
        messages = (_message(session, line, terms) for line, terms in zip(lines, indexed, strict=True))
        ids = await tx.messages.append(session.session_id, messages)
        # Not to be reflected on again: that was done where the conversation took place.
        await tx.sessions.reflected(session.session_id, max(ids, default=0))
    services.announce_session(session, "created")
    return ImportedSession(**SessionOut.of(session).model_dump(), messages=len(ids))


def attachment(filename: str) -> dict[str, str]:
    """The header that names a file to be saved; headers have no letters but ASCII's, and ids may."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(filename)}"}


def _other_speakers(lines: Sequence[Line], caller: Caller) -> list[str]:
    """The people beside the caller's own who have said something; raises Forbidden if it may not speak for them."""
    people = sorted({line.speaker for line in lines if line.role == "user" and line.speaker} - {caller.one_person})
    if people and not caller.acts_for_anybody:
        raise Forbidden(
            f"this key acts for {caller.person!r} alone, and {people[0]!r} speaks in the file: use an owner key"
        )
    if len(people) > MAX_PEOPLE:
        raise InvalidInput(f"{len(people) + 1} people speak in the file: a session has {MAX_PEOPLE + 1} at most")
    return people


async def _lines(session: Session, caller: Caller, services: Services) -> AsyncIterator[str]:
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
    while page := await _page(session.session_id, after, caller, services):
        for message in page:
            yield _json(_line(message, session.is_group))
        after = page[-1].message_id


async def _page(session_id: str, after: int, caller: Caller, services: Services) -> list[Message]:
    """One page in a transaction of its own, so that a slow client does not occupy a database connection."""
    async with services.stores.read() as tx:
        return await heard_messages(tx, session_id, caller, after, _PAGE)


def _line(message: Message, in_group: bool) -> Json:
    """A message as a line of the export; the keys that others do not know are there only where they say something."""
    line = {"role": message.role, "content": message.content, "archived": message.archived}
    proactive = {"proactive": True} if message.proactive else {}
    speaker = {"speaker": message.user_id if message.role == "user" else message.soul_id} if in_group else {}
    return {**line, "timestamp": iso(message.created_at), **proactive, **speaker}


def _message(session: Session, line: Line, indexed: Json) -> NewMessage:
    """What the soul has said it said to the session's person: of an answer the file does not tell to whom."""
    said_by = {"user_id": line.speaker} if line.role == "user" and line.speaker else {}
    fields = {"archived": line.archived, "proactive": line.proactive, "indexed": indexed, **said_by}
    return NewMessage.said_in(session, "imported", line.role, line.content, epoch(line.timestamp), **fields)


def _json(data: Json) -> str:
    return json.dumps(data, ensure_ascii=False) + "\n"


def _parse(body: bytes, zone: tzinfo | None) -> tuple[Metadata, list[Line], list[Json]]:
    """The lines, and what each is found by. Raises InvalidInput with the number of the first that cannot be read."""
    try:
        # Not `splitlines`, which breaks at Unicode's line separators inside the JSON too.
        rows = [(number, row) for number, row in enumerate(body.decode().split("\n"), 1) if row.strip()]
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the file is not UTF-8: {error}") from error
    if not rows:
        raise InvalidInput("the file is empty: send a metadata line, then a line per message")
    metadata = _parse_line(Metadata, *rows[0])
    lines = [_parse_line(Line, *row) for row in rows[1:]]
    return metadata, lines, [index_columns(line.content, epoch(line.timestamp), zone) for line in lines]


def _parse_line(kind: type[L], number: int, row: str) -> L:
    try:
        return kind.model_validate_json(row)
    except ValidationError as error:
        raise InvalidInput(f"line {number}: {explain(error)}", line=number) from error
