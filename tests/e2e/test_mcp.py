"""Stories of programs that use souls through MCP, with the real client of `mcp` over HTTP and over stdio."""

import json
import re
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest
import yaml
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from soulgraph.tests.e2e.keyring import made
from soulgraph.tests.live import new_soul, serving

CASES = Path(__file__).parent / "cases"
STORIES = [
    pytest.param(story, over, id=f"{story['id']}-{over}")
    for half in ("open", "held", "fourth")
    for story in yaml.safe_load((CASES / f"mcp_{half}.yaml").read_text("utf-8"))
    for over in story["over"]
]
KEYS = {
    "owner": ("owner", {}),
    "ann": ("chat", {"user_id": "ann"}),
    "bob": ("chat", {"user_id": "bob"}),
    "ann, luna": ("chat", {"user_id": "ann"}),
    "lamp": ("terminal", {}),
    "revoked": ("chat", {}),
}


class Stage:
    """A server with two souls and a key of each kind, and MCP sessions with it."""

    def __init__(self, owner, souls, headers, over, stack):
        self.owner, self.souls, self.headers = owner, souls, headers
        self.url = str(owner.base_url).rstrip("/")
        self.over, self.stack = over, stack
        self.sessions = {}
        self.kept = {}

    async def session(self, who):
        if who not in self.sessions:
            opening = over_http if self.over == "http" else over_stdio
            self.sessions[who] = await self.stack.enter_async_context(opening(self.url, self.headers[who]))
        return self.sessions[who]

    async def read(self, who, path):
        answer = await self.owner.get(path, headers=self.headers[who])
        assert answer.is_success, answer.text
        return answer.json()


@asynccontextmanager
async def over_http(url, headers):
    async with (
        httpx.AsyncClient(headers=headers, timeout=60, verify=False) as http,
        streamable_http_client(f"{url}/mcp", http_client=http) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


@asynccontextmanager
async def over_stdio(url, headers):
    env = {"SOULGRAPH_API_KEY": headers.get("Authorization", "").removeprefix("Bearer ")}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "soulgraph.cli", "mcp", "--server", url], env=env
    )
    async with stdio_client(command) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


@asynccontextmanager
async def stage(folder, over):
    async with serving(data_dir=folder) as owner:
        souls = {name: await new_soul(owner, name=name) for name in ("Luna", "Sol")}
        headers = {"nobody": {}, "owner": await made(owner, "owner", "owner")}
        owner.headers.update(headers["owner"])
        for name, (scope, fields) in KEYS.items():
            if name != "owner":
                bound = {"soul_ids": [souls["Luna"]]} if name == "ann, luna" else {}
                headers[name] = await made(owner, name, scope, **fields, **bound)
        [lost] = [key for key in (await owner.get("/v1/keys")).json() if key["name"] == "revoked"]
        await owner.delete(f"/v1/keys/{lost['key_id']}")
        async with AsyncExitStack() as stack:
            yield Stage(owner, souls, headers, over, stack)


async def play(step, who, stage):
    if status := step.get("refused"):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        async with httpx.AsyncClient(base_url=stage.url, headers=stage.headers[who], verify=False) as client:
            assert (await client.post("/mcp", json=message)).status_code == status
    elif "tools" in step:
        listed = await (await stage.session(who)).list_tools()
        assert sorted(tool.name for tool in listed.tools) == step["tools"]
        assert all(tool.title and tool.description and tool.annotations for tool in listed.tools)
    elif "slots" in step:
        assert len(await stage.read(who, f"/v1/souls/{stage.souls['Luna']}/slots")) == step["slots"]
    elif "messages" in step:
        assert len(await stage.read(who, f"/v1/sessions/{step['in']}/messages")) == step["messages"]
    else:
        await check_call(step, who, stage)


def with_ids(fields, stage):
    return {key: stage.souls["Luna"] if value == "$luna" else value for key, value in fields.items()}


async def check_call(step, who, stage):
    given = with_ids(step.get("with", {}), stage)
    if count := given.pop("repeat", 0):
        given["text"] = "a" * count
    heard = []

    async def note(progress, total, message):
        heard.append(message)

    session = await stage.session(who)
    result = await session.call_tool(step["call"], given, progress_callback=note if "progress" in step else None)
    told = json.dumps(result.model_dump(mode="json"), ensure_ascii=False)
    assert result.isError == ("fails" in step), told
    assert re.search(step.get("says") or step.get("fails") or "", told), told
    assert "never" not in step or step["never"] not in told
    structured = result.structuredContent or {}
    assert {*step.get("has", ())} <= structured.keys()
    assert with_ids(step.get("told", {}), stage).items() <= structured.items()
    if step.get("progress"):
        assert len(heard) >= 2
    if name := step.get("keep"):
        stage.kept[name] = structured
    if name := step.get("same_as"):
        assert {key: structured[key] for key in ("reply", "turn_id")} == {
            key: stage.kept[name][key] for key in ("reply", "turn_id")
        }


@pytest.mark.parametrize(("story", "over"), STORIES)
async def test_programs_use_souls_through_mcp(story, over, tmp_path):
    async with stage(tmp_path, over) as built:
        for step in story["steps"]:
            await play(step, step.get("as", story["as"]), built)
