"""API keys: found by their secret until they are revoked, and the secret is kept nowhere."""

import pytest
from sqlalchemy import select

from soulgraph.errors import NotFound
from soulgraph.stores import schema
from soulgraph.tests.stores.samples import NOW

LATER = NOW + 60


async def test_a_key_is_found_by_its_secret(stores):
    async with stores.write() as tx:
        secret = await tx.keys.create("小满's robot", "terminal", NOW)
    async with stores.read() as tx:
        key = await tx.keys.find(secret)
        assert await tx.keys.find(secret + "x") is None
        assert await tx.keys.find("") is None
    assert (key.name, key.scope, key.created_at, key.revoked_at) == ("小满's robot", "terminal", NOW, None)


async def test_every_key_has_its_own_secret(stores):
    async with stores.write() as tx:
        secrets = {await tx.keys.create("same name", "chat", NOW) for _ in range(5)}
        found = {(await tx.keys.find(secret)).key_id for secret in secrets}
    assert len(secrets) == len(found) == 5


async def test_the_secret_is_not_in_the_table(stores):
    async with stores.write() as tx:
        secret = await tx.keys.create("robot", "owner", NOW)
    async with stores.database.read() as connection:
        row = (await connection.execute(select(schema.api_keys))).one()
    assert secret.removeprefix("sg-") not in repr(row)


async def test_a_revoked_key_opens_nothing_but_is_still_listed(stores):
    async with stores.write() as tx:
        lost = await tx.keys.create("lost", "owner", NOW)
        kept = await tx.keys.create("kept", "chat", LATER)
        await tx.keys.revoke((await tx.keys.find(lost)).key_id, LATER)
    async with stores.read() as tx:
        assert await tx.keys.find(lost) is None
        assert (await tx.keys.find(kept)).name == "kept"
        assert [(key.name, key.revoked_at) for key in await tx.keys.all()] == [("lost", LATER), ("kept", None)]


async def test_there_are_keys_from_the_first_one_on_also_when_all_are_revoked(stores):
    async with stores.write() as tx:
        assert await tx.keys.any() is False
        secret = await tx.keys.create("robot", "chat", NOW)
        assert await tx.keys.any() is True
        await tx.keys.revoke((await tx.keys.find(secret)).key_id, NOW)
        assert await tx.keys.any() is True


async def test_a_key_may_belong_to_a_person_and_open_a_few_souls(stores):
    async with stores.write() as tx:
        anybodys = await tx.keys.create("anybody", "chat", NOW)
        anns = await tx.keys.create("ann's", "chat", NOW + 1, "ann", ["soul_2", "灵魂"])
    async with stores.read() as tx:
        assert ((await tx.keys.find(anybodys)).user_id, (await tx.keys.find(anybodys)).soul_ids) == (None, ())
        assert ((await tx.keys.find(anns)).user_id, (await tx.keys.find(anns)).soul_ids) == ("ann", ("soul_2", "灵魂"))
        assert [key.user_id for key in await tx.keys.all()] == [None, "ann"]


async def test_a_key_is_revoked_once(stores):
    async with stores.write() as tx:
        secret = await tx.keys.create("robot", "chat", NOW)
        key_id = (await tx.keys.find(secret)).key_id
        await tx.keys.revoke(key_id, NOW)
        with pytest.raises(NotFound):
            await tx.keys.revoke(key_id, LATER)
        with pytest.raises(NotFound, match="no key 'unknown'"):
            await tx.keys.revoke("unknown", NOW)
        assert [key.revoked_at for key in await tx.keys.all()] == [NOW]
