"""A whole soul as a JSONL file: everything that the database has of it, and a soul from such a file."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from soulgraph.api.auth import Owner, server_owner
from soulgraph.api.fields import Id, Name
from soulgraph.api.services import Served, Services
from soulgraph.api.soul_reading import EVENTS, Header, SoulFile, name_of
from soulgraph.api.souls import SoulOut
from soulgraph.api.transcripts import attachment
from soulgraph.errors import Conflict
from soulgraph.library.shipped import TEMPLATES
from soulgraph.memory.events import EventLibrary, audience_of
from soulgraph.memory.summaries import Summaries
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import default_session_id, new_id
from soulgraph.stores.presets import SUMMARY
from soulgraph.stores.records import Json, Preset, Soul
from soulgraph.stores.soul_tables import TABLES, Row
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1/souls", tags=["souls"])
NewName = Annotated[Name | None, Query(description="what it is called here; without it as in the file")]
FILE = {"application/x-ndjson": {"schema": {"type": "string", "description": "a file as the export writes it"}}}

_IN_MEMORY = 8 * 1024 * 1024  # bytes of a file that is being written; what is more is on disk
_CHUNK = 64 * 1024

NewIds = dict[str, dict[str, str]]


class _Download(StreamingResponse):
    """A file that is sent, and closed whatever becomes of the client."""

    def __init__(self, file: IO[bytes], filename: str) -> None:
        headers = {**attachment(filename), "Content-Length": str(file.tell())}
        super().__init__(_chunks(file), media_type="application/x-ndjson", headers=headers)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._file:
            await super().__call__(scope, receive, send)


@router.get("/{soul_id}/export", response_class=StreamingResponse, responses={200: {"content": FILE}})
async def export_soul(soul_id: Id, caller: Owner, services: Served) -> StreamingResponse:
    """Export a soul as JSONL: a line that says which version it is, then one line per row of the database.

    It is the soul as it is at one moment, whoever talks to it meanwhile. Vectors are left out, and work that is under
    way; its private events are in it.
    """
    caller.check_soul(soul_id)
    file: IO[bytes] = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - the response closes it
    try:
        await _write(soul_id, services, file)
    except BaseException:
        file.close()
        raise
    return _Download(file, f"{soul_id}.jsonl")


async def _write(soul_id: str, services: Services, file: IO[bytes]) -> None:
    """To a file first: a client that reads slowly would hold the database's snapshot."""
    event_ids: list[str] = []
    async with services.stores.snapshot() as tx:
        soul = await tx.souls.get(soul_id)
        header = Header(soul_id=soul_id, name=soul.name, exported_at=iso(services.now()))
        file.write(_line(header.model_dump()))
        async for table, rows in tx.soul_rows.pages(soul_id):
            file.writelines(_line({"table": table, "row": row}) for row in rows)
            if table == "event_uses":
                event_ids += [row["event_id"] for row in rows]
    if library := services.context.memory.events:
        for event in await library.find_all(event_ids):
            file.write(_line({"table": EVENTS, "row": asdict(event)}))


def _line(data: Json) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode() + b"\n"


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while chunk := file.read(_CHUNK):
        yield chunk


@router.post(
    "/import",
    status_code=201,
    dependencies=[server_owner],
    openapi_extra={"requestBody": {"content": FILE, "required": True}},
)
async def import_soul(request: Request, services: Served, name: NewName = None) -> SoulOut:
    """Import a soul from such a file, under new ids where those in the file are taken: all of it, or nothing.

    409 if its person has a soul with this name: choose another by `name`. A template that is not here becomes the
    usual one, and souls that are not here leave its groups.
    """
    file = await asyncio.to_thread(SoulFile.read, await request.body())
    file.soul["name"] = name_of(file, name)
    async with services.stores.read() as tx:
        await _check_name(tx, file)
        new_ids = await _new_ids(tx, file)
    async with _findable(file, new_ids, services), services.stores.write() as tx:
        await _check_name(tx, file)
        soul = await _store(tx, file, new_ids, services)
    return SoulOut.of(soul)


