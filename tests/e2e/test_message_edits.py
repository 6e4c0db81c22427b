"""One message is corrected or deleted, and transcript, memory and prompts follow. Transcripts are read from the end."""

import asyncio
import json

import pytest

from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.e2e.keyring import home, problem
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.live import new_soul, say, transcript
from soulgraph.tests.stub_openai import Reply

BEYOND = 2**63


async def messages(client, session_id="s", **query):
    response = await client.get(f"/v1/sessions/{session_id}/messages", params=query)
    assert response.status_code == 200, response.text
    return response.json()


def at(message, session_id="s"):
    return f"/v1/sessions/{session_id}/messages/{message['message_id']}"


async def recalled(client, soul_id, words):
    found = (await client.get(f"/v1/souls/{soul_id}/recall", params={"q": words})).json()
    return [one["content"] for one in found["episodes"]]


@pytest.fixture
async def talk(client):
    """Two rounds in the session `s`."""
    soul_id = await new_soul(client)
    await say(client, "I keep bees on the roof", soul_id=soul_id, session_id="s", input_id="in-1")
    await say(client, "They like lavender most", session_id="s", input_id="in-2")
    await settled(client)
    return soul_id


async def test_a_corrected_message_is_read_and_recalled_in_its_new_words(client, talk):
    first, answered = (await messages(client))[:2]
    await client.patch(at(answered), json={"content": "I see."})  # it quotes what was said
    assert "I keep bees on the roof" in await recalled(client, talk, "what do I keep on the roof, bees?")
    corrected = await client.patch(at(first), json={"content": " I keep pigeons in the attic "})
    assert corrected.json() == {**first, "content": "I keep pigeons in the attic"}
    assert (await messages(client))[0] == corrected.json()
    assert "I keep pigeons in the attic" in await recalled(client, talk, "pigeons in the attic")
    assert not any("bees" in words for words in await recalled(client, talk, "bees on the roof"))
    assert (await client.get("/v1/sessions/s")).json()["title"] == "I keep pigeons in the attic"


async def test_the_meaning_of_a_corrected_message_is_indexed_anew(client, talk):
    first = (await messages(client))[0]
    await client.patch(at(first), json={"content": "My grandmother was a midwife"})
    async with asyncio.timeout(20):
        while "My grandmother was a midwife" not in await recalled(client, talk, "奶奶当过接生婆吗"):
            await asyncio.sleep(0.05)


async def test_a_corrected_answer_is_what_its_input_gets_again(client, talk):
    answered = (await messages(client))[3]
    await client.patch(at(answered), json={"content": "So do I."})
    assert (await say(client, "They like lavender most", session_id="s", input_id="in-2"))["reply"] == "So do I."


async def test_a_prompt_has_the_corrected_words(modelled, stub):
    soul_id = await new_soul(modelled)
    stub.default = Reply(text="<narrative>You live in Oslo.</narrative><state_update_json>{}</state_update_json>")
    await say(modelled, "I live in Oslo", soul_id=soul_id, session_id="s")
    said, answered = await messages(modelled)
    await modelled.patch(at(said), json={"content": "I live in Bergen"})
    await modelled.patch(at(answered), json={"content": "You live in Bergen."})
    await settled(modelled)
    stub.requests.clear()
    await say(modelled, "Where do I live?", session_id="s")
    sent = json.dumps(stub.requests[0].body["messages"][-3:])
    assert sent.count("Bergen") == 2
    assert "Oslo" not in sent


async def test_a_deleted_message_is_gone_everywhere(client, talk):
    first, second, third, fourth = await messages(client)
    for message in (second, third, fourth):
        assert (await client.delete(at(message))).status_code == 204
    assert await messages(client) == [first]
    assert not any("lavender" in words for words in await recalled(client, talk, "lavender"))
    for method in ("DELETE", "PATCH"):
        again = await client.request(method, at(second), json={"content": "x"} if method == "PATCH" else None)
        assert problem(again) == (404, "not_found")


