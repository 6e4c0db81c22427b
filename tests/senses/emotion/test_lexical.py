"""The lexical recogniser: the emotions it finds, and its confidence."""

import time
from collections import Counter
from importlib.resources import files

import pytest
import yaml

from soulgraph.senses.emotion.lexical import LexiconRecogniser
from soulgraph.senses.emotion.lexicon import lexicon
from soulgraph.senses.ports import EmotionRecogniser
from soulgraph.senses.units import phrases_in
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES, UserEmotion


async def recognise(text: str) -> UserEmotion:
    recogniser: EmotionRecogniser = LexiconRecogniser()
    return await recogniser.recognise(text)


def listings(node):
    return [node] if isinstance(node, str) else [text for child in node.values() for text in listings(child)]


@pytest.fixture(scope="module")
def data():
    return yaml.safe_load((files("soulgraph.senses.emotion") / "lexicon.yaml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("我今天真开心", "joy"),
        ("I'm so happy today", "joy"),
        ("没想到你会来", "surprise"),
        ("I can't believe you did that", "surprise"),
        ("我好难过", "sadness"),
        ("I feel so lonely", "sadness"),
        ("我好害怕", "fear"),
        ("I'm terrified of the dark", "fear"),
        ("你气死我了", "anger"),
        ("I am furious with you", "anger"),
        ("真恶心", "disgust"),
        ("that is disgusting", "disgust"),
        ("心里很平静", "calm"),
        ("I feel calm and at ease", "calm"),
        ("总算松了一口气", "relief"),
        ("what a relief", "relief"),
        ("谢谢你一直陪着我", "gratitude"),
        ("thank you for everything", "gratitude"),
        ("太激动了，迫不及待", "excitement"),
        ("I can't wait for the concert", "excitement"),
        ("明天考试，我很紧张", "anxiety"),
        ("I'm worried about tomorrow", "anxiety"),
        ("烦死了，又搞不定", "frustration"),
        ("this is so annoying, I'm fed up", "frustration"),
        ("你让我很失望", "disappointment"),
        ("you let me down", "disappointment"),
        ("好无聊啊", "boredom"),
        ("there is nothing to do, I'm bored", "boredom"),
        ("今天星期三", "neutral"),
        ("the meeting is at three", "neutral"),
    ],
)
async def test_every_label_is_heard_in_both_languages(text, label):
    heard = await recognise(text)
    assert heard.emotion == label
    assert (heard.p, heard.a, heard.d) == PROTOTYPES[label]


@pytest.mark.parametrize(
    "text",
    [
        "开灯",
        "把空调调到26度",
        "麻烦你关一下窗帘",
        "现在几点了",
        "turn on the light",
        "set the alarm for 7",
        "",
        "   ",
        "？？？",
    ],
)
async def test_a_bare_command_or_an_empty_text_carries_no_feeling(text):
    heard = await recognise(text)
    assert (heard.emotion, heard.intensity) == ("neutral", 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "我不难过",
        "我没有生气",
        "别担心",
        "一点都不害怕",
        "别哭了",
        "I'm not sad",
        "don't worry",
        "I am not angry at all",
        "stop worrying",
    ],
)
async def test_a_negated_negative_feeling_is_mildly_positive(text):
    heard = await recognise(text)
    assert heard.emotion in {"calm", "relief"}
    assert heard.p > 0
    assert heard.intensity < 0.6


@pytest.mark.parametrize(
    "text",
    [
        "我不开心",
        "我不是很高兴",
        "我并不觉得快乐",
        "not happy at all",
        "I don't feel happy",
        "I'm not excited",
        "nobody loves me",
    ],
)
async def test_a_negated_positive_feeling_is_negative(text):
    heard = await recognise(text)
    assert heard.emotion in {"sadness", "disappointment"}
    assert heard.p < 0


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("我不是不开心", "joy"),
        ("I can't stop crying", "sadness"),
        ("从来没这么难过", "sadness"),
        ("I have never been so angry", "anger"),
        ("我没钱，很难过", "sadness"),
        ("我没钱很难过", "sadness"),
        ("不错", "joy"),
        ("特别开心", "joy"),
        ("I'm not sad or angry", "calm"),
    ],
)
async def test_negation_reaches_what_it_negates_and_nothing_else(text, label):
    assert (await recognise(text)).emotion == label


