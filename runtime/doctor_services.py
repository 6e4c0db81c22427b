"""The doctor's checks of services: each is opened or called once, as the server would do it."""

import asyncio
import shutil
from collections.abc import Sequence
from functools import partial

import httpx

from soulgraph.errors import SoulgraphError
from soulgraph.nodes.tools.mcp import Toolbox, open_mcp_tools
from soulgraph.nodes.tools.mcp_client.server import McpReport
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.runtime.doctor_findings import Check, Finding, Level
from soulgraph.runtime.doctor_memory import check_memory
from soulgraph.senses.embedding.factory import open_embedder
from soulgraph.senses.emotion.http import HttpRecogniser
from soulgraph.senses.endpoint import Endpoint, masked
from soulgraph.settings import PREFIX, Settings
from soulgraph.terminals.hub import MqttHub
from soulgraph.terminals.ports import NONE
from soulgraph.voices.factory import open_voice
from soulgraph.voices.probe import IN_WORDS, learn_habits
from soulgraph.voices.providers import ModelInfo, described, find_model, models_url, offered_models
from soulgraph.voices.synthesis import ENGINE, HOW_TO_HEAR, HOW_TO_SPEAK, Saying, heard_whole, open_synthesiser
from soulgraph.voices.voice import Voice

_TIMEOUT_S = 3
_LONGEST_S = 30
"""What takes longer than this is of no use either; a model that is asked may take its own time."""


async def check_services(settings: Settings, memory: Check = check_memory, voice: Voice | None = None) -> list[Finding]:
    """One after another, so that none is late because of the others.

    `memory` looks at events and summaries; `voice` is that of a running server, which is not talked to.
    """
    checks: dict[str, Check] = {
        "voice": partial(_voice, running=voice),
        "embeddings": _embeddings,
        "emotion": _emotion,
        "events": memory,
        "speech to text": _hearing,
        "text to speech": _speaking,
        "tools": partial(_tools, running=voice),
        "traces": _traces,
        "broker": _broker,
    }
    limits = {"voice": None if voice is None else _LONGEST_S}
    return [await _run_check(name, check, settings, limits.get(name, _LONGEST_S)) for name, check in checks.items()]


async def _run_check(subject: str, check: Check, settings: Settings, limit_s: float | None) -> Finding:
    limit = asyncio.timeout(limit_s)
    try:
        async with limit:
            level, detail = await check(settings)
    except SoulgraphError as error:
        level, detail = "problem", error.detail
    except TimeoutError:
        if not limit.expired():
            raise
        level, detail = "problem", f"no answer in {limit_s} s: check its settings, and whether it runs"
    return Finding(level, subject, detail)


async def _voice(settings: Settings, running: Voice | None) -> tuple[Level, str]:
    if settings.offline:
        fix = "set SOULGRAPH_LLM_MODEL with SOULGRAPH_LLM_BASE_URL or SOULGRAPH_LLM_API_KEY to speak through one"
        return "warning", f"offline: prepared lines, no language model; {fix}"
    endpoint = settings.llm
    assert endpoint
    level, detail = await _judge_models(endpoint, await offered_models(endpoint))
    if level == "problem":
        return level, detail
    return await _probe(settings, detail) if running is None else (level, _habits(settings, running, detail))


async def _probe(settings: Settings, detail: str) -> tuple[Level, str]:
    """Talk to the model once in each language, and say how it answers best."""
    async with open_voice(settings.llm, ()) as voice:
        await learn_habits(voice)
    if not voice.habits.known:
        return "problem", f"{detail}, but it does not answer: see the warning above"
    return "ok", _habits(settings, voice, detail)


def _habits(settings: Settings, voice: Voice, detail: str) -> str:
    if not voice.habits.known:
        return f"{detail}; how it answers best is found out after the first turn"
    chosen = "" if settings.llm_carrier == "auto" else f" (SOULGRAPH_LLM_CARRIER={settings.llm_carrier} is set)"
    return f"{detail}; it {IN_WORDS[voice.habits.carrier]}{chosen}"


