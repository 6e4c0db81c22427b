from dataclasses import replace

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.types import Command

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.memory.recall import Recalled, RecalledEpisode
from soulgraph.nodes.persona_context import persona_context
from soulgraph.prompts.cues import cues_of
from soulgraph.soul.character_words import describe_personality, grades_of
from soulgraph.soul.mood import mood_of
from soulgraph.soul.preferences import Decision
from soulgraph.stores.records import Terminal
from soulgraph.tests.nodes.samples import (
    CALM,
    HURT,
    INFJ,
    Notebook,
    gate,
    impact,
    intents,
    matched,
    small_runtime,
    utterance,
)
from soulgraph.tests.stores.samples import NOW, message, persona_state, preference, session, soul
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.voice import Voice

VOICE = Voice("offline", OfflineVoice())


def talking(text="今天下雨了", emotion=CALM, found=(), who=None, **fields):
    of_turn = {name: fields.pop(name) for name in ("recalled", "terminal") if name in fields}
    return {
        "utterance": utterance(text),
        "impact": impact(who, emotion, **fields),
        "persona_state": persona_state(),
        "gate": gate(emotion),
        "intents": intents(*found),
        **of_turn,
    }


async def built(stores, state, **ports):
    command = await persona_context(state, small_runtime(stores=stores, voice=VOICE, **ports))
    return dict(command.update)


def prompt_of(update):
    return "\n\n".join(one.text for one in update["messages"])


async def said(stores, *texts, session_id="sess_1"):
    """Stores a conversation and returns its messages as memories, best first."""
    async with stores.write() as tx:
        await tx.sessions.ensure(session(session_id))
        roles = ("user", "assistant")
        await tx.messages.append(session_id, [message(text, role=roles[n % 2]) for n, text in enumerate(texts)])
        return [RecalledEpisode(one, None, None, 1.0) for one in await tx.messages.page(session_id)]


async def test_the_prompt_goes_from_the_system_over_the_conversation_to_what_the_user_says_now(home):
    await said(home, "你好", "你也好")
    first, asked, replied, last = (await built(home, talking("今天下雨了")))["messages"]
    assert isinstance(first, SystemMessage)
    assert (type(asked), asked.text) == (HumanMessage, "你好")
    assert isinstance(replied, AIMessage)
    assert "你也好" in replied.text
    assert isinstance(last, HumanMessage)
    assert "---User Input---\n今天下雨了" in last.text
    assert cues_of([first])["user_text"] == "今天下雨了"


async def test_its_messages_are_hidden_from_a_parent_that_streams_them(home):
    command = await persona_context(talking(), small_runtime(stores=home, voice=VOICE))
    assert isinstance(command, Command)
    assert isinstance(command.update, list)


async def test_what_is_recalled_is_in_the_prompt_and_named_as_a_source_and_not_kept(home):
    [whales] = await said(home, "她整天画鲸鱼", session_id="sess_2")
    update = await built(home, talking(recalled=Recalled([whales], [])))
    assert "they said “她整天画鲸鱼”" in update["messages"][-1].text
    assert f"episode:{whales.message.message_id}" in update["persona"]["sources"]
    assert update["persona"]["memory_hits"] == 1
    assert update["recalled"] is None


async def test_a_message_that_the_conversation_shows_anyway_is_not_recalled_too(home):
    [shown] = await said(home, "她整天画鲸鱼")
    update = await built(home, talking(recalled=Recalled([shown], [])))
    assert prompt_of(update).count("她整天画鲸鱼") == 1
    assert update["persona"]["memory_hits"] == 0
    assert not any(source.startswith("episode:") for source in update["persona"]["sources"])


async def test_of_many_memories_the_best_are_shown_that_the_conversation_does_not_show(home):
    [shown] = await said(home, "她整天画鲸鱼")
    others = await said(home, *(f"记忆{n}号" for n in range(6)), session_id="sess_2")
    state = talking(recalled=Recalled([shown, *others], []))
    update = await built(home, state, persona=PersonaConfig(recalled=2))
    assert [f"记忆{n}号" in prompt_of(update) for n in range(6)] == [True, True, False, False, False, False]


