"""xiaozhi devices at a real server: what their firmware says, in files, and what they are answered."""

import asyncio
import json
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from soulgraph.stores.factories import default_session_id
from soulgraph.tests.e2e.keyring import CREDENTIALS, build
from soulgraph.tests.live import new_soul, serving, transcript
from soulgraph.tests.stub_openai import SOUL_TURN, Reply
from soulgraph.tests.terminals.brokers import open_broker

CASES = Path(__file__).parent.parent / "terminals"
MAC = "24:6f:28:aa:bb:cc"
HELLO = {
    "type": "hello",
    "version": 1,
    "transport": "websocket",
    "audio_params": {"format": "opus", "sample_rate": 16000, "channels": 1, "frame_duration": 60},
}
HEADERS = {"Protocol-Version": "1", "Device-Id": MAC, "Client-Id": "7b94d69a-9808-4c59-9c9b-704333b38aff"}


def cases(name):
    return [pytest.param(case, id=case["title"]) for case in yaml.safe_load((CASES / name).read_text("utf-8"))]


class Stub:
    """A device as its firmware behaves: it keeps what it hears, in order."""

    def __init__(self, socket):
        self._socket = socket
        self.heard = []

    async def listen(self):
        async for text in self._socket:
            self.heard.append(json.loads(text))

    async def say(self, message):
        if isinstance(message, str):
            await self._socket.send(message)
        elif "binary" in message:
            await self._socket.send(b"\x58" * message["binary"])
        else:
            await self._socket.send(json.dumps(message, ensure_ascii=False))

    @property
    def session_id(self):
        return next(one["session_id"] for one in self.heard if one["type"] == "hello")

    async def hears(self, *wanted, timeout_s=20):
        """Wait until these parts of messages have come, in this order; returns the messages."""
        async with asyncio.timeout(timeout_s):
            while (found := in_order(self.heard, wanted)) is None:
                await asyncio.sleep(0.01)
        return found


def in_order(heard, wanted):
    rest, found = iter(heard), []
    for part in wanted:
        message = next((one for one in rest if has(one, part)), None)
        if message is None:
            return None
        found.append(message)
    return found


def has(message, part):
    """Whether everything in `part` is in the message."""
    if not isinstance(part, dict):
        return message == part
    return isinstance(message, dict) and all(name in message and has(message[name], one) for name, one in part.items())


@asynccontextmanager
async def device(client, soul="小满", headers=HEADERS, query=""):
    url = f"{str(client.base_url).replace('http', 'ws', 1)}/xiaozhi/v1/?soul={soul}{query}"
    async with connect(url, additional_headers=headers, ping_interval=None) as socket:
        stub = Stub(socket)
        listening = asyncio.create_task(stub.listen())
        try:
            yield stub
        finally:
            listening.cancel()


@asynccontextmanager
async def home(folder, **settings):
    async with open_broker() as broker, serving(data_dir=folder, mqtt_url=broker.mqtt, **settings) as client:
        yield client, await new_soul(client)


def model(stub):
    return {"llm_base_url": stub.base_url, "llm_model": "stub"}


async def play(stub, says):
    turns = 0
    for message in says:
        match message:
            case "<hello>":
                before = len(stub.heard)
                await stub.say(HELLO)
                await until(lambda before=before: any(one["type"] == "hello" for one in stub.heard[before:]))
            case "<hello mcp>":
                await stub.say({**HELLO, "features": {"mcp": True}})
                await stub.hears({"type": "mcp"})
            case "<answered>":
                turns += 1
                await stub.hears(*[{"type": "tts", "state": "stop"}] * turns)
            case str():
                session = next((one["session_id"] for one in stub.heard if one["type"] == "hello"), "")
                await stub.say(message.replace("<session>", session).replace("<9000 words>", "话" * 9000))
            case _:
                await stub.say(message)


async def until(is_so, timeout_s=20):
    async with asyncio.timeout(timeout_s):
        while not (await is_so() if asyncio.iscoroutinefunction(is_so) else is_so()):
            await asyncio.sleep(0.01)


