import itertools
import re

import pytest

from soulgraph.tests.voices.samples import (
    EMOTIONS,
    HOSTILE_TEXT,
    INSULT,
    LANGS,
    MOODS,
    REASONS,
    TEXTS,
    VOICES,
    answer_to,
    emotion_cue,
    leaves,
    narrative,
    said,
)
from soulgraph.voices.offline_parsing import introduced_name, lines


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("lang", LANGS)
def test_every_turn_keeps_the_contract(lang, voice):
    for text, emotion, mood, reason in itertools.product(TEXTS[lang], EMOTIONS, MOODS, [None, *REASONS]):
        cues = {"user_emotion": emotion_cue(emotion), "mood_key": mood, "gate_reason": reason}
        reply, _ = answer_to(text, lang, voice=voice, **cues)
        assert not re.search(r"[{}<>|]", reply), reply


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("lang", LANGS)
def test_each_language_and_voice_has_the_same_situations(lang, voice):
    def shape(node):
        return {key: shape(value) for key, value in node.items()} if isinstance(node, dict) else None

    assert shape(lines()[lang][voice]) == shape(lines()["zh"]["companion"])


@pytest.mark.parametrize("lang", LANGS)
def test_the_narrator_speaks_of_the_soul_by_name_in_every_line(lang):
    assert all("{name}" in line.partition(" | ")[0] for line in leaves(lines()[lang]["narrator"]))


def test_words_of_the_user_can_neither_close_the_narrative_nor_change_state():
    for reply, update in (
        answer_to(HOSTILE_TEXT),
        answer_to("我女儿呢？", facts=[f"女儿 {HOSTILE_TEXT}"]),
        answer_to("开灯", gate_reason="hurt", blocked_intents=[HOSTILE_TEXT]),
        answer_to("你叫什么？", soul_name=HOSTILE_TEXT),
    ):
        assert "<" not in reply
        assert update == {}


def test_the_same_turn_is_always_answered_the_same_way():
    assert answer_to("你好") == answer_to("你好")


def test_different_texts_find_different_lines():
    assert len({narrative(f"{'好' * n}").replace("好", "") for n in range(1, 9)}) > 1


@pytest.mark.parametrize(
    ("lang", "question", "fact"),
    [
        ("zh", "我女儿叫什么？", "我女儿叫米卡"),
        ("zh", "我叫什么名字？", "用户说过：我叫小明"),
        ("en", "What is my dog's name?", "The dog is called Rex"),
        ("en", "where do I live?", "The user lives in Oslo"),
    ],
)
def test_a_question_about_a_remembered_fact_is_answered_with_it(lang, question, fact):
    facts = [
        "我女儿叫米卡",
        "用户说过：我叫小明",
        "The user's name is Tom",
        "The dog is called Rex",
        "The user lives in Oslo",
    ]
    assert fact in narrative(question, lang, facts=facts)


def test_facts_are_not_quoted_when_nobody_asked_or_nothing_fits():
    assert "米卡" not in narrative("我女儿今天很乖", facts=["我女儿叫米卡"])
    assert "米卡" not in narrative("宇宙有多大？", facts=["我女儿叫米卡"])


@pytest.mark.parametrize(("lang", "text"), [("zh", "你叫什么名字？"), ("zh", "你是谁"), ("en", "What's your name?")])
def test_it_knows_its_own_name(lang, text):
    assert "Luna" in narrative(text, lang)


def test_asked_how_it_is_it_answers_by_its_mood():
    replies = {narrative("How are you?", "en", mood_key=mood, mood="clearly so") for mood in MOODS}
    assert len(replies) == len(MOODS)
    assert "clearly so" in narrative("How are you?", "en", mood_key="sad", mood="clearly so")


def test_greeting_is_not_mistaken():
    greetings = said(lines()["zh"]["companion"]["greeting"]["even"])
    assert narrative("你好") in greetings
    assert narrative("你好笨") not in greetings


def test_mode_is_heard_except_under_attack():
    even = narrative("好的")
    cheer = narrative("好的", mode="idol")
    assert cheer.startswith(even) and cheer != even
    assert narrative("哼", mode="idol", user_emotion=INSULT) == narrative("哼", user_emotion=INSULT)


@pytest.mark.parametrize(
    ("lang", "text", "name"), [("zh", "我叫小明，你呢？", "小明"), ("en", "Hi, my name is Tom.", "Tom")]
)
def test_an_introduction_is_a_surprise_only_once(lang, text, name):
    reply, update = answer_to(text, lang)
    added = update["dynamic_state"]["relationships"]["add"]
    assert name in reply
    assert added[0]["entity"] == "user" and added[0]["priority"] == 8 and name in added[0]["status"]
    assert answer_to(text, lang, facts=[f"user: {name}"])[1] == {}


@pytest.mark.parametrize("text", ["我叫你别吵", "我叫什么？", "my name is not important"])
def test_no_name_is_heard_where_none_is_given(text):
    assert introduced_name(text) is None


@pytest.mark.parametrize(("emotion", "hostility"), [("anger", 0.5), ("gratitude", 0.0)])
def test_only_a_strong_emotion_changes_state(emotion, hostility):
    assert answer_to("嗯", user_emotion=emotion_cue(emotion, 0.69, hostility))[1] == {}
    added = answer_to("嗯", user_emotion=emotion_cue(emotion, 0.7, hostility))[1]["dynamic_state"]["emotions"]["add"]
    assert len(added) == 1 and not re.search(r"\d", added[0]["content"])


def test_anger_at_others_leaves_no_sting():
    assert answer_to("我老板太过分了", user_emotion=emotion_cue("anger", 1.0, hostility=0.49))[1] == {}
