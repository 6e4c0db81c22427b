"""The composition root: settings → ports → graph → app. The lifespan owns everything that runs."""

import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from langchain_core.language_models import BaseChatModel

from soulgraph import __version__
from soulgraph.api import (
    chat,
    emotion,
    events,
    growth,
    jobs,
    library,
    lore,
    memory,
    operations,
    preview,
    problems,
    profile,
    senses,
    sessions,
    souls,
    stream,
    templates,
    terminals,
    transcripts,
    usage,
)
from soulgraph.api.limits import BodyLimit
from soulgraph.api.metrics import Metrics
from soulgraph.api.services import Services
from soulgraph.errors import ConfigurationError
from soulgraph.graph.afterglow import afterglow_graph
from soulgraph.graph.afterglow_workers import AfterglowWorkers
from soulgraph.graph.context import Context
from soulgraph.graph.life_loop import LifeLoop
from soulgraph.graph.runner import TurnRequest, TurnRunner
from soulgraph.graph.telemetry import JsonLines
from soulgraph.graph.turn import turn_graph
from soulgraph.memory.events import open_events
from soulgraph.memory.opening import open_recall
from soulgraph.nodes.tools import TOOLS
from soulgraph.senses.embedding.factory import open_embedder
from soulgraph.senses.embedding.local import NAME, open_local_embedder
from soulgraph.senses.emotion.http import HttpRecogniser
from soulgraph.senses.emotion.local import LocalRecogniser
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.senses.ports import Embedder, EmotionRecogniser
from soulgraph.settings import PREFIX, Settings, masked
from soulgraph.stores.births import DEFAULT_USER
from soulgraph.stores.checkpoints import open_checkpointer
from soulgraph.stores.database import Database, database_url
from soulgraph.stores.library import stock
from soulgraph.stores.locks import AdvisoryLocks, SessionLocks
from soulgraph.stores.stores import Stores
from soulgraph.stores.workspace import Workspaces
from soulgraph.terminals.hub import MqttHub
from soulgraph.terminals.invocations import Invocations
from soulgraph.terminals.opening import open_hub
from soulgraph.terminals.presence import Presence
from soulgraph.terminals.reception import Answer, Reception
from soulgraph.terminals.reports import Input
from soulgraph.terminals.ticks import Ticks
from soulgraph.terminals.uplink import Uplink
from soulgraph.tracing.opening import open_tracing
from soulgraph.voices.factory import OFFLINE, open_voice
from soulgraph.voices.listening import LlmArbiter, LlmRecogniser
from soulgraph.voices.voice import Voice

_log = logging.getLogger("soulgraph")


def create_app(settings: Settings | None = None, clock: Callable[[], float] = time.time) -> FastAPI:
    """The HTTP application. Nothing is opened before its lifespan starts."""
    settings = settings or Settings.load()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_services(settings, clock) as services:
            app.state.services = services
            yield

    app = FastAPI(title="soulgraph", version=__version__, lifespan=lifespan)
    app.add_middleware(BodyLimit)
    problems.install(app)
    talking, memories = (chat, stream, transcripts, sessions, growth), (souls, emotion, memory, profile, events)
    presets, running = (library, lore, templates, preview), (terminals, usage, jobs, operations)
    for router in (*talking, *memories, *presets, senses, *running):
        app.router.routes.extend(router.router.routes)  # complete as they are: to include them is to analyse them again
    return app


@asynccontextmanager
async def open_services(settings: Settings, clock: Callable[[], float] = time.time) -> AsyncIterator[Services]:
    """Open every port, or fail with the name of the setting; close them in reverse, turns first."""
    settings.refuse_unused()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(open_tracing(settings))
        stores = await stack.enter_async_context(open_stores(settings))
        async with stores.write() as tx:
            await stock(tx, clock())
            open_access = _access(settings, await tx.keys.exist())
        checkpointer = await stack.enter_async_context(open_checkpointer(settings.resolved_database_url))
        metrics = Metrics()
        presence = Presence(clock)
        uplink = Uplink(presence, Invocations(), metrics.dropped.inc)
        voice = await stack.enter_async_context(open_voice(settings, TOOLS))
        embedder = await stack.enter_async_context(open_embedder(settings))
        events = await stack.enter_async_context(
            open_events(stores, embedder, clock, folder=settings.data_dir / "chroma", url=settings.chroma_url)
        )
        recall = await stack.enter_async_context(open_recall(stores, embedder, events, clock))
        locks = SessionLocks(settings.session_queue, await _shared_locks(settings, stack))
        context = Context(
            stores=stores,
            emotions=await _emotions(settings, embedder, voice, stack),
            intents=IntentFilter(embedder, _arbiter(settings, voice)),
            voice=voice,
            persona=settings.persona,
            clock=clock,
            timezone=settings.zone,
            recall=recall,
            events=events,
            workspaces=Workspaces(settings.data_dir),
            telemetry=stack.enter_context(JsonLines.open(settings.telemetry_file, clock)),
            hub=await _hub(settings, stores, uplink, stack),
            locks=locks,
            max_steps=settings.turn_max_steps,
            max_events=settings.max_events,
            daily_tokens=settings.daily_tokens,
            observe_usage=metrics.usage,
        )
        graph = turn_graph().compile(checkpointer=checkpointer, name="turn")
        afterglow = AfterglowWorkers(
            afterglow_graph().compile(name="afterglow"), context, settings.job_lease_s, metrics.job
        )
        await stack.enter_async_context(afterglow.running(settings.shutdown_grace_s))
        runner = TurnRunner(graph, context, locks, settings.turn_timeout_s, metrics.turn, afterglow.wake)
        await stack.enter_async_context(_reception(context, presence, uplink, runner))
        stack.push_async_callback(runner.drain, settings.shutdown_grace_s)
        ticking = context.constants, clock, settings.tick_s, metrics.tick, lambda: runner.running > 0
        ticks = Ticks(stores, presence, context.hub, *ticking)
        await stack.enter_async_context(ticks.running())
        if settings.alive:
            await stack.enter_async_context(LifeLoop(context).running())
        _announce(settings, context, embedder.name, open_access)
        yield Services(
            settings, stores, context, checkpointer, locks, runner, afterglow, presence, metrics, open_access
        )


