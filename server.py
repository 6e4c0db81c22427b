"""The composition root: builds ports, graphs and the FastAPI app from the settings.

The lifespan of the app opens everything that runs, and closes it again.
"""

import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from fastapi import FastAPI

from soulgraph import __version__
from soulgraph.api import (
    audio,
    backgrounds,
    backup,
    cards,
    chat,
    chat_import,
    completions,
    documentation,
    embeddings,
    emotion,
    events,
    evolution,
    facts,
    forks,
    graphs,
    growth,
    images,
    inner_state,
    jobs,
    keys,
    library,
    lore,
    lore_import,
    mbti,
    mcp,
    memory,
    messages,
    mqtt,
    operations,
    persona_state,
    plans,
    preview,
    problems,
    profile,
    relations,
    responses,
    senses,
    sessions,
    shared,
    simulate,
    soul_character,
    soul_files,
    souls,
    stream,
    studio,
    templates,
    terminals,
    transcripts,
    turn_streams,
    turns,
    usage,
    websocket,
    xiaozhi,
)
from soulgraph.api.access import Access
from soulgraph.api.auth import MAKE_A_KEY
from soulgraph.api.contract import DescribedApp
from soulgraph.api.cors import Cors
from soulgraph.api.limits import BodyLimit
from soulgraph.api.methods import Methods
from soulgraph.api.metrics import Metrics
from soulgraph.api.mqtt_rights import KeyLogins
from soulgraph.api.origins import Origins
from soulgraph.api.services import Services
from soulgraph.api.shutdown import CutOff
from soulgraph.errors import ConfigurationError
from soulgraph.graph.afterglow import afterglow_graph
from soulgraph.graph.turn import turn_graph
from soulgraph.nodes.context import Context
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.afterglow_workers import AfterglowWorkers
from soulgraph.runtime.background import in_background
from soulgraph.runtime.chat_imports import ChatImports
from soulgraph.runtime.home_assistant import HomeAssistant
from soulgraph.runtime.listeners import Listeners
from soulgraph.runtime.ports import open_ports
from soulgraph.runtime.proactive_scheduler import ProactiveScheduler
from soulgraph.runtime.reminders import Reminders
from soulgraph.runtime.retention import Retention
from soulgraph.runtime.speakers import for_speaker
from soulgraph.runtime.speech_ports import SpeechPorts, open_speech
from soulgraph.runtime.stops import Stops
from soulgraph.runtime.ticks import Ticks
from soulgraph.runtime.tracing.ports import open_tracing
from soulgraph.runtime.turn_relays import TurnRelays
from soulgraph.runtime.turn_runner import TurnRunner
from soulgraph.senses.endpoint import masked
from soulgraph.settings import Settings
from soulgraph.stores.records import ApiKey
from soulgraph.stores.stores import Stores, Transaction
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.handlers import Handlers, PendingAnswer
from soulgraph.terminals.hub import MqttHub
from soulgraph.terminals.inbox import Inbox
from soulgraph.terminals.invocations import Invocations
from soulgraph.terminals.ports import open_hub
from soulgraph.terminals.presence import Presence
from soulgraph.terminals.reports import Input
from soulgraph.voices.factory import OFFLINE
from soulgraph.voices.relay import Relay

_log = logging.getLogger("soulgraph")

_CONVERSATIONS = (
    chat,
    completions,
    responses,
    mcp,
    audio,
    websocket,
    stream,
    transcripts,
    sessions,
    messages,
    turns,
    turn_streams,
    forks,
    persona_state,
    growth,
    evolution,
)
_INDIVIDUALS = (
    souls,
    soul_files,
    chat_import,
    soul_character,
    emotion,
    memory,
    facts,
    plans,
    relations,
    shared,
    inner_state,
    profile,
    events,
)
_PRESETS = library, backgrounds, lore, lore_import, cards, images, mbti, templates, preview
_ADMINISTRATION = keys, terminals, mqtt, xiaozhi, usage, jobs, graphs, operations, backup, documentation, studio
_ENDPOINTS = (*_CONVERSATIONS, *_INDIVIDUALS, *_PRESETS, senses, embeddings, simulate, *_ADMINISTRATION)
"""The modules of all endpoints; a request goes to the first of them that has its path."""


