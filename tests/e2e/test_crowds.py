"""More turns than the server takes at once: the next one is refused at once on every way in, and leaves nothing."""

import asyncio
from contextlib import asynccontextmanager

import openai
import pytest

from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.hostile_model import HostileModel
from soulgraph.tests.live import new_soul, say, serving, transcript
from soulgraph.tests.terminals.brokers import any_broker, eventually
from soulgraph.tests.terminals.robot import Robot

MAX_TURNS = 2


class HeldModel(HostileModel):
    """Nobody is answered before the test says so."""

    def __init__(self):
        super().__init__()
        self.go_on = asyncio.Event()

    async def _answer(self, request, writer):
        if request.path.endswith("/chat/completions") and request.body.get("stream"):
            self.requests.append(request)
            await self.go_on.wait()
        await super()._answer(request, writer)


@pytest.fixture
async def model():
    async with HeldModel() as server:
        yield server


@asynccontextmanager
async def crowded(model, folder, **settings):
    """(client, soul_id, turns) of a server that has as many turns under way as it takes."""
    llm = {"llm_base_url": model.base_url, "llm_model": "stub"}
    async with serving(data_dir=folder, max_turns=MAX_TURNS, **llm, **settings) as client:
        soul_id = await new_soul(client, "Mo")
        turns = [asyncio.create_task(say(client, "hi", soul_id=soul_id, session_id=f"s{n}")) for n in range(MAX_TURNS)]
        async with asyncio.timeout(30):
            while len(model.requests) < MAX_TURNS:
                await asyncio.sleep(0.01)
        yield client, soul_id, turns
        model.go_on.set()
        for turn in turns:
            assert (await turn)["reply"] == "I hear you."


async def running(client):
    lines = (await client.get("/metrics")).text.splitlines()
    return next(float(one.split()[1]) for one in lines if one.startswith("soulgraph_turns_running "))


async def assert_not_there(client, session_id):
    assert (await client.get(f"/v1/sessions/{session_id}")).status_code == 404


@pytest.mark.parametrize("stream", [False, True])
async def test_over_http(model, tmp_path, stream):
    async with crowded(model, tmp_path) as (client, soul_id, turns):
        felt = (await client.get(f"/v1/souls/{soul_id}")).json()["emotion_state"]
        body = {"text": "I hate you!", "soul_id": soul_id, "session_id": "late", "input_id": "i", "stream": stream}
        refused = await client.post("/v1/chat", json=body)
        assert (refused.status_code, refused.json()["code"]) == (429, "server_busy")
        assert int(refused.headers["Retry-After"]) == refused.json()["retry_after_s"] > 0
        await assert_not_there(client, "late")
        assert (await client.get(f"/v1/souls/{soul_id}")).json()["emotion_state"]["updated_at"] == felt["updated_at"]
        assert len(model.requests) == await running(client) == MAX_TURNS
        model.go_on.set()
        await asyncio.wait(turns)
        assert (await client.post("/v1/chat", json=body)).status_code == 200
        assert await transcript(client, "late") == [("user", "I hate you!"), ("assistant", "I hear you.")]
        assert await running(client) == 0


async def test_to_clients_of_openai(model, tmp_path):
    async with crowded(model, tmp_path) as (client, _, _):
        hello = {"model": "soul:Mo", "messages": [{"role": "user", "content": "hi"}]}
        async with openai.AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key="none", max_retries=0) as user:
            for stream in (False, True):
                with pytest.raises(openai.RateLimitError) as busy:
                    await user.chat.completions.create(**hello, stream=stream, extra_headers={"X-Session-Id": "late"})
                assert (busy.value.code, busy.value.type) == ("server_busy", "rate_limit_error")
                assert int(busy.value.response.headers["Retry-After"]) > 0
        await assert_not_there(client, "late")


async def test_on_a_socket(model, tmp_path):
    async with crowded(model, tmp_path) as (client, soul_id, turns), line(client) as socket:
        late = {"text": "hi", "soul_id": soul_id, "session_id": "late", "input_id": "i"}
        refused = await socket.refused(type="chat", **late)
        assert (refused["input_id"], refused["data"]["code"]) == ("i", "server_busy")
        assert refused["data"]["retry_after_s"] > 0
        await assert_not_there(client, "late")
        model.go_on.set()
        await asyncio.wait(turns)
        await socket.chat(**late)
        assert (await socket.until("done", "error"))[-1]["event"] == "done"


async def test_at_a_terminal(model, tmp_path):
    async with (
        any_broker("embedded", tmp_path) as url,
        Robot.connected(url, "robot") as robot,
        crowded(model, tmp_path, mqtt_url=url) as (_, _, turns),
    ):
        await robot.report(soul_hint="Mo")
        await robot.hears("status", lambda status: status["bound"])
        await robot.say("input", {"input_id": "late", "text": "hi"})
        refused = await robot.hears("reply")
        assert (refused["input_id"], refused["problem"]["code"]) == ("late", "server_busy")
        model.go_on.set()
        await asyncio.wait(turns)
        await robot.say("input", {"input_id": "late", "text": "hi"})
        await eventually(lambda: len(robot.of("reply")) == 2)
        assert robot.of("reply")[1]["text"] == "I hear you."
