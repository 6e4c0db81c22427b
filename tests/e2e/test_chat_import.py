"""Chats with other programs become sessions with their own dates, found again and doubled by nothing."""

import asyncio
import json
import zipfile
from io import BytesIO

import pytest

from soulgraph.cli.client import events
from soulgraph.runtime.ports import open_stores
from soulgraph.settings import Settings
from soulgraph.tests.e2e.keyring import problem
from soulgraph.tests.e2e.soul_lines import canonical, exported, imported, lines_of
from soulgraph.tests.forks import ForkedServer
from soulgraph.tests.live import new_soul, say, serving

DAY = 86_400


def claude(n=1, messages=4, **fields):
    """A conversation of Claude's with this number."""
    said = [
        {
            "uuid": f"m{n}-{m}",
            "sender": ("human", "assistant")[m % 2],
            "text": f"conversation {n} line {m} about zebra{n}x{m}",
            "created_at": f"2024-03-{n % 28 + 1:02}T08:{m // 60 % 60:02}:{m % 60:02}Z",
        }
        for m in range(messages)
    ]
    return {"uuid": f"u-{n}", "name": f"Talk {n}", "created_at": said[0]["created_at"], "chat_messages": said, **fields}


def packed(**files):
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/"), text)
    return content.getvalue()


async def send(client, soul_id, content, **params):
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    response = await client.post(f"/v1/souls/{soul_id}/import-chats", content=body, params=params)
    assert response.status_code == 200, response.text
    return response


async def bring(client, soul_id, content, **params):
    """What the last event says."""
    told = list(events([(await send(client, soul_id, content, **params)).text]))
    assert [one.name for one in told[:-1]] == ["progress"] * (len(told) - 1)
    return told[-1].name, told[-1].data


async def sessions_of(client, soul_id, **params):
    return (await client.get("/v1/sessions", params={"soul_id": soul_id, **params})).json()


async def test_a_conversation_keeps_its_title_its_dates_and_its_person(client):
    soul_id = await new_soul(client, user_id="ann")
    name, result = await bring(client, soul_id, [claude(1), claude(2, 6)], user_id="bob")
    assert (name, result["imported"]["conversations"], result["imported"]["messages"]) == ("done", 2, 10)
    sessions = await sessions_of(client, soul_id, user_id="bob")
    assert {(one["title"], one["user_id"], one["updated_at"][:16]) for one in sessions} == {
        ("Talk 1", "bob", "2024-03-02T08:00"),
        ("Talk 2", "bob", "2024-03-03T08:00"),
    }
    session_id = next(one["session_id"] for one in sessions if one["title"] == "Talk 1")
    messages = (await client.get(f"/v1/sessions/{session_id}/messages")).json()
    assert [(one["role"], one["archived"], one["timestamp"][:19]) for one in messages][:2] == [
        ("user", True, "2024-03-02T08:00:00"),
        ("assistant", True, "2024-03-02T08:00:01"),
    ]
    found = (await client.get(f"/v1/souls/{soul_id}/recall", params={"q": "zebra2x2", "user_id": "bob"})).json()
    assert found["episodes"][0]["content"] == "conversation 2 line 2 about zebra2x2"
    assert (await client.get(f"/v1/souls/{soul_id}/recall", params={"q": "zebra2x2", "user_id": "ann"})).json()[
        "episodes"
    ] == []
    assert (await client.get("/v1/jobs")).json() == [], "no model has anything to do with it"
    assert (await say(client, "hello", session_id=session_id, user_id="bob"))["reply"], "it can be gone on with"


async def test_a_second_run_doubles_nothing_and_brings_what_is_new(client):
    soul_id = await new_soul(client, user_id="ann")
    await bring(client, soul_id, [claude(1, 250)])
    before = canonical(lines_of(await exported(client, soul_id)))
    _, again = await bring(client, soul_id, packed(**{"conversations.json": json.dumps([claude(1, 250)])}))
    assert (again["imported"]["messages"], again["imported"]["known"]) == (0, 250)
    assert canonical(lines_of(await exported(client, soul_id))) == before
    _, later = await bring(client, soul_id, [claude(1, 252), claude(2, 2)])
    assert (later["imported"]["messages"], later["imported"]["conversations"]) == (4, 1)
    [longest] = [one for one in await sessions_of(client, soul_id) if one["title"] == "Talk 1"]
    messages = (await client.get(f"/v1/sessions/{longest['session_id']}/messages", params={"limit": 1000})).json()
    assert [one["content"].split()[3] for one in messages] == [str(n) for n in range(252)]
    assert (await client.delete(f"/v1/sessions/{longest['session_id']}")).status_code == 204
    _, anew = await bring(client, soul_id, [claude(1, 3)])
    assert anew["imported"]["messages"] == 3, "a conversation that was deleted can come again"