async def _check_name(tx: Transaction, file: SoulFile) -> None:
    name = file.soul["name"]
    if any(soul.name == name for soul in await tx.souls.all(file.soul["user_id"])):
        raise Conflict("soul_exists", f"this user already has a soul called {name!r}: choose another with `?name=`")


async def _new_ids(tx: Transaction, file: SoulFile) -> NewIds:
    """New ids for those that are taken, by table; what is found by its meaning is always named anew."""
    kinds = {"souls": "soul", "sessions": "sess", "turns": "turn"}
    taken = {name: await tx.soul_rows.taken(TABLES[name], file.ids[name]) for name in kinds}
    taken["sessions"] |= await tx.soul_rows.heard_sessions(file.ids["sessions"])
    new = {name: {one: new_id(kind) for one in sorted(taken[name])} for name, kind in kinds.items()}
    for old_id, soul_id in new["souls"].items():
        # The usual conversation of each person stays that: its id is made from the soul's.
        usual = {default_session_id(old_id, person): default_session_id(soul_id, person) for person in file.people}
        new["sessions"] |= {one: usual[one] for one in usual.keys() & file.ids["sessions"]}
    new["backgrounds"] = {one: new_id(SUMMARY) for one in sorted(file.ids["backgrounds"])}
    new["event_uses"] = {one: new_id("evt") for one in sorted(file.ids["event_uses"])}
    return new


@asynccontextmanager
async def _findable(file: SoulFile, new_ids: NewIds, services: Services) -> AsyncIterator[None]:
    """Private events and summaries can be found by their meaning; that is taken back if the block fails.

    It comes before the rows: what is findable and not stored is left out of recall, not the other way round.
    """
    memory = services.context.memory
    old_id: str = file.soul["soul_id"]
    soul_id = new_ids["souls"].get(old_id, old_id)
    try:
        if memory.events:
            await _restore_events(memory.events, file, soul_id, new_ids["event_uses"])
        if memory.summaries:
            await _restore_summaries(memory.summaries, file, soul_id, new_ids)
        yield
    except BaseException:
        if memory.events and file.events:
            await memory.events.discard(new_ids["event_uses"].values())
        if memory.summaries and file.summaries:
            await memory.summaries.forget(soul_id=soul_id)
        raise


async def _restore_events(library: EventLibrary, file: SoulFile, soul_id: str, new_ids: dict[str, str]) -> None:
    together = defaultdict(list)
    for event in file.events:
        people = file.audiences[event.event_id].split("\n")[1:]
        together[audience_of(soul_id, people)].append(replace(event, event_id=new_ids[event.event_id]))
    for audience, events in together.items():
        await library.restore(events, audience)


async def _restore_summaries(summaries: Summaries, file: SoulFile, soul_id: str, new_ids: NewIds) -> None:
    for row in file.summaries:
        origin = Preset(**row).summary_of
        old_session: str = origin["session_id"]
        session_id = new_ids["sessions"].get(old_session, old_session)
        text = row["data"]["initial_context"]
        await summaries.add(new_ids["backgrounds"][row["id"]], soul_id, origin["user_id"], session_id, text)


async def _store(tx: Transaction, file: SoulFile, new_ids: NewIds, services: Services) -> Soul:
    importing = tx.importing(new_ids)
    for table, rows in file.batches():
        if table.name == "souls":
            rows = [{**rows[0], "name": file.soul["name"]}]
        elif table.name == "sessions":
            rows = [await _at_home(tx, row, services.context.persona.default_template) for row in rows]
        await importing.add(table, rows)
    await importing.finish()
    return await tx.souls.get(importing.rename("souls", file.soul["soul_id"]))


async def _at_home(tx: Transaction, session: Row, default_template: str) -> Row:
    """The session with a template that there is here, and without souls that are not."""
    template_id = session["template_id"]
    known = template_id in TEMPLATES or await tx.templates.find(template_id)
    souls = session.get("souls", {})
    here = await tx.soul_rows.taken(TABLES["souls"], souls)
    present = {soul_id: one for soul_id, one in souls.items() if soul_id in here}
    return {**session, "template_id": template_id if known else default_template, "souls": present}
