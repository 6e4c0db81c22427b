"""Memory: preferences by key and slots by number, each soul's its own."""

from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from soulgraph.errors import NotFound
from soulgraph.stores.memory import kind_of_slot
from soulgraph.tests.stores.samples import ANY_JSON, NOW, preference, slot, soul

LATER = NOW + 60


@pytest.fixture
async def two_souls(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
    return home


async def test_a_preference_comes_back_as_it_was_put(home):
    liked = preference("茶", value="绿茶 🍵", confidence=0.1 + 0.2, evidence=[ANY_JSON, "said so", None])
    async with home.write() as tx:
        await tx.preferences.put(liked)
    async with home.read() as tx:
        assert await tx.preferences.all("soul_1") == [liked]


async def test_preferences_are_listed_by_key_for_one_soul(two_souls):
    async with two_souls.write() as tx:
        for key, soul_id in [("tea", "soul_1"), ("music", "soul_1"), ("tea", "soul_2")]:
            await tx.preferences.put(preference(key, soul_id))
        assert [one.key for one in await tx.preferences.all("soul_1")] == ["music", "tea"]
        assert await tx.preferences.all("nobody") == []


async def test_a_preference_put_again_is_replaced(two_souls):
    changed = replace(preference(), value="black", evidence=["said so"], updated_at=LATER)
    async with two_souls.write() as tx:
        await tx.preferences.put(preference())
        await tx.preferences.put(preference(soul_id="soul_2"))
        await tx.preferences.put(changed)
        assert await tx.preferences.all("soul_1") == [changed]
        assert await tx.preferences.all("soul_2") == [preference(soul_id="soul_2")]


async def test_a_preference_is_deleted_for_one_soul(two_souls):
    async with two_souls.write() as tx:
        await tx.preferences.put(preference())
        await tx.preferences.put(preference(soul_id="soul_2"))
        await tx.preferences.delete("soul_1", "user_1", "tea")
        assert await tx.preferences.all("soul_1") == []
        assert await tx.preferences.all("soul_2") == [preference(soul_id="soul_2")]
        with pytest.raises(NotFound, match="no preference 'tea'"):
            await tx.preferences.delete("soul_1", "user_1", "tea")


async def test_slots_are_listed_by_number_for_one_soul(two_souls):
    async with two_souls.write() as tx:
        for n, soul_id in [(10, "soul_1"), (2, "soul_1"), (2, "soul_2")]:
            await tx.slots.put(slot(n, f"第 {n} 格 🗝", soul_id))
        assert await tx.slots.all("soul_1") == [slot(n, f"第 {n} 格 🗝") for n in (2, 10)]
        assert await tx.slots.all("nobody") == []


async def test_a_slot_put_again_is_replaced(home):
    async with home.write() as tx:
        await tx.slots.put(slot(1, "old"))
        await tx.slots.put(slot(1, "new", updated_at=LATER))
        assert await tx.slots.all("soul_1") == [slot(1, "new", updated_at=LATER)]


async def test_a_slot_is_deleted_for_one_soul(two_souls):
    async with two_souls.write() as tx:
        await tx.slots.put(slot(1, "mine"))
        await tx.slots.put(slot(1, "yours", "soul_2"))
        await tx.slots.delete("soul_1", "user_1", 1)
        assert await tx.slots.all("soul_1") == []
        assert await tx.slots.all("soul_2") == [slot(1, "yours", "soul_2")]
        with pytest.raises(NotFound, match="no slot '1'"):
            await tx.slots.delete("soul_1", "user_1", 1)


async def test_a_preference_needs_a_soul(stores):
    with pytest.raises(IntegrityError):
        async with stores.write() as tx:
            await tx.preferences.put(preference(soul_id="nobody"))


async def test_a_slot_needs_a_soul(stores):
    with pytest.raises(IntegrityError):
        async with stores.write() as tx:
            await tx.slots.put(slot(1, "rain", "nobody"))


async def test_one_preference_is_found_by_its_key(two_souls):
    async with two_souls.write() as tx:
        await tx.preferences.put(preference("茶"))
        assert await tx.preferences.get("soul_1", "user_1", "茶") == preference("茶")
        for soul_id, key in [("soul_1", "tea"), ("soul_2", "茶")]:
            with pytest.raises(NotFound, match=f"no preference '{key}'"):
                await tx.preferences.get(soul_id, "user_1", key)


async def test_one_slot_is_found_by_its_number(two_souls):
    async with two_souls.write() as tx:
        await tx.slots.put(slot(7, "rain"))
        assert await tx.slots.get("soul_1", "user_1", 7) == slot(7, "rain")
        for soul_id, n in [("soul_1", 8), ("soul_2", 7)]:
            with pytest.raises(NotFound, match=f"no slot '{n}'"):
                await tx.slots.get(soul_id, "user_1", n)


def test_ten_slots_belong_to_each_kind_and_sixty_to_any():
    kinds = [kind_of_slot(n) for n in range(100)]
    assert kinds == ["fact"] * 10 + ["moment"] * 10 + ["feeling"] * 10 + ["growth"] * 10 + ["free"] * 60
