from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from langchain_core.tools import tool
from langgraph.config import get_stream_writer

from soulgraph.nodes.context import Outlets
from soulgraph.nodes.run_tools import run_tools
from soulgraph.nodes.tools.gated import REFUSAL, gated
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.stores.records import Terminal
from soulgraph.terminals.reports import SkillResult
from soulgraph.tests.nodes.samples import CALM, HURT, gate, run_loop_node, utterance
from soulgraph.tests.stores.samples import NOW
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.voice import Voice

SKILL = {"name": "挥手", "description": "waves", "input_schema": {"type": "object", "properties": {}}}
ROBOT = Terminal("robot-1", "soul_1", [SKILL], 1, [], 0, NOW)


@tool
async def look(at: str) -> str:
    """Looks at something."""
    get_stream_writer()(f"looked at {at}")
    return f"{at} is fine"


@tool
async def push(button: str) -> str:
    """Pushes a button."""
    get_stream_writer()(f"pushed {button}")
    return "pushed"


OWN_TOOLS = (look, gated(push))


class Hub:
    """A terminal that does what it is asked, or says that it cannot."""

    def __init__(self, can=True):
        self.can, self.asked = can, []

    async def invoke(self, terminal_id, invoke):
        self.asked.append((terminal_id, invoke.skill))
        return SkillResult(request_id=invoke.request_id, ok=self.can, output="waved", error=None if self.can else "arm")


async def ran(*calls, tools=OWN_TOOLS, emotion=CALM, terminal=None, **ports):
    asked = [tool_call(name=name, args=args, id=f"call_{n}") for n, (name, args) in enumerate(calls)]
    state = {
        "utterance": utterance("I like rain"),
        "messages": [AIMessage("", tool_calls=asked)],
        "gate": gate(emotion),
        "terminal": terminal,
    }
    return await run_loop_node(run_tools, state, voice=Voice("v", OfflineVoice(), tools), **ports)


def results(run):
    return [(one.tool_call_id, one.text, one.status) for one in run.state["messages"][1:]]


async def test_listeners_hear_of_every_call_before_it_runs():
    run = await ran(("look", {"at": "sky"}), ("push", {"button": "A"}))
    assert [dict(one) for one in run.custom[:2]] == [
        {"event": "tool", "data": {"name": "look", "arguments": {"at": "sky"}}},
        {"event": "tool", "data": {"name": "push", "arguments": {"button": "A"}}},
    ]
    assert sorted(run.custom[2:]) == ["looked at sky", "pushed A"]


async def test_every_call_gets_its_result_and_no_parent_sees_it_as_a_message():
    run = await ran(("look", {"at": "sky"}), ("look", {"at": "sea"}))
    assert results(run) == [("call_0", "sky is fine", "success"), ("call_1", "sea is fine", "success")]
    assert run.messages == []


async def test_a_gated_tool_is_refused_by_an_upset_soul_and_others_are_not():
    run = await ran(("push", {"button": "A"}), ("look", {"at": "sky"}), emotion=HURT)
    assert results(run) == [("call_0", REFUSAL, "error"), ("call_1", "sky is fine", "success")]
    assert "pushed A" not in run.custom


async def test_what_is_to_be_remembered_is_collected_for_the_end_of_the_turn(home):
    run = await ran(("remember", {"fact": "likes rain"}), tools=TOOLS, emotion=HURT, stores=home)
    assert run.state["remembered"] == ["likes rain"]
    [(_, text, status)] = results(run)
    assert (text, status) == ("noted: likes rain", "success")
    async with home.read() as tx:
        assert await tx.slots.all("soul_1") == []


async def test_a_skill_that_the_terminal_has_used_counts_as_done_under_its_own_name():
    hub = Hub()
    run = await ran(("skill", {}), terminal=ROBOT, outlets=Outlets(hub))
    assert hub.asked == [("robot-1", "挥手")]
    assert (run.state["executed"], results(run)) == (["挥手"], [("call_0", "waved", "success")])


async def test_a_skill_that_fails_or_is_refused_is_not_claimed():
    hub = Hub(can=False)
    failed = await ran(("skill", {}), terminal=ROBOT, outlets=Outlets(hub))
    assert (failed.state["executed"], results(failed)) == ([], [("call_0", "Not done: arm", "error")])
    refused = await ran(("skill", {}), terminal=ROBOT, outlets=Outlets(hub), emotion=HURT)
    assert (refused.state["executed"], results(refused)) == ([], [("call_0", REFUSAL, "error")])
    assert len(hub.asked) == 1


async def test_a_tool_that_is_not_there_is_told_to_the_model():
    run = await ran(("fly", {}))
    [(_, text, status)] = results(run)
    assert status == "error"
    assert "fly" in text