async def test_a_dry_run_tells_everything_and_stores_nothing(client):
    soul_id = await new_soul(client, user_id="ann")
    await bring(client, soul_id, [claude(1, 2)])
    found = (await send(client, soul_id, [claude(1, 4), claude(2, 3)], dry_run=True)).json()
    assert (found["programs"], found["conversations"], found["messages"], found["new_messages"]) == (
        ["claude"],
        2,
        7,
        5,
    )
    assert (found["since"], found["until"]) == ("2024-03-02T08:00:00.000Z", "2024-03-03T08:00:02.000Z")
    assert [(one["title"], one["messages"], one["known"]) for one in found["largest"]] == [
        ("Talk 1", 4, 2),
        ("Talk 2", 3, 0),
    ]
    assert len(await sessions_of(client, soul_id)) == 1


WORKSPACE = {
    "SOUL.md": "# Who\nBe kind.",
    "IDENTITY.md": "Mira",
    "USER.md": "Ann keeps bees.",
    "AGENTS.md": "Use git.",
    "MEMORY.md": "## People\n- Bob is her brother.\n- Carl moved to Rome on 2025-12-24.",
    "memory__2026-03-04.md": "- The cello string broke.",
    "sessions__s1.jsonl": "\n".join(
        map(
            json.dumps,
            [
                {"type": "session", "id": "s1", "timestamp": "2026-02-01T10:00:00Z"},
                {
                    "type": "message",
                    "id": "1",
                    "parentId": None,
                    "timestamp": "2026-02-01T10:00:01Z",
                    "message": {"role": "user", "content": "Water the fern"},
                },
            ],
        )
    ),
}


async def test_a_workspace_becomes_files_slots_and_dated_notes(client, tmp_path):
    soul_id = await new_soul(client, user_id="ann")
    folder = tmp_path / "souls" / soul_id
    folder.mkdir(parents=True)
    (folder / "IDENTITY.md").write_text("as it was")
    _, result = await bring(client, soul_id, packed(**WORKSPACE), filename="workspace.zip")
    done = result["imported"]
    assert (done["files"], done["slots"], done["messages"]) == (["SOUL.md", "USER.md"], 2, 2)
    assert done["files_kept"] == ["IDENTITY.md"], "a file that the soul has is not overwritten"
    assert result["left_out"] == [{"reason": "unused_file", "count": 1, "example": "AGENTS.md"}]
    assert result["notes"] == ["1 files left out that say how to work there, which has no place here, like AGENTS.md"]
    assert (folder / "SOUL.md").read_text() == "# Who\nBe kind."
    assert (folder / "IDENTITY.md").read_text() == "as it was"
    slots = (await client.get(f"/v1/souls/{soul_id}/slots", params={"user_id": "ann"})).json()
    assert [one["content"] for one in slots if one["content"]] == [
        "People: Bob is her brother.",
        "People: Carl moved to Rome on 2025-12-24.",
    ]
    assert {one["title"] for one in await sessions_of(client, soul_id)} == {"2026-03-04", "Water the fern"}
    _, again = await bring(client, soul_id, packed(**WORKSPACE), filename="workspace.zip")
    assert (again["imported"]["messages"], again["imported"]["slots"]) == (0, 0)


async def test_a_long_memory_becomes_notes_that_are_found(client):
    soul_id = await new_soul(client, user_id="ann")
    memory = "\n".join(f"- Thing {n} is called quokka{n}." for n in range(30))
    _, result = await bring(client, soul_id, memory.encode(), filename="MEMORY.md")
    assert (result["imported"]["messages"], result["imported"]["slots"]) == (30, 0)
    found = (await client.get(f"/v1/souls/{soul_id}/recall", params={"q": "quokka17", "user_id": "ann"})).json()
    assert found["episodes"][0]["content"] == "Thing 17 is called quokka17."


