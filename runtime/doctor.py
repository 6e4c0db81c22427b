"""The doctor: checks whether everything that is configured can be used; each finding says what to do.

`soulgraph doctor` examines a configuration that may not even start, `GET /v1/doctor` the server that runs.
"""

import asyncio
import os
import tempfile
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from pydantic import SecretStr

from soulgraph.errors import ConfigurationError, SoulgraphError
from soulgraph.nodes.context import Context
from soulgraph.runtime.data_dir import make_data_dir
from soulgraph.runtime.doctor_findings import Check, Finding
from soulgraph.runtime.doctor_memory import check_memory, check_open_memory
from soulgraph.runtime.doctor_services import check_services
from soulgraph.runtime.ports import open_stores
from soulgraph.senses.endpoint import masked
from soulgraph.settings import PREFIX, Settings
from soulgraph.stores.stores import Stores


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """A setting as it is: `value` is without its secrets."""

    name: str
    value: str
    source: Literal["set", "default"]
    description: str


def settings_in_force(settings: Settings) -> list[SettingInForce]:
    return [
        SettingInForce(
            f"{PREFIX}{name.upper()}",
            _masked(getattr(settings, name)),
            "set" if name in settings.model_fields_set else "default",
            field.description or "",
        )
        for name, field in Settings.model_fields.items()
    ]


def _masked(value: Any) -> str:
    if isinstance(value, SecretStr):
        return "********" if value.get_secret_value() else ""
    return masked("" if value is None else str(value))


async def examine(settings: Settings, memory: Check = check_memory) -> list[Finding]:
    """All findings about a configuration. The database is opened as the server opens it, which migrates it.

    `memory` is another way to look at it, while a server has it.
    """
    return [*_check_settings(settings), *await _database(settings), *await check_services(settings, memory)]


async def examine_running(settings: Settings, context: Context) -> list[Finding]:
    """All findings about a running server. Its model is not talked to: what its turns have found out is told."""
    stores = context.stores
    own = await asyncio.to_thread(_check_settings, settings)  # it writes a file
    database = await _running_database(settings, stores)
    memory = partial(check_open_memory, health=context.memory.health)
    return [*own, *database, *await check_services(settings, memory, context.voice), await _jobs(stores)]


def _check_settings(settings: Settings) -> list[Finding]:
    own = [_unknown_variables(), _unused_settings(settings), _data_dir(settings), _persona(settings)]
    return [*own, _workers(settings)] if settings.workers > 1 else own


def _unknown_variables() -> Finding:
    """Names misspelt variables: nothing else would notice them."""
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    unknown = sorted(name for name in os.environ if name.upper().startswith(PREFIX) and name.upper() not in known)
    if unknown:
        return Finding("warning", "settings", f"{', '.join(unknown)}: no such setting, it has no effect")
    return Finding("ok", "settings", "every variable is known")


def _unused_settings(settings: Settings) -> Finding:
    try:
        settings.refuse_unused()
    except ConfigurationError as error:
        return Finding("problem", "settings", error.detail)
    return Finding("ok", "settings", "everything that is set is used")


def _workers(settings: Settings) -> Finding:
    try:
        return Finding("ok", "workers", f"{settings.checked_workers} processes behind one port")
    except ConfigurationError as error:
        return Finding("problem", "workers", error.detail)


def _data_dir(settings: Settings) -> Finding:
    try:
        make_data_dir(settings.data_dir)
        with tempfile.TemporaryFile(dir=settings.data_dir):
            return Finding("ok", "data directory", f"{settings.data_dir.resolve()} is writable")
    except OSError as error:
        fix = "set SOULGRAPH_DATA_DIR to a directory you may write to"
        return Finding("problem", "data directory", f"{settings.data_dir}: {error.strerror}; {fix}")


def _persona(settings: Settings) -> Finding:
    try:
        persona = settings.persona
    except ConfigurationError as error:
        detail = f"{error.detail}; a server that runs keeps the last settings it could use"
        return Finding("problem", "persona", detail)
    if persona.static:
        return Finding("ok", "persona", f"static: {persona.default_mode} mode, nothing is learnt from what is said")
    return Finding("ok", "persona", f"{persona.default_mode} mode unless told otherwise")


async def _database(settings: Settings) -> list[Finding]:
    try:
        async with open_stores(settings) as stores:
            return await _running_database(settings, stores)
    except SoulgraphError as error:
        return [Finding("problem", "database", error.detail)]


async def _running_database(settings: Settings, stores: Stores) -> list[Finding]:
    backend = stores.database.url.get_backend_name()
    return [Finding("ok", "database", f"{backend}, schema up to date"), await _keys(settings, stores)]


async def _keys(settings: Settings, stores: Stores) -> Finding:
    own_key = settings.api_key.get_secret_value()
    async with stores.read() as tx:
        keys = await tx.keys.all()
        known = not own_key or await tx.keys.find(own_key)
    fix = "`soulgraph key create NAME --scope owner` makes one"
    if not keys and not settings.on_loopback:
        return Finding("problem", "API keys", f"none, so SOULGRAPH_HOST={settings.host} cannot be served; {fix}")
    if not keys:
        return Finding("ok", "API keys", "none: the server is open, to this machine alone")
    if all(key.revoked_at for key in keys):
        return Finding("problem", "API keys", f"all are revoked, so the server refuses everybody; {fix}")
    if not known:
        return Finding("warning", "API keys", "SOULGRAPH_API_KEY is not a key of this database, or it was revoked")
    return Finding("ok", "API keys", "required from every caller")


async def _jobs(stores: Stores) -> Finding:
    async with stores.read() as tx:
        counts = await tx.outbox.counts()
    if dead := counts.get("dead", 0):
        return Finding("warning", "jobs", f"{dead} are dead: `soulgraph jobs list` says why, and can try them again")
    return Finding("ok", "jobs", f"{counts.get('pending', 0) + counts.get('running', 0)} under way, none is dead")
