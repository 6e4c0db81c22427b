"""The doctor's checks of services: each is opened or called once, as the server would do it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

import httpx

from soulgraph.errors import SoulgraphError
from soulgraph.memory.chroma import collection_name, open_server
from soulgraph.nodes.tools.mcp import open_mcp_tools
from soulgraph.senses.embedding.factory import open_embedder
from soulgraph.senses.embedding.local import NAME
from soulgraph.senses.emotion.http import HttpRecogniser
from soulgraph.senses.endpoint import masked
from soulgraph.settings import PREFIX, Settings
from soulgraph.terminals.hub import MqttHub
from soulgraph.terminals.ports import NONE
from soulgraph.voices.factory import open_voice

Level = Literal["ok", "warning", "problem"]

_TIMEOUT_S = 3
_OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Finding:
    level: Level
    subject: str
    detail: str


async def check_services(settings: Settings) -> list[Finding]:
    checks = {
        "voice": _voice,
        "embeddings": _embeddings,
        "emotion": _emotion,
        "events": _events,
        "tools": _tools,
        "traces": _traces,
        "broker": _broker,
    }
    return [await _run_check(subject, check, settings) for subject, check in checks.items()]


async def _run_check(
    subject: str, check: Callable[[Settings], Awaitable[tuple[Level, str]]], settings: Settings
) -> Finding:
    try:
        level, detail = await check(settings)
    except SoulgraphError as error:
        level, detail = "problem", error.detail
    return Finding(level, subject, detail)


async def _voice(settings: Settings) -> tuple[Level, str]:
    async with open_voice(settings.llm, ()):
        pass
    if settings.offline:
        fix = "set SOULGRAPH_LLM_MODEL with SOULGRAPH_LLM_BASE_URL or SOULGRAPH_LLM_API_KEY to speak through one"
        return "warning", f"offline: prepared lines, no language model; {fix}"
    url = f"{(settings.llm_base_url or _OPENAI).rstrip('/')}/models"
    key = settings.llm_api_key.get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return _judge_models(await _get(url, "LLM_BASE_URL", headers), settings.llm_model, masked(url))


def _judge_models(response: httpx.Response, model: str, url: str) -> tuple[Level, str]:
    """Whether the server's list of models has ours. A server without such a list is only a warning."""
    if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        return "problem", f"{url} answered {response.status_code}: the key is refused; check SOULGRAPH_LLM_API_KEY"
    try:
        names = [entry["id"] for entry in response.raise_for_status().json()["data"]]
    except (httpx.HTTPStatusError, ValueError, LookupError, TypeError):
        answered = f"{url} answered {response.status_code} and no list of models"
        return "warning", f"{answered}: whether {model} can be used will be seen in the first turn"
    if model not in names:
        offers = ", ".join(names[:5]) or "none"
        return "problem", f"{url} has no model {model!r}; SOULGRAPH_LLM_MODEL could be: {offers}"
    return "ok", f"{model} is offered by {url}"


async def _embeddings(settings: Settings) -> tuple[Level, str]:
    endpoint = settings.embeddings
    if endpoint is None:
        return "ok", "built-in"
    async with open_embedder(endpoint) as embedder:
        return "ok", f"{embedder.name} answers at {endpoint.place}"


async def _emotion(settings: Settings) -> tuple[Level, str]:
    if settings.emotion == "llm" and settings.offline:
        return "problem", f"{PREFIX}EMOTION=llm needs a model: set SOULGRAPH_LLM_MODEL, or use `local`"
    if settings.emotion != "http":
        return "ok", settings.emotion
    async with HttpRecogniser.open(settings.checked_emotion_url) as recogniser:
        emotion = await recogniser.recognise("I am glad that you are here.")
    return "ok", f"{masked(settings.emotion_url)} answers, and hears {emotion.emotion}"


async def _events(settings: Settings) -> tuple[Level, str]:
    if not settings.chroma_url:
        return "ok", "embedded: in the data directory, for one server"
    async with open_server(settings.chroma_url, collection_name(settings.embeddings_model or NAME)):
        return "ok", f"Chroma answers at {masked(settings.chroma_url)}"


async def _tools(settings: Settings) -> tuple[Level, str]:
    async with open_mcp_tools(settings.mcp_servers) as tools:
        if not settings.mcp_servers:
            return "ok", "the soul's own; SOULGRAPH_MCP names servers of more"
        return "ok", f"{len(tools)} of {', '.join(settings.mcp_servers)}, beside the soul's own"


async def _traces(settings: Settings) -> tuple[Level, str]:
    if not settings.otlp_endpoint:
        return "ok", "none over OTLP; SOULGRAPH_OTLP_ENDPOINT names a collector"
    await _get(settings.checked_otlp_endpoint, "OTLP_ENDPOINT", {})
    return "ok", f"something answers at {masked(settings.otlp_endpoint)}"


async def _broker(settings: Settings) -> tuple[Level, str]:
    if settings.mqtt_url == NONE:
        return "ok", "none: actions are recorded in answers; SOULGRAPH_MQTT_URL names one"
    if not settings.mqtt_url:
        return "ok", "embedded: for terminals on this machine; SOULGRAPH_MQTT_URL names another"
    async with MqttHub.open(settings.mqtt_url):
        return "ok", f"{masked(settings.mqtt_url)} answers"


async def _get(url: str, setting: str, headers: dict[str, str]) -> httpx.Response:
    """The response, whatever its status; SoulgraphError, which names the setting, if there is none."""
    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, headers=headers) as http:
            return await http.get(url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        why = str(error) or f"no answer in {_TIMEOUT_S} s"
        raise SoulgraphError(f"{masked(url)}: {why}; check {PREFIX}{setting}") from error
