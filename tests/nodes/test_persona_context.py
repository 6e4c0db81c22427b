from dataclasses import replace

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.types import Command

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.memory.episodes import RecalledEpisode
from soulgraph.memory.recall import Recalled
from soulgraph.nodes.persona_context import persona_context
from soulgraph.prompts.cues import cues_of
from soulgraph.prompts.gate_lines import no_device_line
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
from soulgraph.tests.stores.samples import NOW, message, persona_state, session, slot, soul
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.voice import Habits, Voice

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
        return [RecalledEpisode(one, (), 1.0) for one in await tx.messages.page(session_id)]


async def test_the_prompt_goes_from_the_system_over_the_conversation_to_what_the_user_says_now(home):
    await said(home, "你好", "你也好")
    first, asked, replied, last = (await built(home, talking("今天下雨了")))["messages"]
    assert isinstance(first, SystemMessage)
    assert (type(asked), asked.text) == (HumanMessage, "你好")
    assert isinstance(replied, AIMessage)
    assert "你也好" in replied.text
    assert isinstance(last, HumanMessage)
    assert "---用户输入---\n今天下雨了" in last.text
    assert "state_update_json" in first.text
    assert cues_of([first])["user_text"] == "今天下雨了"


async def test_its_messages_are_hidden_from_a_parent_that_streams_them(home):
    command = await persona_context(talking(), small_runtime(stores=home, voice=VOICE))
    assert isinstance(command, Command)
    assert isinstance(command.update, list)


async def test_what_is_recalled_is_in_the_prompt_and_named_as_a_source_and_not_kept(home):
    [whales] = await said(home, "她整天画鲸鱼", session_id="sess_2")
    update = await built(home, talking(recalled=Recalled([whales])))
    assert "对方说“她整天画鲸鱼”" in update["messages"][-1].text.replace(" ", "")
    assert f"episode:{whales.message.message_id}" in update["persona"]["sources"]
    assert update["persona"]["memory_hits"] == 1
    assert update["recalled"] is None


async def test_a_message_that_the_conversation_shows_anyway_is_not_recalled_too(home):
    [shown] = await said(home, "她整天画鲸鱼")
    update = await built(home, talking(recalled=Recalled([shown])))
    assert prompt_of(update).count("她整天画鲸鱼") == 1
    assert update["persona"]["memory_hits"] == 0
    assert not any(source.startswith("episode:") for source in update["persona"]["sources"])


def recalled_in(update):
    return update["messages"][-1].text.partition("---Said Earlier---")[2].partition("---")[0]


async def test_what_the_soul_said_itself_is_recalled_as_its_own_words_and_nobody_elses(home):
    asked, replied = await said(home, "Is your sister a diver?", "I will ask her tonight.", session_id="sess_2")
    found = [replace(replied, around=(asked.message,))]
    update = await built(home, talking("What did you promise me?", recalled=Recalled(found)))
    assert "they said “Is your sister a diver?”; you said “I will ask her tonight.”" in recalled_in(update)
    assert f"episode:{replied.message.message_id}" in update["persona"]["sources"]


async def test_asked_for_what_nobody_has_told_it_a_soul_is_reminded_that_it_does_not_know(home):
    nothing = "Nobody has told you this"
    update = await built(home, talking("What is my brother's dog called?", recalled=Recalled()))
    assert nothing in prompt_of(update)
    update = await built(home, talking("What is the capital of France?", recalled=Recalled()))
    assert nothing not in prompt_of(update)
    [whales] = await said(home, "She paints whales all day", session_id="sess_2")
    update = await built(home, talking("What does Mika paint?", recalled=Recalled([whales])))
    assert nothing not in prompt_of(update)
    update = await built(home, talking("What does Mika paint?", recalled=Recalled([replace(whales, doubtful=True)])))
    assert nothing in prompt_of(update)


async def test_a_short_answer_is_recalled_with_the_question_it_answered(home):
    _, asked, answered = await said(home, "Hello", "Which pet do you have?", "A parrot.", session_id="sess_2")
    found = [replace(answered, around=(asked.message,))]
    update = await built(home, talking("What do I have at home?", recalled=Recalled(found)))
    assert "you said “Which pet do you have?”; they said “A parrot.”" in recalled_in(update)