@pytest.mark.parametrize(
    ("softer", "louder"),
    [
        ("我有点难过", "我难过"),
        ("我难过", "我非常难过"),
        ("我难过", "难过死了"),
        ("我不太开心", "我非常不开心"),
        ("I'm a bit sad", "I'm sad"),
        ("I'm sad", "I'm extremely sad"),
        ("not very happy", "not happy"),
        ("not happy", "not happy at all"),
        ("我生气", "我生气！"),
        ("我生气！", "我生气！！"),
        ("I'm angry", "I'm angry!!"),
        ("I'm angry", "I'm ANGRY"),
        ("I'm angry", "I'm angryyyy"),
        ("哈哈", "哈哈哈哈"),
        ("😭", "😭😭"),
        ("annoyed", "fed up"),
    ],
)
async def test_degree_words_exclamations_and_capitals_change_the_intensity_alone(softer, louder):
    low = await recognise(softer)
    high = await recognise(louder)
    assert low.emotion == high.emotion
    assert 0 < low.intensity < high.intensity <= 1


@pytest.mark.parametrize(
    ("shorter", "longer"),
    [("开心", "开心果"), ("恐怖", "恐怖片"), ("good", "good night"), ("怕", "恐怕"), ("thanks", "no thanks")],
)
async def test_the_longest_entry_wins(shorter, longer):
    assert (await recognise(shorter)).emotion != "neutral"
    assert (await recognise(longer)).emotion == "neutral"


@pytest.mark.parametrize(("word", "inside"), [("hate", "hat"), ("mad", "made"), ("joy", "joystick"), ("ha", "harm")])
async def test_english_matches_whole_words(word, inside):
    assert (await recognise(f"a {word} b")).emotion != "neutral"
    assert (await recognise(f"a {inside} b")).emotion == "neutral"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("she worries", "anxiety"),
        ("he hated it", "disgust"),
        ("you keep annoying me", "frustration"),
        ("happier now", "joy"),
    ],
)
async def test_english_words_are_known_in_their_inflected_forms(text, label):
    assert (await recognise(text)).emotion == label


@pytest.mark.parametrize(
    ("text", "label"),
    [("妈的", "anger"), ("他妈的太好了", "joy"), ("shit", "anger"), ("fucking awesome", "excitement")],
)
async def test_a_curse_is_anger_only_when_no_feeling_is_named(text, label):
    assert (await recognise(text)).emotion == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("👍🏽", "joy"),
        ("好吧 😭", "sadness"),
        ("hahahaha", "joy"),
        ("呜呜呜", "sadness"),
        (":(", "sadness"),
        ("❤️", "joy"),
    ],
)
async def test_emoji_laughter_and_sobs_are_heard(text, label):
    assert (await recognise(text)).emotion == label


@pytest.mark.parametrize(
    ("text", "label"), [("我刚才很难过，但是现在很开心", "joy"), ("It was fun but now I'm sad", "sadness")]
)
async def test_what_follows_a_but_outweighs_what_precedes_it(text, label):
    assert (await recognise(text)).emotion == label


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("还好", "松了一口气"),
        ("nice", "I'm delighted"),
        ("又开心又难过", "开心"),
        ("happy and sad", "happy"),
        ("不难过", "难过"),
    ],
)
async def test_confidence_is_lower_for_weak_mixed_or_negated_evidence(less, more):
    assert (await recognise(less)).confidence < (await recognise(more)).confidence <= 1


async def test_the_full_width_form_reads_like_the_plain_one():
    assert await recognise("Ｉ’m ａｎｇｒｙ！") == await recognise("I'm angry!")


def test_the_lexicon_covers_every_label_in_both_languages(data):
    assert {*data["feelings"], "neutral"} == {*EMOTIONS}
    for label, levels in data["feelings"].items():
        words = "".join(levels[level] for level in ("strong", "plain", "weak"))
        assert any(c.isascii() and c.isalpha() for c in words), label
        assert any("一" <= c <= "鿿" for c in words), label


def test_no_entry_is_listed_twice(data):
    entries = Counter(
        phrase
        for part, node in data.items()
        if part not in ("negated", "cues", "openings")
        for text in listings(node)
        for phrase in phrases_in(text)
    )
    assert [phrase for phrase, times in entries.items() if times > 1 or not phrase] == []


def test_negation_changes_the_sign_of_every_feeling(data):
    assert data["negated"].keys() == data["feelings"].keys()
    for label, negated in data["negated"].items():
        assert PROTOTYPES[label][0] * PROTOTYPES[negated][0] <= 0


async def test_a_sentence_takes_well_under_a_millisecond():
    recogniser = LexiconRecogniser()
    text = "我今天有点难过，因为 nobody came to my party, but thank you for being here 😭"
    times = []
    for _ in range(50):
        start = time.perf_counter()
        await recogniser.recognise(text)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.0005


def test_the_lexicon_is_read_once():
    assert lexicon() is lexicon()
