"""Terminals: list and read them; and reports over HTTP for those that do not use MQTT."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from soulgraph.api.auth import chatter, terminal
from soulgraph.api.fields import Id
from soulgraph.api.services import Served
from soulgraph.errors import NotFound
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Terminal
from soulgraph.stores.terminals import is_online
from soulgraph.terminals.reports import IntentCatalog, Version

router = APIRouter(prefix="/v1/terminals", tags=["terminals"])


class CatalogReport(BaseModel):
    model_config = ConfigDict(extra="forbid")

    catalog_version: Version
    intent_catalog: IntentCatalog


class TerminalOut(BaseModel):
    terminal_id: str
    soul_id: str | None
    skill_version: int
    skills: list[dict[str, Any]]
    catalog_version: int
    intent_catalog: list[dict[str, Any]]
    updated_at: str
    online: bool
    last_seen: str | None

    @classmethod
    def of(cls, row: Terminal, now: float) -> "TerminalOut":
        return cls(
            terminal_id=row.terminal_id,
            soul_id=row.soul_id,
            skill_version=row.skill_version,
            skills=row.skills,
            catalog_version=row.catalog_version,
            intent_catalog=row.intent_catalog,
            updated_at=iso(row.updated_at),
            online=is_online(row, now),
            last_seen=None if row.last_seen is None else iso(row.last_seen),
        )


@router.get("", dependencies=[chatter])
async def list_terminals(services: Served) -> list[TerminalOut]:
    """List all terminals by id, with their skills and intents and whether they are online."""
    async with services.stores.read() as tx:
        return [TerminalOut.of(row, services.now()) for row in await tx.terminals.all()]


@router.get("/{terminal_id}", dependencies=[chatter])
async def read_terminal(terminal_id: Id, services: Served) -> TerminalOut:
    async with services.stores.read() as tx:
        row = await tx.terminals.find(terminal_id)
    if row is None:
        raise NotFound("terminal", terminal_id)
    return TerminalOut.of(row, services.now())


@router.put("/{terminal_id}/intent-catalog", dependencies=[terminal])
async def report_catalog(terminal_id: Id, report: CatalogReport, services: Served) -> TerminalOut:
    """Store the intents that the terminal can carry out.

    A version lower than the stored one is ignored, an equal one overwrites it.
    """
    catalog = [intent.model_dump(mode="json") for intent in report.intent_catalog]
    async with services.stores.write() as tx:
        await tx.terminals.report_catalog(terminal_id, report.catalog_version, catalog, services.now())
        row = await tx.terminals.find(terminal_id)
    assert row is not None  # the report has added it
    return TerminalOut.of(row, services.now())


@router.post("/{terminal_id}/heartbeat", status_code=204, dependencies=[terminal])
async def heartbeat(terminal_id: Id, services: Served) -> None:
    """Report that the terminal is online. Without another report it counts as offline a minute later."""
    async with services.stores.write() as tx:
        if not await tx.terminals.seen(terminal_id, services.now()):
            raise NotFound("terminal", terminal_id)
