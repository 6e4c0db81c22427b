from langgraph.runtime import Runtime

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.context import Context
from soulgraph.nodes.intent_action import intent_action
from soulgraph.senses.intents.decision import IntentDecision, IntentResult, MatchedIntent
from soulgraph.soul.gate import judge
from soulgraph.soul.personality import traits_of
from soulgraph.tests.nodes.turns import CALM, heard

LIGHT = MatchedIntent(
    intent_id="light_on", intent_name="开灯", confidence=1.0, parameters={"room": "客厅"}, status="ready", why="keyword"
)


class Body:
    """A hub whose broker answers, or does not."""

    def __init__(self, there):
        self.there, self.actions = there, []

    async def intent_action(self, action):
        self.actions.append(action)
        return self.there


async def acted(hub, terminal_id="robot-1"):
    context = Context(None, None, None, None, PersonaConfig(), clock=lambda: 7.0, hub=hub)
    said = {"text": "开灯", "session_id": "sess_1", "soul_id": "soul_1", "terminal_id": terminal_id}
    decided = IntentResult(decision=IntentDecision(action="execute_intents", reason=""), intents=[LIGHT])
    state = {"said": said, "heard": heard(), "filtered": decided, "gate": judge(traits_of("INFJ"), CALM, 0.0)}
    return (await intent_action(state, Runtime(context=context, stream_writer=lambda _: None)))["result"]


async def test_a_delivered_action_is_sent_with_its_parameters_and_counts_as_done():
    hub = Body(there=True)
    result = await acted(hub)
    assert (result.executed, result.delivered) == (["light_on"], True)
    assert hub.actions[0].intents[0].parameters == {"room": "客厅"}
    assert hub.actions[0].ts == 7.0


async def test_an_action_the_broker_did_not_take_is_not_claimed():
    result = await acted(Body(there=False))
    assert (result.executed, result.delivered) == ([], False)
    assert "没" in result.reply


async def test_without_a_broker_an_action_is_recorded_in_the_answer():
    result = await acted(hub=None)
    assert (result.executed, result.delivered) == (["light_on"], None)
