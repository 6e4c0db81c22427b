"""Catalogs, compiled: known by their content, so that one that many send, or one sends again, is compiled once.

Compiling takes about a millisecond for each example. It runs in threads, in pieces between which others get their turn,
and stops when nobody waits for it any more. What was used last is kept, up to a number and a size in all.
"""

import asyncio
import hashlib
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from pydantic import ValidationError

from soulgraph.errors import CatalogsBusy, InvalidInput
from soulgraph.senses.intents.catalog import CATALOG, Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog, compile_catalog
from soulgraph.senses.intents.examples import Examples, learn
from soulgraph.senses.intents.pieces import Pieces, in_threads
from soulgraph.senses.intents.shared_tasks import SharedTasks
from soulgraph.senses.ports import Embedder, Vectors
from soulgraph.soul.validation import explain

MAX_KEPT = 256
MAX_KEPT_BYTES = 256 * 1024 * 1024
MAX_UNDER_WAY = 16
"""Catalogs that are compiled or wait for it. A request beyond them is refused, and a report compiled at first use."""
MAX_LEARNING = 2
LARGE = 2000
"""Examples. Of the catalogs that have more, which take hundreds of megabytes to learn, one is learned at a time."""
BATCH_SIZE = 32

_log = logging.getLogger(__name__)


class ReadCatalog(NamedTuple):
    """A catalog that was checked: its intents, and how it is stored."""

    intents: list[Intent]
    stored: list[dict[str, Any]]
    key: str

    @classmethod
    def of(cls, intents: list[Intent]) -> Self:
        stored = CATALOG.dump_python(intents, mode="json")
        return cls(intents, stored, content_key(stored))


def content_key(stored: Sequence[dict[str, Any]]) -> str:
    """The same for catalogs with the same content, in whatever order its fields are."""
    return hashlib.blake2b(json.dumps(stored, sort_keys=True).encode(), digest_size=16).hexdigest()


class Catalogs:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[str, CompiledCatalog] = OrderedDict()
        self._compiling: SharedTasks[CompiledCatalog] = SharedTasks()
        self._learning: SharedTasks[Examples] = SharedTasks()
        self._background: set[asyncio.Task[Any]] = set()
        self._vectors_of_no_intent: dict[str, Vectors] = {}
        self._turns = asyncio.Lock()
        self._slots = asyncio.Semaphore(MAX_LEARNING)
        self._large_slot = asyncio.Semaphore(1)

    async def close(self) -> None:
        """Gives up what is compiled in the background."""
        for task in self._background:
            task.cancel()
        if self._background:
            await asyncio.wait(self._background)

    async def compiled(self, catalog: ReadCatalog) -> CompiledCatalog:
        """Raises CatalogsBusy if it is not known yet, and too many others are being compiled."""
        if catalog.key not in self._kept and catalog.key not in self._compiling and self._is_crowded:
            raise CatalogsBusy(f"{MAX_UNDER_WAY} other catalogs are being compiled: send yours again later")
        return await self._compiled(catalog.key, lambda: compile_catalog(catalog.intents))

    async def compiled_stored(self, stored: Sequence[dict[str, Any]]) -> CompiledCatalog:
        """That of a terminal; raises InvalidInput if it breaks the rules, which may be stricter than when it came."""
        try:
            return await self._compiled(content_key(stored), lambda: _compile_stored(stored))
        except ValidationError as error:
            raise InvalidInput(explain(error)) from error

    def compile_soon(self, catalog: ReadCatalog) -> None:
        """Compiles a catalog in the background, so that the first turn need not wait; not if many others are."""
        if not self._is_crowded:
            self._start(self._compile_and_learn(catalog))

    async def examples(self, catalog: CompiledCatalog) -> Examples:
        """The learned examples; raises SenseUnavailable if the embedder is away."""
        return catalog.learned or await self._learning.result(catalog, lambda: self._learn(catalog))

    async def learned_within(self, catalog: CompiledCatalog, timeout_s: float) -> bool:
        """Whether the examples are learned in this time; if not, they are in the background."""
        if catalog.learned or not catalog.examples:
            return True
        learning = self._start(self.examples(catalog))
        await asyncio.wait({learning}, timeout=timeout_s)
        return learning.done() and bool(learning.result())

    @property
    def _is_crowded(self) -> bool:
        return len(self._compiling) + len(self._learning) >= MAX_UNDER_WAY

    async def _compiled(self, key: str, pieces: Callable[[], Pieces[CompiledCatalog]]) -> CompiledCatalog:
        if catalog := self._kept.get(key):
            self._kept.move_to_end(key)
            return catalog
        return await self._compiling.result(key, lambda: self._compile(key, pieces()))

    async def _compile(self, key: str, pieces: Pieces[CompiledCatalog]) -> CompiledCatalog:
        catalog = self._kept[key] = await in_threads(pieces, self._turns)
        self._drop_least_used()
        return catalog

    async def _compile_and_learn(self, catalog: ReadCatalog) -> None:
        compiled = await self._compiled(catalog.key, lambda: compile_catalog(catalog.intents))
        if compiled.examples:
            await self.examples(compiled)

    async def _learn(self, catalog: CompiledCatalog) -> Examples:
        texts = [example.text for example in catalog.examples]
        async with self._large_slot if len(texts) > LARGE else self._slots:
            vectors = await self._embedded(texts)
            background = catalog.background, await self._background_vectors(catalog.background)
            catalog.learned = await in_threads(learn(catalog.examples, vectors, background), self._turns)
        self._drop_least_used()
        return catalog.learned

    async def _background_vectors(self, texts: Sequence[str]) -> Vectors:
        """They are the same for many catalogs."""
        unknown = [text for text in texts if text not in self._vectors_of_no_intent]
        if unknown:
            self._vectors_of_no_intent |= zip(unknown, await self._embedded(unknown), strict=True)
        return np.array([self._vectors_of_no_intent[text] for text in texts])

    async def _embedded(self, texts: Sequence[str]) -> Vectors:
        """Embeds in small batches, so that a large catalog does not delay the turns of others."""
        parts = [texts[i : i + BATCH_SIZE] for i in range(0, len(texts), BATCH_SIZE)]
        return np.concatenate([await self._embedder.embed(part) for part in parts])

    def _drop_least_used(self) -> None:
        sizes = [catalog.nbytes for catalog in self._kept.values()]
        while len(sizes) > MAX_KEPT or (sum(sizes) > MAX_KEPT_BYTES and len(sizes) > 1):
            self._kept.popitem(last=False)
            sizes.pop(0)

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work, name="catalog")
        self._background.add(task)
        task.add_done_callback(self._on_background_done)
        return task

    def _on_background_done(self, task: asyncio.Task[Any]) -> None:
        self._background.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _log.warning("a catalog was not compiled, and will be when it is used: %s", error)


def _compile_stored(stored: Sequence[dict[str, Any]]) -> Pieces[CompiledCatalog]:
    intents = CATALOG.validate_python(list(stored))
    yield
    return (yield from compile_catalog(intents))
