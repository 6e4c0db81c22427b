"""Whether Chroma has all that the database has, and putting back what it lacks: the database is the truth.

A failure is noticed by whoever meets it, and stays known until a check has passed.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from soulgraph.errors import Conflict, MemoryUnavailable, StoreUnavailable
from soulgraph.memory.chroma import KeptCollection, StoredDocument
from soulgraph.senses.ports import Embedder

POLL_S = 30.0
_AT_ONCE = 200

_log = logging.getLogger(__name__)


class Entry(NamedTuple):
    """A document as the database has it, and the text that its vector is made of."""

    id: str
    document: str
    text: str
    owner: dict[str, str]


class Entries(Protocol):
    """What a library has in the database."""

    @property
    def name(self) -> str: ...

    async def page(self, after: str, limit: int) -> list[Entry]:
        """So many in the order of their ids, behind an id."""
        ...

    async def get(self, ids: Collection[str], /) -> list[Entry]:
        """Those of these that the database has."""
        ...

    async def there(self, ids: Collection[str], /) -> set[str]:
        """Those of these ids that the database names now, whether or not it has them."""
        ...

    async def count_lost(self) -> int:
        """How many the database names and does not have."""
        ...


@dataclass(frozen=True, slots=True)
class Repaired:
    """How many documents of a library were put back, and where the damaged folder is now, if it was moved.

    `lost` is how many were nowhere but in Chroma.
    """

    name: str
    put: int = 0
    lost: int = 0
    moved_to: Path | None = None


class Upkeep:
    """Checks and repairs one collection."""

    def __init__(self, vault: KeptCollection, embedder: Embedder, entries: Entries) -> None:
        self._vault = vault
        self._embedder = embedder
        self._entries = entries

    @property
    def name(self) -> str:
        return self._entries.name

    @property
    def problem(self) -> str:
        """Empty if nothing is known to be wrong."""
        return self._vault.problem

    async def check(self) -> None:
        """Look whether everything can be found and changed; `problem` tells. An empty library is not even opened."""
        before = self._vault.problem
        try:
            missing = await self._count_missing()
        except MemoryUnavailable:
            return  # the collection has noted it
        self._vault.problem = f"{missing} {self.name} are missing in Chroma" if missing else ""
        if self._vault.problem and not before:
            _log.warning("%s; `soulgraph doctor` says more", self._vault.problem)
        elif before and not self._vault.problem:
            _log.info("%s can be found again", self.name)

    async def ping(self) -> None:
        """Ask Chroma for a sign of life, if there is anything in it; `problem` tells."""
        with suppress(MemoryUnavailable):
            if await self._entries.page("", 1):
                await self._vault.count()

    async def dump(self, ids: Collection[str]) -> list[StoredDocument]:
        """These documents with their vectors; what Chroma lacks, or cannot give, is made anew from the database.

        Raises MemoryUnavailable if only Chroma has some of them, and it fails.
        """
        failure = None
        found: list[StoredDocument] = []
        try:
            found = await self._vault.dump(ids)
        except MemoryUnavailable as error:
            failure = error
        lacking = {*ids} - {one.id for one in found}
        entries = await self._entries.get(lacking) if lacking else []
        if failure and await self._entries.there(lacking) - {entry.id for entry in entries}:
            raise failure
        return [*found, *await self._embedded(entries)]

    async def repair(self) -> AsyncIterator[Repaired]:
        """Rebuild what is damaged or missing; yields how far it is, and at last how it ended.

        Raises MemoryUnavailable if the collection cannot be used even then. Broken off, it goes on where it was.
        """
        await self.check()
        put, moved_to = 0, None
        if self.problem:
            with suppress(MemoryUnavailable):  # then there is damage, and not only something missing
                async for put in self._fill():
                    yield Repaired(self.name, put)
            await self.check()
        if self.problem:
            moved_to = await self._vault.renew()
            async for put in self._fill():
                yield Repaired(self.name, put, moved_to=moved_to)
            await self.check()
        if self.problem:
            raise MemoryUnavailable(self.problem)
        yield Repaired(self.name, put, await self._entries.count_lost(), moved_to)

    async def _fill(self) -> AsyncIterator[int]:
        """Put what is missing, page by page; yields how many that were by now."""
        put = 0
        async for page in self._pages():
            put += await self._put_missing(page)
            yield put

    async def _count_missing(self) -> int:
        missing = 0
        written = False
        async for page in self._pages():
            missing += len(await self._missing(page))
            if not written:
                # Reading says nothing about writing: this changes nothing.
                await self._vault.tag({page[0].id: page[0].owner})
                written = True
        if not written and self.problem:
            await self._vault.count()
        return missing

    async def _missing(self, page: Sequence[Entry]) -> list[Entry]:
        """With their vectors: those lie in another file than the documents do."""
        found = {one.id for one in await self._vault.dump([entry.id for entry in page])}
        lacking = [entry for entry in page if entry.id not in found]
        there = await self._entries.there([entry.id for entry in lacking]) if lacking else set()
        return [entry for entry in lacking if entry.id in there]

    async def _put_missing(self, page: Sequence[Entry]) -> int:
        missing = await self._missing(page)
        if not missing:
            return 0
        await self._vault.load(await self._embedded(missing))
        ids = {entry.id for entry in missing}
        await self._vault.delete(ids - await self._entries.there(ids))  # what was deleted meanwhile
        return len(missing)

    async def _embedded(self, entries: Sequence[Entry]) -> list[StoredDocument]:
        vectors = await self._embedder.embed([entry.text for entry in entries]) if entries else ()
        return [
            StoredDocument(entry.id, entry.document, entry.owner, [float(n) for n in vector])
            for entry, vector in zip(entries, vectors, strict=True)
        ]

    async def _pages(self) -> AsyncIterator[list[Entry]]:
        after = ""
        while page := await self._entries.page(after, _AT_ONCE):
            yield page
            after = page[-1].id


class MemoryHealth:
    """Looks after all libraries of a server."""

    def __init__(self, *upkeeps: Upkeep) -> None:
        self._upkeeps = upkeeps
        self._checking = asyncio.Lock()
        self._repairing = False

    @property
    def problem(self) -> str:
        """What is known to be wrong; empty if nothing is."""
        return "; ".join(filter(None, (upkeep.problem for upkeep in self._upkeeps)))

    async def check(self) -> None:
        async with self._checking:
            for upkeep in self._upkeeps:
                await upkeep.check()

    async def repair(self) -> AsyncIterator[Repaired]:
        """One library after the other, as `Upkeep.repair` does it. Raises Conflict while another repair runs."""
        if self._repairing:
            raise Conflict("repair_running", "a repair is running: wait for its end")
        self._repairing = True
        try:
            async with self._checking:
                for upkeep in self._upkeeps:
                    async for state in upkeep.repair():
                        yield state
        finally:
            self._repairing = False

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Check at once, and again as long as something is wrong; else only ask for a sign of life."""
        task = asyncio.create_task(self._watch(), name="memory health")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})

    async def _watch(self) -> None:
        checked = False
        while True:
            try:
                if self.problem or not checked:
                    await self.check()
                    checked = True
                else:
                    await self._ping()
            except StoreUnavailable as error:
                _log.warning("memory is not checked for now: %s", error.detail)
            await asyncio.sleep(POLL_S)

    async def _ping(self) -> None:
        async with self._checking:
            for upkeep in self._upkeeps:
                await upkeep.ping()
