"""Intents found by their examples, with the built-in encoder; and what happens when it is away or unsure."""

from datetime import datetime

import pytest

from soulgraph.errors import SenseUnavailable
from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.filter import UNCLEAR, IntentFilter

NOW = datetime(2026, 11, 16, 15, 30)


def shown(intent_id: str, *examples: str, **match) -> Intent:
    return Intent.model_validate({"id": intent_id, "name": intent_id, "match": {"examples": list(examples), **match}})


WEATHER = shown("weather", "今天天气怎么样", "明天会下雨吗", "what is the weather like", "will it rain tomorrow")
STORY = shown("story", "给我讲个故事", "说个故事听听", "tell me a story", "read me a bedtime story")
DANCE = shown("dance", "跳个舞给我看", "来段舞蹈", "dance for me", "show me a dance")
LAMP_ON = shown("lamp_on", "把灯打开", "开一下客厅的灯", "turn the lamp on", "switch on the light")
LAMP_OFF = shown("lamp_off", "把灯关掉", "关一下客厅的灯", "turn the lamp off", "switch off the light")
REST = shown("rest", "先别扫了", "不用打扫了", "stop cleaning", "you can stop sweeping")
HOME = CompiledCatalog([WEATHER, STORY, DANCE, LAMP_ON, LAMP_OFF, REST])


class Away:
    name = "away"

    async def embed(self, texts):
        raise SenseUnavailable("no connection")


class Judge:
    """An arbiter with a fixed answer, which records what it was asked."""

    def __init__(self, *chosen: str, away: bool = False) -> None:
        self.chosen, self.away, self.asked = set(chosen), away, []

    async def decide(self, text, candidates):
        self.asked.append((text, [candidate.id for candidate in candidates]))
        if self.away:
            raise SenseUnavailable("no model")
        return self.chosen


@pytest.fixture
async def embedder():
    async with open_local_embedder() as embedder:
        yield embedder


@pytest.fixture
def ask(embedder):
    async def ask(text, catalog=HOME, arbiter=None):
        return await IntentFilter(embedder, arbiter).filter(text, catalog, NOW)

    return ask


def ids(result):
    return [match.intent_id for match in result.intents]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("能不能讲一个故事听听呀", "story"),
        ("could you tell me a nice story", "story"),
        ("后天会不会下雨呢", "weather"),
        ("is it going to rain today", "weather"),
        ("请你跳一支舞吧", "dance"),
    ],
)
async def test_other_words_for_an_example_find_its_intent(ask, text, expected):
    result = await ask(text)
    assert (ids(result), result.decision.action) == ([expected], "execute_intents")
    assert result.intents[0].why.startswith(("like “", "concepts "))


@pytest.mark.parametrize("text", ["我昨晚没睡好", "who wrote this symphony", "股票又跌了", "嗯", "???", "1234567"])
async def test_what_resembles_no_example_falls_back(ask, text):
    assert (await ask(text)).decision.action == "fallback_reasoning"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("麻烦把卧室那盏灯打开", ["lamp_on"]),
        ("麻烦把卧室那盏灯关掉", ["lamp_off"]),
        ("please switch the bedroom lamp on", ["lamp_on"]),
        ("please switch the bedroom lamp off", ["lamp_off"]),
    ],
)
async def test_opposites_decide_before_similarity_does(ask, text, expected):
    assert ids(await ask(text)) == expected


@pytest.mark.parametrize("text", ["别给我讲故事", "不用跳舞了", "don't tell me a story", "please do not dance for me"])
async def test_what_is_spoken_against_does_not_resemble_a_request(ask, text):
    assert not {"story", "dance"} & set(ids(await ask(text)))


async def test_an_example_that_refuses_is_resembled_by_a_refusal(ask):
    assert ids(await ask("现在别扫了吧")) == ["rest"]


@pytest.mark.parametrize("text", ["小时候奶奶给我讲过故事", "昨天有人给我跳舞看", "你喜欢跳舞吗"])
async def test_what_is_told_or_wondered_about_is_not_asked_for(ask, text):
    assert ids(await ask(text)) == []


async def test_clauses_about_different_things_are_several_intents(ask):
    assert ids(await ask("给我讲个故事听听，再跳个舞给大家看")) == ["story", "dance"]
    assert ids(await ask("tell me a bedtime story and show me a dance")) == ["story", "dance"]


