"""How the offline voice speaks: by the gate, by what the user did, by mood and by personality."""

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.soul.personality import MBTI_TYPES
from soulgraph.tests.voices.samples import (
    ANGER_AT_OTHERS,
    EMOTIONS,
    FEAR,
    GRIEF,
    HURTS,
    INSULT,
    LANGS,
    MOODS,
    PRAISE,
    REASONS,
    TEXTS,
    VOICES,
    emotion_cue,
    leaves,
    narrative,
    of_type,
    said,
)
from soulgraph.voices.offline_parsing import is_request, is_wish, lines


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_of_a_closed_gate_has_lines_of_its_own(lang, voice, reason):
    book = lines()[lang][voice]
    others = [book[kind][other]["other"] for kind in ("curt", "refusal") for other in REASONS if other != reason]
    for kind in ("curt", "refusal"):
        assert set(book[kind][reason]) == {"kind", "care", "other"}
        assert not set(book[kind][reason]["other"]) & set(itertools.chain.from_iterable(others))


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize(
    ("lang", "intent", "refusal", "claim"),
    [
        ("zh", "开灯", "做不到", "已经|好了|开好|完成|这就"),
        ("en", "turn on the light", "can't|cannot|more than", "done|turned|I did|I have|right away"),
    ],
)
def test_a_blocked_intent_is_refused_and_never_claimed(lang, voice, reason, intent, refusal, claim):
    for n, emotion, mbti in itertools.product(range(4), (emotion_cue("neutral"), PRAISE, GRIEF), ("ENFP", "ISTJ")):
        cues = {"gate_reason": reason, "user_emotion": emotion, "grades": of_type(mbti)}
        reply = narrative(f"{intent}{'!' * n}", lang, voice=voice, blocked_intents=[intent], **cues)
        assert intent in reply
        assert re.search(refusal, reply)
        assert not re.search(claim, reply)


@pytest.mark.parametrize(("lang", "wish"), [("zh", "温柔|道歉|好好说|暖和"), ("en", "kind|gentle|apology")])
def test_a_hurt_soul_asks_for_a_kind_word_and_a_joyful_one_laughs(lang, wish):
    def refusals(reason):
        cues = {"gate_reason": reason, "blocked_intents": ["X"]}
        return {narrative(f"X {n}", lang, voice=voice, **cues) for n in range(20) for voice in VOICES}

    for reason in HURTS:
        assert all(re.search(wish, reply) for reply in refusals(reason))
    assert not any(re.search(wish, reply) for reply in refusals("excited"))
    assert all(re.search("笑|乐|高兴|laugh|happy|spin", reply) for reply in refusals("excited"))


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("reason", REASONS)
def test_a_closed_gate_makes_it_curt_but_not_to_those_who_are_kind_or_suffer(lang, reason):
    curt = lines()[lang]["companion"]["curt"][reason]
    text = TEXTS[lang][3]
    for emotion, key in ((emotion_cue("neutral"), "other"), (INSULT, "other"), (PRAISE, "kind"), (GRIEF, "care")):
        assert narrative(text, lang, gate_reason=reason, user_emotion=emotion) in said(curt[key], lang)


def reproaches(lang):
    """What is only said to somebody who has attacked the soul."""
    for voice in VOICES:
        book = lines()[lang][voice]
        closed = [book[kind][reason]["other"] for kind in ("curt", "refusal") for reason in HURTS]
        hurt = [*leaves(book["attack"]), *leaves(book["coda"]["wounded"]), *itertools.chain(*closed)]
        yield from (part.format(name="Luna", mood="", quote="X") for line in hurt for part in line.split(" | "))


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([text for texts in TEXTS.values() for text in texts]) | st.text(),
    st.sampled_from(LANGS),
    st.sampled_from([PRAISE, GRIEF, FEAR, emotion_cue("anxiety", 1.0), emotion_cue("sadness", 0.9, repair=0.7)]),
    st.sampled_from([None, *REASONS]),
    st.sampled_from(MOODS),
    st.sampled_from(MBTI_TYPES),
    st.sampled_from(VOICES),
    st.booleans(),
)
def test_nobody_who_praises_grieves_or_is_afraid_is_reproached(text, lang, emotion, reason, mood, mbti, voice, asks):
    cues = {"user_emotion": emotion, "gate_reason": reason, "mood_key": mood, "grades": of_type(mbti), "voice": voice}
    reply = narrative(text, lang, blocked_intents=["X"] if asks else [], **cues)
    assert not [line for line in reproaches(lang) if line in reply], reply