async def test_a_greeting_is_not_recalled_but_a_bare_answer_to_a_question_is(home):
    greeted, asked, answered = await said(home, "Hello", "Do you have a dog?", "Yes!", session_id="sess_2")
    found = [greeted, replace(answered, around=(asked.message,))]
    update = await built(home, talking("What do I have at home?", recalled=Recalled(found)))
    assert "you said “Do you have a dog?”; they said “Yes!”" in recalled_in(update)
    assert "Hello" not in recalled_in(update)


async def test_of_many_memories_the_best_are_shown_that_the_conversation_does_not_show(home):
    [shown] = await said(home, "她整天画鲸鱼")
    others = await said(home, *(f"记忆{n // 2}号" for n in range(12)), session_id="sess_2")
    state = talking(recalled=Recalled([shown, *others]))
    update = await built(home, state, persona=PersonaConfig(recalled=2))
    assert [f"记忆{n}号" in prompt_of(update) for n in range(6)] == [True, True, False, False, False, False]


@pytest.mark.parametrize(
    ("template_id", "text", "words"),
    [
        ("companion_v1", "It rains", "You speak as yourself"),
        ("companion_v1", "今天下雨了", "用第一人称"),
        ("narrator_v1", "It rains", "You are a third-person narrator"),
        ("narrator_v1", "今天下雨了", "你是第三人称的叙述者"),
        ("haiku", "今天下雨了", "Answer in three lines"),
    ],
)
async def test_the_template_of_the_session_is_used_in_the_users_language(home, template_id, text, words):
    modules = [
        {"name": "Form", "layer": 2, "content": "Answer in three lines"},
        {"name": "Who", "layer": 2, "template": "{{base_persona}}"},
        {"name": "Mode", "layer": 4, "template": "{{mode}}"},
    ]
    async with home.write() as tx:
        await tx.templates.add("haiku", "Haiku", {"template_id": "haiku", "name": "Haiku", "modules": modules}, NOW)
    update = await built(home, talking(text, session=session(template_id=template_id)))
    assert words in update["messages"][0].text


async def test_what_the_soul_knows_of_its_user_is_in_the_prompt_and_named(home):
    async with home.write() as tx:
        await tx.slots.put(slot(3, "likes rain"))
    update = await built(home, talking(preferences={"tea": "green"}))
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


LAMP = {"id": "light_on", "name": "开灯", "match": {"keywords_any": ["开灯"]}}


@pytest.mark.parametrize(
    ("text", "terminal", "told"),
    [
        ("Turn on the light in the kitchen, please", None, True),
        ("Turn on the light in the kitchen, please", Terminal("t", "soul_1", [], 1, [], 0, NOW), True),
        ("Turn on the light in the kitchen, please", Terminal("t", "soul_1", [], 1, [LAMP], 1, NOW), False),
        ("The light in the kitchen was so warm", None, False),
    ],
    ids=["no terminal", "a terminal that can nothing", "a terminal with a lamp", "talk of a lamp"],
)
async def test_a_soul_that_has_no_device_is_told_so_if_it_is_asked_for_one(home, text, terminal, told):
    prompt = prompt_of(await built(home, talking(text, terminal=terminal)))
    assert prompt.endswith(f"\n\n({no_device_line('en')} Answer in the language of this input.)") == told


@pytest.mark.parametrize(("carrier", "tags"), [("tags", True), ("plain", False)])
async def test_the_contract_is_in_the_system_message_and_history_has_the_form_that_is_asked_for(home, carrier, tags):
    await said(home, "你好", "你也好")
    voice = Voice("stub", OfflineVoice(), habits=Habits(carrier))
    command = await persona_context(talking(), small_runtime(stores=home, voice=voice))
    system, _, replied, last = dict(command.update)["messages"]
    assert ("<state_update_json>" in system.text) == ("<narrative>" in replied.text) == tags
    assert "输出约定" in system.text and "输出约定" not in last.text