async def test_what_follows_a_deleted_message_follows_the_one_before_it(client, talk):
    before, deleted, _, after = await messages(client)
    for message in (deleted, (await messages(client))[2]):
        await client.delete(at(message))
    await client.patch(at(after), json={"content": "Zephyr"})
    await client.patch(at(before), json={"content": "Which wind blows from the west?"})
    lines = (await client.get("/v1/sessions/s/export")).text.splitlines()[1:]
    assert [json.loads(one)["content"] for one in lines] == ["Which wind blows from the west?", "Zephyr"]
    assert (await say(client, "and then?", session_id="s"))["turn_id"]


async def test_the_words_of_a_deleted_answer_are_not_given_again(client, talk):
    answered = (await messages(client))[3]
    await client.delete(at(answered))
    again = await say(client, "They like lavender most", session_id="s", input_id="in-2")
    assert again["reply"] == ""
    assert len(await messages(client)) == 3


async def test_nothing_follows_a_turn_whose_words_were_deleted(modelled, stub):
    soul_id = await new_soul(modelled)
    await say(modelled, "hello there", soul_id=soul_id, session_id="s")
    await settled(modelled)
    stub.default = Reply(text=stub.default.text, delay_s=0.3)
    answer = await say(modelled, "I had a terrible day at work", session_id="s")
    await modelled.delete(at((await messages(modelled))[2]))
    await settled(modelled)
    jobs = (await modelled.get("/v1/jobs")).json()
    assert answer["turn_id"] not in [job["turn_id"] for job in jobs]


async def test_a_message_without_its_answer_can_be_answered_anew(client, talk):
    _, _, said, answered = await messages(client)
    await client.delete(at(answered))
    again = await client.post("/v1/chat", json={"session_id": "s", "replaces": said["message_id"]})
    assert again.status_code == 200
    assert (await transcript(client, "s"))[2:] == [("user", said["content"]), ("assistant", again.json()["reply"])]


async def test_a_change_waits_for_the_turn_that_runs(modelled, stub):
    soul_id = await new_soul(modelled)
    await say(modelled, "hello there", soul_id=soul_id, session_id="s")
    first = (await messages(modelled))[0]
    asked = asyncio.Event()

    def slowly(_):
        asked.set()
        return Reply(text=stub.default.text, delay_s=0.3)

    stub.when("second question", slowly)
    running = asyncio.create_task(say(modelled, "second question", session_id="s"))
    await asyncio.wait_for(asked.wait(), 20)
    deleted = await modelled.delete(at(first))
    assert deleted.status_code == 204
    assert running.done() or await running
    assert [role for role, _ in await transcript(modelled, "s")] == ["assistant", "user", "assistant"]


async def test_all_who_listen_hear_that_a_conversation_was_changed(client, talk):
    first, second, *_ = await messages(client)
    async with line(client) as socket:
        await socket.send(type="listen", soul_id=talk)
        await socket.until("listening")
        await client.patch(at(first), json={"content": "x"})
        await client.delete(at(second))
        fork = (await client.post("/v1/sessions/s/fork", json={})).json()
        heard = [(await socket.until("session_changed"))[-1]["data"] for _ in range(3)]
    assert [(one["session_id"], one["reason"]) for one in heard] == [
        ("s", "edited"),
        ("s", "edited"),
        (fork["session_id"], "created"),
    ]


async def test_only_their_own_words_and_what_was_said_to_them_are_theirs_to_change(tmp_path):
    async with home(tmp_path) as (owner, ann, bob, soul_id):
        wanted = {"soul_id": soul_id, "user_id": "ann", "people": ["bob"]}
        session_id = (await owner.post("/v1/sessions", json=wanted)).json()["session_id"]
        await say(ann, "I am Ann", session_id=session_id)
        await say(bob, "I am Bob", session_id=session_id)
        by_ann, to_ann, by_bob, to_bob = await messages(owner, session_id)
        for who, others in ((ann, (by_bob, to_bob)), (bob, (by_ann, to_ann))):
            for message in others:
                path = at(message, session_id)
                assert problem(await who.patch(path, json={"content": "x"})) == (404, "not_found")
                assert problem(await who.delete(path)) == (404, "not_found")
        assert len(await messages(owner, session_id)) == 4
        assert (await bob.patch(at(by_bob, session_id), json={"content": "I am Robert"})).status_code == 200
        assert (await ann.delete(at(to_ann, session_id))).status_code == 204
        assert (await owner.delete(at(to_bob, session_id))).status_code == 204
        said = [one["content"] for one in await messages(ann, session_id)]
        assert said == ["I am Ann", "I am Robert"]


