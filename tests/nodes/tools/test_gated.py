from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.prebuilt.tool_node import ToolCallRequest

from soulgraph.nodes.tools.gated import REFUSAL, gated, gatekeeper
from soulgraph.tests.nodes.samples import CALM, HURT, gate

CALL = {"type": "tool_call", "name": "lamp", "args": {"on": True}, "id": "call_1"}


@tool
def lamp(on: bool) -> str:
    """Switch the lamp."""
    return "done"


async def asked(which, emotion):
    """The tool's answer, and whether it ran."""
    ran = []

    async def execute(request):
        ran.append(request.tool_call)
        return ToolMessage("done", tool_call_id="call_1")

    request = ToolCallRequest(tool_call=CALL, tool=which, state={}, runtime=None)
    return await gatekeeper(gate(emotion))(request, execute), bool(ran)


async def test_a_gated_tool_runs_while_the_soul_is_able_and_is_refused_while_it_is_not():
    answer, ran = await asked(gated(lamp), CALM)
    assert (answer.text, ran) == ("done", True)
    answer, ran = await asked(gated(lamp), HURT)
    assert (answer.text, answer.status, answer.tool_call_id, answer.name) == (REFUSAL, "error", "call_1", "lamp")
    assert not ran


async def test_other_tools_and_those_nobody_knows_are_not_the_gate_s_business():
    for which in (lamp, None):
        answer, ran = await asked(which, HURT)
        assert (answer.text, ran) == ("done", True)


async def test_gating_marks_a_copy_and_keeps_what_else_is_known_of_the_tool():
    tagged = lamp.model_copy(update={"metadata": {"room": "kitchen"}})
    assert gated(tagged).metadata == {"room": "kitchen", "gated": True}
    assert tagged.metadata == {"room": "kitchen"}
    assert gated(lamp).name == "lamp"
