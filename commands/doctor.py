"""Can everything that is configured be used? One finding per question, each with what to do about it."""

import os
import tempfile
from dataclasses import dataclass
from typing import Any, Literal

import httpx
from pydantic import SecretStr

from soulgraph.commands.client import own_url, running
from soulgraph.errors import ConfigurationError, SoulgraphError
from soulgraph.graph.opening import open_stores
from soulgraph.settings import PREFIX, Settings, masked
from soulgraph.stores.stores import Stores
from soulgraph.terminals.hub import MqttHub
from soulgraph.terminals.opening import NONE
from soulgraph.voices.factory import open_voice

Level = Literal["ok", "warning", "problem"]

_PATIENCE_S = 3
_OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Finding:
    level: Level
    subject: str
    detail: str


async def examine(settings: Settings) -> list[Finding]:
    """Everything is opened as the server would open it, so the database is brought to the newest schema."""
    return [
        _names(),
        _all_used(settings),
        _data_dir(settings),
        _persona(settings),
        *await _database(settings),
        await _voice(settings),
        await _broker(settings),
        _server(settings),
    ]


def settings_in_force(settings: Settings) -> list[tuple[str, str, str]]:
    """(variable, value without its secrets, where it comes from) of every setting."""
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


def _names() -> Finding:
    """A misspelt variable changes nothing and says nothing, so it is said here."""
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    unknown = sorted(name for name in os.environ if name.upper().startswith(PREFIX) and name.upper() not in known)
    if unknown:
        return Finding("warning", "settings", f"{', '.join(unknown)}: no such setting, it has no effect")
    return Finding("ok", "settings", "every variable is known")


def _all_used(settings: Settings) -> Finding:
    try:
        settings.refuse_unused()
    except ConfigurationError as error:
        return Finding("problem", "settings", error.detail)
    return Finding("ok", "settings", "everything that is set is used")


def _data_dir(settings: Settings) -> Finding:
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.data_dir):
            return Finding("ok", "data directory", f"{settings.data_dir.resolve()} is writable")
    except OSError as error:
        fix = "set SOULGRAPH_DATA_DIR to a directory you may write to"
        return Finding("problem", "data directory", f"{settings.data_dir}: {error.strerror}; {fix}")


def _persona(settings: Settings) -> Finding:
    try:
        return Finding("ok", "persona", f"{settings.persona.default_mode} mode unless told otherwise")
    except ConfigurationError as error:
        return Finding("problem", "persona", error.detail)


async def _database(settings: Settings) -> list[Finding]:
    try:
        async with open_stores(settings) as stores:
            backend = stores.database.url.get_backend_name()
            return [Finding("ok", "database", f"{backend}, schema up to date"), await _keys(settings, stores)]
    except SoulgraphError as error:
        return [Finding("problem", "database", error.detail)]


async def _keys(settings: Settings, stores: Stores) -> Finding:
    mine = settings.api_key.get_secret_value()
    async with stores.read() as tx:
        exist, known = await tx.keys.exist(), not mine or await tx.keys.find(mine)
    if not exist and not settings.on_loopback:
        fix = "`soulgraph key create NAME --scope owner` makes one"
        return Finding("problem", "API keys", f"none, so SOULGRAPH_HOST={settings.host} cannot be served; {fix}")
    if not exist:
        return Finding("ok", "API keys", "none: the server is open, to this machine alone")
    if not known:
        return Finding("warning", "API keys", "SOULGRAPH_API_KEY is not a key of this database, or it was revoked")
    return Finding("ok", "API keys", "required from every caller")


async def _voice(settings: Settings) -> Finding:
    try:
        async with open_voice(settings, ()):
            pass
    except ConfigurationError as error:
        return Finding("problem", "voice", error.detail)
    if settings.offline:
        fix = "set SOULGRAPH_LLM_MODEL with SOULGRAPH_LLM_BASE_URL or SOULGRAPH_LLM_API_KEY to speak through one"
        return Finding("warning", "voice", f"offline: prepared lines, no language model; {fix}")
    return await _model(settings)


async def _model(settings: Settings) -> Finding:
    url = f"{(settings.llm_base_url or _OPENAI).rstrip('/')}/models"
    key = settings.llm_api_key.get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with httpx.AsyncClient(timeout=_PATIENCE_S, headers=headers) as http:
            response = await http.get(url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        why = str(error) or f"no answer in {_PATIENCE_S} s"
        return Finding("problem", "voice", f"{masked(url)}: {why}; check SOULGRAPH_LLM_BASE_URL")
    return _judged(response, settings.llm_model, masked(url))


def _judged(response: httpx.Response, model: str, url: str) -> Finding:
    if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        said = f"{url} answered {response.status_code}"
        return Finding("problem", "voice", f"{said}: the key is refused; check SOULGRAPH_LLM_API_KEY")
    try:
        names = [entry["id"] for entry in response.raise_for_status().json()["data"]]
    except (httpx.HTTPStatusError, ValueError, LookupError, TypeError):
        said = f"{url} answered {response.status_code} and no list of models"
        return Finding("warning", "voice", f"{said}: whether {model} can be used will be seen in the first turn")
    if model not in names:
        offers = ", ".join(names[:5]) or "none"
        return Finding("problem", "voice", f"{url} has no model {model!r}; SOULGRAPH_LLM_MODEL could be: {offers}")
    return Finding("ok", "voice", f"{model} is offered by {url}")


async def _broker(settings: Settings) -> Finding:
    if settings.mqtt_url == NONE:
        return Finding("ok", "broker", "none: actions are recorded in answers; SOULGRAPH_MQTT_URL names one")
    if not settings.mqtt_url:
        return Finding("ok", "broker", "embedded: for terminals on this machine; SOULGRAPH_MQTT_URL names another")
    try:
        async with MqttHub.open(settings.mqtt_url):
            return Finding("ok", "broker", f"{masked(settings.mqtt_url)} answers")
    except ConfigurationError as error:
        return Finding("problem", "broker", error.detail)


def _server(settings: Settings) -> Finding:
    url = own_url(settings)
    try:
        ready = running(url)
    except SoulgraphError as error:
        return Finding("problem", "server", error.detail)
    if ready is None:
        return Finding("ok", "server", f"none runs at {url}; `soulgraph serve` starts one")
    return Finding("ok", "server", f"runs at {url} (voice: {ready['voice']}, database: {ready['database']})")
