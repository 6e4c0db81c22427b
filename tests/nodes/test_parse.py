import json

import pytest

from soulgraph.errors import TurnOutputInvalid
from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.parse import parse, usable_or_repair
from soulgraph.soul.profile import empty_profile
from soulgraph.tests.nodes.samples import impact, small_runtime, utterance
from soulgraph.tests.stores.samples import soul

NOTHING = "<state_update_json>{}</state_update_json>"
MOVED = {"emotions": {"add": [{"content": "moved", "priority": 6}]}}
NO_WORDS = "the answer has no words for the user"


def changing(state, narrative="Hi."):
    update = json.dumps({"dynamic_state": state})
    return f"<narrative>{narrative}</narrative><state_update_json>{update}</state_update_json>"


async def parsed(output, shown="Hi.", profile=None, strict=False, static=False, **state):
    """What the node makes of an answer of which `shown` was shown."""
    individual = soul(dynamic_profile=profile or empty_profile())
    heard = {"utterance": utterance("hello"), "messages": [], "impact": impact(individual)}
    state = {"output": output, "shown": shown, "fault": NO_WORDS, **heard, **state}
    return await parse(state, small_runtime(persona=PersonaConfig(strict_output=strict, static=static)))


async def result_of(*args, **options):
    return (await parsed(*args, **options))["result"]


@pytest.mark.parametrize("strict", [False, True])
async def test_a_usable_answer_becomes_the_reply_and_its_update(strict):
    state = await parsed(changing(MOVED), executed=["wave"], strict=strict)
    result = state["result"]
    assert (result.reply, result.executed, result.update_pending) == ("Hi.", ["wave"], False)
    assert result.state_update.dynamic_state["emotions"].add[0].words() == {"content": "moved"}
    assert await usable_or_repair(state) == "writeback"


@pytest.mark.parametrize("strict", [False, True])
async def test_nothing_changed_is_usable_and_not_asked_about_again(strict):
    result = await result_of(f"<narrative>Hi.</narrative>{NOTHING}", strict=strict)
    assert (result.state_update.is_empty, result.update_pending) == (True, False)


@pytest.mark.parametrize("strict", [False, True])
async def test_a_static_soul_takes_no_update(strict):
    result = await result_of(changing(MOVED), strict=strict, static=True)
    assert (result.reply, result.state_update.is_empty, result.update_pending) == ("Hi.", True, False)


async def test_a_static_soul_is_not_asked_later_what_has_changed():
    assert not (await result_of("Hi.", static=True)).update_pending


async def test_what_was_shown_is_the_reply_whatever_else_the_answer_says():
    assert (await result_of(changing(MOVED, "Other words."), "First.\n\nHi.")).reply == "First.\n\nHi."


@pytest.mark.parametrize(
    "output",
    [
        "Hi.",
        "<narrative>Hi.</narrative>",
        "<narrative>Hi.</narrative><state_update_json>nothing to say",
        "<narrative>Hi.</narrative><state_update_json>[]</state_update_json>",
        changing({"hobbies": {"add": [{"craft": "knots", "priority": 2}]}}),
        changing({"emotions": {"remove": ["the sea"]}}),
        changing({"emotions": {"add": [{"content": "anger: 9", "priority": 5}]}}),
    ],
    ids=["no tags", "no update", "no JSON", "a list", "unknown field", "deletion", "number"],
)
async def test_an_update_that_is_missing_or_cannot_be_read_keeps_the_reply_and_is_asked_for_later(output):
    result = await result_of(output)
    assert (result.reply, result.update_pending) == ("Hi.", True)
    assert result.state_update.is_empty


