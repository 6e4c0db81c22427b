"""The library: three shelves that work alike and do not mix."""

import pytest

from soulgraph.errors import NotFound
from soulgraph.stores.records import Preset
from soulgraph.tests.conformance.samples import ANY_JSON, NOW

LATER = NOW + 60
SHELVES = {"characters": "character", "backgrounds": "background", "templates": "template"}


@pytest.fixture(params=SHELVES)
def shelf(request):
    return request.param


async def test_a_preset_comes_back_as_it_was_put(stores, shelf):
    async with stores.write() as tx:
        await getattr(tx, shelf).put("xiaoman", "小满", ANY_JSON, NOW)
    async with stores.read() as tx:
        presets = getattr(tx, shelf)
        assert (
            await presets.get("xiaoman")
            == await presets.find("xiaoman")
            == Preset("xiaoman", "小满", ANY_JSON, NOW, NOW)
        )
        others = [await getattr(tx, other).all() for other in SHELVES if other != shelf]
    assert others == [[], []]


async def test_putting_again_replaces_it_and_keeps_its_birth(stores, shelf):
    async with stores.write() as tx:
        presets = getattr(tx, shelf)
        await presets.put("a", "old", {"kept": False}, NOW)
        await presets.put("a", "new", {}, LATER)
        assert await presets.all() == [Preset("a", "new", {}, NOW, LATER)]


async def test_presets_are_listed_by_name(stores, shelf):
    async with stores.write() as tx:
        presets = getattr(tx, shelf)
        for preset_id, name in [("1", "b"), ("3", "a"), ("2", "a")]:
            await presets.put(preset_id, name, {}, NOW)
        assert [preset.id for preset in await presets.all()] == ["2", "3", "1"]


async def test_a_deleted_preset_is_gone(stores, shelf):
    async with stores.write() as tx:
        presets = getattr(tx, shelf)
        await presets.put("a", "a", {}, NOW)
        await presets.put("b", "b", {}, NOW)
        await presets.delete("a")
        assert [preset.id for preset in await presets.all()] == ["b"]


@pytest.mark.parametrize("method", ["get", "delete"])
async def test_an_unknown_preset_is_not_found(stores, shelf, method):
    async with stores.write() as tx:
        presets = getattr(tx, shelf)
        assert await presets.find("nothing") is None
        with pytest.raises(NotFound, match=f"no {SHELVES[shelf]} 'nothing'"):
            await getattr(presets, method)("nothing")
