"""A whole soul is exported as a file and imported from it: on the same server beside itself, and on another one."""

import asyncio
import json

import httpx
import pytest
from sqlalchemy import func, select

from soulgraph.api import limits
from soulgraph.memory import ports
from soulgraph.memory.events import Event, Pattern, audience_of
from soulgraph.memory.source import Query
from soulgraph.runtime.ports import open_stores
from soulgraph.server import create_app, open_services
from soulgraph.settings import Settings
from soulgraph.stores.columns import metadata
from soulgraph.stores.soul_tables import LEFT_OUT, TABLES
from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.e2e.keyring import problem
from soulgraph.tests.e2e.soul_lines import aliases, canonical, exported, imported, lines_of, live_a_life, rows_of
from soulgraph.tests.live import new_soul, say, serving

OF_NO_SOUL = {"terminals", "characters", "templates", "pictures", "api_keys"}


@pytest.fixture
async def life(client, database_url, tmp_path):
    return await live_a_life(client, Settings.load(database_url=database_url, data_dir=tmp_path))


def test_every_table_is_a_soul_s_or_not():
    assert {*TABLES} | {table.name for table in LEFT_OUT} | OF_NO_SOUL == {*metadata.tables}
    assert not {*TABLES} & OF_NO_SOUL


async def test_a_copy_beside_the_original_is_equal_but_for_its_ids(client, life, database_url, tmp_path):
    await indexed(database_url, tmp_path)
    before = await exported(client, life)
    lines = lines_of(before)
    assert {line.get("table") for line in lines[1:]} == {*TABLES}
    assert (lines[0]["type"], lines[0]["version"], lines[0]["soul_id"]) == ("soul", 2, life)
    copy = await imported(client, before.content, name="copy")
    after = lines_of(await exported(client, copy["soul_id"]))
    renamed = [dict(line) for line in lines]
    renamed[1] = {**renamed[1], "row": {**renamed[1]["row"], "name": "copy"}}
    assert canonical(after) == canonical(renamed)
    ids = [{*aliases(one)} for one in (lines, after)]
    assert not ids[0] & ids[1]
    assert canonical(lines_of(await exported(client, life))) == canonical(lines), "the original is as it was"


async def test_on_another_server_a_soul_keeps_its_ids(client, life, tmp_path):
    file = await exported(client, life)
    lines = lines_of(file)
    async with serving(data_dir=tmp_path / "elsewhere") as elsewhere:
        await new_soul(elsewhere, "somebody else")
        soul = await imported(elsewhere, file.content)
        assert soul == (await client.get(f"/v1/souls/{life}")).json()
        moved = lines_of(await exported(elsewhere, life))
        group = next(row for row in rows_of(lines, "sessions") if row["souls"])
        group["souls"] = {}  # the other soul of the group has not come along
        assert canonical(moved) == canonical(lines)
        talk = {"soul_id": life, "user_id": "ann"}
        session_id = (await say(client, "hello", **talk))["session_id"]
        assert (await say(elsewhere, "hello", **talk))["session_id"] == session_id, "the usual conversation goes on"
        assert (await say(elsewhere, "hello", session_id=group["session_id"], user_id="bob"))["reply"]


async def test_the_copy_goes_on_talking_and_remembers(client, life):
    copy = (await imported(client, (await exported(client, life)).content, name="copy"))["soul_id"]
    talk = {"soul_id": copy, "user_id": "ann"}
    answer = await say(client, "What do I keep on the roof of the old mill?", **talk)
    sessions = (await client.get("/v1/sessions", params={"soul_id": copy})).json()
    assert answer["session_id"] in [one["session_id"] for one in sessions], "the usual conversation goes on"
    assert len((await client.get(f"/v1/sessions/{answer['session_id']}/messages")).json()) == 10
    query = {"q": "bees on the roof of the old mill", "user_id": "ann"}
    found = (await client.get(f"/v1/souls/{copy}/recall", params=query)).json()
    assert "I keep bees on the roof of the old mill" in [one["content"] for one in found["episodes"]]
    assert (await client.get(f"/v1/souls/{copy}/slots/3?user_id=ann")).json()["content"] == "plays the cello"
    of_bob = (await client.get(f"/v1/souls/{copy}/recall", params=query | {"user_id": "bob"})).json()
    assert [one["content"] for one in of_bob["episodes"]] == ["I keep bees on the roof of the old mill"]
    assert (await client.delete(f"/v1/souls/{copy}")).status_code == 204
    assert (await client.get(f"/v1/souls/{life}")).status_code == 200


