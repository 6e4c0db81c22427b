"""What a turn, and what follows it, asks of the database does not grow with what was said before."""

import asyncio
import re
from collections import Counter, defaultdict
from contextlib import asynccontextmanager, contextmanager

from sqlalchemy import text

from soulgraph.bench.lived import live_through
from soulgraph.runtime.admission import TurnRequest
from soulgraph.server import open_services
from soulgraph.settings import Settings
from soulgraph.tests.statements import noting_statements
from soulgraph.tests.stores.samples import NOW, session, soul

LIVED, TURNS = 1500, 4
MAX_ROWS, MAX_STEPS = 1000, 3000  # less than one for each turn that was, even if it took a single step
_WINDOW_STEPS = 100_000  # of the search for missing vectors, which looks at 5,000 messages at most


@contextmanager
def _watched(steps, calls, last):
    """Count what SQLite does for each statement, and keep the parameters of the last call."""
    running = {}

    def before(one):
        calls[one.sql] += 1
        last[one.sql] = one.parameters
        running[id(one.driver)] = one.sql
        if hasattr(one.driver, "set_progress_handler"):
            one.driver.set_progress_handler(lambda: steps.update([running.get(id(one.driver))]), 1)

    with noting_statements(before):
        yield
    running.clear()  # the handlers stay with their connections: what comes later is not the last statement's


async def _turns(services):
    for n in range(TURNS):
        request = TurnRequest(f"we had tea again, for the {n}th time", "u", soul_id="soul_1", session_id="sess_1")
        await (await services.runner.start(request)).answer()
    left = 1
    while left:
        await asyncio.sleep(0.01)
        async with services.stores.read() as tx:
            left = len(await tx.outbox.page("pending", 1)) + len(await tx.outbox.page("running", 1))


@asynccontextmanager
async def _old_soul(database_url, folder):
    settings = Settings(data_dir=folder, database_url=database_url, mqtt_url="none", _env_file=None)
    async with open_services(settings, lambda: NOW + 2) as services:
        async with services.stores.write() as tx:
            await tx.souls.add(soul(user_id="u"))
            await tx.sessions.add(session(user_id="u"))
        model, own = services.context.memory.recall._embedder.name, {"soul_id": "soul_1", "session_id": "sess_1"}
        await live_through(services.stores.database, model, LIVED, **own, now=NOW)
        async with services.stores.write() as tx:
            await tx.personas.evolve("sess_1", "grown", "manual", NOW + 1)  # turns since then are counted anew
        yield services


async def _plans(services, last):
    """What PostgreSQL reads for each statement, in rows of its greatest step."""
    read = defaultdict(int)
    async with services.stores.database.read() as connection:
        if connection.dialect.name == "postgresql":  # of so few rows it would often rather read all
            for way in ("seqscan", "hashjoin", "mergejoin"):
                await connection.execute(text(f"SET enable_{way} = off"))
        for statement, parameters in last.items():
            if connection.dialect.name != "postgresql" or not re.match("SELECT|UPDATE|DELETE", statement):
                continue
            explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + statement
            rows = await (await connection.driver.execute(explain, parameters)).fetchall()
            numbers = re.findall(r"(?:rows=|Removed by \w+(?: \w+)*: )(\d+)", "\n".join(row[0] for row in rows))
            read[statement] = max(map(int, numbers), default=0)
    return read


async def test_a_turn_of_an_old_soul_asks_no_more_of_the_database(database_url, tmp_path):
    steps, calls, last = Counter(), Counter(), {}
    async with _old_soul(database_url, tmp_path) as services:
        await _turns(services)
        with _watched(steps, calls, last):
            await _turns(services)
            async with services.stores.write() as tx:
                await tx.outbox.prune(NOW - 1, 200)
        plans = await _plans(services, last)
    assert len(calls) > 40
    for statement, number in calls.items():
        # The facts of a person are read whole, some hundreds after many years, and only when one is new.
        most = _WINDOW_STEPS if "episode_vectors" in statement or "FROM facts" in statement else MAX_STEPS
        assert steps[statement] / number <= most, f"{steps[statement] / number} steps of SQLite: {statement}"
        assert plans[statement] <= MAX_ROWS + 100, f"{plans[statement]} rows are read by PostgreSQL: {statement}"