@pytest.mark.parametrize(
    "update",
    [
        '{"dynamic_state": {"emotions": {"add": [{"content": "moved", "priority": 6}]}}',
        '```json\n{"dynamic_state": {"emotions": {"add": [{"content": "moved", "priority": 6},]}}}\n```',
        '{"emotions": {"add": {"content": "moved", "priority": 6}}}',
        '{"emotions": "moved"}',
        '{"dynamic_state": {"emotions": [{"content": "moved", "feeling": "warm", "priority": "6"}], "hobbies": {}}}',
        "{'emotions': {'add': [{'content': 'moved'}]}}",
        '{"emotions": {"add": [{"content": "moved"}]}} I hope this helps!',
    ],
    ids=["cut off", "fenced", "one item", "bare words", "extra keys", "single quotes", "text behind it"],
)
async def test_an_update_that_can_be_understood_is_applied(update):
    result = await result_of(f"<narrative>Hi.</narrative><state_update_json>{update}</state_update_json>")
    [item] = result.state_update.dynamic_state["emotions"].add
    assert (item.words(), result.update_pending) == ({"content": "moved"}, False)


async def test_a_field_the_profile_has_is_usable():
    profile = {"dynamic_state": {"hobbies": {"items": []}}}
    output = changing({"hobbies": {"add": [{"craft": "knots", "priority": 2}]}})
    assert not (await result_of(output, profile=profile)).state_update.is_empty


async def test_what_the_soul_has_already_is_no_change():
    for priority, is_known in ((9, True), (1, False)):  # as it matters more than before, it is news
        profile = {"dynamic_state": {"emotions": {"items": [{"content": "moved", "priority": priority}]}}}
        result = await result_of(changing(MOVED), profile=profile)
        assert (result.state_update.is_empty, result.update_pending) == (is_known, False)


async def test_an_answer_of_which_nothing_was_shown_is_repaired_once_and_then_ends_the_turn():
    first = await parsed("{", "")
    assert first == {"problem": NO_WORDS}
    assert await usable_or_repair(first) == "repair"
    with pytest.raises(TurnOutputInvalid) as ended:
        await parsed("{", "", problem=NO_WORDS)
    assert (ended.value.problem()["turn_id"], ended.value.problem()["reason"]) == ("turn_1", NO_WORDS)


async def test_a_repaired_answer_is_the_reply():
    result = await result_of("Better words.", "Better words.", problem=NO_WORDS)
    assert (result.reply, result.update_pending) == ("Better words.", True)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("Hi.", "no text inside <narrative>"),
        ("<narrative>Hi.</narrative>", "<state_update_json>{…}</state_update_json> is missing"),
        ("<narrative>Hi.</narrative><state_update_json>{", "state_update_json is not JSON"),
        (changing({"emotions": {"remove": []}}), "dynamic_state.emotions.remove: Extra inputs are not permitted"),
        (changing({"emotions": {"add": [{"priority": 5}]}}), "emotions: an item needs words"),
        (changing({"hobbies": {}, "foes": {}}), "state_update_json has unknown fields: foes, hobbies"),
        (
            changing({"emotions": {"add": [{"content": "anger: 9", "priority": 5}]}}),
            "dynamic_state.emotions.add.0.content: feelings are words, never numbers",
        ),
    ],
    ids=["no narrative", "no update", "no JSON", "deletion", "no words", "unknown fields", "number"],
)
async def test_strictly_any_broken_answer_ends_the_turn_at_once(output, reason):
    with pytest.raises(TurnOutputInvalid) as ended:
        await parsed(output, strict=True)
    assert reason in ended.value.problem()["reason"]
    assert ended.value.problem()["turn_id"] == "turn_1"
    assert "strict_output" in ended.value.detail


async def test_strictly_an_answer_without_words_ends_the_turn_without_a_repair():
    with pytest.raises(TurnOutputInvalid, match="strict_output"):
        await parsed(f"<narrative></narrative>{NOTHING}", "", strict=True)


async def test_only_the_first_three_faults_are_told():
    faults = changing({"emotions": {"add": [{"content": n, "priority": 5} for n in range(9)]}})
    with pytest.raises(TurnOutputInvalid) as ended:
        await parsed(faults, strict=True)
    assert ended.value.problem()["reason"].count("never numbers") == 3
