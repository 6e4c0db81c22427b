"""Front ends that send the whole conversation every time: what is said again, otherwise, on or anew is understood."""

import asyncio
import json
from urllib.parse import quote

import httpx
import pytest

from soulgraph.tests.live import new_soul, say, serving, transcript
from soulgraph.tests.stub_openai import SOUL_TURN, Reply

TITLE = (
    "### Task:\nGenerate a concise title summarizing the chat history.\n### Output:\n"
    'JSON format: { "title": "your concise title here" }\n'
    "### Chat History:\n<chat_history>\nUSER: hello\n</chat_history>"
)


class FrontEnd:
    """A program that keeps the conversation itself, as its user sees it."""

    def __init__(self, client, soul_id, headers=None, before=(), after=(), **fields):
        self.client, self.soul_id = client, soul_id
        self.headers, self.before, self.after, self.fields = headers or {}, list(before), list(after), fields
        self.shown = []

    async def complete(self, messages, **fields):
        body = {"model": f"soul:{self.soul_id}", "messages": messages, **self.fields, **fields}
        answer = await self.client.post("/v1/chat/completions", json=body, headers=self.headers)
        assert answer.status_code == 200, answer.text
        return answer

    async def _answer(self):
        answer = await self.complete([*self.before, *self.shown, *self.after])
        self.session = answer.headers["X-Session-Id"]
        reply = answer.json()["choices"][0]["message"]["content"]
        self.shown.append({"role": "assistant", "content": reply})
        return reply

    async def say(self, text):
        self.shown.append({"role": "user", "content": text})
        return await self._answer()

    async def regenerate(self):
        self.shown.pop()
        return await self._answer()

    async def edit(self, at, text):
        del self.shown[at:]
        return await self.say(text)

    async def go_on(self, *nudge):
        answer = await self.complete([*self.before, *self.shown, *nudge])
        more = answer.json()["choices"][0]["message"]["content"]
        self.shown[-1]["content"] += more
        return more

    async def title(self):
        answer = await self.complete([{"role": "user", "content": TITLE}], stream=False)
        assert answer.headers["X-Soulgraph-Turn"] == "none"
        return json.loads(answer.json()["choices"][0]["message"]["content"])["title"]

    async def stored(self):
        return await transcript(self.client, self.session)

    def seen(self):
        return [(one["role"], one["content"]) for one in self.shown]

    async def moved(self):
        """How often the soul was moved, by every account of it."""
        history = (await self.client.get(f"/v1/souls/{self.soul_id}/emotion/history")).json()["points"]
        # One point is that of its birth.
        return {(await self.client.get(f"/v1/souls/{self.soul_id}")).json()["turns"], len(history) - 1}


OPEN_WEBUI = {"headers": {"X-OpenWebUI-Chat-Id": "1902ddcd-68d4-406c-bcb3-1dda770a3c6a"}}
OPEN_WEBUI_PLAIN = {"tools": [{"type": "function", "function": {"name": "get_current_timestamp"}}]}
SILLYTAVERN = {
    "before": [
        {"role": "system", "content": "Write Mo's next reply in a fictional chat between Mo and Mia."},
        {"role": "system", "content": "[Start a new Chat]"},
        {"role": "assistant", "content": "*The lamp turns.* You came all the way up?"},
    ],
    "after": [{"role": "system", "content": "[Mo never breaks character.]"}],
    "temperature": 1,
}
STRICT = {"before": [{"role": "user", "content": "[Start a new chat]"}, {"role": "assistant", "content": "You came?"}]}
KINDS = {"open-webui": OPEN_WEBUI, "open-webui-plain": OPEN_WEBUI_PLAIN, "sillytavern": SILLYTAVERN, "strict": STRICT}


@pytest.fixture
async def client(tmp_path):
    """On SQLite; what is different on PostgreSQL is told by the test between two servers."""
    async with serving(data_dir=tmp_path) as client:
        yield client


@pytest.fixture(params=KINDS.values(), ids=KINDS)
async def front_end(request, client):
    return FrontEnd(client, await new_soul(client, "Mo"), **request.param)


