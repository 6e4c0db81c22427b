"""A whole soul as a JSONL file: everything that the server has of it, and a soul from such a file."""

import asyncio
import base64
import json
from dataclasses import asdict
from typing import IO, Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from soulgraph.api.auth import Owner, server_owner
from soulgraph.api.fields import Id, Name
from soulgraph.api.media import NDJSON, sent, text
from soulgraph.api.raising import NO_EVENT_LIBRARY, NO_SOUL_FILE, SOUL_NAME_TAKEN, raises
from soulgraph.api.services import Served, Services
from soulgraph.api.soul_library import UsedPresets, library_rows
from soulgraph.api.soul_reading import EVENTS, FILES, Header, SoulFile, name_of
from soulgraph.api.soul_storing import store_soul
from soulgraph.api.souls import SoulOut
from soulgraph.api.spooled import Download, received, spool
from soulgraph.soul.timestamps import iso
from soulgraph.stores.soul_tables import Row

router = APIRouter(prefix="/v1/souls", tags=["souls"])
NewName = Annotated[Name | None, Query(description="what it is called here; without it as in the file")]
_FILE = text(
    NDJSON,
    "a file as the export writes it",
    '{"type": "soul", "version": 2, "soul_id": "soul_c3fa", "name": "小满", "exported_at": "2026-11-17T09:00:00Z"}\n'
    '{"table": "souls", "row": {"soul_id": "soul_c3fa", "name": "小满", "mbti_type": "INFJ"}}\n',
)


@router.get("/{soul_id}/export", response_class=StreamingResponse, responses={200: _FILE})
@raises(NO_EVENT_LIBRARY)
async def export_soul(soul_id: Id, caller: Owner, services: Served) -> StreamingResponse:
    """Export a soul as JSONL: a line that says which version it is, then one line per row of the database.

    It is the soul as it is at one moment, whoever talks to it meanwhile. Its private events and its files are in it,
    and what it uses of the library, unless that ships. Vectors are left out, and work that is under way.
    """
    caller.check_soul(soul_id)
    file = spool()
    try:
        await _write(soul_id, services, file)
    except BaseException:
        file.close()
        raise
    return Download(file, f"{soul_id}.jsonl", NDJSON)


async def _write(soul_id: str, services: Services, file: IO[bytes]) -> None:
    """To a file first: a client that reads slowly would hold the database's snapshot."""
    event_ids: list[str] = []
    used = UsedPresets()
    memory = services.context.memory
    async with services.stores.snapshot() as tx:
        soul = await tx.souls.get(soul_id)
        header = Header(soul_id=soul_id, name=soul.name, exported_at=iso(services.now()))
        file.write(_json(header.model_dump()))
        async for table, rows in tx.soul_rows.pages(soul_id):
            for row in rows:
                file.write(_line(table, row))
                used.note(table, row)
            if table == "event_uses":
                event_ids += [row["event_id"] for row in rows]
        async for table, row in library_rows(tx, used):
            file.write(_line(table, row))
    for path, content in memory.workspaces.files(soul_id).items() if memory.workspaces else ():
        file.write(_line(FILES, {"path": path, "content": base64.b64encode(content).decode()}))
    for event in await memory.events.find_all(event_ids) if memory.events else ():
        file.write(_line(EVENTS, asdict(event)))


def _line(table: str, row: Row) -> bytes:
    return _json({"table": table, "row": row})


def _json(data: Row) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode() + b"\n"


@router.post(
    "/import",
    status_code=201,
    dependencies=[server_owner],
    openapi_extra=sent(_FILE),
)
@raises(SOUL_NAME_TAKEN, NO_SOUL_FILE, NO_EVENT_LIBRARY)
async def import_soul(request: Request, services: Served, name: NewName = None) -> SoulOut:
    """Import a soul from such a file, under new ids where those in the file are taken: all of it, or nothing.

    409 if its person has a soul with this name: choose another by `name`. What of the library is here already is used
    as it is; a template that is neither here nor in the file becomes the usual one, and souls that are not here leave
    its groups.
    """
    async with received(request) as body:
        file = await asyncio.to_thread(SoulFile.read, body, services.stores.zone)
        file.soul["name"] = name_of(file, name)
        return SoulOut.of(await store_soul(file, services))