@asynccontextmanager
async def open_stores(settings: Settings) -> AsyncIterator[Stores]:
    """The database, migrated; the embedded one gets its folder."""
    if not settings.database_url:
        try:
            settings.data_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                "SOULGRAPH_DATA_DIR", f"cannot make {settings.data_dir}: {error.strerror}"
            ) from error
    async with Database.open(settings.resolved_database_url) as database:
        yield Stores(database)


async def _emotions(settings: Settings, embedder: Embedder, voice: Voice, stack: AsyncExitStack) -> EmotionRecogniser:
    """Who hears what the user feels; the built-in one was trained on the built-in encoder's vectors."""
    if settings.emotion == "llm":
        return LlmRecogniser(_model(voice, "EMOTION"))
    if settings.emotion == "http":
        return await stack.enter_async_context(HttpRecogniser.open(settings.checked_emotion_url))
    built_in = embedder if embedder.name == NAME else await stack.enter_async_context(open_local_embedder())
    return LocalRecogniser(built_in)


def _arbiter(settings: Settings, voice: Voice) -> LlmArbiter | None:
    return LlmArbiter(_model(voice, "INTENTS")) if settings.intents == "llm" else None


def _model(voice: Voice, setting: str) -> BaseChatModel:
    if voice.name == OFFLINE:
        raise ConfigurationError(f"{PREFIX}{setting}", "llm needs a model: set SOULGRAPH_LLM_MODEL, or use `local`")
    return voice.model


async def _shared_locks(settings: Settings, stack: AsyncExitStack) -> AdvisoryLocks | None:
    url = database_url(settings.resolved_database_url)
    if url.get_backend_name() != "postgresql":
        return None
    return await stack.enter_async_context(AdvisoryLocks.open(url))


async def _hub(settings: Settings, stores: Stores, uplink: Uplink, stack: AsyncExitStack) -> MqttHub | None:
    ports = settings.mqtt_port, settings.mqtt_websocket_port
    return await stack.enter_async_context(open_hub(settings.mqtt_url, *ports, stores.database.url, uplink))


@asynccontextmanager
async def _reception(context: Context, presence: Presence, uplink: Uplink, runner: TurnRunner) -> AsyncIterator[None]:
    """Terminals are heard while the block lasts; what they asked before its end is answered after the last turn."""
    if context.hub is None:
        yield
        return

    async def begin(terminal_id: str, said: Input) -> Answer:
        request = TurnRequest(said.text, DEFAULT_USER, said.input_id, terminal_id=terminal_id)
        return (await runner.start(request)).answer()

    reception = Reception(context.stores, context.hub, presence, begin, context.clock)
    async with uplink.running(reception.work):
        yield
    await reception.finish()


def _access(settings: Settings, has_keys: bool) -> bool:
    """Open only to this machine, and only while no key has been made."""
    if not has_keys and not settings.on_loopback:
        raise ConfigurationError(
            "SOULGRAPH_HOST",
            f"{settings.host} can be reached from outside and there is no API key: "
            "make one with `soulgraph key create NAME --scope owner`, or listen on 127.0.0.1",
        )
    return not has_keys


def _announce(settings: Settings, context: Context, embedder: str, open_access: bool) -> None:
    _log.info("database: %s", context.stores.database.url.render_as_string(hide_password=True))
    if context.voice.name == OFFLINE:
        _log.info("voice: offline (no model is configured: set SOULGRAPH_LLM_MODEL and an endpoint or a key)")
    else:
        _log.info("voice: %s at %s", context.voice.name, masked(settings.llm_base_url) or "OpenAI")
    if settings.alive:
        life = settings.persona.life
        quiet = f", never {life.quiet_hours}" if str(life.quiet_hours) else ""
        _log.info("life: souls may speak of their own accord, at most %d times a day%s", life.daily_cap, quiet)
    _log.info("emotion: %s; embeddings: %s", settings.emotion, embedder)
    if open_access:
        _log.info("access: open to this machine, because no API key has been made")
