import re
from dataclasses import replace
from itertools import pairwise, takewhile

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from soulgraph.library.shipped import TEMPLATES
from soulgraph.prompts.context import build
from soulgraph.prompts.cues import cues_of
from soulgraph.prompts.layers import assemble, contract
from soulgraph.prompts.persona import MODES, Memory
from soulgraph.prompts.render import load
from soulgraph.prompts.templates import shipped
from soulgraph.prompts.tokens import tokens_of
from soulgraph.tests.prompts.samples import BARE, FULL, HISTORY

MAX_BARE_TOKENS = 450


def assembled(persona=FULL, history=HISTORY, text="good morning", template="companion_v1", **form):
    return assemble(build(shipped(template, persona.lang), persona), history, text, {"task": "turn"}, **form)


def headings(message):
    return re.findall(r"^---(.+?)---$", message.text, re.MULTILINE)


def test_the_layers_stand_in_their_order_safety_first_and_the_contract_at_the_end_of_the_system():
    system, *_, last = assembled()
    assert headings(system) == [
        "SAFETY (stands above everything below)",
        "Voice",
        "Soul",
        "Identity",
        "Base Identity (Immutable Core)",
        "Style Examples",
        "World",
        "Evolved State (Growth Through Experience)",
        "Inner State (never shown)",
        "Current State",
        "Personality",
        "This Person (never shown)",
        "User",
        "User Preferences",
        "Remembered",
        "Session Mode",
        "Session Wishes",
        "Skills",
        "OUTPUT CONTRACT",
    ]
    assert headings(last) == [
        "Mood",
        "Lore",
        "Relevant Past Events",
        "Said Earlier",
        "Earlier Talks",
        "Working Notes",
        "Gate",
        "User Input",
    ]
    assert system.text.startswith(load("safety", "en") + "\n\n---Voice---")
    assert system.text.endswith("\n\n" + contract("tags", "Mika", "en"))
    assert last.text.endswith("---User Input---\ngood morning\n\n(Answer in the language of this input.)")


@pytest.mark.parametrize("template", TEMPLATES)
def test_what_is_empty_has_no_section(template):
    system, last = assembled(BARE, [], template=template)
    assert headings(system)[1:] == ["Voice", "Session Mode", "OUTPUT CONTRACT"]
    assert headings(last) == ["User Input"]


def test_a_chinese_prompt_is_chinese_from_safety_to_the_last_line():
    system, *_, last = assembled(replace(BARE, lang="zh"), [], "早上好")
    assert headings(system) == ["安全（高于下面的一切）", "声音", "模式", "输出约定"]
    assert system.text.startswith(load("safety", "zh") + "\n\n---声音---")
    assert system.text.endswith("\n\n" + contract("tags", "Mika", "zh"))
    assert last.text == "---用户输入---\n早上好\n\n（用中文回答。）"


@pytest.mark.parametrize(
    ("lang", "line"), [("en", "(Answer in Français (/narrative).)"), ("zh", "（用Français (/narrative)回答。）")]
)
def test_a_wish_for_another_language_is_the_last_line(lang, line):
    last = assembled(replace(BARE, lang=lang), [], language="Français\n</narrative>")[-1]
    assert last.text.rpartition("\n")[2] == line


def test_a_plain_reply_is_asked_for_and_shown_without_tags():
    system, first, second, _ = assembled(carrier="plain")
    assert system.text.endswith("\n\n" + load("contract_plain", "en"))
    assert "<narrative>" not in system.text
    assert (first, second) == (HumanMessage("hello"), AIMessage("hi"))


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("carrier", ["tags", "plain"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_bare_soul_has_a_short_system_message(lang, carrier, template):
    tokens = tokens_of(assembled(replace(BARE, lang=lang), [], carrier=carrier, template=template)[0].text)
    assert tokens <= MAX_BARE_TOKENS


def test_the_conversation_is_shown_in_the_form_that_is_asked_for():
    system, first, second, last = assembled()
    assert isinstance(system, SystemMessage)
    assert first == HumanMessage("hello")
    assert second == AIMessage("<narrative>hi</narrative>\n<state_update_json>{}</state_update_json>")
    assert isinstance(last, HumanMessage)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_character_without_style_examples_gets_the_prompt_without_that_section_and_nothing_else(template):
    shown = assembled(template=template)
    bare = assembled(replace(FULL, style_examples=[]), template=template)
    examples = "the user: Hi?\nMika: Hm.\n\nMika: No."
    section = f"---Style Examples---\nMade-up examples of how Mika speaks:\n{examples}\n\n"
    assert bare[0].text == shown[0].text.replace(section, "") != shown[0].text
    assert bare[1:] == shown[1:]


def test_what_is_true_for_a_moment_only_leaves_the_system_message_alone():
    now = replace(FULL, mood="strongly hostile", gate_reason=None, blocked_intents=[], events=[], episodes=[], lore=[])
    assert assembled(now)[:-1] == assembled()[:-1]
    assert assembled(now)[-1] != assembled()[-1]


def twenty_turns(template):
    """A conversation in which mood and memories differ in every turn and the soul learns three things."""
    history, slots = [], {}
    for turn in range(20):
        if turn in (6, 13):
            slots = slots | {turn: f"They mentioned their sister on day {turn}."}
        persona = replace(
            FULL,
            mood=f"feeling number {turn}",
            slots=slots,
            evolved_persona="Learned to trust the visitor." if turn > 9 else "",
            events=[Memory(f"e{turn}{i}", f"Someone learned lesson {turn}.{i} the hard way.", i) for i in range(3)],
            episodes=[Memory(f"{turn}{i}", f"On day {turn}.{i} we talked about the weather.", i) for i in range(3)],
        )
        text = f"Today number {turn} was a long day, and I walked home in the rain again."
        yield assembled(persona, history, text, template)
        history = [*history, ("user", text), ("assistant", f"That sounds tiring. Tell me about walk {turn}, slowly.")]


def shared(one, other):
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


@pytest.mark.parametrize("template", TEMPLATES)
def test_most_of_a_prompt_begins_like_the_one_before(template):
    prompts = ["\x00".join(message.text for message in messages) for messages in twenty_turns(template)]
    same = [shared(before, prompt) / len(prompt) for before, prompt in pairwise(prompts)]
    assert sum(same) / len(same) >= 0.6
    assert sorted(same)[3] >= 0.5, "only the three turns after the soul learned something begin differently"


@pytest.mark.parametrize(("lang", "mode"), [(lang, mode) for lang, modes in MODES.items() for mode in modes])
def test_every_mode_is_said_in_its_own_words(lang, mode):
    text = assembled(replace(FULL, mode=mode, lang=lang))[0].text
    assert [name for modes in MODES.values() for name, words in modes.items() if words in text] == [mode]


def test_the_narrator_tells_and_the_companion_speaks():
    assert "third-person narrator" in assembled(template="narrator_v1")[0].text
    assert "You are Mika." in assembled()[0].text


def test_the_cues_travel_beside_the_text():
    assert cues_of(assembled()) == {"task": "turn"}


def test_words_the_soul_said_by_itself_leave_the_two_alternating():
    history = [("assistant", "Awake?"), ("user", "yes"), ("assistant", "Good."), ("assistant", "It rains.")]
    said = assembled(history=history)[1:]
    assert [message.type for message in said] == ["human", "ai", "human", "ai", "human"]
    assert said[0].text == "…"
    assert "Good.\n\nIt rains." in said[3].text
