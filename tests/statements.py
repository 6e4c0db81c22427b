"""What is asked of a database while a block lasts."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any
from unittest.mock import patch

from soulgraph.stores.postgres_database import PostgresDatabase  # noqa: F401 - it is one of those that are watched
from soulgraph.stores.sqlite_database import SqliteDatabase  # noqa: F401
from soulgraph.stores.statements import Statements


@dataclass
class Asked:
    """A statement: its text, its parameters (of a batch the first), the driver's connection, and how long it took."""

    sql: str
    parameters: Any
    is_batch: bool
    driver: Any
    took_s: float = 0.0


@contextmanager
def noting_statements(note: Callable[[Asked], object] | None = None) -> Iterator[list[Asked]]:
    """All that are run meanwhile; `note` is called before each."""
    asked: list[Asked] = []

    async def run(one: Asked, answer: Awaitable[Any]) -> Any:
        asked.append(one)
        if note:
            note(one)
        began = perf_counter()
        try:
            return await answer
        finally:
            one.took_s = perf_counter() - began

    def watched(kind: type[Statements]) -> list[Any]:
        single, many = kind._execute, kind._execute_many

        async def execute(self: Any, sql: str, bound: Any) -> Any:
            return await run(Asked(sql, bound, False, self.driver), single(self, sql, bound))

        async def execute_many(self: Any, sql: str, batch: Any) -> Any:
            return await run(Asked(sql, batch[0], True, self.driver), many(self, sql, batch))

        return [patch.object(kind, "_execute", execute), patch.object(kind, "_execute_many", execute_many)]

    with ExitStack() as stack:
        for kind in Statements.__subclasses__():
            for patched in watched(kind):
                stack.enter_context(patched)
        yield asked
