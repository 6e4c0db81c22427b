import pytest

from soulgraph.nodes.quality import Heard, addresses, fact_flaw, keep_monologue, keep_slots, repeats, report_refusals
from soulgraph.stores.records import Slot as KeptSlot
from soulgraph.tests.nodes.homes import Told
from soulgraph.voices.task_outputs import Slot

ZH = Heard(
    said=["我计划本周三晚上去打羽毛球", "我最近被校长批评了，说我班里成绩不好", "你喜欢旅行吗？"],
    names=["林夏", "小满"],
    own=["你是小满，一位住在海边灯塔里的守灯人。"],
    speaker="林夏说",
)
EN = Heard(
    said=["I'm Daniel, a nurse.", "My sister Mia is getting married in June."],
    names=["Mika"],
    own=["You are Mika, a lighthouse keeper of few words."],
    speaker="they said",
)


def kept(slots, heard, before=(), quoting=False):
    """The contents of the slots that are kept, and the reasons why others are not."""
    written = [Slot(n=n, content=content) for n, content in slots]
    stored = [KeptSlot("soul_1", "user_1", n, content, 0.0) for n, content in before]
    good, reasons = keep_slots(written, stored, heard, quoting)
    return [slot.content for slot in good], reasons


@pytest.mark.parametrize(
    ("n", "content", "stored"),
    [
        (0, "林夏计划周三晚上去打羽毛球", "林夏计划周三晚上去打羽毛球"),
        (0, "我计划本周三晚上去打羽毛球", "林夏说: 我计划本周三晚上去打羽毛球"),
        (20, "提起校长的时候要温柔一点", "提起校长的时候要温柔一点"),
        (30, "我学会了先听完再说话", "我学会了先听完再说话"),
        (0, "用户说过：我最近被校长批评了", "用户说过：我最近被校长批评了"),
    ],
)
def test_what_was_said_is_kept_and_the_user_s_i_stays_theirs(n, content, stored):
    assert kept([(n, content)], ZH) == ([stored], [])


@pytest.mark.parametrize(
    ("content", "heard", "expected"),
    [
        ("小满被校长批评了", ZH, (["林夏说: 我最近被校长批评了，说我班里成绩不好"], [])),
        ("Mika's sister Mia marries in June", EN, (["they said: My sister Mia is getting married in June."], [])),
        ("The radio is garbage", EN._replace(said=["radio's all garbage tonight."]), ([], ["not_said"])),
        ("林夏很烦", ZH._replace(said=["烦"]), ([], ["not_said"])),
        ("林夏有一条船", ZH, ([], ["not_said"])),
    ],
)
def test_of_a_model_that_mixes_things_up_the_choice_is_taken_and_the_users_words_are_kept(content, heard, expected):
    assert kept([(0, content)], heard, quoting=True) == expected


@pytest.mark.parametrize(
    ("n", "content", "heard", "reason"),
    [
        (0, "好难过", ZH, "small_talk"),
        (0, "林夏说: 今天好累啊", ZH, "small_talk"),
        (0, "林夏问小满在干嘛。", ZH, "small_talk"),
        (0, "林夏说: 我最近被校长批评了。你说: 听起来压力很大。", ZH, "copied"),
        (0, "林夏说: 我计划周三去打羽毛球。林夏说: 我最近被校长批评了。", ZH, "copied"),
        (0, "林夏喜欢旅行", ZH, "not_said"),
        (0, "林夏在上海当医生", ZH, "not_said"),
        (40, "你是小满，住在海边灯塔里的守灯人", ZH, "known_already"),
        (0, "Daniel is a nurse who works at a hospital in London", EN, "not_said"),
        (20, "Ask about the wedding in Paris", EN, "not_said"),
        (10, "Good morning!", EN, "small_talk"),
    ],
)
def test_junk_and_inventions_are_refused(n, content, heard, reason):
    assert kept([(n, content)], heard) == ([], [reason])


def test_of_equal_slots_one_is_kept():
    slots = [(0, "Daniel is a nurse"), (1, "The user Daniel is a nurse."), (2, "Mia is getting married in June")]
    assert kept(slots, EN) == (["Daniel is a nurse", "Mia is getting married in June"], ["known_already"])
    assert kept(slots[:1], EN, [(5, "Daniel is a nurse.")]) == ([], ["known_already"])


def test_a_slot_may_be_corrected_in_almost_the_same_words_but_not_in_the_same():
    before = [(0, "Mia is getting married in May")]
    assert kept([(0, "Mia is getting married in June")], EN, before)[0]
    assert kept([(0, "Mia is getting married in May")], EN, before) == ([], ["known_already"])


OLD = "我守着这座灯塔。我在等一个愿意说话的人。"


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (OLD, "unchanged"),
        ("我在等一个愿意说话的人。", "unchanged"),
        ("我计划本周三晚上去打羽毛球。我最近被校长批评了。", "copied"),
        ("你是小满，一位住在海边灯塔里的守灯人。", "copied"),
    ],
)
def test_a_monologue_without_a_thought_of_its_own_leaves_the_old_one(new, reason):
    assert keep_monologue(new, OLD, ZH) == (OLD, reason)


def test_a_sentence_of_the_user_s_is_taken_out_of_a_monologue():
    thought = "林夏受了委屈却还想着去运动，我有点佩服这份韧劲。"
    assert keep_monologue(f"{thought}我最近被校长批评了。", OLD, ZH) == (thought, None)


def test_a_monologue_that_goes_on_keeps_what_it_began_with():
    longer = f"{OLD}林夏的倔强让我想起涨潮时的海。"
    assert keep_monologue(longer, OLD, ZH) == (longer, None)


@pytest.mark.parametrize(
    ("fact", "flaw"),
    [
        ("Daniel is a nurse", None),
        ("Hello", "small_talk"),
        ("Has a cat", "known_already"),
        ("Lives in Rome", "not_said"),
    ],
)
def test_a_fact_is_judged(fact, flaw):
    assert fact_flaw(fact, ["The user has a cat."], EN.said, []) == flaw


def test_somebody_repeats_when_every_sentence_was_said_or_thought():
    spoken = ["今天过得怎么样？", "雨停了，你还好吗？"]
    assert repeats("雨停了，你还好吗？今天过得怎么样？", spoken)
    assert not repeats("雨停了，你还好吗？校长后来找你谈了没有？", spoken)


def test_a_name_at_the_beginning_is_an_address():
    assert addresses("小满，你今天怎么样？", "小满")
    assert not addresses("小满这个节气快到了。", "小满")
    assert not addresses("anything", "")


def test_refusals_are_told_one_by_one():
    told = Told()
    report_refusals(told, "slot", ["not_said", "small_talk"], soul_id="soul_1")
    assert told.lines == [
        ("memory.refused", {"kind": "slot", "reason": reason, "soul_id": "soul_1"})
        for reason in ("not_said", "small_talk")
    ]
