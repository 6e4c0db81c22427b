"""The order of a prompt's layers, on the bytes a model server gets, with everything present at once."""

import httpx
import pytest

from soulgraph.memory.events import Event, Pattern
from soulgraph.server import create_app
from soulgraph.settings import Settings
from soulgraph.soul.people import EVERYONE
from soulgraph.tests.live import new_soul, say
from soulgraph.tests.stub_openai import Reply

EVENT = Event(
    "evt_1",
    "A keeper who feared storms was calmed by a guest who stayed awake.",
    Pattern("a keeper is afraid of storms", "a storm comes", "from fear to calm", "trust"),
    {"state_changes": []},
    "They listened to the wind together.",
    "2026-11-01T00:00:00.000Z",
)


@pytest.fixture
async def home(stub, tmp_path):
    """A served app whose services the test may reach into, to give it an event."""
    settings = Settings.load(data_dir=tmp_path, llm_base_url=stub.base_url, llm_model="stub", llm_carrier="tags")
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
            yield client, app.state.services


async def furnished(client, services, tmp_path) -> str:
    """A soul with files, a character, a world with lore, preferences, slots, a past and a shared event."""
    await client.put(
        "/v1/backgrounds/island",
        json={
            "name": "island",
            "description": "An island with one lighthouse.",
            "lore": [{"id": "bell", "keys": ["storm"], "content": "The bell rings before a storm."}],
        },
    )
    character = (await client.get("/v1/characters/xiaoman")).json()
    kept = {name: value for name, value in character.items() if name not in ("id", "created_at", "updated_at")}
    await client.put("/v1/characters/xiaoman", json={**kept, "style_examples": ["用户: 累了。\n小满: 坐会儿。"]})
    soul_id = await new_soul(client, character_id="xiaoman")
    folder = tmp_path / "souls" / soul_id
    folder.mkdir(parents=True)
    for name, text in (
        ("SOUL.md", "soul file words"),
        ("IDENTITY.md", "identity words"),
        ("USER.md", "user file words"),
    ):
        (folder / name).write_text(text, "utf-8")
    await client.put(f"/v1/souls/{soul_id}/preferences/tone", json={"value": "gentle"})
    await client.put(f"/v1/souls/{soul_id}/slots/0", json={"content": "slot words: the user keeps bees"})
    await say(client, "My sister Mika is afraid of every storm.", soul_id=soul_id, session_id="past")
    await services.context.memory.events.add(EVENT, "past", soul_id, [1], EVERYONE)
    skill = {"name": "ring_bell", "description": "Ring the bell.", "input_schema": {"type": "object", "properties": {}}}
    async with services.stores.write() as tx:
        await tx.terminals.report_skills("lighthouse", 1, [skill], services.now())
        await tx.terminals.bind("lighthouse", soul_id, services.now())
    return soul_id


async def test_layers_come_in_their_fixed_order_with_files_memory_mode_and_skills_all_present(home, stub, tmp_path):
    client, services = home
    soul_id = await furnished(client, services, tmp_path)
    stub.requests.clear()
    setting = {"soul_id": soul_id, "session_id": "now", "background_id": "island", "terminal_id": "lighthouse"}
    await say(client, "switch to rational mode", **setting)
    answer = await say(client, "Was my sister Mika afraid of the storm?", **setting)
    system, *conversation, last = [message["content"] for message in stub.requests[-1].body["messages"]]

    order = ["---SAFETY", "soul file words", "identity words", "小满，一台", "小满: 坐会儿。", "An island"]
    order += ["user file words", "gentle", "slot words", "Rational:", "ring_bell: Ring the bell.", "OUTPUT CONTRACT"]
    places = [system.index(words) for words in order]
    assert places == sorted(places)
    assert system.startswith("---SAFETY")
    assert [text.split("\n")[0] for text in conversation[:1]] == ["switch to rational mode"]

    order = [
        "The bell rings",
        "storms was calmed",
        "sister Mika is afraid",
        "Was my sister Mika",
    ]
    places = [last.index(words) for words in order]
    assert places == sorted(places)
    assert {"SOUL.md", "IDENTITY.md", "USER.md", "preference:tone", "slot:0", "event:evt_1", "lore:bell"} <= set(
        answer["persona"]["sources"]
    )
    assert any(source.startswith("episode:") for source in answer["persona"]["sources"])
    assert answer["persona"]["memory_hits"] >= 2


async def test_a_blocked_soul_is_told_so_after_its_mode_and_before_what_was_said(home, stub, tmp_path):
    client, services = home
    soul_id = await furnished(client, services, tmp_path)
    for _ in range(4):
        answer = await say(client, "你真没用！我讨厌你，气死我了，滚！", soul_id=soul_id, session_id="now")
    assert answer["exec_mode"] == "blocked"
    last = stub.requests[-1].body["messages"][-1]["content"]
    assert last.index("此刻不能行动") < last.index("你真没用")


async def test_memory_that_is_down_costs_no_turn(home, stub, monkeypatch):
    client, services = home
    soul_id = await new_soul(client)

    async def away(*_args, **_kwargs):
        raise TimeoutError

    monkeypatch.setattr(services.context.memory.recall._episodes._indexes, "search", away)
    stub.script(Reply(text="<narrative>Still here.</narrative><state_update_json>{}</state_update_json>"))
    answer = await say(client, "do you remember me", soul_id=soul_id, session_id="s")
    assert (answer["reply"], answer["persona"]["memory_hits"]) == ("Still here.", 0)
