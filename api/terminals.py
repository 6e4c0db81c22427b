"""Terminals: list, read and delete them; and reports over HTTP for those that do not use MQTT."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from soulgraph.api.access import Caller
from soulgraph.api.auth import Speaker, TerminalCaller
from soulgraph.api.catalogs import UncheckedCatalog, read_catalog
from soulgraph.api.edits import Body, example
from soulgraph.api.fields import Id
from soulgraph.api.raising import NO_BROKER_ANSWER, TOO_MANY_TERMINALS, raises
from soulgraph.api.services import Served
from soulgraph.errors import BrokerUnavailable, NotFound
from soulgraph.soul.people import EVERYONE
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Terminal
from soulgraph.stores.terminals import is_online
from soulgraph.terminals.reports import Version

router = APIRouter(prefix="/v1/terminals", tags=["terminals"])


_LIGHT = {
    "id": "light_on",
    "name": "开灯",
    "match": {"keywords_any": ["开灯", "turn on the light"]},
    "slots": [{"name": "room", "required": True, "values": ["客厅", "卧室"]}],
}


class CatalogReport(Body):
    model_config = example({"catalog_version": 1, "intent_catalog": [_LIGHT]})

    catalog_version: Version
    intent_catalog: UncheckedCatalog


class TerminalOut(BaseModel):
    terminal_id: str
    soul_id: str | None
    user_id: str | None = Field(description="who usually speaks there; null if that is not the caller's to know")
    skill_version: int
    skills: list[dict[str, Any]]
    catalog_version: int
    intent_catalog: list[dict[str, Any]]
    updated_at: str
    online: bool
    last_seen: str | None

    @classmethod
    def of(cls, row: Terminal, caller: Caller, now: float) -> "TerminalOut":
        return cls(
            terminal_id=row.terminal_id,
            soul_id=row.soul_id,
            user_id=row.user_id if caller.user_id in (None, EVERYONE, row.user_id) else None,
            skill_version=row.skill_version,
            skills=row.skills,
            catalog_version=row.catalog_version,
            intent_catalog=row.intent_catalog,
            updated_at=iso(row.updated_at),
            online=is_online(row, now),
            last_seen=None if row.last_seen is None else iso(row.last_seen),
        )


@router.get("")
async def list_terminals(caller: Speaker, services: Served) -> list[TerminalOut]:
    """List all terminals by id, with their skills and intents and whether they are online."""
    async with services.stores.read() as tx:
        rows = [row for row in await tx.terminals.all() if caller.sees_soul(row.soul_id)]
    return [TerminalOut.of(row, caller, services.now()) for row in rows]


@router.get("/{terminal_id}")
async def read_terminal(terminal_id: Id, caller: Speaker, services: Served) -> TerminalOut:
    async with services.stores.read() as tx:
        await caller.check_terminal(tx, terminal_id)
        row = await tx.terminals.find(terminal_id)
    if row is None:
        raise NotFound("terminal", terminal_id)
    return TerminalOut.of(row, caller, services.now())


@router.put("/{terminal_id}/intent-catalog")
@raises(TOO_MANY_TERMINALS)
async def report_catalog(
    terminal_id: Id, report: CatalogReport, caller: TerminalCaller, services: Served
) -> TerminalOut:
    """Store the intents that the terminal can carry out, and begin to compile them.

    A version lower than the stored one is ignored, an equal one overwrites it.
    """
    catalog = await read_catalog(report.intent_catalog)
    version = report.catalog_version
    async with services.stores.write() as tx:
        await caller.check_terminal(tx, terminal_id)
        accepted = await tx.terminals.report_catalog(terminal_id, version, catalog.stored, services.now())
        row = await tx.terminals.find(terminal_id)
    if accepted:
        services.context.senses.intents.catalogs.compile_soon(catalog)
    assert row is not None  # the report has added it
    return TerminalOut.of(row, caller, services.now())


@router.post("/{terminal_id}/heartbeat", status_code=204)
async def heartbeat(terminal_id: Id, caller: TerminalCaller, services: Served) -> None:
    """Report that the terminal is online. Without another report it counts as offline a minute later."""
    async with services.stores.write() as tx:
        await caller.check_terminal(tx, terminal_id)
        if not await tx.terminals.seen(terminal_id, services.now()):
            raise NotFound("terminal", terminal_id)


@router.delete("/{terminal_id}", status_code=204)
@raises(NO_BROKER_ANSWER)
async def delete_terminal(terminal_id: Id, caller: TerminalCaller, services: Served) -> None:
    """Delete a terminal and what the broker retains of it. One that is still connected returns with its next report."""
    async with services.stores.read() as tx:
        await caller.check_terminal(tx, terminal_id)
        if await tx.terminals.find(terminal_id) is None:
            raise NotFound("terminal", terminal_id)
    hub = services.context.outlets.hub
    # First, because what is retained would bring the terminal back when a server starts.
    if hub and not await hub.forget(terminal_id):
        raise BrokerUnavailable(
            "the MQTT broker does not answer, and it would bring the terminal back: try again later"
        )
    async with services.stores.write() as tx:
        await tx.terminals.remove(terminal_id)
    services.presence.forget(terminal_id)