async def test_a_request_among_small_talk_is_found(ask):
    assert ids(await ask("今天上班真的好累啊，给我讲个故事吧")) == ["story"]


@pytest.mark.parametrize("text", ["面包掰开里面全是绿毛，还有小虫在爬", "我把杯子洗了，然后睡着了"])
async def test_what_only_joins_two_clauses_asks_for_nothing(ask, text):
    assert ids(await ask(text, CompiledCatalog([shown("come", "过来", "快到我这儿来"), STORY]))) == []


async def test_a_keyword_is_taken_before_a_resemblance(ask):
    named = Intent.model_validate({"id": "radio", "name": "radio", "match": {"keywords_any": ["故事"]}})
    result = await ask("给我讲个故事", CompiledCatalog([STORY, named]))
    assert ids(result) == ["radio"]
    assert result.intents[0].why == "keyword 故事"


async def test_a_negative_keyword_vetoes_a_resemblance(ask):
    careful = shown("story", "给我讲个故事", "说个故事听听", negative_keywords=["鬼"])
    assert ids(await ask("给我讲个鬼故事", CompiledCatalog([careful]))) == []


async def test_min_confidence_is_the_intents_own(ask):
    strict = shown("story", "给我讲个故事", "说个故事听听", min_confidence=0.95)
    result = await ask("能不能讲一个故事听听呀", CompiledCatalog([strict]))
    assert (ids(result), result.decision.reason) == ([], "not sure enough: story")


async def test_confidence_falls_with_distance(ask):
    said = ["给我讲个故事", "能不能讲一个故事听听呀", "今天的故事就到这里"]
    matches = [
        (await ask(text, CompiledCatalog([shown("story", "给我讲个故事", min_confidence=0)]))).intents for text in said
    ]
    confidences = [match[0].confidence for match in matches]
    assert confidences == sorted(confidences, reverse=True)
    assert confidences[0] > 0.8


async def test_without_the_embedder_keywords_still_work_and_the_reason_says_so():
    keyword = Intent.model_validate({"id": "radio", "name": "radio", "match": {"keywords_any": ["收音机"]}})
    away = IntentFilter(Away())
    assert ids(await away.filter("打开收音机", CompiledCatalog([STORY, keyword]), NOW)) == ["radio"]
    result = await away.filter("哄我睡觉吧", CompiledCatalog([STORY]), NOW)
    assert result.decision.action == "fallback_reasoning"
    assert "examples not compared" in result.decision.reason


async def _unclear(ask):
    """A text in the unclear band, with what is decided of it without an arbiter."""
    for text in ("讲点什么好玩的吧", "说点什么给我听", "讲讲话", "来点有意思的", "entertain me a bit"):
        result = await ask(text, CompiledCatalog([shown("story", *STORY.match.examples, min_confidence=UNCLEAR[0])]))
        if result.intents and UNCLEAR[0] <= result.intents[0].confidence <= UNCLEAR[1]:
            return text
    raise AssertionError("no text is unclear any more")


@pytest.mark.parametrize(("chosen", "expected"), [(["story"], ["story"]), ([], [])])
async def test_the_arbiter_decides_what_is_unclear(ask, chosen, expected):
    text = await _unclear(ask)
    judge = Judge(*chosen)
    result = await ask(text, CompiledCatalog([STORY]), judge)
    assert judge.asked == [(text, ["story"])]
    assert ids(result) == expected
    assert all(match.why.endswith("confirmed by the model") for match in result.intents)


@pytest.mark.parametrize("text", ["给我讲个故事", "股票又跌了"])
async def test_the_arbiter_is_not_asked_about_what_is_clear(ask, text):
    judge = Judge("story")
    await ask(text, CompiledCatalog([STORY]), judge)
    assert judge.asked == []


async def test_without_the_arbiters_answer_it_stays_as_it_was(ask):
    text = await _unclear(ask)
    alone = await ask(text, CompiledCatalog([STORY]))
    assert (await ask(text, CompiledCatalog([STORY]), Judge(away=True))) == alone


async def test_a_catalog_is_learned_once(embedder):
    counted = []

    class Counting:
        name = embedder.name

        async def embed(self, texts):
            counted.extend(texts)
            return await embedder.embed(texts)

    filter_ = IntentFilter(Counting())
    catalog = CompiledCatalog([STORY, DANCE])
    for _ in range(3):
        await filter_.filter("跳舞", catalog, NOW)
    assert counted.count("tell me a story") == 1