async def test_private_events_and_summaries_are_found_in_the_copy(tmp_path):
    told = "A keeper lost a hive to the frost"
    event = Event("evt_1", told, Pattern("frost", "a hive dies", "grief", "care"), {}, "They wept.", "2026-11-16")
    settings = Settings.load(data_dir=tmp_path, mqtt_url="none")
    async with open_services(settings) as services:
        app = create_app(settings)
        app.state.services = services
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            soul_id = await new_soul(client, user_id="ann")
            session_id = (await say(client, "hello", soul_id=soul_id, user_id="ann"))["session_id"]
            await client.post(f"/v1/sessions/{session_id}/summarize")
            await settled(client)
            audience = audience_of(soul_id, ["ann"])
            await services.context.memory.events.add(event, session_id, soul_id, [], audience)
            file = await exported(client, soul_id)
            copy = (await imported(client, file.content, name="copy"))["soul_id"]
            await client.delete(f"/v1/souls/{soul_id}")
            query = {"q": told, "user_id": "ann"}
            found = (await client.get(f"/v1/souls/{copy}/recall", params=query)).json()
            assert [one["summary"] for one in found["events"]] == [told]
            query["user_id"] = "bob"
            assert (await client.get(f"/v1/souls/{copy}/recall", params=query)).json()["events"] == []
            summaries = services.context.memory.summaries
            [summary] = rows_of(lines_of(await exported(client, copy)), "backgrounds")
            text = summary["data"]["initial_context"]
            vector = (await summaries._embedder.embed([text]))[0]
            ranked = await summaries.search(Query(copy, text, [], vector, 0.0, 3, frozenset({"ann"})))
            assert [one.summary_id for one in ranked] == [summary["id"]]
            broken = file.text.replace('"table": "usage"', '"table": "nonsense"') + "{"
            assert problem(await client.post("/v1/souls/import", content=broken)) == (422, "invalid_input")


async def counts(database_url, tmp_path):
    settings = Settings.load(database_url=database_url, data_dir=tmp_path)
    async with open_stores(settings) as stores, stores.database.read() as connection:
        return {
            name: (await connection.execute(select(func.count()).select_from(table))).scalar()
            for name, table in metadata.tables.items()
        }


async def indexed(database_url, tmp_path):
    """The counts once a look for messages without a vector has found none: those come by themselves."""
    now = await counts(database_url, tmp_path)
    for _ in range(10):
        await asyncio.sleep(1.2 * ports.POLL_S)
        before, now = now, await counts(database_url, tmp_path)
        if before == now:
            return now
    raise TimeoutError("there is always something new")


def without(line, *columns):
    return {**line, "row": {name: value for name, value in line["row"].items() if name not in columns}}


def with_row(line, **columns):
    return {**line, "row": {**line["row"], **columns}}


def first(lines, table):
    return next(place for place, line in enumerate(lines) if line.get("table") == table)


