from dataclasses import replace

import pytest
from langgraph.runtime import Runtime

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.context import Context
from soulgraph.nodes.gate import act_or_talk, gate
from soulgraph.senses.intents.decision import IntentDecision, IntentResult, MatchedIntent
from soulgraph.soul.dynamics import born
from soulgraph.soul.personality import traits_of
from soulgraph.tests.conformance.samples import soul
from soulgraph.tests.nodes.turns import heard

INFJ = traits_of("INFJ")
CALM = born(INFJ, 0.0)
HURT = replace(CALM, p=-1.0)
LOCKED = replace(CALM, lock_until=100.0)


async def judged(feeling, now=0.0):
    context = Context(stores=None, emotions=None, intents=None, voice=None, persona=PersonaConfig(), clock=lambda: now)
    said = {"session_id": "sess_1", "soul_id": "soul_1"}
    state = {"said": said, "heard": heard(soul(personality_vector=INFJ.to_dict()), feeling)}
    return (await gate(state, Runtime(context=context, stream_writer=lambda _: None)))["gate"]


async def test_a_calm_soul_acts_and_a_hurt_one_does_not():
    assert (await judged(CALM)).exec_mode == "auto_execute"
    assert (await judged(HURT)).exec_mode == "blocked"


async def test_a_lock_is_read_by_the_clock_of_the_turn():
    during, after = await judged(LOCKED, now=99.0), await judged(LOCKED, now=101.0)
    assert (during.locked, during.exec_mode) == (True, "blocked")
    assert (after.locked, after.exec_mode) == (False, "auto_execute")


MATCHED = MatchedIntent(
    intent_id="light_on", intent_name="开灯", confidence=1.0, parameters={}, status="ready", why="keyword"
)


@pytest.mark.parametrize(
    ("intents", "feeling", "route"),
    [
        ([MATCHED], CALM, "intent_action"),
        ([MATCHED], HURT, "persona_context"),
        ([], CALM, "persona_context"),
        ([], HURT, "persona_context"),
    ],
)
async def test_only_a_matched_intent_of_an_able_soul_is_acted_on(intents, feeling, route):
    filtered = IntentResult(decision=IntentDecision(action="no_action", reason=""), intents=intents)
    assert await act_or_talk({"filtered": filtered, "gate": await judged(feeling)}) == route
