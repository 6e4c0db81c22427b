"""Settings → ports: what turns need, opened in order and closed in reverse."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from soulgraph.errors import ConfigurationError
from soulgraph.memory.events import open_events
from soulgraph.memory.ports import open_recall
from soulgraph.nodes.context import Context, Limits, Memory, Outlets, Senses
from soulgraph.nodes.tools.mcp import open_mcp_tools
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.runtime.budget import ObserveUsage, TokenBudget, unobserved
from soulgraph.runtime.listeners import Listeners
from soulgraph.runtime.telemetry import JsonLines
from soulgraph.senses.embedding.factory import open_embedder
from soulgraph.senses.embedding.local import NAME, open_local_embedder
from soulgraph.senses.emotion.http import HttpRecogniser
from soulgraph.senses.emotion.local import LocalRecogniser
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.senses.ports import Embedder, EmotionRecogniser
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
    """The ports of a turn, and those of them of which the runtime needs more than a node does."""

    context: Context
    budget: TokenBudget
    listeners: Listeners


@asynccontextmanager
async def open_ports(
    settings: Settings,
    clock: Callable[[], float],
    tools: Sequence[BaseTool] = (),
    observe_usage: ObserveUsage = unobserved,
) -> AsyncIterator[Ports]:
    """Every port but the way to terminals, or a failure with the name of the setting."""
    settings.refuse_unused()
    async with AsyncExitStack() as stack:
        stores = await stack.enter_async_context(open_stores(settings))
        async with stores.write() as tx:
            await stock(tx, clock())
        mcp_tools = await stack.enter_async_context(open_mcp_tools(settings.mcp_servers))
        voice = await stack.enter_async_context(open_voice(settings.llm, _distinct([*TOOLS, *tools, *mcp_tools])))
        embedder = await stack.enter_async_context(open_embedder(settings.embeddings))
        telemetry = stack.enter_context(JsonLines.open(settings.telemetry_file, clock))
        budget = TokenBudget(stores, telemetry, clock, settings.zone, settings.daily_tokens, observe_usage)
        listeners = Listeners()
        context = Context(
            stores=stores,
            senses=Senses(
                await _emotions(settings, embedder, voice, stack), IntentFilter(embedder, _arbiter(settings, voice))
            ),
            voice=voice,
            persona=settings.persona,
            clock=clock,
            timezone=settings.zone,
            memory=await _memory(settings, stores, embedder, clock, stack),
            outlets=Outlets(listeners=listeners),
            telemetry=telemetry,
            budget=budget,
            locks=SessionLocks(settings.session_queue, await _shared_locks(settings, stack)),
            limits=Limits(settings.turn_timeout_s, settings.turn_max_steps, settings.max_events),
        )
        yield Ports(context, budget, listeners)


async def _memory(
    settings: Settings, stores: Stores, embedder: Embedder, clock: Callable[[], float], stack: AsyncExitStack
) -> Memory:
    events = await stack.enter_async_context(
        open_events(stores, embedder, clock, folder=settings.data_dir / "chroma", url=settings.chroma_url)
    )
    recall = await stack.enter_async_context(open_recall(stores, embedder, events, clock))
    return Memory(recall, events, Workspaces(settings.data_dir))


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


def _distinct(tools: Sequence[BaseTool]) -> Sequence[BaseTool]:
    """A model calls tools by their names."""
    names = [tool.name for tool in tools]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigurationError("tools", f"two tools have the same name: {', '.join(twice)}; rename one of them")
    return tools


async def _emotions(settings: Settings, embedder: Embedder, voice: Voice, stack: AsyncExitStack) -> EmotionRecogniser:
    """The configured recogniser; the built-in one was trained on the built-in encoder's vectors."""
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