async def skills_of(client, terminal_id=MAC):
    found = await client.get(f"/v1/terminals/{terminal_id}")
    return [skill["name"] for skill in found.json()["skills"]] if found.is_success else []


async def check(case, folder):
    async with home(folder) as (client, soul_id), device(client) as stub:
        await play(stub, case["says"])
        await stub.hears(*case["hears"])
        if wanted := case.get("skills"):

            async def reported():
                return await skills_of(client) == wanted

            await until(reported)
        if "input" in case:
            said = case["input"]
            await stub.hears(*[{"type": "tts", "state": "stop"}] * len(said))
            kept = await transcript(client, default_session_id(soul_id, terminal_id=MAC)) if said else []
            assert [text for role, text in kept if role == "user"] == said
            if not said:
                assert not [one for one in stub.heard if one["type"] in ("stt", "llm")] or "9000" in str(case["says"])
        if kind := case.get("once"):
            await asyncio.sleep(0.1)
            assert [one["type"] for one in stub.heard].count(kind) == 1


@pytest.mark.parametrize("case", cases("xiaozhi_open.yaml"))
async def test_what_the_firmware_says(case, tmp_path):
    await check(case, tmp_path)


@pytest.mark.parametrize("case", [*cases("xiaozhi_held.yaml"), *cases("xiaozhi_fourth.yaml")])
async def test_what_other_firmware_says(case, tmp_path):
    await check(case, tmp_path)


async def test_a_recorded_talk_from_hello_to_the_end_of_a_reply(tmp_path, stub):
    stub.default = Reply(text=SOUL_TURN.replace("I hear you.", "我在这儿。你好！今天怎么样？"), chunk_delay_s=0.001)
    async with home(tmp_path, **model(stub)) as (client, soul_id), device(client) as one:
        await one.say({**HELLO, "features": {"mcp": False}})
        [hello] = await one.hears({"type": "hello"})
        assert (hello["transport"], hello["audio_params"]) == ("websocket", HELLO["audio_params"])
        await one.say(
            {"session_id": hello["session_id"], "type": "listen", "state": "detect", "text": "谢谢你，你真好"}
        )
        await one.hears({"type": "tts", "state": "stop"})
        said = [(message["type"], message.get("state")) for message in one.heard[1:]]
        kinds = ["stt", "llm", "tts start", "tts sentence_start", "tts stop"]
        assert list(dict.fromkeys(" ".join(filter(None, pair)) for pair in said)) == kinds
        assert {message["session_id"] for message in one.heard} == {hello["session_id"]}
        sentences = [message["text"] for message in one.heard if message.get("state") == "sentence_start"]
        [(_, reply)] = [
            line
            for line in await transcript(client, default_session_id(soul_id, terminal_id=MAC))
            if line[0] == "assistant"
        ]
        assert "".join(sentences).replace(" ", "") == reply.replace(" ", "").replace("\n", "")
        assert len(sentences) > 1
        face = next(message for message in one.heard if message["type"] == "llm")
        assert face["emotion"] in ("happy", "loving", "relaxed", "laughing", "neutral")


async def test_an_abort_stops_the_reply_at_once_and_what_was_said_is_all_of_it(tmp_path, stub):
    stub.default = Reply(
        text=SOUL_TURN.replace("I hear you.", "".join(f"第{n}句话。" for n in range(200))), chunk_delay_s=0.02
    )
    async with home(tmp_path, **model(stub)) as (client, soul_id), device(client) as one:
        await play(one, ["<hello>", '{"type":"listen","state":"detect","text":"讲个故事"}'])
        await one.hears({"type": "tts", "state": "sentence_start"})
        await one.say({"type": "abort"})
        await one.hears({"type": "tts", "state": "stop"})
        heard = len(one.heard)
        session = default_session_id(soul_id, terminal_id=MAC)

        async def stored():
            found = await client.get(f"/v1/sessions/{session}/messages")
            return found.is_success and len(found.json()) > 1

        await until(stored)
        [(_, reply)] = [line for line in await transcript(client, session) if line[0] == "assistant"]
        assert len(reply) < 300
        assert len(one.heard) == heard, "nothing more is said"


