"""A soul that many people talk to: what one of them may know is read without all that the others have told."""

import re

import pytest
from sqlalchemy import text

from soulgraph.soul.people import EVERYONE
from soulgraph.stores.stores import Transaction
from soulgraph.tests.statements import noting_statements
from soulgraph.tests.stores.samples import NOW

PEOPLE, ROWS, SHARED = 500, 10_000, 50
_NUMBERS = f"WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {ROWS}) "
_OWNER = f"'p' || (n % {PEOPLE}), CASE WHEN n % {ROWS // SHARED} = 7 THEN '{EVERYONE}' ELSE '' END"
_FILL = [
    "INSERT INTO messages (message_id, session_id, turn_id, role, content, archived, created_at) "
    f"{_NUMBERS} SELECT n + 1, 'sess_1', 'turn', 'user', '', false, {NOW} FROM numbers",
    "INSERT INTO episodes (message_id, soul_id, by_user, at, terms, user_id, shared_with) "
    f"{_NUMBERS} SELECT n + 1, 'soul_1', true, {NOW}, '', {_OWNER} FROM numbers",
    "INSERT INTO slots (n, soul_id, content, updated_at, user_id, shared_with) "
    f"{_NUMBERS} SELECT n / {PEOPLE}, 'soul_1', '', {NOW}, {_OWNER} FROM numbers",
    "INSERT INTO preferences (key, soul_id, value, confidence, source, evidence, updated_at, user_id, shared_with) "
    f"{_NUMBERS} SELECT 'k' || (n / {PEOPLE}), 'soul_1', '', 1, '', '[]', {NOW}, {_OWNER} FROM numbers",
    "INSERT INTO lives (soul_id, user_id, due_at, day, spoken) "
    f"{_NUMBERS} SELECT 'soul_1', 'p' || n, {NOW}, '', 0 FROM numbers WHERE n < {PEOPLE}",
]
READS = {
    "slots": lambda tx: tx.slots.known_to("soul_1", ["p5"], "p5"),
    "preferences": lambda tx: tx.preferences.known_to("soul_1", ["p5"], "p5"),
    "the newest episodes": lambda tx: tx.episodes.before("soul_1", ["p5"], 2**40, 500),
    "new episodes": lambda tx: tx.episodes.after("soul_1", ["p5"], ROWS // 2),
    "a group's episodes": lambda tx: tx.episodes.before("soul_1", ["p5", "p6"], 2**40, 500),
    "a schedule": lambda tx: tx.proactive_schedules.of([("soul_1", "p5")]),
}


@pytest.fixture(params=[False, True], ids=["without statistics", "with statistics"])
async def busy(home, request):
    async with home.database.write() as connection:
        for statement in _FILL:
            await connection.execute(text(statement))
        if request.param:
            await connection.execute(text("ANALYZE"))
    return home


async def plans(connection, read):
    """What the database says it has done for the statement of a read: one line for each step."""
    postgres = connection.dialect.name == "postgresql"
    explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " if postgres else "EXPLAIN QUERY PLAN "
    with noting_statements() as asked:
        found = await read(Transaction(connection))
    [one] = asked
    cursor = one.driver.execute(explain + one.sql, one.parameters)
    rows = await (await cursor).fetchall() if postgres else cursor.fetchall()
    return found, [row[-1] for row in rows]


async def test_a_person_is_read_without_the_others(busy):
    async with busy.database.read() as connection:
        for name, read in READS.items():
            found, lines = await plans(connection, read)
            assert 1 <= len(found) <= 2 * SHARED, name
            plan = "\n".join(lines)
            # PostgreSQL counts the rows that each step has read; SQLite says which tables it scans without an index.
            assert not re.search(r"\bSCAN (slots|preferences|episodes|lives)\b", plan), f"{name}:\n{plan}"
            assert not re.search(r"\bix_episodes_soul_id_message_id\b", plan), f"{name}:\n{plan}"
            most = max(map(int, re.findall(r"(?:rows=|Removed by \w+(?: \w+)*: )(\d+)", plan)), default=0)
            assert most <= PEOPLE, f"{name}:\n{plan}"
