"""Statements as drivers take them: what is bound and read, and what is remembered of them."""

import gc

import pytest
from sqlalchemy import bindparam, insert, select, text
from sqlalchemy.exc import IntegrityError

from soulgraph.stores import schema, statements
from soulgraph.tests.statements import noting_statements
from soulgraph.tests.stores.samples import soul

NAMES = schema.souls.c.name


@pytest.fixture
async def crowd(stores):
    async with stores.write() as tx:
        for n in range(5):
            await tx.souls.add(soul(f"soul_{n}", name=f"n{n}"))
    return stores


async def test_a_statement_that_is_built_anew_every_time_is_not_kept(crowd):
    async def ask(n):
        async with crowd.database.read() as connection:
            found = await connection.execute(select(NAMES).where(schema.souls.c.soul_id == f"soul_{n % 5}"))
            assert found.scalars() == [f"n{n % 5}"], "each with its own values, although the text is the same"

    await ask(0)
    gc.collect()
    known, compiled = len(statements._prepared), len(statements._cache)
    for n in range(50):
        await ask(n)
    gc.collect()
    assert len(statements._prepared) <= known + 1
    assert len(statements._cache) == compiled


async def test_lists_are_bound_by_their_items_whatever_their_length(crowd):
    query = select(NAMES).where(schema.souls.c.soul_id.in_(bindparam("ids", expanding=True))).order_by(NAMES)
    async with crowd.database.read() as connection:
        for ids in (["soul_1"], [], ["soul_0", "soul_4", "nobody"]):
            found = (await connection.execute(query, {"ids": ids})).scalars()
            assert found == [f"n{one[-1]}" for one in ids if one != "nobody"]


async def test_a_list_that_is_part_of_the_statement_is_written_out_once(crowd):
    query = select(NAMES).where(schema.souls.c.soul_id.in_(["soul_1", "soul_2"]), bindparam("name") != NAMES)
    async with crowd.database.read() as connection:
        with noting_statements() as asked:
            for name in ("n1", "n2"):
                assert (await connection.execute(query, {"name": name})).scalars() == [{"n1": "n2", "n2": "n1"}[name]]
        assert asked[0].sql == asked[1].sql


async def test_a_value_that_is_missing_is_named(crowd):
    query = select(NAMES).where(bindparam("wanted") == NAMES)
    async with crowd.database.read() as connection:
        with pytest.raises(KeyError, match="wanted"):
            await connection.execute(query)


async def test_what_a_driver_refuses_is_raised_without_what_was_said(crowd):
    twice = {"terminal_id": "lamp", "skills": ["a secret"], "skill_version": 0, "intent_catalog": []}
    row = twice | {"catalog_version": 0, "updated_at": 0.0}
    with pytest.raises(IntegrityError) as refused:
        async with crowd.database.write() as connection:
            await connection.execute(insert(schema.terminals), [row, row])
    assert "secret" not in str(refused.value)


async def test_many_rows_at_once_and_none_at_all(crowd):
    row = {"skills": [], "skill_version": 0, "intent_catalog": [], "catalog_version": 0, "updated_at": 0.0}
    async with crowd.database.write() as connection:
        assert (await connection.execute(insert(schema.terminals), [])).rowcount == 0
        rows = [row | {"terminal_id": f"t{n}"} for n in range(3)]
        assert (await connection.execute(insert(schema.terminals), rows)).rowcount == 3
        added = insert(schema.terminals).returning(schema.terminals.c.terminal_id)
        more = [row | {"terminal_id": f"t{n}"} for n in (3, 4)]
        assert (await connection.execute(added, more)).scalars() == ["t3", "t4"]
    async with crowd.database.read() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM terminals"))).scalar() == 5
