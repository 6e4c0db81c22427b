"""The composition root: settings → ports → graph → app. The lifespan owns everything that runs."""

import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI

from soulgraph import __version__
from soulgraph.api import chat, emotion, operations, presets, problems, sessions, souls, terminals, transcripts
from soulgraph.api.limits import BodyLimit
from soulgraph.api.metrics import Metrics
from soulgraph.api.services import Services
from soulgraph.errors import ConfigurationError
from soulgraph.graph.context import Context
from soulgraph.graph.runner import TurnRunner
from soulgraph.graph.turn import turn_graph
from soulgraph.nodes.tools import TOOLS
from soulgraph.senses.emotion.lexical import LexiconRecogniser
from soulgraph.settings import Settings, masked
from soulgraph.stores.checkpoints import open_checkpointer
from soulgraph.stores.database import Database, database_url
from soulgraph.stores.library import stock
from soulgraph.stores.locks import AdvisoryLocks, SessionLocks
from soulgraph.stores.stores import Stores
from soulgraph.terminals.hub import MqttHub
from soulgraph.terminals.presence import Presence
from soulgraph.terminals.ticks import Ticks
from soulgraph.voices.factory import OFFLINE, open_voice

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
    for router in (chat, souls, emotion, transcripts, sessions, terminals, presets, operations):
        app.include_router(router.router)
    return app


@asynccontextmanager
async def open_services(settings: Settings, clock: Callable[[], float] = time.time) -> AsyncIterator[Services]:
    """Open every port, or fail with the name of the setting; close them in reverse, turns first."""
    settings.refuse_unused()
    async with AsyncExitStack() as stack:
        stores = await stack.enter_async_context(open_stores(settings))
        async with stores.write() as tx:
            await stock(tx, clock())
            open_access = _access(settings, await tx.keys.exist())
        checkpointer = await stack.enter_async_context(open_checkpointer(settings.resolved_database_url))
        metrics = Metrics()
        presence = Presence(clock, metrics.dropped.inc)
        context = Context(
            stores=stores,
            emotions=LexiconRecogniser(),
            voice=await stack.enter_async_context(open_voice(settings, TOOLS)),
            persona=settings.persona,
            clock=clock,
            hub=await _hub(settings, presence, stack),
            max_steps=settings.turn_max_steps,
        )
        locks = SessionLocks(settings.session_queue, await _shared_locks(settings, stack))
        graph = turn_graph().compile(checkpointer=checkpointer, name="turn")
        runner = TurnRunner(graph, context, locks, settings.turn_timeout_s, metrics.turn)
        stack.push_async_callback(runner.drain, settings.shutdown_grace_s)
        ticks = Ticks(stores, presence, context.hub, context.constants, clock, settings.tick_s, metrics.tick)
        await stack.enter_async_context(ticks.running())
        _announce(settings, context, open_access)
        yield Services(settings, stores, context, checkpointer, locks, runner, presence, metrics, open_access)


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


async def _shared_locks(settings: Settings, stack: AsyncExitStack) -> AdvisoryLocks | None:
    url = database_url(settings.resolved_database_url)
    if url.get_backend_name() != "postgresql":
        return None
    return await stack.enter_async_context(AdvisoryLocks.open(url))


async def _hub(settings: Settings, presence: Presence, stack: AsyncExitStack) -> MqttHub | None:
    if not settings.mqtt_url:
        return None
    return await stack.enter_async_context(MqttHub.open(settings.mqtt_url, presence.hear))


def _access(settings: Settings, has_keys: bool) -> bool:
    """Open only to this machine, and only while no key has been made."""
    if not has_keys and not settings.on_loopback:
        raise ConfigurationError(
            "SOULGRAPH_HOST",
            f"{settings.host} can be reached from outside and there is no API key: "
            "make one with `soulgraph key create NAME --scope owner`, or listen on 127.0.0.1",
        )
    return not has_keys


def _announce(settings: Settings, context: Context, open_access: bool) -> None:
    _log.info("database: %s", context.stores.database.url.render_as_string(hide_password=True))
    if context.voice.name == OFFLINE:
        _log.info("voice: offline (no model is configured: set SOULGRAPH_LLM_MODEL and an endpoint or a key)")
    else:
        _log.info("voice: %s at %s", context.voice.name, masked(settings.llm_base_url) or "OpenAI")
    if open_access:
        _log.info("access: open to this machine, because no API key has been made")