async def test_a_tool_of_the_device_is_used_by_the_model_and_its_answer_heard(tmp_path, stub):
    stub.script(Reply(tool_calls=[{"name": "self_get_device_status", "arguments": {}}]))
    async with home(tmp_path, **model(stub)) as (client, _), device(client) as one:
        await play(one, ["<hello mcp>"])
        await one.say(
            {"type": "mcp", "payload": {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2024-11-05"}}}
        )
        [asked] = await one.hears({"type": "mcp", "payload": {"method": "tools/list"}})
        tools = [
            {
                "name": "self.get_device_status",
                "description": "Status",
                "inputSchema": {"type": "object", "properties": {}},
            }
        ]
        number = asked["payload"]["id"]
        await one.say({"type": "mcp", "payload": {"jsonrpc": "2.0", "id": number, "result": {"tools": tools}}})

        async def reported():
            return await skills_of(client) == ["self.get_device_status"]

        await until(reported)
        await one.say({"type": "listen", "state": "detect", "text": "你的电量是多少"})
        [call] = await one.hears({"type": "mcp", "payload": {"method": "tools/call"}})
        assert call["payload"]["params"] == {"name": "self.get_device_status", "arguments": {}}
        content = {"content": [{"type": "text", "text": '{"battery":{"level":42}}'}], "isError": False}
        await one.say({"type": "mcp", "payload": {"jsonrpc": "2.0", "id": call["payload"]["id"], "result": content}})
        await one.hears({"type": "tts", "state": "stop"})
        assert any("level" in str(request.body["messages"]) for request in stub.requests)


async def test_a_device_comes_and_goes_like_any_terminal_and_twice(tmp_path):
    async with home(tmp_path) as (client, soul_id):
        for _ in range(2):
            async with device(client) as one:
                await play(one, ["<hello>"])

                async def is_online(wanted=True):
                    found = await client.get(f"/v1/terminals/{MAC}")
                    row = found.json() if found.is_success else {}
                    return (row.get("soul_id"), row.get("online")) == (soul_id, wanted)

                await until(is_online)


@pytest.mark.parametrize(("headers", "query"), [({}, ""), ({"Device-Id": "a/b"}, ""), ({"Device-Id": "x" * 129}, "")])
async def test_a_device_without_an_id_or_with_a_strange_one_is_refused(tmp_path, headers, query):
    async with home(tmp_path) as (client, _):
        with pytest.raises(InvalidStatus) as refused:
            async with device(client, headers=headers, query=query):
                pass
        assert refused.value.response.status_code == 422


async def test_a_test_page_names_its_device_in_the_url(tmp_path):
    async with home(tmp_path) as (client, _), device(client, headers={}, query="&device-id=web-test") as one:
        await play(one, ["<hello>"])


@pytest.mark.parametrize("who", ["nobody", "revoked", *CREDENTIALS])
async def test_it_lets_in_terminals_and_owners(tmp_path, who):
    house = await build(tmp_path)
    allowed = "terminal" in who or "owner" in who
    async with serving(data_dir=tmp_path) as client:
        try:
            async with device(client, soul="", headers={**HEADERS, **house.headers(who)}):
                assert allowed
        except InvalidStatus as refused:
            assert not allowed
            assert refused.response.status_code in (401, 403)


async def test_a_soul_that_is_not_there_is_told_and_one_without_a_soul_too(tmp_path):
    async with home(tmp_path) as (client, _):
        with pytest.raises(InvalidStatus):
            async with device(client, soul="谁"):
                pass
        async with device(client, soul="") as one:
            await play(one, ["<hello>", '{"type":"listen","state":"detect","text":"你好"}'])
            [alert] = await one.hears({"type": "alert"})
            assert alert["status"] == "soul_not_selected"
