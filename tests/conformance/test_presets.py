"""The library: three shelves that work alike and do not mix."""

import pytest

from soulgraph.errors import NotFound
from soulgraph.stores.records import Preset
from soulgraph.tests.conformance.samples import ANY_JSON, NOW

LATER = NOW + 60
SHELVES = {"characters": "character", "backgrounds": "background", "templates": "template"}


@pytest.mark.parametrize("shelf", SHELVES)
async def test_a_preset_comes_back_as_it_was_put_and_from_no_other_shelf(stores, shelf):
    xiaoman = Preset("xiaoman", "小满", ANY_JSON, NOW, NOW)
    async with stores.write() as tx:
        presets = getattr(tx, shelf)
        await presets.put("xiaoman", "小满", ANY_JSON, NOW)
        assert await presets.get("xiaoman") == await presets.find("xiaoman") == xiaoman
        assert [await getattr(tx, other).all() for other in SHELVES if other != shelf] == [[], []]


async def test_putting_again_replaces_it_and_keeps_its_birth(stores):
    async with stores.write() as tx:
        await tx.characters.put("a", "old", {"kept": False}, NOW)
        await tx.characters.put("a", "new", {}, LATER)
        assert await tx.characters.all() == [Preset("a", "new", {}, NOW, LATER)]


async def test_presets_are_listed_by_name(stores):
    async with stores.write() as tx:
        for preset_id, name in [("1", "b"), ("3", "a"), ("2", "a")]:
            await tx.characters.put(preset_id, name, {}, NOW)
        assert [preset.id for preset in await tx.characters.all()] == ["2", "3", "1"]


async def test_a_deleted_preset_is_gone(stores):
    async with stores.write() as tx:
        await tx.characters.put("a", "a", {}, NOW)
        await tx.characters.put("b", "b", {}, NOW)
        await tx.characters.delete("a")
        assert [preset.id for preset in await tx.characters.all()] == ["b"]


async def test_an_unknown_preset_is_not_found(stores):
    async with stores.write() as tx:
        for shelf, kind in SHELVES.items():
            presets = getattr(tx, shelf)
            assert await presets.find("nothing") is None
            for use in (presets.get("nothing"), presets.delete("nothing")):
                with pytest.raises(NotFound, match=f"no {kind} 'nothing'"):
                    await use
