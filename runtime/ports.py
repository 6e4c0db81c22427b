"""Builds the ports of a turn (stores, voice, senses, memory …) from the settings; they close in reverse order."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from soulgraph.errors import ConfigurationError
from soulgraph.library.persona_config import PersonaFile
from soulgraph.memory.event_source import EventSource
from soulgraph.memory.events import EventLibrary, open_events
from soulgraph.memory.facts import open_facts
from soulgraph.memory.plan_source import PlanSource
from soulgraph.memory.ports import open_recall
from soulgraph.memory.summaries import Summaries, open_summaries
from soulgraph.memory.upkeep import MemoryHealth
from soulgraph.nodes.context import Context, Limits, Memory, Outlets, Senses
from soulgraph.nodes.tools.mcp import Toolbox, open_mcp_tools
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.runtime.budget import ObserveUsage, TokenBudget, unobserved
from soulgraph.runtime.bus import Bus, open_bus
from soulgraph.runtime.data_dir import make_data_dir, tighten
from soulgraph.runtime.listeners import Listeners
from soulgraph.runtime.rotating_file import RotatingFile, require_writable
from soulgraph.runtime.telemetry import JsonLines
from soulgraph.runtime.warm_up import warming_up
from soulgraph.senses.embedding.factory import open_embedder
from soulgraph.senses.embedding.local import NAME, open_local_embedder
from soulgraph.senses.emotion.http import HttpRecogniser
from soulgraph.senses.emotion.local import LocalRecogniser
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.senses.plans.sense import PlanSense
from soulgraph.senses.ports import Embedder, EmotionRecogniser
from soulgraph.senses.surprise.sense import SurpriseSense
from soulgraph.settings import PREFIX, Settings
from soulgraph.stores.database import Database, database_url
from soulgraph.stores.library import stock
from soulgraph.stores.locks import AdvisoryLocks, SessionLocks
from soulgraph.stores.stores import Stores
from soulgraph.stores.workspace import Workspaces
from soulgraph.voices.factory import OFFLINE, open_voice
from soulgraph.voices.llm_senses import LlmArbiter, LlmRecogniser
from soulgraph.voices.voice import Voice


class Ports(NamedTuple):
    """The context of nodes, the concrete ports behind two of its protocols, and the bus of all servers."""

    context: Context
    budget: TokenBudget
    listeners: Listeners
    bus: Bus


@asynccontextmanager
async def open_ports(
    settings: Settings,
    clock: Callable[[], float],
    tools: Sequence[BaseTool] = (),
    observe_usage: ObserveUsage = unobserved,
) -> AsyncIterator[Ports]:
    """Open every port except the MQTT hub; raises ConfigurationError with the name of the setting at fault."""
    settings.refuse_unused()
    with _naming_data_dir():
        make_data_dir(settings.data_dir)
    tighten(settings.data_dir)
    async with AsyncExitStack() as stack:
        stores = await stack.enter_async_context(open_stores(settings))
        async with stores.write() as tx:
            await stock(tx, clock())
        bus = await stack.enter_async_context(open_bus(stores.database.url))
        own = _refuse_duplicates([*TOOLS, *tools])
        names = [tool.name for tool in own]
        mcp = await stack.enter_async_context(open_mcp_tools(settings.mcp_servers, names))
        voice = await stack.enter_async_context(open_voice(settings.llm, Toolbox(own, mcp)))
        embedder = await stack.enter_async_context(open_embedder(settings.embeddings))
        telemetry = stack.enter_context(JsonLines.open(_telemetry_file(settings), clock, settings.telemetry_words))
        budget = TokenBudget(stores, telemetry, clock, settings.zone, settings.daily_tokens, observe_usage)
        listeners = Listeners(bus)
        await stack.enter_async_context(listeners.interest.running())
        emotions = await _open_recogniser(settings, embedder, voice, stack)
        context = Context(
            stores=stores,
            senses=_senses(settings, emotions, embedder, voice, stack),
            voice=voice,
            read_persona=_persona_file(settings, telemetry),
            clock=clock,
            timezone=settings.zone,
            memory=await _open_memory(settings, stores, embedder, clock, stack),
            outlets=Outlets(listeners=listeners),
            telemetry=telemetry,
            budget=budget,
            locks=SessionLocks(settings.session_queue, await _open_shared_locks(settings, stack)),
            limits=Limits(settings.turn_timeout_s, settings.turn_max_steps, settings.max_events),
        )
        await stack.enter_async_context(warming_up())
        yield Ports(context, budget, listeners, bus)


def _telemetry_file(settings: Settings) -> RotatingFile:
    """Raises ConfigurationError for a file that was asked for and cannot be written."""
    if settings.telemetry:
        require_writable(settings.telemetry_file, f"{PREFIX}TELEMETRY")
    return RotatingFile(settings.telemetry_file, "telemetry", settings.telemetry_max_mb, settings.telemetry_files)


def _persona_file(settings: Settings, telemetry: JsonLines) -> PersonaFile:
    return PersonaFile(
        settings.persona_config, lambda problem: telemetry.emit("persona.config.rejected", problem=problem)
    )


async def _open_memory(
    settings: Settings, stores: Stores, embedder: Embedder, clock: Callable[[], float], stack: AsyncExitStack
) -> Memory:
    events, summaries = await stack.enter_async_context(open_libraries(settings, stores, embedder, clock))
    facts = await stack.enter_async_context(open_facts(stores, embedder))
    sources = EventSource(events), summaries, facts, PlanSource(stores)
    recall = await stack.enter_async_context(open_recall(stores, embedder, clock, *sources))
    health = MemoryHealth(events.upkeep, summaries.upkeep)
    await stack.enter_async_context(health.watching())
    return Memory(recall, events, Workspaces(settings.data_dir), summaries, embedder, health)


@asynccontextmanager
async def open_libraries(
    settings: Settings, stores: Stores, embedder: Embedder, clock: Callable[[], float]
) -> AsyncIterator[tuple[EventLibrary, Summaries]]:
    """What Chroma finds; one process at a time may have it open, if it is embedded."""
    folder, url = settings.data_dir / "chroma", settings.chroma_url
    # A folder of its own: two embedded clients on one would each close the other's.
    other = settings.data_dir / "chroma_summaries"
    shared = settings.shared.memory if settings.shared else ""
    async with (
        open_events(stores, embedder, clock, folder=folder, url=url, shared=shared) as events,
        open_summaries(stores, embedder, folder=other, url=url, shared=shared) as summaries,
    ):
        yield events, summaries


@asynccontextmanager
async def open_stores(settings: Settings) -> AsyncIterator[Stores]:
    """Open and migrate the database; for SQLite in the data directory, make that directory."""
    if not settings.database_url:
        with _naming_data_dir():
            make_data_dir(settings.data_dir)
            # Made before SQLite does it: the files that it keeps beside a database have the rights of the database.
            settings.database_file.touch(0o600)
    async with Database.open(settings.resolved_database_url) as database:
        yield Stores(database, settings.zone)


@contextmanager
def _naming_data_dir() -> Iterator[None]:
    """Raise what cannot be made as ConfigurationError."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError("SOULGRAPH_DATA_DIR", f"cannot make {error.filename}: {error.strerror}") from error