async def test_for_a_stranger_there_is_no_such_session(tmp_path):
    async with home(tmp_path) as (_, ann, bob, soul_id):
        await say(ann, "my secret", soul_id=soul_id, session_id="s")
        path = at((await messages(ann))[0])
        assert problem(await bob.patch(path, json={"content": "x"})) == (404, "not_found")
        assert problem(await bob.delete(path)) == (404, "not_found")
        assert problem(await bob.post("/v1/sessions/s/fork", json={})) == (404, "not_found")
        assert problem(await bob.delete(path, params={"user_id": "ann"})) == (403, "forbidden")
        assert len(await messages(ann)) == 2


@pytest.mark.parametrize(
    "body",
    [{}, [], {"content": "x", "role": "user"}, *({"content": one} for one in ("", "  ", 1, None, "a\0b", "\ud800"))],
)
async def test_what_is_no_content_is_refused(client, talk, body):
    first = (await messages(client))[0]
    as_json = {"content-type": "application/json"}
    sent = await client.patch(at(first), content=json.dumps(body), headers=as_json)
    assert problem(sent) == (422, "invalid_input")
    assert (await messages(client))[0] == first


@pytest.mark.parametrize("number", [0, -1, BEYOND, 10**30, "x", "1.5"])
async def test_what_is_no_message_id_is_refused(client, talk, number):
    path = f"/v1/sessions/s/messages/{number}"
    assert problem(await client.patch(path, json={"content": "x"})) == (422, "invalid_input")
    assert problem(await client.delete(path)) == (422, "invalid_input")
    for query in ({"before": number}, {"after": number}):
        if query != {"after": 0}:
            assert problem(await client.get("/v1/sessions/s/messages", params=query)) == (422, "invalid_input")


async def test_a_long_transcript_is_read_from_its_end_page_by_page(client):
    soul_id = await new_soul(client)
    lines = [{"type": "metadata"}]
    lines += [{"role": "user", "content": f"line {n}", "timestamp": "2026-01-01T00:00:00Z"} for n in range(25)]
    body = "\n".join(map(json.dumps, lines))
    imported = await client.post("/v1/sessions/import", params={"soul_id": soul_id}, content=body)
    session_id = imported.json()["session_id"]
    pages = [await messages(client, session_id, newest=True, limit=10)]
    while older := await messages(client, session_id, before=pages[0][0]["message_id"], limit=10):
        pages = [older, *pages]
    assert [len(page) for page in pages] == [5, 10, 10]
    assert [one["content"] for page in pages for one in page] == [f"line {n}" for n in range(25)]
    newer = await messages(client, session_id, after=pages[1][-1]["message_id"])
    assert newer == pages[2]


async def test_the_page_before_has_what_the_person_has_heard(client):
    soul_id = await new_soul(client)
    wanted = {"soul_id": soul_id, "user_id": "ann", "people": ["bob"]}
    session_id = (await client.post("/v1/sessions", json=wanted)).json()["session_id"]
    for n in range(4):
        await client.patch(f"/v1/sessions/{session_id}", json={"people": ["bob", "cat"] if n % 2 else ["bob"]})
        await say(client, f"line {n}", session_id=session_id, user_id="ann")
    heard = await messages(client, session_id, user_id="cat", newest=True, limit=3)
    assert [one["content"] for one in heard if one["role"] == "user"] == ["line 3"]
    assert len(heard) == 3, "a page is filled with what they have heard"


async def test_one_way_to_page_at_a_time(client, talk):
    for query in ({"after": 1, "before": 2}, {"after": 1, "newest": True}, {"before": 2, "newest": True}):
        assert problem(await client.get("/v1/sessions/s/messages", params=query)) == (422, "invalid_input")
