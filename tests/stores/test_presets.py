"""The library: three shelves that work alike and do not mix."""

import asyncio

import pytest

from soulgraph.errors import Conflict, NotFound
from soulgraph.stores.factories import new_session
from soulgraph.stores.records import Picture, PictureInfo, Preset
from soulgraph.tests.stores.samples import ANY_JSON, NOW, session

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


async def test_a_picture_goes_with_its_character(stores):
    async with stores.write() as tx:
        await tx.characters.put("a", "a", {}, NOW)
        await tx.pictures.put(Picture("a", "avatar", "image/png", b"\x89PNG\0", NOW))
        await tx.characters.put("a", "renamed", {}, LATER)
        assert await tx.pictures.find("a") == Picture("a", "avatar", "image/png", b"\x89PNG\0", NOW)
        await tx.characters.delete("a")
        assert await tx.pictures.find("a") is None


async def test_a_character_has_a_picture_of_every_name(stores):
    async with stores.write() as tx:
        for character_id in ("a", "b"):
            await tx.characters.put(character_id, character_id, {}, NOW)
        await tx.pictures.put(Picture("a", "joy", "image/webp", b"1234", NOW))
        await tx.pictures.put(Picture("a", "avatar", "image/png", b"12", NOW))
        await tx.pictures.put(Picture("a", "avatar", "image/jpeg", b"123", LATER))
        await tx.pictures.copy("a", "b")
        face, smile = PictureInfo("a", "avatar", "image/jpeg", 3, LATER), PictureInfo("a", "joy", "image/webp", 4, NOW)
        assert await tx.pictures.infos("a") == [face, smile]
        assert [info.character_id for info in await tx.pictures.infos()] == ["a", "b", "a", "b"]
        await tx.pictures.delete("a", "joy")
        assert await tx.pictures.infos("a") == [face]
        assert (await tx.pictures.find("b", "joy")).content == b"1234"
        with pytest.raises(NotFound, match="no image 'joy'"):
            await tx.pictures.delete("a", "joy")


async def test_an_unknown_preset_is_not_found(stores):
    async with stores.write() as tx:
        for shelf, kind in SHELVES.items():
            presets = getattr(tx, shelf)
            assert await presets.find("nothing") is None
            for use in (presets.get("nothing"), presets.delete("nothing")):
                with pytest.raises(NotFound, match=f"no {kind} 'nothing'"):
                    await use


@pytest.mark.parametrize("shelf", SHELVES)
async def test_adding_takes_only_an_id_that_is_free(stores, shelf):
    async with stores.write() as tx:
        await getattr(tx, shelf).add("a", "first", ANY_JSON, NOW)
    with pytest.raises(Conflict) as refused:
        async with stores.write() as tx:
            await getattr(tx, shelf).add("a", "second", {}, LATER)
    assert refused.value.problem_code == "already_exists"
    async with stores.read() as tx:
        assert await getattr(tx, shelf).get("a") == Preset("a", "first", ANY_JSON, NOW, NOW)


async def test_a_locked_preset_waits_for_its_other_editor(stores):
    async with stores.write() as tx:
        await tx.backgrounds.put("a", "a", {"entries": []}, NOW)

    async def append(n):
        async with stores.write() as tx:
            preset = await tx.backgrounds.lock("a")
            await asyncio.sleep(0.01)
            await tx.backgrounds.put("a", "a", {"entries": [*preset.data["entries"], n]}, LATER)

    await asyncio.gather(*(append(n) for n in range(5)))
    async with stores.write() as tx:
        assert sorted((await tx.backgrounds.get("a")).data["entries"]) == [0, 1, 2, 3, 4]
        assert await tx.backgrounds.find_locked("nothing") is None
        with pytest.raises(NotFound, match="no background 'nothing'"):
            await tx.backgrounds.lock("nothing")


async def test_a_template_stays_while_a_session_speaks_by_it(home):
    async with home.write() as tx:
        await tx.templates.put("mine", "mine", {}, NOW)
        await tx.sessions.add(session("sess_2", template_id="mine"))
    with pytest.raises(Conflict, match="sessions speak by the template 'mine'"):
        async with home.write() as tx:
            await tx.templates.delete("mine")
    async with home.write() as tx:
        await tx.sessions.delete("sess_2")
        await tx.templates.delete("mine")
        assert await tx.templates.all() == []


@pytest.mark.parametrize("template_id", ["companion_v1", "narrator_v1", "mine"])
async def test_a_session_speaks_by_any_template_that_ships_or_is_stored(home, template_id):
    wanted = {"session_id": "s", "user_id": "u", "title": "", "character_id": None, "background_id": None}
    async with home.write() as tx:
        await tx.templates.put("mine", "mine", {}, NOW)
        soul = await tx.souls.get("soul_1")
        made = await new_session(tx, soul, **wanted, template_id=template_id, mode="hybrid", now=NOW)
        assert made.template_id == template_id
        with pytest.raises(NotFound, match="no template 'yours'"):
            await new_session(tx, soul, **wanted, template_id="yours", mode="hybrid", now=NOW)


async def test_the_summaries_of_a_soul_s_conversations_go_with_it(stores):
    async with stores.write() as tx:
        for preset_id, origin in [
            ("1", {"soul_id": "soul_1"}),
            ("2", {"soul_id": "soul_2"}),
            ("3", "soul_1"),
            ("4", None),
        ]:
            await tx.backgrounds.put(preset_id, "", {"extensions": {"summary_of": origin}}, NOW)
        await tx.backgrounds.put("5", "", {}, NOW)
        await tx.backgrounds.forget("soul_1")
        assert [preset.id for preset in await tx.backgrounds.all()] == ["2", "3", "4", "5"]
