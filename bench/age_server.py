"""A server whose turns are measured by its own processor time, for `bench/age.py`: a process that is told what to do.

It reads one JSON object a line (`{"do": "turns", "soul": "old", "session": "s", "n": 50}`) and answers with one.
"""

import asyncio
import gc
import json
import re
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import uvloop
from sqlalchemy import text

from soulgraph.api.services import Services
from soulgraph.bench.lived import live_through
from soulgraph.bench.made_up import talk
from soulgraph.memory.events import Event, Pattern
from soulgraph.runtime.admission import TurnRequest
from soulgraph.server import open_services
from soulgraph.settings import Settings
from soulgraph.soul.people import EVERYONE
from soulgraph.stores.factories import new_soul
from soulgraph.tests import services as test_services
from soulgraph.tests.statements import noting_statements

_LEFT = text("SELECT 1 FROM outbox WHERE status IN ('pending', 'running') LIMIT 1")
_TABLE = re.compile(r"(?:FROM|INTO|UPDATE) \(*\s*(?:SELECT .*? FROM )?(\w+)", re.DOTALL)


class AgedServer:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._souls: dict[str, str] = {}
        self._texts: Iterator[str] = talk(10**9)

    async def turns(self, soul: str, n: int, session: str = "s") -> dict[str, Any]:
        """Milliseconds of this process up to the answer of each turn, and of what follows it."""
        answering, after = [], []
        soul_id = await self._soul(soul)
        for _ in range(n):
            began = time.process_time()
            request = TurnRequest(next(self._texts), "u", soul_id=soul_id, session_id=f"{soul} {session}")
            await (await self._services.runner.start(request)).answer()
            answered = time.process_time()
            await self._settled()
            answering.append((answered - began) * 1e3)
            after.append((time.process_time() - answered) * 1e3)
        return {"turn": answering, "after": after}

    async def statements(self, soul: str, n: int, session: str = "s") -> dict[str, Any]:
        """How often each table is asked in a turn with what follows it, and for how long, in milliseconds."""
        number: Counter[str] = Counter()
        spent: Counter[str] = Counter()
        with noting_statements() as asked:
            await self.turns(soul, n, session)
        for one in asked:
            found = _TABLE.search(one.sql)
            table = f"{one.sql.split()[0].lower()} {found[1] if found else ''}"
            number[table] += 1
            spent[table] += one.took_s
        return {table: [number[table] / n, spent[table] * 1e3 / n] for table in number}

    async def live_through(self, soul: str, n: int) -> dict[str, Any]:
        """Write what this many turns leave behind, and the events that would have been drawn from them."""
        database, recall = self._services.stores.database, self._services.context.memory.recall
        own = {"soul_id": await self._soul(soul), "session_id": f"{soul} s", "now": time.time()}
        await live_through(database, recall._embedder.name, n, **own)
        return await self.add_events(n // 5)

    async def add_events(self, n: int) -> dict[str, Any]:
        """Put events for everyone into the library, each of its own."""
        library = self._services.context.memory.events
        pattern = Pattern("a quiet evening", "a question", "listening", "ease")
        for start in range(0, n, 200):
            told = [
                Event(f"evt_{start}_{k}", words, pattern, {"state_changes": []}, "", "2026-01-01T00:00:00Z")
                for k, words in enumerate(talk(min(200, n - start), seed=start))
            ]
            await library.restore(told, EVERYONE)
            async with self._services.stores.write() as tx:
                for one in told:
                    await tx.events.add(one.event_id, time.time())
        return {}

    async def facts(self) -> dict[str, Any]:
        gc.collect()
        memory = psutil.Process().memory_info().rss / 2**20
        return {"rss": memory, "objects": len(gc.get_objects()), "tasks": len(asyncio.all_tasks())}

    async def _soul(self, name: str) -> str:
        if name not in self._souls:
            async with self._services.stores.write() as tx:
                born = {"name": name, "mbti_type": "INFJ", "user_id": "u", "character_id": "xiaoman"}
                soul = await new_soul(tx, **born, now=time.time())
                await tx.souls.add(soul)
            self._souls[name] = soul.soul_id
        return self._souls[name]

    async def _settled(self) -> None:
        left = True
        while left:
            await asyncio.sleep(0.002)
            async with self._services.stores.database.read() as connection:
                left = (await connection.execute(_LEFT)).first() is not None


@asynccontextmanager
async def opened(folder: Path, llm_base_url: str, database_url: str) -> AsyncIterator[AgedServer]:
    voice = {"llm_base_url": llm_base_url, "llm_model": "stub", "llm_carrier": "tags"}
    settings = Settings(data_dir=folder, database_url=database_url, mqtt_url="none", _env_file=None, **voice)
    async with open_services(settings) as services:
        yield AgedServer(services)


async def obey(folder: Path, llm_base_url: str, database_url: str) -> None:
    loop = asyncio.get_running_loop()
    async with opened(folder, llm_base_url, database_url) as server:
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            order = json.loads(line)
            told = await getattr(server, order.pop("do"))(**order)
            sys.stdout.write(f"{json.dumps(told)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    data_dir, base_url, backend = sys.argv[1:]
    if backend == "sqlite":
        uvloop.run(obey(Path(data_dir), base_url, ""))
    else:
        with test_services.postgres_schema() as url:
            uvloop.run(obey(Path(data_dir), base_url, url))