BROKEN = {
    "another version": lambda lines: lines.__setitem__(0, {**lines[0], "version": 3}),
    "no header": lambda lines: lines.pop(0),
    "no soul": lambda lines: lines.pop(1),
    "two souls": lambda lines: lines.insert(2, lines[1]),
    "an unknown table": lambda lines: lines.append({"table": "api_keys", "row": {}}),
    "a table in the wrong place": lambda lines: lines.append(lines[first(lines, "sessions")]),
    "a line that is a list": lambda lines: lines.append([]),
    "a row that is a list": lambda lines: lines.append({"table": "usage", "row": []}),
    "a row of another soul": lambda lines: _change(lines, "emotion_history", soul_id="soul_other"),
    "somebody else's summary": lambda lines: lines.__setitem__(
        first(lines, "backgrounds"), with_row(lines[first(lines, "backgrounds")], data={"initial_context": "x"})
    ),
    "somebody else's event": lambda lines: _change(lines, "event_uses", audience="soul_other\nann"),
    "everybody's event": lambda lines: _change(lines, "event_uses", audience="*"),
    "a message of no session": lambda lines: _change(lines, "messages", session_id="nowhere"),
    "an episode of no message": lambda lines: _change(lines, "episodes", message_id=2**60),
    "a turn of no session": lambda lines: _change(lines, "turns", session_id="nowhere"),
    "the same message twice": lambda lines: lines.insert(first(lines, "messages"), lines[first(lines, "messages")]),
    "the same slot twice": lambda lines: lines.insert(first(lines, "slots"), lines[first(lines, "slots")]),
    "the same input twice": lambda lines: [_change(lines, "messages", place, input_id="x") for place in (0, 2)],
    "an id beyond what a database can hold": lambda lines: _change(lines, "messages", message_id=2**63),
    "a number beyond what a database can hold": lambda lines: _change(lines, "souls", turns=2**31),
    "a time that is no number": lambda lines: _change(lines, "souls", created_at="now"),
    "a mood that cannot be read": lambda lines: _change(lines, "souls", emotion_state={}),
    "a profile that cannot be read": lambda lines: _change(lines, "souls", dynamic_profile={"dynamic_state": 1}),
    "a mode that there is not": lambda lines: _change(lines, "sessions", persona_state={"mode": "loud"}),
    "a role that there is not": lambda lines: _change(lines, "messages", role="system"),
    "a text with NUL": lambda lines: _change(lines, "messages", content="a\0b"),
    "an id that no address can name": lambda lines: _change(lines, "souls", soul_id="a b"),
    "a name that is none": lambda lines: _change(lines, "souls", name=" "),
    "people that are no list": lambda lines: _change(lines, "sessions", people="bob"),
    "a person with a line break": lambda lines: _change(lines, "sessions", people=["bob\ncarl"]),
    "a true where a number belongs": lambda lines: _change(lines, "souls", version=True),
    "a null where none may be": lambda lines: _change(lines, "souls", inner_state=None),
    "a type too long for its column": lambda lines: _change(lines, "souls", mbti_type="INFJX"),
    "an unknown column": lambda lines: _change(lines, "souls", colour="blue"),
    "a missing column": lambda lines: lines.__setitem__(1, without(lines[1], "mbti_type")),
    "a drift without traits": lambda lines: _change(lines, "emotion_history", drift={"empathy": 0.1}),
    "a time beyond all years": lambda lines: _change(lines, "messages", created_at=1e12),
    "a file out of its folder": lambda lines: lines.append(file_line("../SOUL.md")),
    "a file that no soul has": lambda lines: lines.append(file_line("people/ann/SOUL.md")),
    "the same file twice": lambda lines: lines.extend([file_line("SOUL.md")] * 2),
    "a file that is not in base64": lambda lines: lines.append(file_line("SOUL.md", content="你好")),
    "a file that is too large": lambda lines: lines.append(file_line("SOUL.md", content="QUFB" * 400_000)),
    "a picture of no character": lambda lines: lines.append(
        {"table": "pictures", "row": {"character_id": "x", "name": "avatar", "content_type": "image/png",
                                      "content": "AAAA", "updated_at": 1.0}}
    ),
    "a character without a name": lambda lines: lines.append(preset_line("characters", name="")),
    "a template that says nothing": lambda lines: lines.append(preset_line("templates", data={"name": "Plain"})),
    "a background that is no object": lambda lines: lines.append(preset_line("library_backgrounds", data=[])),
    "a guard that cannot be read": lambda lines: _change(lines, "sessions", guard={"ann": {"proposed_to": "x"}}),
}  # fmt: skip


def file_line(path, content="QUFB"):
    return {"table": "files", "row": {"path": path, "content": content}}


def preset_line(table, **columns):
    return {"table": table, "row": {"id": "x", "name": "X", "data": {}, "created_at": 1.0, "updated_at": 1.0} | columns}


def _change(lines, table, place=0, **columns):
    at = [number for number, line in enumerate(lines) if line.get("table") == table][place]
    lines[at] = with_row(lines[at], **columns)


@pytest.fixture
async def files(client, life):
    return lines_of(await exported(client, life))


async def test_of_a_file_that_cannot_be_read_nothing_is_stored(client, files, database_url, tmp_path):
    before = await indexed(database_url, tmp_path)
    for what, break_it in BROKEN.items():
        lines = [*files]
        break_it(lines)
        body = "\n".join(map(json.dumps, lines))
        query = {"name": "copy"} if what != "a name that is none" else {}
        refused = await client.post("/v1/souls/import", content=body, params=query)
        assert problem(refused) == (422, "invalid_input"), f"{what}: {refused.text}"
    for body in (b"", b"{", b"null", b"\xff\xfe", b"[" * 100_000, json.dumps(files[0]).encode()):
        assert problem(await client.post("/v1/souls/import", content=body)) == (422, "invalid_input")
    assert await counts(database_url, tmp_path) == before