@pytest.mark.parametrize("lang", LANGS)
def test_an_insult_hurts_and_anger_at_others_is_taken_up_on_the_users_side(lang):
    book = lines()[lang]["companion"]
    assert narrative("X!", lang, user_emotion=INSULT) in said(book["attack"]["even"], lang)
    assert narrative("X!", lang, user_emotion=INSULT, mood_key="hurt") in said(book["attack"]["sore"], lang)
    assert narrative("X!", lang, user_emotion=ANGER_AT_OTHERS) in said(book["side"], lang)


@pytest.mark.parametrize(("lang", "text"), [("zh", "对不起，我话说重了"), ("en", "I'm sorry, forgive me")])
def test_an_apology_is_accepted_and_thaws_a_hurt_soul(lang, text):
    sorry = emotion_cue("sadness", 0.6, repair=0.8)
    lines_for = lines()[lang]["companion"]["apology"]
    assert narrative(text, lang, user_emotion=sorry) in said(lines_for["even"], lang)
    assert narrative(text, lang, user_emotion=sorry, mood_key="hurt") in said(lines_for["sore"], lang)


@pytest.mark.parametrize(
    ("lang", "text", "situation"),
    [
        ("zh", "别再叫我老板了", "agreed"),
        ("zh", "以后回答短一点", "agreed"),
        ("zh", "帮我写一首诗", "request"),
        ("zh", "你能不能给我讲个故事？", "request"),
        ("en", "Stop calling me boss", "agreed"),
        ("en", "From now on keep your answers short", "agreed"),
        ("en", "Could you play some music?", "request"),
    ],
)
def test_a_wish_or_an_order_is_acknowledged_even_if_it_sounds_cross(lang, text, situation):
    for emotion in (emotion_cue("neutral"), emotion_cue("frustration", 0.6, hostility=0.2)):
        options = lines()[lang]["companion"][situation]
        assert narrative(text, lang, user_emotion=emotion) in said(options, lang, quote=text)


def test_own_mood_colours_the_reply():
    assert len({narrative("嗯", mood_key=mood) for mood in MOODS}) == len(MOODS)


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("mood", ["sad", "worried", "hurt", "bored", "tired"])
def test_a_soul_in_low_spirits_does_not_chirp(lang, mood):
    book = lines()[lang]["companion"]
    cheers = [line for tone in lines()["cheerful_tones"] for line in book["interjection"][tone]]
    for text in TEXTS[lang]:
        reply = narrative(text, lang, mood_key=mood, grades=of_type("ENFP"), user_emotion=emotion_cue("joy"))
        assert not reply.startswith(tuple(cheers))


SENTENCES = [(text, lang, emotion) for lang in LANGS for text in TEXTS[lang] for emotion in EMOTIONS]


def replies_of(mbti, voice="companion"):
    cues = {"voice": voice, "grades": of_type(mbti)}
    return [narrative(text, lang, user_emotion=emotion_cue(emotion), **cues) for text, lang, emotion in SENTENCES]


@pytest.mark.parametrize("voice", VOICES)
def test_no_two_types_speak_alike(voice):
    replies = {mbti: replies_of(mbti, voice) for mbti in MBTI_TYPES}
    for one, other in itertools.combinations(MBTI_TYPES, 2):
        assert replies[one] != replies[other], f"{one} and {other} say the same"


@pytest.mark.parametrize("voice", VOICES)
def test_an_open_soul_and_a_reserved_one_answer_most_sentences_differently(voice):
    enfp, istj = replies_of("ENFP", voice), replies_of("ISTJ", voice)
    assert sum(one != other for one, other in zip(enfp, istj, strict=True)) > 0.8 * len(SENTENCES)
    assert sum(map(len, enfp)) > 1.5 * sum(map(len, istj))


def test_warmth_and_bluntness_are_heard():
    comfort = lines()["zh"]["companion"]["coda"]["soft"]
    answer = lines()["zh"]["companion"]["coda"]["wounded"]
    assert any(line in narrative("我好难过", user_emotion=GRIEF, grades=of_type("ENFJ")) for line in comfort["warm"])
    assert any(line in narrative("我好难过", user_emotion=GRIEF, grades=of_type("ENTJ")) for line in comfort["cool"])
    assert any(line in narrative("笨蛋", user_emotion=INSULT, grades=of_type("ESTJ")) for line in answer["blunt"])
    assert any(line in narrative("笨蛋", user_emotion=INSULT, grades=of_type("INFP")) for line in answer["yielding"])


@pytest.mark.parametrize(
    "text",
    [
        "别人都回家了",
        "不要紧",
        "给我的感觉很好",
        "我打开窗户看见了雪",
        "Don't know",
        "Never been better",
        "Help is near",
    ],
)
def test_what_only_looks_like_an_order_is_none(text):
    assert not is_wish(text)
    assert not is_request(text)
