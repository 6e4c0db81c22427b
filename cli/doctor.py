"""`soulgraph doctor`: checks whether everything that is configured can be used; each finding says what to do."""

import os
import tempfile
from typing import Any

from pydantic import SecretStr

from soulgraph.cli.client import own_url, running
from soulgraph.cli.doctor_services import Finding, check_services
from soulgraph.errors import ConfigurationError, SoulgraphError
from soulgraph.runtime.data_dir import make_data_dir
from soulgraph.runtime.ports import open_stores
from soulgraph.senses.endpoint import masked
from soulgraph.settings import PREFIX, Settings
from soulgraph.stores.stores import Stores


async def examine(settings: Settings) -> list[Finding]:
    """All findings. The database is opened as the server opens it, which migrates it to the newest schema."""
    return [
        _unknown_variables(),
        _unused_settings(settings),
        _data_dir(settings),
        _persona(settings),
        *await _database(settings),
        *await check_services(settings),
        _server(settings),
    ]


def settings_in_force(settings: Settings) -> list[tuple[str, str, str]]:
    """(variable, value without its secrets, `set` or `default`) of every setting."""
    return [
        (
            f"{PREFIX}{name.upper()}",
            _masked(getattr(settings, name)),
            "set" if name in settings.model_fields_set else "default",
        )
        for name in Settings.model_fields
    ]


def _masked(value: Any) -> str:
    if isinstance(value, SecretStr):
        return "********" if value.get_secret_value() else ""
    return masked("" if value is None else str(value))


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
            backend = stores.database.url.get_backend_name()
            return [Finding("ok", "database", f"{backend}, schema up to date"), await _keys(settings, stores)]
    except SoulgraphError as error:
        return [Finding("problem", "database", error.detail)]


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


def _server(settings: Settings) -> Finding:
    url = own_url(settings)
    try:
        ready = running(url)
    except SoulgraphError as error:
        return Finding("problem", "server", error.detail)
    if ready is None:
        return Finding("ok", "server", f"none runs at {url}; `soulgraph serve` starts one")
    return Finding("ok", "server", f"runs at {url} (voice: {ready['voice']}, database: {ready['database']})")
