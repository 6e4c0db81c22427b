"""A soul moves to a server on the other database, with all it is: its file there is the same as here."""

import base64
import random
from contextlib import asynccontextmanager
from io import BytesIO

import pytest
from PIL import Image

from soulgraph.runtime.ports import open_stores
from soulgraph.settings import Settings
from soulgraph.stores.records import DailyUsage, Relation
from soulgraph.tests.e2e.keyring import problem
from soulgraph.tests.e2e.soul_lines import canonical, exported, imported, lines_of, live_a_life, rows_of
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stores.samples import message, point, preference, session, slot

LETTERS = "aé你好 \n\t\"\\'%_🫶🏽\u2028\u2029\u0085\ufeff\u200b{}[]:<>"
TEMPLATE = {"id": "plain", "name": "Plain", "modules": [{"name": "Who", "layer": 2, "content": "Be {brief}."}]}


@pytest.fixture(params=["sqlite to postgres", "postgres to sqlite"])
async def both(request, sqlite_url, postgres_url, tmp_path):
    """Two servers, one on each database, and the settings of the first."""
    urls = [sqlite_url, postgres_url] if request.param.startswith("sqlite") else [postgres_url, sqlite_url]
    here = Settings.load(database_url=urls[0], data_dir=tmp_path / "here")
    async with (
        serving(database_url=urls[0], data_dir=here.data_dir) as first,
        serving(database_url=urls[1], data_dir=tmp_path / "there") as second,
    ):
        yield first, second, here


def picture(colour):
    file = BytesIO()
    Image.new("RGB", (2, 2), colour).save(file, "PNG")
    return file.getvalue()


async def a_library(client):
    """A character with two faces, a template and a background, none of which ships."""
    assert (await client.post("/v1/characters", json={"id": "lumen", "name": "Lumen"})).status_code == 201
    for name, colour in (("avatar", "red"), ("joy", "blue")):
        put = await client.put(f"/v1/characters/lumen/images/{name}", content=picture(colour))
        assert put.status_code == 200, put.text
    assert (await client.post("/v1/templates", json=TEMPLATE)).status_code == 201
    assert (await client.post("/v1/backgrounds", json={"id": "sea", "name": "The sea"})).status_code == 201


async def a_scene(client, soul_id):
    scene = {"background_id": "sea", "template_id": "plain", "character_id": "lumen"}
    made = await client.post("/v1/sessions", json={"soul_id": soul_id, "user_id": "ann", **scene})
    assert made.status_code == 201, made.text
    return made.json()["session_id"]


def a_workspace(settings, soul_id):
    folder = settings.data_dir / "souls" / soul_id
    (folder / "people" / "bob").mkdir(parents=True)
    (folder / "SOUL.md").write_text("# 你好\u2028Be kind.", "utf-8")
    (folder / "people" / "bob" / "USER.md").write_bytes(b"\xff not UTF-8\0")
    (folder / "notes.txt").write_text("not the soul's")
    (folder / "IDENTITY.md").symlink_to("/etc/hostname")


async def test_a_soul_with_everything_is_the_same_on_the_other_database(both):
    here, there, settings = both
    await a_library(here)
    soul_id = await live_a_life(here, settings)
    await a_scene(here, soul_id)
    sessions = (await here.get("/v1/sessions", params={"soul_id": soul_id})).json()
    [fork] = [one["session_id"] for one in sessions if one["turn"] == 4]
    assert (await here.post(f"/v1/sessions/{fork}/fork", json={})).status_code == 201
    a_workspace(settings, soul_id)
    others = [one["soul_id"] for one in (await here.get("/v1/souls")).json() if one["soul_id"] != soul_id]
    for other in others:  # so that nobody leaves the group
        await imported(there, (await exported(here, other)).content)
    file = await exported(here, soul_id)
    await imported(there, file.content)
    moved = await exported(there, soul_id)
    assert canonical(lines_of(moved)) == canonical(lines_of(file))
    lines = lines_of(moved)
    assert {
        row["id"] for name in ("characters", "templates", "library_backgrounds") for row in rows_of(lines, name)
    } == {
        "lumen",
        "plain",
        "sea",
    }
    assert [(row["name"], row["content_type"]) for row in rows_of(lines, "pictures")] == [
        ("avatar", "image/png"),
        ("joy", "image/png"),
    ]
    assert [row["path"] for row in rows_of(lines, "files")] == ["SOUL.md", "people/bob/USER.md"]
    assert (await there.get("/v1/characters/lumen/images/joy")).content == picture("blue")