@pytest.mark.parametrize(
    ("template_id", "words"),
    [
        ("companion_v1", "You speak as yourself"),
        ("narrator_v1", "You are a third-person narrator"),
        ("haiku", "Answer in three lines"),
    ],
)
async def test_the_template_of_the_session_is_used(home, template_id, words):
    modules = [
        {"name": "Form", "layer": 2, "content": "Answer in three lines"},
        {"name": "Who", "layer": 2, "template": "{{base_persona}}"},
        {"name": "Mode", "layer": 4, "template": "{{mode}}"},
    ]
    async with home.write() as tx:
        await tx.templates.add("haiku", "Haiku", {"template_id": "haiku", "name": "Haiku", "modules": modules}, NOW)
    update = await built(home, talking(session=session(template_id=template_id)))
    assert words in update["messages"][0].text


async def test_what_the_soul_knows_of_its_user_is_in_the_prompt_and_named(home):
    async with home.write() as tx:
        await tx.preferences.put(preference("tea", value="green"))
        await tx.slots.put("soul_1", 3, "likes rain", NOW)
    update = await built(home, talking())
    system = update["messages"][0]
    assert "tea: green" in system.text
    assert "likes rain" in system.text
    assert cues_of([system])["facts"] == ["likes rain"]
    assert {"preference:tea", "slot:3"} <= set(update["persona"]["sources"])


async def test_what_the_gate_refused_is_to_be_explained_and_only_then(home):
    refusing = prompt_of(await built(home, talking(emotion=HURT, found=[matched()])))
    assert "用户想要：开灯。没有做" in refusing
    assert "此刻不能行动" in refusing
    able = prompt_of(await built(home, talking()))
    assert "没有做" not in able
    assert "不能行动" not in able


async def test_personality_mood_and_gate_are_told_in_the_users_language(home):
    zh = prompt_of(await built(home, talking("今天下雨了", emotion=HURT)))
    en = prompt_of(await built(home, talking("It rains today", emotion=HURT)))
    assert describe_personality(INFJ, CALM.drift, "zh") in zh
    assert describe_personality(INFJ, CALM.drift, "en") in en
    assert "此刻不能行动" in zh and "Unable to act now" in en


async def test_what_life_has_changed_in_a_soul_is_told_and_named_as_a_source(home):
    warmer = replace(CALM, drift=CALM.drift._replace(empathy=0.1))
    update = await built(home, talking("hello", emotion=warmer))
    assert "Has grown warmer over time." in update["messages"][0].text
    assert "personality" in update["persona"]["sources"]


async def test_the_offline_voice_gets_the_mood_the_grades_and_the_reason(home):
    cues = cues_of((await built(home, talking(emotion=HURT)))["messages"])
    assert (cues["lang"], cues["mood_key"]) == ("zh", mood_of(HURT))
    assert cues["grades"] == grades_of(INFJ)
    assert cues["gate_reason"] == gate(HURT).reason is not None
    assert cues["user_emotion"]["appraisal"]["hostility"] == 0.0


async def test_a_preference_to_be_confirmed_is_asked_about_and_a_wish_of_the_session_is_told(home):
    guard = {"hints": {"length": {"value": "short", "count": 1, "evidence": [], "age": 0}}, "pending": None}
    decisions = [Decision("call_me", "小王", "correction", ["别再叫我老板"])]
    prompt = prompt_of(await built(home, talking(guard=guard, decisions=decisions)))
    assert "ask the user in your own words: 明白了" in prompt
    assert "length: short" in prompt


async def test_the_skills_of_the_terminal_are_listed(home):
    wave = {"name": "wave", "description": "waves a hand", "input_schema": {"type": "object", "properties": {}}}
    update = await built(home, talking(terminal=Terminal("robot-1", "soul_1", [wave], 1, [], 0, NOW)))
    assert "wave: waves a hand" in prompt_of(update)


async def test_telemetry_hears_what_the_prompt_was_built_from_and_which_texts_are_private(home):
    telemetry = Notebook()
    state = talking(who=soul(inner_state="I miss the sea"), recalled=Recalled([], [], "events: no answer in time"))
    update = await built(home, state, telemetry=telemetry)
    [told] = telemetry.told("persona.context.built")
    assert (told["turn_id"], told["mode"]) == ("turn_1", "hybrid")
    assert told["memory_problem"] == "events: no answer in time"
    assert told["sources"] == update["persona"]["sources"]
    [private] = telemetry.private
    assert "I miss the sea" in private
    assert private in update["messages"][0].text
