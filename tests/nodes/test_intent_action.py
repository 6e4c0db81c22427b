from soulgraph.nodes.context import Outlets
from soulgraph.nodes.intent_action import intent_action
from soulgraph.soul.personality import traits_of
from soulgraph.tests.nodes.samples import CALM, HURT, gate, impact, intents, matched, small_runtime, utterance
from soulgraph.tests.stores.samples import soul

LIGHT = matched(parameters={"room": "客厅"})


class Body:
    """A hub whose broker answers, or does not."""

    def __init__(self, there):
        self.there, self.actions = there, []

    async def intent_action(self, action):
        self.actions.append(action)
        return self.there


async def acted(hub, *found, text="开灯", who=None, emotion=CALM, terminal_id="robot-1"):
    state = {
        "utterance": utterance(text, terminal_id=terminal_id),
        "impact": impact(who, emotion),
        "intents": intents(*(found or [LIGHT])),
        "gate": gate(),
    }
    return (await intent_action(state, small_runtime(clock=lambda: 7.0, outlets=Outlets(hub))))["result"]


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


async def test_it_is_said_in_the_users_language_by_the_mood_and_by_the_personality():
    istj, enfp = (soul(personality_vector=traits_of(mbti)) for mbti in ("ISTJ", "ENFP"))
    brief = (await acted(None, who=istj)).reply
    lively = (await acted(None, who=enfp)).reply
    assert len(brief) < len(lively)
    assert "！" in lively and "！" not in brief
    assert "！" not in (await acted(None, who=enfp, emotion=HURT)).reply
    assert "！" not in (await acted(None, who=enfp, text="light on")).reply