async def _judge_models(endpoint: Endpoint, models: list[ModelInfo] | None) -> tuple[Level, str]:
    """Whether the server's list of models has ours. A server without such a list is only a warning."""
    url, model = masked(models_url(endpoint)), endpoint.model
    if models is None:
        return "warning", f"{url} has no list of models: whether {model} can be used will be seen in the first turn"
    found = find_model(models, model)
    if found is None:
        offers = ", ".join(info.name for info in models[:5]) or "none"
        return "problem", f"{url} has no model {model!r}; SOULGRAPH_LLM_MODEL could be: {offers}"
    [info] = await described(endpoint, [found])
    size = f", with a context of {info.context_tokens:,} tokens" if info.context_tokens else ""
    return "ok", f"{model} is offered by {url}{size}"


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


async def _tools(settings: Settings, running: Voice | None) -> tuple[Level, str]:
    """Of a server that runs, how it stands with its sessions; else each MCP server is tried once."""
    if running is not None and isinstance(running.tools, Toolbox):
        return _judge_tools(running.tools.servers.reports())
    async with open_mcp_tools(settings.mcp_servers, [tool.name for tool in TOOLS]) as servers:
        return _judge_tools(servers.reports())


def _judge_tools(reports: Sequence[McpReport]) -> tuple[Level, str]:
    if not reports:
        return "ok", "the soul's own; SOULGRAPH_MCP names servers of more"
    usable = [f"{one.tools} of {one.name}{_left_out(one)}" for one in reports if one.state != "broken"]
    told = f"{', '.join(usable)}, beside the soul's own" if usable else "only the soul's own can be used"
    if broken := [one for one in reports if one.state == "broken"]:
        why = "; ".join(f"the MCP server {one.name!r} cannot be used: {one.problem}" for one in broken)
        return "problem", f"{PREFIX}MCP: {why}; {told}"
    return "warning" if any(one.left_out for one in reports) else "ok", told


def _left_out(report: McpReport) -> str:
    return f" (without {', '.join(report.left_out)}: the log says why)" if report.left_out else ""


async def _hearing(settings: Settings) -> tuple[Level, str]:
    """The service is not sent a recording: that something answers there is all that can be told for nothing."""
    endpoint = settings.stt
    voices = f"; {len(settings.speaker_table)} voices are known" if settings.speaker_table else ""
    if endpoint is None:
        return "ok", f"none: recordings are refused; {HOW_TO_HEAR}"
    if endpoint.base_url:
        await _get(endpoint.base_url, "STT_BASE_URL")
    return "ok", f"{endpoint.model} at {endpoint.place}, not asked{voices}"


async def _speaking(settings: Settings) -> tuple[Level, str]:
    endpoint = settings.tts
    if endpoint:
        if endpoint.base_url:
            await _get(endpoint.base_url, "TTS_BASE_URL")
        return "ok", f"{endpoint.model} at {endpoint.place}, not asked"
    if not shutil.which(ENGINE):
        return "ok", f"none: nothing is said aloud; {HOW_TO_SPEAK}"
    async with open_synthesiser(None, settings.tts_voice, _TIMEOUT_S) as engine:
        assert engine
        await heard_whole(await engine.speak(Saying("I am here.", "wav")))
    formats = "mp3, opus, aac, flac, wav, pcm" if shutil.which("ffmpeg") else "wav and pcm; ffmpeg would add the others"
    return "ok", f"{ENGINE} speaks: {formats}"


async def _traces(settings: Settings) -> tuple[Level, str]:
    if not settings.otlp_endpoint:
        return "ok", "none over OTLP; SOULGRAPH_OTLP_ENDPOINT names a collector"
    await _get(settings.checked_otlp_endpoint, "OTLP_ENDPOINT")
    return "ok", f"something answers at {masked(settings.otlp_endpoint)}"


async def _broker(settings: Settings) -> tuple[Level, str]:
    if settings.mqtt_url == NONE:
        return "ok", "none: actions are recorded in answers; SOULGRAPH_MQTT_URL names one"
    if not settings.mqtt_url:
        return "ok", "embedded: for terminals on this machine; SOULGRAPH_MQTT_URL names another"
    async with MqttHub.open(settings.mqtt_url):
        return "ok", f"{masked(settings.mqtt_url)} answers"


async def _get(url: str, setting: str) -> httpx.Response:
    """The response, whatever its status; SoulgraphError, which names the setting, if there is none."""
    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S) as http:
            return await http.get(url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        why = str(error) or f"no answer in {_TIMEOUT_S} s"
        raise SoulgraphError(f"{masked(url)}: {why}; check {PREFIX}{setting}") from error
