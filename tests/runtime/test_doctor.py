"""The doctor's own rules: it never waits for ever, and shows no secrets."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from soulgraph.nodes.tools.mcp import Toolbox, open_mcp_tools
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.runtime import doctor_services
from soulgraph.runtime.doctor import settings_in_force
from soulgraph.runtime.doctor_services import check_services
from soulgraph.settings import Settings
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.voice import Voice

FAKE_MCP = Path(__file__).parents[1] / "nodes" / "tools" / "fake_mcp.py"


async def test_a_service_that_never_answers_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor_services, "_LONGEST_S", 0.2)
    accepted = []

    async def accept(reader, writer):
        accepted.append(asyncio.current_task())
        await reader.read()  # until the other side has given up
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        settings = Settings.load(data_dir=tmp_path, otlp_endpoint=f"http://127.0.0.1:{port}/v1/traces")
        found = {finding.subject: finding for finding in await check_services(settings)}
        await asyncio.gather(*accepted)
    assert found["traces"].level == "problem"
    assert "no answer in 0.2 s" in found["traces"].detail
    assert found["broker"].level == "ok"


@pytest.mark.parametrize(
    ("setting", "value", "shown"),
    [
        ("llm_api_key", "hush", "********"),
        ("mcp", '{"clock": {"env": {"KEY": "hush"}}}', "********"),
        ("database_url", "postgresql://me:hush@127.0.0.1/soul", "postgresql://***@127.0.0.1/soul"),
        ("database_url", "postgresql://127.0.0.1/soul?password=hush", "postgresql://127.0.0.1/soul?password=***"),
        ("mqtt_url", "mqtts://me:hush@broker", "mqtts://***@broker"),
        ("llm_temperature", None, ""),
    ],
)
def test_a_setting_is_shown_without_its_secrets(setting, value, shown):
    listed = {one.name: one for one in settings_in_force(Settings.load(**{setting: value}))}
    found = listed[f"SOULGRAPH_{setting.upper()}"]
    assert (found.value, found.source) == (shown, "set")
    assert "hush" not in str(found)


async def test_each_mcp_server_is_told_of_with_its_inner_error_and_without_secrets(tmp_path):
    good = {"command": sys.executable, "args": [str(FAKE_MCP), str(tmp_path / "room.json")]}
    bad = {"command": "no-such-program", "env": {"API_KEY": "hush-4711"}}
    (tmp_path / "room.json").write_text("{}")
    settings = Settings.load(data_dir=tmp_path, mcp=json.dumps({"room": good, "cellar": bad}))
    tried = {finding.subject: finding for finding in await check_services(settings)}["tools"]
    async with open_mcp_tools(settings.mcp_servers) as servers:
        voice = Voice("voice", OfflineVoice(), Toolbox(TOOLS, servers))
        running = {finding.subject: finding for finding in await check_services(settings, voice=voice)}["tools"]
    assert tried == running
    assert tried.level == "problem"
    assert tried.detail == (
        "SOULGRAPH_MCP: the MCP server 'cellar' cannot be used: no-such-program: No such file or directory; "
        "1 of room, beside the soul's own"
    )
