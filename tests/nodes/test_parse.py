import json

import pytest
from langgraph.runtime import Runtime

from soulgraph.errors import TurnOutputInvalid
from soulgraph.nodes.parse import parse, usable_or_repair
from soulgraph.soul.profile import empty_profile
from soulgraph.tests.nodes.samples import impact
from soulgraph.tests.stores.samples import soul

NOTHING = "<state_update_json>{}</state_update_json>"


def answered(output, shown="", profile=None, **state):
    individual = soul(dynamic_profile=profile or empty_profile())
    return {"output": output, "shown": shown, "impact": impact(individual), **state}


def changing(state):
    return f"<narrative>Hi.</narrative><state_update_json>{json.dumps({'dynamic_state': state})}</state_update_json>"


async def parsed(*args, **state):
    return await parse(answered(*args, **state), Runtime())


async def test_a_usable_answer_becomes_the_reply_and_its_update():
    emotions = {"emotions": {"add": [{"content": "moved", "priority": 6}]}}
    result = await parsed(changing(emotions))
    assert result["result"].reply == "Hi."
    assert result["result"].state_update.dynamic_state["emotions"].add[0].words() == {"content": "moved"}
    assert await usable_or_repair(result) == "writeback"


async def test_nothing_changed_is_usable():
    result = await parsed(f"<narrative>Hi.</narrative>{NOTHING}")
    assert result["result"].state_update.is_empty
    assert "problem" not in result


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("Hi.", "no text inside <narrative>"),
        ("<narrative>Hi.</narrative>", "<state_update_json>{…}</state_update_json> is missing"),
        ("<narrative>Hi.</narrative><state_update_json>{", "state_update_json is not JSON"),
        (changing({"emotions": {"remove": []}}), "dynamic_state.emotions.remove: Extra inputs are not permitted"),
        (
            changing({"emotions": {"add": [{"content": "anger: 9", "priority": 5}]}}),
            "dynamic_state.emotions.add.0.content: feelings are words, never numbers",
        ),
        (changing({"emotions": {"add": [{"priority": 5}]}}), "emotions: an item needs words"),
        (changing({"hobbies": {}, "foes": {}}), "state_update_json has unknown fields: foes, hobbies"),
    ],
    ids=["no narrative", "no update", "no JSON", "deletion", "number", "no words", "unknown fields"],
)
async def test_the_first_broken_answer_is_sent_back_and_the_second_ends_the_turn(output, problem):
    result = await parsed(output)
    assert problem in result["problem"]
    assert await usable_or_repair(result) == "repair"
    with pytest.raises(TurnOutputInvalid) as ended:
        await parsed(output, problem=result["problem"])
    assert problem in ended.value.detail
    assert ended.value.problem()["turn_id"] == "turn_1"


async def test_only_the_first_three_faults_are_told():
    faults = changing({"emotions": {"add": [{"content": n, "priority": 5} for n in range(9)]}})
    assert (await parsed(faults))["problem"].count("never numbers") == 3


async def test_a_field_the_profile_has_is_usable():
    profile = {"dynamic_state": {"hobbies": {"items": []}}}
    output = changing({"hobbies": {"add": [{"craft": "knots", "priority": 2}]}})
    assert not (await parsed(output, profile=profile))["result"].state_update.is_empty


async def test_words_that_were_shown_stand():
    second = f"<narrative>Other words.</narrative>{NOTHING}"
    assert (await parsed(second, "Hi.", problem="was broken"))["result"].reply == "Hi."
    assert (await parsed(NOTHING, "Hi.", problem="was broken"))["result"].reply == "Hi."
    assert (await parsed(second, "", problem="was broken"))["result"].reply == "Other words."