async def test_two_messages_one_regenerate_one_edit_a_title_and_tags_are_two_turns(front_end):
    await front_end.title()
    await front_end.say("I walked to the harbour today, it was lovely.")
    await front_end.title()
    await front_end.say("我今天好难过")
    await front_end.regenerate()
    await front_end.edit(2, "我今天有点累，但是还好")
    await front_end.title()
    assert await front_end.stored() == front_end.seen()
    assert len(front_end.seen()) == 4
    assert await front_end.moved() == {2}
    assert (await front_end.client.get(f"/v1/sessions/{front_end.session}")).json()["turn"] == 2


async def test_the_first_line_is_answered_anew_and_edited(front_end):
    await front_end.say("I walked to the harbour today.")
    first = front_end.session
    await front_end.regenerate()
    await front_end.edit(0, "I walked to the harbour yesterday.")
    await front_end.say("And you?")
    assert await front_end.stored() == front_end.seen()
    assert (front_end.session, await front_end.moved()) == (first, {2})


async def test_an_edit_far_back_takes_back_all_that_followed(front_end):
    for line in ("hello there", "how are you today?", "I like rain", "and snow"):
        await front_end.say(line)
    await front_end.edit(2, "how is the weather where you are?")
    await front_end.say("thank you")
    assert await front_end.stored() == front_end.seen()
    assert await front_end.moved() == {3}


async def test_the_mood_is_as_if_what_was_edited_had_not_been_said(client, front_end):
    await front_end.say("hello")
    before = (await client.get(f"/v1/souls/{front_end.soul_id}/emotion")).json()["soul_emotion"]
    for _ in range(3):
        await front_end.say("我恨你，你真没用，滚！")
    hurt = (await client.get(f"/v1/souls/{front_end.soul_id}/emotion")).json()["soul_emotion"]
    await front_end.edit(2, "what time is it?")
    after = (await client.get(f"/v1/souls/{front_end.soul_id}/emotion")).json()["soul_emotion"]
    assert hurt["p"] < before["p"] - 0.2
    assert after["p"] == pytest.approx(before["p"], abs=0.05)
    assert after["shock_load"] < 0.05 < hurt["shock_load"]


async def test_a_new_chat_is_a_new_session_and_an_old_one_goes_on(client):
    soul_id = await new_soul(client, "Mo")
    chats = [FrontEnd(client, soul_id, **SILLYTAVERN) for _ in range(3)]
    for n, chat in enumerate(chats):
        await chat.say(["Good evening.", "What a storm!", "我回来了"][n])
        await chat.say("Tell me more")
    for chat in chats:
        await chat.say("And then?")
        assert await chat.stored() == chat.seen()
    assert len({chat.session for chat in chats}) == 3


async def test_chats_are_told_apart_by_what_their_program_calls_them(client):
    soul_id, other = await new_soul(client, "Mo"), await new_soul(client, "Zoe")
    names = [{"headers": {"X-OpenWebUI-Chat-Id": name}} for name in ("a", "b", quote("海"))]
    names += [{"metadata": {"chat_id": "c"}}, {"metadata": {"conversation_id": "d"}}, {"user": "bob", **names[0]}]
    chats = [FrontEnd(client, soul_id, **kind) for kind in names] + [FrontEnd(client, other, **names[0])]
    for chat in chats:
        await chat.say("hello")
        await chat.say("hello")
        assert await chat.stored() == chat.seen()
    assert len({chat.session for chat in chats}) == len(chats)


async def test_a_reply_goes_on_where_it_ended(modelled, stub):
    for nudge in (
        [],
        [{"role": "system", "content": "[Continue your last message without repeating its original content.]"}],
    ):
        chat = FrontEnd(modelled, await new_soul(modelled, f"Mo{len(nudge)}"))
        stub.script(Reply(text=SOUL_TURN.replace("I hear you.", "The lamp turns")))
        await chat.say("Tell me of the tower")
        stub.script(Reply(text=SOUL_TURN.replace("I hear you.", "and the sea answers.")))
        assert await chat.go_on(*nudge) == " and the sea answers."
        assert await chat.stored() == chat.seen()
        assert chat.seen()[1] == ("assistant", "The lamp turns and the sea answers.")
        assert await chat.moved() == {1}
        sent = stub.requests[-1].body["messages"]
        assert "The lamp turns" in sent[-2]["content"]


