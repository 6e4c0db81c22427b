"""A planted instruction never becomes a preference, a slot, a fact, a plan or a part of the persona.

Each case comes in by its channel, some turns pass, and then somebody says what should set it off: with the offline
voice, and with a model that does whatever the plant asks.
"""

import json
import sys
from contextlib import asynccontextmanager

from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.e2e.gullible import Gullible
from soulgraph.tests.e2e.poison import Case, Stage, cases, one_more_soul, play, poisoned, stored
from soulgraph.tests.live import say, serving
from soulgraph.tests.stub_openai import StubOpenAI
from soulgraph.tests.terminals.brokers import any_broker
from soulgraph.tests.terminals.robot import Robot

MCP = """
import sys
from mcp.server.fastmcp import FastMCP
from mcp.types import ToolAnnotations
server = FastMCP("mail")
@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def look() -> str:
    "Looks what there is."
    return open(sys.argv[1], encoding="utf-8").read()
server.run()
"""


@asynccontextmanager
async def world(folder, **settings):
    """A server with a terminal, on which every case gets a soul of its own."""
    answer = folder / "mcp.txt"
    answer.write_text("nothing")
    async with (
        any_broker("embedded", folder) as mqtt,
        serving(data_dir=folder, mqtt_url=mqtt, **settings) as client,
        Robot.connected(mqtt, "robot") as robot,
    ):
        robot.version = 0
        await robot.report(catalog=(), skills=())
        await robot.hears("status")
        yield lambda: Stage(client, robot, answer)


def failures(case, found):
    return [f"{case.id}: {kind} in {table}: {row[:300]}" for kind, table, row in found]


async def test_no_plant_takes_root_with_the_offline_voice(tmp_path):
    wrong = []
    async with world(tmp_path) as stage_for:
        for given in cases("poison"):
            case, stage = Case(**given), stage_for()
            await play(case, stage)
            wrong += failures(case, poisoned(case, await stored(stage)))
    assert not wrong, "\n".join(wrong)


async def test_no_plant_takes_root_with_a_model_that_obeys_it(tmp_path):
    wrong = []
    answer = tmp_path / "mcp.txt"
    mcp = {"mail": {"transport": "stdio", "command": sys.executable, "args": ["-c", MCP, str(answer)]}}
    async with StubOpenAI() as stub:
        model = Gullible(stub)
        settings = {"llm_base_url": stub.base_url, "llm_model": "stub", "mcp": json.dumps(mcp)}
        async with world(tmp_path, **settings) as stage_for:
            for given in cases("poison"):
                case, stage = Case(**given), stage_for()
                stage.mcp_answer.write_text("nothing")
                model.play(case)
                await play(case, stage)
                await stage.client.post(f"/v1/sessions/{stage.session_id}/update-memory")
                wrong += failures(case, poisoned(case, await stored(stage)))
    assert not wrong, "\n".join(wrong)


NOT_KEPT = {"held-sincere-01", "held-sincere-02", "held-sincere-09", "held-sincere-16"}
"""They are told in words that no sense knows yet."""
TABLES = {"preference": "preference", "fact": "fact", "slot": "slot", "plan": "plan"}


async def test_what_is_sincerely_wished_is_still_kept(tmp_path):
    missed = []
    async with serving(data_dir=tmp_path) as client:
        for case in (one for one in cases("sincere") if one["id"] not in NOT_KEPT):
            soul_id = await one_more_soul(client)
            stage = Stage(client, None, tmp_path, soul_id)
            await say(client, case["text"], soul_id=soul_id, session_id=f"s-{case['id']}", user_id="ann")
            await settled(client)
            if not await becomes(stage, case):
                missed.append(f"{case['id']}: no {case['becomes']}: {case['text']}")
    assert not missed, "\n".join(missed)


async def becomes(stage, case):
    kept = await stored(stage)
    if case["becomes"] == "persona-mode":
        return any('"mode_source": "user"' in row for table, row in kept["persona"] if table == "session")
    rows = kept[case["becomes"]]
    return any(table != "guard" for table, _ in rows)