async def test_what_cannot_be_read_is_said_and_never_a_500(client):
    soul_id = await new_soul(client, user_id="ann")
    for content, filename in ((b"", "x.zip"), (b"\xff\xfe", "conversations.json"), (b"[" * 100_000, "a.json")):
        name, result = await bring(client, soul_id, content, filename=filename)
        assert (name, result["imported"]["messages"]) == ("done", 0)
        assert result["notes"]
    name, refused = await bring(client, soul_id, b"PK\x03\x04 no archive", filename="x.zip")
    assert (name, refused["code"]) == ("error", "invalid_input")
    assert problem(await client.post("/v1/souls/nobody/import-chats", content=b"[]")) == (404, "not_found")
    _, result = await bring(client, soul_id, [claude(1, name="a\0b\ud800"), {**claude(2), "uuid": None}])
    assert result["imported"]["conversations"] == 2


async def test_a_word_without_end_stops_nobody(client):
    soul_id = await new_soul(client, user_id="ann")
    endless = claude(1, 40)
    for message in endless["chat_messages"]:
        message["text"] = "y" * 400_000
    loop = asyncio.get_running_loop()
    slowest = 0.0
    importing = asyncio.create_task(bring(client, soul_id, [endless]))
    while not importing.done():
        asked = loop.time()
        assert (await client.get("/healthz")).status_code == 200
        slowest = max(slowest, loop.time() - asked)
    _, result = await importing
    assert result["imported"]["messages"] == 40
    assert "40 messages cut" in result["notes"][0]
    assert slowest < 2


async def test_one_import_of_a_person_at_a_time(client):
    soul_id = await new_soul(client, user_id="ann")
    body = json.dumps([claude(n, 20) for n in range(50)])
    path = f"/v1/souls/{soul_id}/import-chats"
    both = await asyncio.gather(*(client.post(path, content=body) for _ in range(2)))
    assert sorted(response.status_code for response in both) in ([200, 409], [200, 200])
    refused = [response for response in both if response.status_code == 409]
    assert all(response.json()["code"] == "import_running" for response in refused)
    assert len(await sessions_of(client, soul_id, limit=1000)) == 50


async def test_killed_in_the_middle_it_goes_on_and_ends_like_one_that_was_not(tmp_path):
    """kill -9 while messages are stored, several times; then the same as an import that nobody disturbed."""
    body = json.dumps([claude(n, 300 if n == 7 else 25) for n in range(60)]).encode()
    server = ForkedServer(data_dir=str(tmp_path / "killed"), mqtt_url="none")
    import httpx

    soul = None
    for _ in range(4):
        await server.start()
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
            if soul is None:
                soul = await new_soul(client, user_id="ann")
                origin = (await exported(client, soul)).content
            sending = asyncio.create_task(client.post(f"/v1/souls/{soul}/import-chats", content=body))
            for _ in range(400):
                stored = await sessions_of(client, soul, limit=1000)
                if sending.done() or len(stored) >= 15:
                    break
            server.kill()
            with pytest.raises(httpx.HTTPError):
                (await sending).read()
                raise httpx.ReadError("it was faster than we are")
    await server.start()
    async with (
        httpx.AsyncClient(base_url=server.url, timeout=60) as client,
        serving(data_dir=tmp_path / "calm") as calm,
    ):
        await bring(client, soul, body)
        await imported(calm, origin)
        await bring(calm, soul, body)
        files = [lines_of(await exported(one, soul)) for one in (client, calm)]
    server.stop()
    assert canonical(_undated(files[0])) == canonical(_undated(files[1]))


def _undated(lines):
    """When the import itself took place is no part of what it brings."""
    for line in lines:
        if line.get("table") == "chat_imports":
            line["row"]["updated_at"] = 0
        if line.get("table") == "sessions":
            line["row"]["reflected_to"] = bool(line["row"]["reflected_to"])
    return lines


async def test_conversations_go_with_their_soul_and_are_not_imported_again(client, database_url, tmp_path):
    soul_id = await new_soul(client, user_id="ann")
    await bring(client, soul_id, [claude(1, 30)])
    copy = (await imported(client, (await exported(client, soul_id)).content, name="copy"))["soul_id"]
    _, again = await bring(client, copy, [claude(1, 30)])
    assert again["imported"]["messages"] == 0
    settings = Settings.load(database_url=database_url, data_dir=tmp_path)
    async with open_stores(settings) as stores, stores.read() as tx:
        [row] = await tx.chat_imports.of(copy, "ann")
        assert (await tx.sessions.get(row.session_id)).soul_id == copy