async def test_the_offline_voice_goes_on_too(front_end):
    reply = await front_end.say("I walked to the harbour today, it was lovely.")
    front_end.shown[-1]["content"] = cut = reply[: len(reply) // 2]
    more = await front_end.go_on()
    assert cut + more == reply
    assert await front_end.stored() == front_end.seen()


async def test_a_reply_that_the_client_shows_otherwise_is_what_was_said(modelled, stub):
    """Of several swipes the first was kept; and a reply was cut by hand."""
    chat = FrontEnd(modelled, await new_soul(modelled, "Mo"), **SILLYTAVERN)
    await chat.say("hello")
    first = "The first of several."
    chat.shown[-1]["content"] = first
    stub.script(Reply(text=SOUL_TURN.replace("I hear you.", "All that the wind says, and the sea.")))
    await chat.say("and now?")
    chat.shown[-1]["content"] = "All that the wind says"
    await chat.say("go on")
    assert await chat.stored() == chat.seen()
    assert chat.seen()[1][1] == first


async def stopped(chat, text, after):
    """Say something and close the connection once the reply has this."""
    chat.shown.append({"role": "user", "content": text})
    body = {"model": f"soul:{chat.soul_id}", "messages": [*chat.before, *chat.shown], "stream": True, **chat.fields}
    seen = ""
    async with chat.client.stream("POST", "/v1/chat/completions", json=body, headers=chat.headers) as response:
        chat.session = response.headers["X-Session-Id"]
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                seen += json.loads(line[6:])["choices"][0]["delta"].get("content", "")
            if after in seen:
                break
    chat.shown.append({"role": "assistant", "content": seen})


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_a_reply_that_was_stopped_is_stored_as_far_as_it_was_seen(modelled, stub, kind):
    chat = FrontEnd(modelled, await new_soul(modelled, "Mo"), **kind)
    words = " ".join(f"wave number {n}." for n in range(60))
    stub.script(Reply(text=SOUL_TURN.replace("I hear you.", words), chunk_delay_s=0.01))
    await stopped(chat, "Tell me of the sea", after="number 2")
    await chat.say("Stop, that is enough")
    assert await chat.stored() == chat.seen()
    stub.script(Reply(text=SOUL_TURN.replace("I hear you.", words), chunk_delay_s=0.01))
    await stopped(chat, "Tell me of the waves", after="number 3")
    assert await chat.regenerate() == "I hear you."
    assert await chat.stored() == chat.seen()
    assert await chat.moved() == {3}


async def test_what_is_stopped_before_its_first_word_is_heard_with_the_next_line(modelled, stub):
    chat = FrontEnd(modelled, await new_soul(modelled, "Mo"), **OPEN_WEBUI)
    await chat.say("hello")
    stub.script(Reply(hang=True))
    body = {"model": f"soul:{chat.soul_id}", "stream": False}
    chat.shown.append({"role": "user", "content": "Are you there?"})
    with pytest.raises(httpx.ReadTimeout):
        await modelled.post(
            "/v1/chat/completions", json={**body, "messages": chat.shown}, headers=chat.headers, timeout=0.3
        )
    await asyncio.sleep(1.2)
    await chat.say("Never mind")
    assert [text for role, text in await chat.stored() if role == "user"] == ["hello", "Are you there?\nNever mind"]


async def test_a_model_that_fails_and_a_client_that_tries_again_move_the_soul_once(modelled, stub):
    chat = FrontEnd(modelled, await new_soul(modelled, "Mo"))
    body = {"model": f"soul:{chat.soul_id}", "messages": [{"role": "user", "content": "hello"}]}
    for _ in range(2):
        stub.script(*[Reply(status=500, text="down")] * 4)
        assert (await modelled.post("/v1/chat/completions", json=body)).status_code == 503
    await chat.say("hello")
    assert await chat.moved() == {1}
    assert await chat.stored() == chat.seen()


async def test_the_same_request_twice_at_once_is_one_turn(client):
    chat = FrontEnd(client, await new_soul(client, "Mo"), **OPEN_WEBUI)
    await chat.say("hello")
    body = [*chat.shown, {"role": "user", "content": "how are you?"}]
    answers = await asyncio.gather(*(chat.complete(body) for _ in range(4)))
    assert len({answer.json()["choices"][0]["message"]["content"] for answer in answers}) == 1
    assert len(await chat.stored()) == 4
    assert await chat.moved() == {2}


async def test_two_people_who_say_the_same_have_conversations_of_their_own(client):
    soul_id = await new_soul(client, "Mo")
    chats = [FrontEnd(client, soul_id, user=user) for user in ("ann", "bob")]
    for line in ("hello", "I like rain", "and you?"):
        await asyncio.gather(*(chat.say(line) for chat in chats))
    await chats[0].edit(2, "I like snow")
    for chat in chats:
        assert await chat.stored() == chat.seen()


async def test_of_a_long_conversation_only_the_end_need_be_sent(client):
    chat = FrontEnd(client, await new_soul(client, "Mo"), **SILLYTAVERN)
    for n in range(8):
        await chat.say(f"line number {n}, and ok")
    whole, chat.shown = chat.shown, chat.shown[-6:]
    await chat.say("ok")
    await chat.say("ok")
    await chat.regenerate()
    assert await chat.stored() == [(one["role"], one["content"]) for one in [*whole, *chat.shown[6:]]]


async def test_an_older_line_that_was_edited_in_place_does_not_lose_the_conversation(client):
    chat = FrontEnd(client, await new_soul(client, "Mo"), **SILLYTAVERN)
    for line in ("I live in Oslo", "I like rain", "and snow"):
        await chat.say(line)
    session = chat.session
    chat.shown[0]["content"] = "I live in Bergen"
    await chat.say("where do I live?")
    assert chat.session == session
    assert len(await chat.stored()) == 8


async def test_who_never_sends_what_was_said_before_names_the_conversation(client):
    soul_id = await new_soul(client, "Mo")
    for line in ("hello", "I like rain", "yes", "yes"):
        body = {"model": f"soul:{soul_id}", "messages": [{"role": "user", "content": line}]}
        await client.post("/v1/chat/completions", json=body, headers={"X-Session-Id": "mine"})
    assert [text for role, text in await transcript(client, "mine") if role == "user"] == [
        "hello",
        "I like rain",
        "yes",
        "yes",
    ]


async def test_a_conversation_elsewhere_is_left_alone(client):
    soul_id = await new_soul(client, "Mo")
    await say(client, "hello", soul_id=soul_id, session_id="studio")
    chat = FrontEnd(client, soul_id)
    await chat.say("hello")
    await chat.say("hello again")
    assert chat.session != "studio"
    assert len(await transcript(client, "studio")) == 2


async def test_what_programs_add_is_nothing_that_was_said(client):
    soul_id = await new_soul(client, "小智")
    context = {"role": "user", "content": "当前时间：12:05\n<memory>user 养了一只狗</memory>"}
    chat = FrontEnd(client, soul_id, before=[{"role": "system", "content": "你是小智"}, context])
    await chat.say('{"speaker": "张三", "content": "你好呀"}')
    chat.before[1] = {"role": "user", "content": "当前时间：12:06\n<memory>user 养了一只狗</memory>"}
    await chat.say("[2026-11-18 20:15] 我今天很开心")
    await chat.say("[Interrupted by user]\n等一下")
    said = [text for role, text in await chat.stored() if role == "user"]
    assert said == ["你好呀", "我今天很开心", "等一下"]


async def test_it_all_holds_with_a_real_database_between_two_servers(postgres_url, tmp_path):
    async with (
        serving(database_url=postgres_url, data_dir=tmp_path / "one") as one,
        serving(database_url=postgres_url, data_dir=tmp_path / "two") as two,
    ):
        chat = FrontEnd(one, await new_soul(one, "Mo"), **OPEN_WEBUI_PLAIN)
        await chat.say("hello there")
        chat.client = two
        await chat.say("how are you?")
        await chat.regenerate()
        chat.client = one
        await chat.edit(2, "how is the sea?")
        assert await chat.stored() == chat.seen()
        assert await chat.moved() == {2}
