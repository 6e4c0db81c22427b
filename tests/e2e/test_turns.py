"""A stored turn says what it heard, remembered, answered and cost, and each reader learns what is theirs to know."""

import httpx

from soulgraph.memory.events import Event, Pattern, audience_of
from soulgraph.server import create_app
from soulgraph.settings import Settings
from soulgraph.stores.factories import new_id
from soulgraph.tests.e2e.keyring import build, home, problem
from soulgraph.tests.live import new_soul, say
from soulgraph.tests.stub_openai import Reply


async def read(client, answer, **params):
    return await client.get(f"/v1/sessions/{answer['session_id']}/turns/{answer['turn_id']}", params=params)


async def test_an_old_turn_is_read_with_what_it_heard_remembered_and_cost(client):
    soul_id = await new_soul(client)
    first = await say(client, "我养了一只叫豆豆的猫", soul_id=soul_id, session_id="old")
    answer = await say(client, "你还记得豆豆吗", soul_id=soul_id, session_id="new")
    [told] = [one for one in (await client.get("/v1/sessions/old/messages")).json() if one["role"] == "user"]
    turn = (await read(client, answer)).json()
    assert turn["answer"] == answer
    assert turn["user_emotion"] == answer["user_emotion"]
    assert (turn["turn_id"], turn["session_id"], turn["soul_id"]) == (answer["turn_id"], "new", soul_id)
    remembered = {one["source"]: one for one in turn["recalled"]}
    assert [*remembered] == [one for one in answer["persona"]["sources"] if one.startswith(("episode", "event"))]
    source = f"episode:{told['message_id']}"
    assert remembered[source] == {
        "source": source,
        "kind": "episode",
        "id": str(told["message_id"]),
        "text": "我养了一只叫豆豆的猫",
    }
    assert (await read(client, first)).json()["recalled"] == []

    assert (await client.delete("/v1/sessions/old")).status_code == 204
    forgotten = (await read(client, answer)).json()["recalled"]
    assert {one["source"]: one["text"] for one in forgotten}[source] is None
    assert problem(await read(client, first)) == (404, "not_found")


async def test_only_turns_of_the_session_are_found_there(client):
    soul_id = await new_soul(client)
    one, other = [await say(client, "hi", soul_id=soul_id, session_id=name) for name in ("a", "b")]
    for ids in (one | {"turn_id": other["turn_id"]}, one | {"turn_id": "turn_x"}, one | {"session_id": "nowhere"}):
        assert problem(await read(client, ids)) == (404, "not_found")


async def test_a_turn_that_failed_was_heard_and_has_no_answer(modelled, stub):
    soul_id = await new_soul(modelled)
    await say(modelled, "hello", soul_id=soul_id, session_id="s")
    stub.default = Reply(text='{"no": "words"}')
    failed = await modelled.post("/v1/chat", json={"text": "thank you", "soul_id": soul_id, "session_id": "s"})
    assert failed.json()["code"] == "turn_output_invalid"
    turn = (await read(modelled, {"session_id": "s", "turn_id": failed.json()["turn_id"]})).json()
    assert (turn["answer"], turn["recalled"]) == (None, [])
    assert turn["user_emotion"]["emotion"] == "gratitude"


async def test_a_turn_is_for_those_who_were_there_and_its_memories_for_those_who_may_know_them(tmp_path):
    async with home(tmp_path) as (owner, ann, bob, soul_id):
        made = await owner.post("/v1/sessions", json={"soul_id": soul_id, "user_id": "ann"})
        before = await say(ann, "我偷偷学会了吹小号", soul_id=soul_id, session_id="diary")
        [secret] = [one for one in (await ann.get("/v1/sessions/diary/messages")).json() if one["role"] == "user"]
        sharing = f"/v1/sessions/diary/messages/{secret['message_id']}/sharing"
        assert (await ann.put(sharing, json={"shared_with": ["bob"]})).status_code == 200
        group = made.json()["session_id"]
        early = await say(ann, "今天下雨了", session_id=group)
        assert (await owner.patch(f"/v1/sessions/{group}", json={"people": ["bob"]})).status_code == 200
        answer = await say(ann, "你记得我的小号吗", session_id=group)

        async def texts(client):
            response = await read(client, answer)
            assert response.status_code == 200, response.text
            return {one["source"]: one["text"] for one in response.json()["recalled"]}

        source = f"episode:{secret['message_id']}"
        for reader in (owner, ann, bob):
            assert (await texts(reader))[source] == "我偷偷学会了吹小号"
        assert (await ann.put(sharing, json={"shared_with": []})).status_code == 200
        assert (await texts(ann))[source] == (await texts(owner))[source] == "我偷偷学会了吹小号"
        assert (await texts(bob))[source] is None
        for private in (before, early):
            assert (await read(ann, private)).status_code == (await read(owner, private)).status_code == 200
            assert problem(await read(bob, private)) == (404, "not_found")


async def test_events_and_summaries_are_shown_to_those_who_were_there(tmp_path):
    """The memories and the turn are written by hand: no model is needed to see who may read them."""
    house = await build(tmp_path)
    app = create_app(Settings.load(data_dir=tmp_path, mqtt_url="none"))
    transport = httpx.ASGITransport(app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        services, soul_id = app.state.services, house.souls[0]
        sources = []
        for summary, audience in (("Rain fell.", "*"), ("A boat sank.", audience_of(soul_id, ["bob"]))):
            event = Event(new_id("evt"), summary, Pattern("", "", "", ""), {}, "", "2027-01-15T00:00:00Z")
            sources.append(f"event:{await services.context.memory.events.add(event, 'bob-0', soul_id, [], audience)}")
        async with services.stores.write() as tx:
            for name, person in (("summary_a", "ann"), ("summary_b", "bob")):
                origin = {"session_id": f"{person}-0", "soul_id": soul_id, "user_id": person, "people": []}
                data = {"initial_context": f"{person} spoke", "extensions": {"summary_of": origin}}
                await tx.backgrounds.add(name, name, data, 1.0)
                sources.append(f"summary:{name}")
            heard = {"emotion": "joy", "p": 0.7, "a": 0.5, "d": 0.2, "intensity": 0.9, "confidence": 0.9}
            await tx.turns.heard("ann-0", "in_1", "turn_1", soul_id, heard, 1.0)
            await tx.turns.answered("ann-0", "in_1", {"reply": "Oh.", "persona": {"sources": ["slot:3", *sources]}})

        async def seen(who):
            response = await client.get("/v1/sessions/ann-0/turns/turn_1", headers=house.headers(who))
            return response.json()["answer"]["reply"], [one["text"] for one in response.json()["recalled"]]

        rain, boat = "Rain fell.", "A boat sank."
        reply, everything = await seen("owner")
        assert reply == "Oh."
        assert [text and text.strip() for text in everything] == [rain, boat, "ann spoke", "bob spoke"]
        assert await seen("ann") == ("Oh.", [everything[0], None, "ann spoke", None])
