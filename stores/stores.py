"""`Stores`: transactions with all repositories, as in `async with stores.write() as tx: await tx.souls.lock(…)`."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, tzinfo
from typing import Generic, TypeVar

from sqlalchemy import text

from soulgraph.stores.chat_imports import ChatImports
from soulgraph.stores.database import Connection, Database
from soulgraph.stores.episodes import Episodes
from soulgraph.stores.events import EventCatalogue
from soulgraph.stores.facts import Facts
from soulgraph.stores.failures import translated
from soulgraph.stores.history import History
from soulgraph.stores.keys import Keys
from soulgraph.stores.memory import Preferences, Slots
from soulgraph.stores.messages import Messages
from soulgraph.stores.monologues import MonologueVersions
from soulgraph.stores.outbox import Outbox
from soulgraph.stores.personas import PersonaVersions
from soulgraph.stores.plans import Plans
from soulgraph.stores.presets import Backgrounds, Characters, Pictures, Templates
from soulgraph.stores.proactive_schedules import ProactiveSchedules
from soulgraph.stores.records import Json
from soulgraph.stores.relations import Relations
from soulgraph.stores.sessions import Sessions
from soulgraph.stores.soul_rows import Importing, SoulRows
from soulgraph.stores.souls import Souls
from soulgraph.stores.terminals import Terminals
from soulgraph.stores.turns import Turns
from soulgraph.stores.usage import UsageBook
from soulgraph.stores.vectors import EpisodeVectors

R = TypeVar("R")


class _Lazily(Generic[R]):
    """A repository that is made when it is first asked for: most transactions need two or three of thirty."""

    def __init__(self, make: Callable[..., R], *, zoned: bool = False) -> None:
        self._make = make
        self._zoned = zoned

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, transaction: "Transaction", owner: type) -> R:
        zone = (transaction._zone,) if self._zoned else ()
        made = self._make(transaction._connection, *zone)
        transaction.__dict__[self._name] = made  # found there from now on, without asking here
        return made


class Transaction:
    """All repositories on one connection, so that everything written through them is committed together."""

    souls = _Lazily(Souls)
    history = _Lazily(History)
    terminals = _Lazily(Terminals)
    sessions = _Lazily(Sessions)
    messages = _Lazily(Messages, zoned=True)
    episodes = _Lazily(Episodes, zoned=True)
    vectors = _Lazily(EpisodeVectors)
    events = _Lazily(EventCatalogue)
    personas = _Lazily(PersonaVersions)
    turns = _Lazily(Turns)
    characters = _Lazily(Characters)
    pictures = _Lazily(Pictures)
    backgrounds = _Lazily(Backgrounds)
    templates = _Lazily(Templates)
    preferences = _Lazily(Preferences)
    slots = _Lazily(Slots)
    facts = _Lazily(Facts)
    relations = _Lazily(Relations)
    monologues = _Lazily(MonologueVersions)
    proactive_schedules = _Lazily(ProactiveSchedules)
    plans = _Lazily(Plans)
    outbox = _Lazily(Outbox)
    usage = _Lazily(UsageBook)
    chat_imports = _Lazily(ChatImports)
    keys = _Lazily(Keys)
    soul_rows = _Lazily(SoulRows)

    def __init__(self, connection: Connection, zone: tzinfo | None = UTC) -> None:
        self._connection = connection
        self._zone = zone

    def importing(self, new_ids: dict[str, dict[str, str]], indexed: Mapping[int, Json]) -> Importing:
        return Importing(self._connection, new_ids, indexed)

    async def ping(self) -> None:
        await self._connection.execute(text("SELECT 1"))


class Stores:
    """`zone` is where days begin: "yesterday" in a message is indexed as the day it means there."""

    def __init__(self, database: Database, zone: tzinfo | None = UTC) -> None:
        self.database = database
        self.zone = zone

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Transaction]:
        """For reading only. Raises StoreUnavailable if the database cannot be reached."""
        with translated():
            async with self.database.read() as connection:
                yield Transaction(connection, self.zone)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Transaction]:
        """For reading much that belongs together: whatever is written meanwhile is not seen."""
        with translated():
            async with self.database.snapshot() as connection:
                yield Transaction(connection, self.zone)

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Transaction]:
        """Commits at the end of the block, rolls back on any error. Raises StoreUnavailable like `read`."""
        with translated():
            async with self.database.write() as connection:
                yield Transaction(connection, self.zone)


Premise = Callable[[Transaction], Awaitable[None]]


class RehearsalStores(Stores):
    """Stores for a dry run: every transaction first calls `premise`, and is rolled back at its end.

    So the real nodes run and read back what they write, and the database stays as it was.
    """

    def __init__(self, database: Database, zone: tzinfo | None, premise: Premise) -> None:
        super().__init__(database, zone)
        self._premise = premise

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Transaction]:
        with suppress(_RollBack):
            async with super().write() as tx:
                await self._premise(tx)
                yield tx
                raise _RollBack

    read = write  # a read must see the premise too


class _RollBack(Exception):
    """Raised inside a transaction to roll it back."""