def words(chance):
    return "".join(chance.choices(LETTERS, k=chance.randint(1, 80)))


async def any_life(client, settings, chance):
    """A soul with rows of any number and kind, written without asking anybody."""
    soul_id = await new_soul(client, f"any {chance.random()}", user_id=chance.choice(["ann", "bob", "小林"]))
    async with open_stores(settings) as stores, stores.write() as tx:
        for n in range(chance.randint(1, 4)):
            people = tuple(chance.sample(["carl", "dora", "eve@x"], chance.randint(0, 2)))
            made = session(f"{soul_id}-{n}", soul_id, people=people, title=words(chance), user_id="ann")
            await tx.sessions.add(made)
            for turn in range(chance.randint(0, 6)):
                speaker = {"user_id": chance.choice(made.audience), "soul_id": soul_id, "people": people}
                said = [
                    message(
                        words(chance), turn_id=f"turn_{soul_id}_{n}_{turn}", archived=chance.random() < 0.5, **speaker
                    ),
                    message(words(chance), turn_id=f"turn_{soul_id}_{n}_{turn}", role="assistant", **speaker),
                ]
                ids = await tx.messages.append(made.session_id, said)
                await tx.episodes.recalled(chance.sample(ids, 1), chance.random() * 1e9)
                await tx.personas.evolve(made.session_id, words(chance), "manual", chance.random())
        for n in range(chance.randint(0, 5)):
            await tx.slots.put(slot(n, words(chance), soul_id, user_id=chance.choice(["ann", "bob"])))
            await tx.preferences.put(
                preference(f"key {n}", soul_id, value=words(chance), evidence=[{"a": words(chance)}])
            )
            await tx.history.add_turn(n, point(chance.random() * 1e9, soul_id))
        for person in chance.sample(["ann", "bob", "小林"], 2):
            await tx.relations.ensure(Relation.new(soul_id, person, chance.random() * 1e9))
            await tx.monologues.think(soul_id, words(chance), "edited", 1.5)
        await tx.usage.add(DailyUsage(soul_id, "2027-01-15", "turn", chance.randint(1, 9), 10, 2**40))
    return soul_id


async def test_any_soul_is_the_same_on_the_other_database(both):
    here, there, settings = both
    for seed in range(12):
        soul_id = await any_life(here, settings, random.Random(seed))
        file = await exported(here, soul_id)
        await imported(there, file.content)
        assert canonical(lines_of(await exported(there, soul_id))) == canonical(lines_of(file)), f"seed {seed}"


@asynccontextmanager
async def elsewhere(tmp_path, name):
    async with serving(data_dir=tmp_path / name) as client:
        yield client


async def test_what_ships_stays_and_what_was_edited_comes_along(tmp_path):
    async with elsewhere(tmp_path, "here") as here, elsewhere(tmp_path, "there") as there:
        soul_id = await new_soul(here, character_id="xiaoman", user_id="ann")
        assert rows_of(lines_of(await exported(here, soul_id)), "characters") == []
        edited = (await here.get("/v1/characters/xiaoman")).json() | {"base_persona": "Another one."}
        assert (await here.put("/v1/characters/xiaoman", json=edited)).status_code == 200
        soul = await imported(there, (await exported(here, soul_id)).content)
        assert soul["character_id"] != "xiaoman", "the one that ships there is somebody else's"
        moved = (await there.get(f"/v1/characters/{soul['character_id']}")).json()
        assert moved["base_persona"] == "Another one."
        assert (await there.get("/v1/characters/xiaoman")).json()["base_persona"] != "Another one."