def create_app(settings: Settings | None = None, clock: Callable[[], float] = time.time) -> FastAPI:
    """The FastAPI application. Nothing is opened before its lifespan starts."""
    settings = settings or Settings.load()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_services(settings, clock) as services:
            app.state.services = services
            yield

    origins = Origins.parse(settings.cors_origins)
    app = DescribedApp(
        outermost=lambda app: Cors(app, origins),
        title="soulgraph",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(BodyLimit)
    app.add_middleware(Methods, routes=app.routes)
    app.add_middleware(CutOff)
    problems.install(app)
    for module in _ENDPOINTS:
        # Not `include_router`, which would analyse every endpoint a second time and slow down the start.
        app.router.routes.extend(module.router.routes)
    return app


@asynccontextmanager
async def open_services(settings: Settings, clock: Callable[[], float] = time.time) -> AsyncIterator[Services]:
    """Open everything the endpoints need; raises ConfigurationError with the name of the setting at fault.

    It is closed in reverse order: first no new work begins, then running turns finish, then their jobs.
    """
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(open_tracing(settings))
        metrics = Metrics()
        ports = await stack.enter_async_context(open_ports(settings, clock, observe_usage=metrics.usage))
        async with ports.context.stores.read() as tx:
            made = await tx.keys.all()
            presence = await _presence(tx, clock)
        access = _open_access(settings, made)
        inbox = Inbox(presence, Invocations(presence.gone), metrics.dropped.inc)
        hub = await _open_hub(settings, ports.context.stores, access, inbox, stack)
        context = replace(ports.context, outlets=replace(ports.context.outlets, hub=hub))
        graph = turn_graph().compile(name="turn")
        afterglow = AfterglowWorkers(
            afterglow_graph().compile(name="afterglow"), context, settings.job_lease_s, metrics.job, ports.bus
        )
        await stack.enter_async_context(afterglow.running(settings.shutdown_grace_s))
        runner = TurnRunner(graph, context, metrics.turn, settings.max_turns)
        relays = TurnRelays(ports.bus, ports.listeners.interest, runner.under_way)
        await stack.enter_async_context(relays.running())
        speech = await stack.enter_async_context(open_speech(settings))
        await stack.enter_async_context(_terminal_inputs(context, presence, inbox, runner, settings.speaker_table))
        stack.push_async_callback(runner.drain, settings.shutdown_grace_s)
        ticks = _ticks(settings, context, presence, metrics, runner, ports.listeners)
        await stack.enter_async_context(ticks.running())
        await stack.enter_async_context(_unasked(settings, context, ports.listeners))
        imports = await stack.enter_async_context(ChatImports(context).running())
        _log_start(settings, context, speech, made)
        yield Services(
            settings,
            context.stores,
            context,
            context.locks,
            runner,
            afterglow,
            presence,
            metrics,
            access,
            ports.budget,
            ports.listeners,
            imports,
            ports.bus,
            Stops(ports.bus, ports.listeners.interest, runner),
            relays,
            await stack.enter_async_context(Relay.open(settings.llm)),
            speech,
        )


@asynccontextmanager
async def _unasked(settings: Settings, context: Context, listeners: Listeners) -> AsyncIterator[None]:
    """What souls, and the server for them, do of their own accord."""
    async with AsyncExitStack() as stack:
        if settings.home_assistant:
            await stack.enter_async_context(_home_assistant(settings, context).running())
        if settings.alive:
            await stack.enter_async_context(ProactiveScheduler(context, listeners).running())
        await stack.enter_async_context(Reminders(context, listeners).running())
        await stack.enter_async_context(Retention(context.stores, context.clock, settings.job_days).running())
        yield


async def _presence(tx: Transaction, clock: Callable[[], float]) -> Presence:
    """It takes note of who is there: else who comes before the first tick would seem to have been there before."""
    presence = Presence(clock, await tx.terminals.gone())
    presence.changes({one.terminal_id: one.soul_id for one in await tx.terminals.awake(clock())})
    return presence


def _ticks(
    settings: Settings,
    context: Context,
    presence: Presence,
    metrics: Metrics,
    runner: TurnRunner,
    listeners: Listeners,
) -> Ticks:
    return Ticks(
        context.stores,
        presence,
        context.outlets.hub,
        context.constants,
        context.clock,
        settings.tick_s,
        metrics.tick,
        busy=lambda: runner.running > 0,
        listeners=listeners,
    )


def _home_assistant(settings: Settings, context: Context) -> HomeAssistant:
    broker = Broker.parse(settings.mqtt_url)
    prefix, period_s = settings.home_assistant, settings.tick_s
    return HomeAssistant(context.stores, broker, prefix, context.clock, lambda: context.constants, period_s)


async def _open_hub(
    settings: Settings, stores: Stores, access: Access, inbox: Inbox, stack: AsyncExitStack
) -> MqttHub | None:
    ports = settings.mqtt_port, settings.mqtt_websocket_port
    logins = KeyLogins(stores, access)
    shared = settings.shared.broker if settings.shared else None
    url = stores.database.url
    return await stack.enter_async_context(open_hub(settings.mqtt_url, *ports, url, inbox, logins, shared))


@asynccontextmanager
async def _terminal_inputs(
    context: Context, presence: Presence, inbox: Inbox, runner: TurnRunner, speakers: Mapping[str, str]
) -> AsyncIterator[None]:
    """Handle messages of terminals while the block lasts; then wait until the last answers have been sent."""
    if context.outlets.hub is None:
        yield
        return

    async def begin(terminal_id: str, message: Input) -> PendingAnswer:
        ids = message.user_id, message.input_id, message.session_id
        request = TurnRequest(message.text, *ids, terminal_id=terminal_id)
        heard = [message.speaker] if message.speaker else []
        return (await runner.start(await for_speaker(request, heard, speakers, context.stores))).answer()

    compile_soon = context.senses.intents.catalogs.compile_soon
    handlers = Handlers(context.stores, context.outlets.hub, presence, begin, context.clock, compile_soon)
    missed = "ended, and no terminal is heard until the server is restarted"
    async with in_background(inbox.run(handlers.work), "inbox", missed):
        yield
    await handlers.finish()


def _open_access(settings: Settings, keys: Sequence[ApiKey]) -> Access:
    """The server is open only on loopback, and only if no key was ever made: a revoked one counts.

    Raises ConfigurationError if there is no key but the server can be reached from outside.
    """
    if not keys and not settings.on_loopback:
        raise ConfigurationError(
            "SOULGRAPH_HOST",
            f"{settings.host} can be reached from outside and there is no API key: "
            f"{MAKE_A_KEY}, or listen on 127.0.0.1",
        )
    return Access(open_until_first_key=not keys)


def _log_access(keys: Sequence[ApiKey]) -> None:
    if not keys:
        _log.info("access: open to this machine, because no API key has been made")
    elif all(key.revoked_at for key in keys):
        _log.warning("access: everybody is refused, because every API key is revoked; %s", MAKE_A_KEY)


def _log_start(settings: Settings, context: Context, speech: SpeechPorts, made: Sequence[ApiKey]) -> None:
    _log_configuration(settings, context)
    _log_speech(speech)
    _log_access(made)
    _log_origins(settings, made)


def _log_speech(speech: SpeechPorts) -> None:
    hears = f"{speech.recogniser.model} at {speech.recogniser.place}" if speech.recogniser else "nobody"
    speaks = speech.synthesiser.name if speech.synthesiser else "nobody"
    _log.info("speech: %s turns it into text; %s speaks", hears, speaks)


def _log_origins(settings: Settings, keys: Sequence[ApiKey]) -> None:
    if not keys and Origins.parse(settings.cors_origins).lists_others:
        waits = "takes effect with the first API key; until then only pages of this machine are let in"
        _log.warning("SOULGRAPH_CORS_ORIGINS %s: %s", waits, MAKE_A_KEY)


def _log_configuration(settings: Settings, context: Context) -> None:
    _log.info("database: %s", context.stores.database.url.render_as_string(hide_password=True))
    if context.voice.name == OFFLINE:
        _log.info("voice: offline (no model is configured: set SOULGRAPH_LLM_MODEL and an endpoint or a key)")
    else:
        _log.info("voice: %s at %s", context.voice.name, masked(settings.llm_base_url) or "OpenAI")
    if settings.alive:
        life = settings.persona.life
        quiet = f", never {life.quiet_hours}" if str(life.quiet_hours) else ""
        _log.info("life: souls may speak of their own accord, at most %d times a day%s", life.daily_cap, quiet)
    _log.info("emotion: %s; embeddings: %s", settings.emotion, settings.embeddings_model or "built-in")
