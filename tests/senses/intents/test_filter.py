"""The intent filter by words alone: one small smart home, and the rules one by one."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

import pytest

from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.decision import IntentResult
from soulgraph.senses.intents.filter import IntentFilter

NOW = datetime(2026, 11, 16, 15, 30)

ROOMS = {"name": "room", "values": ["客厅", "卧室", "living room", "bedroom"]}


def intent(intent_id: str, *keywords_any: str, name: str = "", priority: int = 0, slots=(), **match) -> Intent:
    body = {"keywords_any": list(keywords_any), **match}
    return Intent.model_validate(
        {"id": intent_id, "name": name or intent_id, "priority": priority, "match": body, "slots": list(slots)}
    )


LIGHT_ON = intent("light_on", "开灯", "打开灯", "灯", "turn on the light", "light", slots=[ROOMS])
LIGHT_OFF = intent("light_off", "关灯", "关掉灯", "灯", "turn off the light", "light", slots=[ROOMS])
STRIP_ON = intent("strip_on", "打开灯带", "turn on the light strip")
FAN_ON = intent("fan_on", "风扇", "开风扇", "fan", "turn on the fan")
FAN_OFF = intent("fan_off", "风扇", "关风扇", "fan")
HOME = [LIGHT_ON, LIGHT_OFF, STRIP_ON, FAN_ON, FAN_OFF]


def filter_intents(text: str, catalog: Sequence[Intent]) -> IntentResult:
    """A catalog without examples needs no embedder."""
    return asyncio.run(IntentFilter(None).filter(text, CompiledCatalog(catalog), NOW))


def ids(result: IntentResult) -> list[str]:
    return [match.intent_id for match in result.intents]


def matched(text: str, *catalog: Intent) -> list[str]:
    return ids(filter_intents(text, catalog or HOME))


def only(text: str, *catalog: Intent):
    (match,) = filter_intents(text, catalog).intents
    return match


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("开灯", "light_on"),
        ("麻烦帮我开灯", "light_on"),
        ("把客厅的灯打开", "light_on"),
        ("我很开心，关灯", "light_off"),
        ("Turn on the lights, please", "light_on"),
        ("turn  ON the LIGHT", "light_on"),
        ("could you turn the light off", "light_off"),
    ],
)
def test_a_command_finds_its_intent_and_is_executed(text, expected):
    result = filter_intents(text, HOME)
    assert ids(result) == [expected]
    assert result.decision.action == "execute_intents"
    assert result.intents[0].status == "ready"


def test_one_of_sixteen_keywords_is_a_full_hit():
    many = intent("music", "放音乐", "play music", *(f"other {i}" for i in range(14)))
    few = intent("music", "放音乐", "play music")
    for text in ("放音乐", "play music"):
        assert only(text, many).confidence == only(text, few).confidence == 1


@pytest.mark.parametrize("text", ["今天天气怎么样", "what a lovely day", "delight", "lighthouse"])
def test_without_a_match_the_turn_falls_back_to_reasoning(text):
    result = filter_intents(text, HOME)
    assert result.intents == []
    assert result.decision.action == "fallback_reasoning"
    assert result.decision.reason == "no intent matched"


@pytest.mark.parametrize(("text", "catalog"), [("", HOME), ("  \n", HOME), ("开灯", []), ("turn on the light", [])])
def test_an_empty_text_or_catalog_needs_no_action(text, catalog):
    result = filter_intents(text, catalog)
    assert (result.decision.action, result.intents) == ("no_action", [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("空调调到26度", ["ac"]),
        ("26度，空调", ["ac"]),
        ("空调", []),
        ("26度", []),
        ("set the ac to 26 degrees", ["ac_en"]),
        ("set the ac", []),
    ],
)
def test_all_of_keywords_all_must_be_said(text, expected):
    catalog = (intent("ac", keywords_all=["空调", "度"]), intent("ac_en", keywords_all=["ac", "degree"]))
    assert matched(text, *catalog) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("放音乐", ["music"]), ("小声放音乐", []), ("play music", ["music"]), ("play music later", [])],
)
def test_a_negative_keyword_vetoes(text, expected):
    music = intent("music", "放音乐", "play music", negative_keywords=["小声", "later"])
    assert matched(text, music) == expected


@pytest.mark.parametrize(
    "text",
    [
        "别开灯",
        "不要开灯",
        "先别开灯",
        "不用给我开灯",
        "不要把灯打开",
        "别把客厅的灯打开",
        "不要开灯和风扇",
        "别打开灯带",
        "don't turn on the light",
        "Don’t turn on the light",
        "please do not turn on the living room light",
        "never turn on the light",
        "I don't want you to turn on the light",
        "no need to turn the light on",
    ],
)
def test_a_command_that_is_spoken_against_is_not_executed(text):
    result = filter_intents(text, HOME)
    assert result.intents == []
    assert result.decision.action == "fallback_reasoning"
    assert result.decision.reason.startswith("refused: ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("要不要开灯", ["light_on"]),
        ("能不能开灯", ["light_on"]),
        ("别忘了开灯", ["light_on"]),
        ("不要开灯，开风扇", ["fan_on"]),
        ("不要开灯开风扇", ["fan_on"]),
        ("别关灯，开灯", ["light_on"]),
        ("why don't you turn on the light", ["light_on"]),
        ("don't forget to turn on the light", ["light_on"]),
        ("can't you turn on the light", ["light_on"]),
        ("don't turn on the light, turn on the fan", ["fan_on"]),
    ],
)
def test_negation_vetoes_only_what_it_stands_in_front_of(text, expected):
    assert matched(text) == expected


@pytest.mark.parametrize("text", ["别开一下灯", "don't switch on that light"])
def test_negation_vetoes_a_regex_hit_too(text):
    by_regex = intent("light", regex_any=[r"开.{0,3}灯", r"switch on \w+ light"])
    assert matched(text.replace("别", "").replace("don't ", ""), by_regex) == ["light"]
    assert matched(text, by_regex) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("关灯", []),
        ("把灯关掉", []),
        ("把灯打开", ["light_on"]),
        ("turn off the light", []),
        ("turn the light off", []),
        ("switch the light on", ["light_on"]),
        ("turn off the light on the desk", []),
    ],
)
def test_the_opposite_command_does_not_fire_an_intent(text, expected):
    assert matched(text, LIGHT_ON) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("声音调大", ["volume_up"]),
        ("声音小一点", ["volume_down"]),
        ("turn the volume up", ["volume_up"]),
        ("lower the volume", ["volume_down"]),
    ],
)
def test_up_and_down_are_opposites_too(text, expected):
    assert matched(text, intent("volume_up", "声音", "volume"), intent("volume_down", "声音", "volume")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("打开灯带", ["strip_on"]), ("打开灯", ["light_on"]), ("turn on the light strip", ["strip_on"])],
)
def test_the_longest_keyword_wins_where_keywords_overlap(text, expected):
    assert matched(text) == expected


@pytest.mark.parametrize("text", ["电影模式", "movie mode"])
def test_priority_then_catalog_order_break_a_tie(text):
    words = ("电影模式", "movie mode")
    first = intent("first", *words)
    second = intent("second", *words)
    urgent = intent("urgent", *words, priority=5)
    assert matched(text, first, second) == ["first"]
    assert matched(text, first, second, urgent) == ["urgent"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("关灯然后开风扇", ["light_off", "fan_on"]),
        ("开风扇，关灯", ["fan_on", "light_off"]),
        ("关灯和风扇", ["light_off", "fan_off"]),
        ("灯、风扇都关掉", ["light_off", "fan_off"]),
        ("turn off the light and turn on the fan", ["light_off", "fan_on"]),
        ("turn off the light and the fan", ["light_off", "fan_off"]),
    ],
)
def test_several_intents_in_one_utterance_come_in_the_order_spoken(text, expected):
    assert matched(text) == expected


@pytest.mark.parametrize(
    ("text", "any_hit", "all_hit"),
    [
        ("定时10分钟", True, False),
        ("十分钟后提醒", False, False),
        ("timer 10 min", True, False),
        ("timer for 10 min", True, True),
    ],
)
def test_regex_any_needs_one_and_regex_all_needs_every_pattern(text, any_hit, all_hit):
    any_of = intent("any", regex_any=[r"定时\d+分钟", r"timer .*\d+ min"])
    all_of = intent("all", regex_all=["timer", r"for \d+"])
    assert (bool(matched(text, any_of)), bool(matched(text, all_of))) == (any_hit, all_hit)


def test_a_pattern_of_look_aheads_alone_counts_as_a_match():
    assert matched("把窗帘给我拉开", intent("curtain", regex_all=["(?=.*窗帘)(?=.*拉开)"])) == ["curtain"]


@pytest.mark.parametrize(
    ("bare", "story"),
    [
        ("开灯", "外面好像有一只猫在叫你帮我开灯看看好不好"),
        ("turn on the light", "there is a cat outside so turn on the light and let us see it"),
    ],
)
def test_below_min_confidence_an_intent_is_not_executed(bare, story):
    strict = intent("light_on", "开灯", "turn on the light", min_confidence=0.95)
    assert matched(bare, strict) == ["light_on"]
    unsure = filter_intents(story, [strict])
    assert (unsure.intents, unsure.decision.action) == ([], "fallback_reasoning")
    assert unsure.decision.reason == "not sure enough: light_on"


TIMER = intent("timer", "定时", "timer", name="定时", slots=[{"name": "minutes", "regex": r"(\d+)\s*(?:分钟|min)"}])
PLAY = intent("play", "播放", "play", slots=[{"name": "song", "regex": r"(?:播放|play )(the song )?(?P<song>.+)"}])


@pytest.mark.parametrize(
    ("text", "target", "parameters"),
    [
        ("定时１０分钟", TIMER, {"minutes": "10"}),
        ("timer for 10 min", TIMER, {"minutes": "10"}),
        ("定时", TIMER, {}),
        ("播放七里香", PLAY, {"song": "七里香"}),
        ("play the song Yellow", PLAY, {"song": "Yellow"}),
        ("打开卧室的灯", LIGHT_ON, {"room": "卧室"}),
        ("turn on the light in the Living  Room", LIGHT_ON, {"room": "living room"}),
        ("开灯", LIGHT_ON, {}),
    ],
)
def test_slots_are_filled_by_regex_or_by_a_listed_value(text, target, parameters):
    assert only(text, target).parameters == parameters


def test_a_captured_value_must_be_listed_when_values_are():
    slot = {"name": "mode", "regex": r"(?:切到|to) ?(\w+)", "values": ["制冷", "cool"], "default": "auto"}
    ac = intent("ac", "空调", "ac", slots=[slot])
    said = ["空调切到制冷", "空调切到唱歌", "set ac to Cool", "set ac to sing"]
    assert [only(text, ac).parameters["mode"] for text in said] == ["制冷", "auto", "cool", "auto"]


def test_a_default_fills_a_required_slot_and_what_is_said_overrides_it():
    volume = {"name": "volume", "required": True, "default": 30, "regex": r"音量(\d+)"}
    music = intent("music", "放音乐", slots=[volume])
    assert only("放音乐", music).parameters == {"volume": 30}
    assert only("放音乐，音量5", music).parameters == {"volume": "5"}
    assert only("放音乐", music).status == "ready"


@pytest.mark.parametrize(
    ("text", "slot", "question"),
    [
        ("设个闹钟", {"name": "时间"}, "“闹钟”的时间是什么？"),
        ("set an alarm", {"name": "time"}, 'What is the time for "闹钟"?'),
        ("设个闹钟", {"name": "铃声", "values": ["鸟鸣", "钢琴"]}, "“闹钟”的铃声选哪一个：鸟鸣、钢琴？"),
        ("set an alarm", {"name": "sound", "values": ["birds", "piano"]}, 'Which sound for "闹钟": birds, piano?'),
    ],
)
def test_a_missing_required_slot_is_asked_for_in_the_users_language(text, slot, question):
    alarm = intent("alarm", "闹钟", "alarm", name="闹钟", slots=[{**slot, "required": True}])
    match = only(text, alarm)
    assert (match.status, match.question) == ("need_clarification", question)
    assert filter_intents(text, [alarm]).decision.action == "fallback_reasoning"


def test_what_is_ready_is_executed_beside_what_needs_clarification():
    alarm = intent("alarm", "闹钟", slots=[{"name": "时间", "required": True}])
    result = filter_intents("关灯，再设个闹钟", [LIGHT_OFF, alarm])
    assert [match.status for match in result.intents] == ["ready", "need_clarification"]
    assert result.decision.action == "execute_intents"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("打开客厅的灯，卧室的灯关掉", [("light_on", {"room": "客厅"}), ("light_off", {"room": "卧室"})]),
        ("打开客厅的灯和卧室的灯", [("light_on", {"room": "客厅"}), ("light_on", {"room": "卧室"})]),
        ("开灯，要客厅的", [("light_on", {"room": "客厅"})]),
        ("开灯，快开灯", [("light_on", {})]),
        (
            "turn on the bedroom light and turn off the living room light",
            [("light_on", {"room": "bedroom"}), ("light_off", {"room": "living room"})],
        ),
    ],
)
def test_each_clause_fills_the_slots_of_its_own_intent(text, expected):
    result = filter_intents(text, HOME)
    assert [(match.intent_id, match.parameters) for match in result.intents] == expected


def test_a_match_says_why():
    assert only("请开灯", LIGHT_ON).why == "keyword 开灯"
    assert only("十度", intent("t", regex_any=["[一二十]+度"])).why == "regex [一二十]+度"


@pytest.mark.parametrize(
    "text",
    [
        "开灯和关灯哪个省电",
        "你刚才为什么开灯",
        "我讨厌开灯",
        "邻居家又开灯了",
        "要是没人开灯怎么办",
        "她说“开灯”是她的口头禅",
        "我自己去开灯",
        "你敢开灯试试",
        "don't you dare turn on the light",
        "why did you turn on the light",
        "my sister says turn on the light is a song",
        "what if I turn on the light",
        "I'll turn on the light myself",
    ],
)
def test_what_is_asked_told_or_supposed_about_an_act_is_not_done(text):
    assert matched(text) == []


@pytest.mark.parametrize(
    "text", ["能不能开下灯", "可以帮我开灯吗", "could you turn on the light?", "is it possible to turn on the light"]
)
def test_a_request_that_is_phrased_as_a_question_is_done(text):
    assert matched(text) == ["light_on"]