async def test_of_the_library_nothing_is_doubled_and_nothing_overwritten(tmp_path):
    async with elsewhere(tmp_path, "here") as here, elsewhere(tmp_path, "there") as there:
        await a_library(here)
        soul_id = await new_soul(here, character_id="lumen", user_id="ann")
        session_id = await a_scene(here, soul_id)
        await imported(here, (await exported(here, soul_id)).content, name="copy")
        assert len((await here.get("/v1/templates")).json()) == 3, "the copy uses what is here"
        await there.post("/v1/templates", json={**TEMPLATE, "name": "Not the same"})
        await there.post("/v1/characters", json={"id": "lumen", "name": "Lumen"})  # without a face
        soul = await imported(there, (await exported(here, soul_id)).content)
        session = (await there.get(f"/v1/sessions/{session_id}")).json()
        assert soul["character_id"] not in ("lumen", None)
        assert session["template_id"] not in ("plain", "companion_v1")
        assert (await there.get(f"/v1/templates/{session['template_id']}")).json()["name"] == "Plain"
        assert (await there.get("/v1/templates/plain")).json()["name"] == "Not the same"
        assert (await there.get(f"/v1/characters/{soul['character_id']}")).json()["images"] == ["avatar", "joy"]
        assert (await say(there, "hello", session_id=session_id, user_id="ann"))["reply"]


async def test_files_of_a_deleted_soul_are_not_given_to_another(tmp_path):
    settings = Settings.load(data_dir=tmp_path / "here")
    async with elsewhere(tmp_path, "here") as here:
        soul_id = await new_soul(here, user_id="ann")
        folder = settings.data_dir / "souls" / soul_id
        folder.mkdir(parents=True)
        (folder / "SOUL.md").write_text("as it was")
        file = await exported(here, soul_id)
        await here.delete(f"/v1/souls/{soul_id}")
        again = await imported(here, file.content)
        assert again["soul_id"] == soul_id, "these are its own"
        await here.delete(f"/v1/souls/{soul_id}")
        (folder / "SOUL.md").write_text("somebody else's")
        other = (await imported(here, file.content))["soul_id"]
        assert other != soul_id
        assert (folder.parent / other / "SOUL.md").read_text() == "as it was"
        assert (folder / "SOUL.md").read_text() == "somebody else's"


async def test_of_a_refused_file_no_file_is_left(tmp_path):
    async with elsewhere(tmp_path, "here") as here:
        soul_id = await new_soul(here, user_id="ann")
        text = (await exported(here, soul_id)).text.replace(soul_id, "soul_new")
        content = base64.b64encode(b"Be kind.").decode()
        text += f'{{"table": "files", "row": {{"path": "SOUL.md", "content": "{content}"}}}}\n'
        assert problem(await here.post("/v1/souls/import", content=text)) == (409, "soul_exists")
        assert not (tmp_path / "here" / "souls" / "soul_new" / "SOUL.md").exists()


async def test_a_file_of_the_first_version_can_be_read(tmp_path):
    async with elsewhere(tmp_path, "here") as here:
        soul_id = await new_soul(here, user_id="ann")
        text = (await exported(here, soul_id)).text.replace('"version": 2', '"version": 1', 1)
        assert (await imported(here, text, name="copy"))["name"] == "copy"
        newer = text.replace('"version": 1', '"version": 3', 1)
        refused = await here.post("/v1/souls/import", content=newer, params={"name": "third"})
        assert refused.json()["detail"] == "line 1: the file has version 3, and this server reads 1 to 2: update it"