async def test_strict_output_asks_for_tags_whatever_the_model_does_best(home):
    voice = Voice("stub", OfflineVoice(), habits=Habits("plain"))
    runtime = small_runtime(stores=home, voice=voice, persona=PersonaConfig(strict_output=True))
    system = dict((await persona_context(talking(), runtime)).update)["messages"][0]
    assert "<state_update_json>" in system.text


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
    assert "先用自己的话问用户：明白了" in prompt
    assert "length: short" in prompt


async def test_the_skills_of_the_terminal_are_listed(home):
    wave = {"name": "wave", "description": "waves a hand", "input_schema": {"type": "object", "properties": {}}}
    update = await built(home, talking(terminal=Terminal("robot-1", "soul_1", [wave], 1, [], 0, NOW)))
    assert "wave: waves a hand" in prompt_of(update)


async def test_telemetry_hears_what_the_prompt_was_built_from_and_which_texts_are_private(home):
    telemetry = Notebook()
    state = talking(who=soul(inner_state="I miss the sea"), recalled=Recalled(problem="events: no answer in time"))
    update = await built(home, state, telemetry=telemetry)
    [told] = telemetry.told("persona.context.built")
    assert (told["turn_id"], told["mode"]) == ("turn_1", "hybrid")
    assert told["memory_problem"] == "events: no answer in time"
    assert told["sources"] == update["persona"]["sources"]
    assert {text for text in telemetry.private if text in update["messages"][0].text} == {*telemetry.private}
    assert any("I miss the sea" in text for text in telemetry.private)


async def test_a_monologue_among_the_cues_is_private_too_also_if_it_quotes_the_persona(home):
    telemetry = Notebook()
    snapshot = session().character_snapshot | {"base_persona": "A lighthouse keeper."}
    who = soul(inner_state="I am Mika. A lighthouse keeper. I miss the sea.")
    state = talking(who=who, session=session(soul_id=who.soul_id, character_snapshot=snapshot))
    voice = Voice("stub", OfflineVoice())
    command = await persona_context(state, small_runtime(stores=home, voice=voice, telemetry=telemetry))
    thoughts = cues_of(dict(command.update)["messages"])["secrets"][0]
    assert thoughts == "I am Mika.  I miss the sea."
    assert {thoughts, who.inner_state} <= set(telemetry.private)


async def test_a_model_with_a_small_context_gets_a_small_persona_and_is_told_what_was_cut(home):
    telemetry = Notebook()
    state = talking(who=soul(inner_state="I miss the sea. " * 200))
    whole = await built(home, state)
    small = Voice("offline", OfflineVoice(), context_tokens=8000)
    command = await persona_context(state, small_runtime(stores=home, voice=small, telemetry=telemetry))
    update = dict(command.update)
    assert (whole["persona"]["cut"], update["persona"]["cut"]) == ([], ["inner_state"])
    assert len(update["messages"][0].text) < len(whole["messages"][0].text) - 1000
    assert "I miss the sea." in update["messages"][0].text
    [told] = telemetry.told("persona.context.built")
    assert told["cut"] == ["inner_state"]


async def test_a_static_persona_is_told_nothing_that_was_learnt(home):
    async with home.write() as tx:
        await tx.slots.put(slot(3, "likes rain"))
    update = await built(home, talking(), persona=PersonaConfig(static=True))
    assert "likes rain" not in prompt_of(update)


@pytest.mark.parametrize(
    "wished",
    [
        {"preferences": {"language": "en"}},
        {"decisions": [Decision("language", "en", "once", ["用英文回"])]},
        {"preferences": {"language": "zh"}, "decisions": [Decision("language", "en", "explicit", ["以后说英文"])]},
    ],
    ids=["preferred", "this time", "said now"],
)
async def test_the_language_that_the_user_wishes_for_wins_over_that_of_their_words(home, wished):
    system = (await built(home, talking("今天下雨了", **wished)))["messages"][0]
    assert cues_of([system])["lang"] == "en"
    assert cues_of([system])["mood"].isascii()