async def test_the_first_line_at_fault_is_named(client, files):
    _change(files, "messages", 2, role="system")
    at = first(files, "messages") + 2 + 1
    refused = await client.post("/v1/souls/import", content="\n".join(map(json.dumps, files)))
    assert refused.json()["line"] == at
    assert refused.json()["detail"].startswith(f"line {at}: role:")


async def test_a_file_from_before_a_column_was_there_can_be_read(client, files):
    older = [without(line, "drift", "memory_hint") if "row" in line else line for line in files]
    copy = await imported(client, "\n".join(map(json.dumps, older)), name="copy")
    history = (await client.get(f"/v1/souls/{copy['soul_id']}/emotion/history")).json()["points"]
    assert history[0]["drift"] is None


async def test_a_name_that_is_taken_is_refused_and_another_can_be_given(client, life, database_url, tmp_path):
    file = await exported(client, life)
    before = await indexed(database_url, tmp_path)
    assert problem(await client.post("/v1/souls/import", content=file.content)) == (409, "soul_exists")
    assert await counts(database_url, tmp_path) == before
    long = await client.post("/v1/souls/import", content=file.content, params={"name": "x" * 81})
    assert problem(long) == (422, "invalid_input")
    assert (await imported(client, file.content, name="小满二号"))["name"] == "小满二号"


async def test_many_imports_at_once_are_as_many_souls(client, life):
    file = await exported(client, life)
    copies = await asyncio.gather(*(imported(client, file.content, name=f"copy {n}") for n in range(4)))
    assert len({copy["soul_id"] for copy in copies}) == 4
    expected = {json.dumps(one) for one in canonical(lines_of(file)) if '"table": "souls"' not in one}
    for copy in copies:
        told = canonical(lines_of(await exported(client, copy["soul_id"])))
        assert {json.dumps(one) for one in told if '"table": "souls"' not in one} == expected


async def test_the_same_soul_imported_twice_at_once_on_a_new_server_is_there_once(client, life, tmp_path):
    file = await exported(client, life)
    async with serving(data_dir=tmp_path / "elsewhere") as elsewhere:
        both = await asyncio.gather(*(elsewhere.post("/v1/souls/import", content=file.content) for _ in range(2)))
        assert sorted(response.status_code for response in both)[0] == 201
        assert len((await elsewhere.get("/v1/souls")).json()) == 1


async def test_a_template_that_is_not_here_becomes_the_usual_one(client, files):
    place = first(files, "sessions")
    files[place] = with_row(files[place], template_id="of-another-server")
    copy = await imported(client, "\n".join(map(json.dumps, files)), name="copy")
    sessions = (await client.get("/v1/sessions", params={"soul_id": copy["soul_id"]})).json()
    assert {one["template_id"] for one in sessions} == {"companion_v1"}
    for session in sessions:
        assert (await say(client, "hello", session_id=session["session_id"], user_id="ann"))["reply"]


async def test_what_is_said_during_an_export_is_in_it_whole_or_not_at_all(client, life):
    async def talk():
        for n in range(6):
            await say(client, f"line {n}", soul_id=life, session_id=f"new-{n}", user_id="ann")

    talking = asyncio.create_task(talk())
    for n in range(4):
        file = await exported(client, life)
        await imported(client, file.content, name=f"copy {n}")
    await talking


async def test_a_file_that_is_too_large_is_refused(client, monkeypatch):
    assert limits.LIMITS["/v1/souls/import"] == 1024**3
    monkeypatch.setitem(limits.LIMITS, "/v1/souls/import", 2 * 1024 * 1024)

    async def chunks():
        for _ in range(3):
            yield b" " * 1024 * 1024

    refused = await client.post("/v1/souls/import", content=chunks())
    assert problem(refused) == (413, "body_too_large")
    assert "2 MiB" in refused.json()["detail"]


async def test_there_is_no_file_of_an_unknown_soul(client):
    assert problem(await client.get("/v1/souls/soul_x/export")) == (404, "not_found")


async def test_ids_with_letters_of_any_language_can_be_exported(client, life):
    await say(client, "hello", soul_id=life, session_id="日记", user_id="ann")
    assert (await client.get("/v1/sessions/日记/export")).status_code == 200
    assert rows_of(lines_of(await exported(client, life)), "sessions")