def _refuse_duplicates(tools: Sequence[BaseTool]) -> Sequence[BaseTool]:
    """Raise ConfigurationError if two tools share a name: a model calls tools by name."""
    names = [tool.name for tool in tools]
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigurationError("tools", f"two tools have the same name: {', '.join(duplicates)}; rename one of them")
    return tools


async def _open_recogniser(
    settings: Settings, embedder: Embedder, voice: Voice, stack: AsyncExitStack
) -> EmotionRecogniser:
    """The recogniser that the settings name."""
    if settings.emotion == "llm":
        return LlmRecogniser(_required_model(voice, "EMOTION"))
    if settings.emotion == "http":
        return await stack.enter_async_context(HttpRecogniser.open(settings.checked_emotion_url))
    # The local recogniser was trained on vectors of the built-in encoder, so it needs that one whatever is configured.
    built_in = embedder if embedder.name == NAME else await stack.enter_async_context(open_local_embedder())
    return LocalRecogniser(built_in)


def _senses(
    settings: Settings, emotions: EmotionRecogniser, embedder: Embedder, voice: Voice, stack: AsyncExitStack
) -> Senses:
    """The heads of some senses were trained on the built-in encoder, and need it."""
    intents = IntentFilter(embedder, _arbiter(settings, voice))
    stack.push_async_callback(intents.catalogs.close)
    if embedder.name != NAME:
        return Senses(emotions, intents)
    return Senses(emotions, intents, SurpriseSense(embedder, LocalRecogniser(embedder)), PlanSense(embedder))


def _arbiter(settings: Settings, voice: Voice) -> LlmArbiter | None:
    return LlmArbiter(_required_model(voice, "INTENTS")) if settings.intents == "llm" else None


def _required_model(voice: Voice, setting: str) -> BaseChatModel:
    if voice.name == OFFLINE:
        raise ConfigurationError(f"{PREFIX}{setting}", "llm needs a model: set SOULGRAPH_LLM_MODEL, or use `local`")
    return voice.model


async def _open_shared_locks(settings: Settings, stack: AsyncExitStack) -> AdvisoryLocks | None:
    """None with SQLite, which only one server can use."""
    url = database_url(settings.resolved_database_url)
    if url.get_backend_name() != "postgresql":
        return None
    return await stack.enter_async_context(AdvisoryLocks.open(url))
