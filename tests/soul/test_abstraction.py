"""What may be told to everybody: the rules one by one, cases of both languages, and planted secrets that never pass."""

import re
from pathlib import Path
from time import thread_time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.senses.common_words import is_common
from soulgraph.soul.abstraction import reveals

HERE = Path(__file__).parent
OPEN = yaml.safe_load((HERE / "abstraction_open.yaml").read_text("utf-8"))
HELD = yaml.safe_load((HERE / "abstraction_held.yaml").read_text("utf-8"))
"""Of the same author as the open ones, and not looked at before the rules were done."""
OWN = yaml.safe_load((HERE / "abstraction_own.yaml").read_text("utf-8"))


def why(text, *said, names=()):
    return reveals(text, said, names, is_common)


def verdict(case):
    return why(case["event"], *case["said"], names=case.get("names", ()))


@pytest.mark.parametrize("case", OPEN + HELD + OWN, ids=lambda case: case["event"][:30])
def test_what_gives_somebody_away_is_private_and_what_does_not_is_for_everyone(case):
    assert (verdict(case) is not None) == (case["verdict"] == "private")


def test_the_reason_is_mostly_the_one_that_people_give():
    private = [case for case in OPEN if case["verdict"] == "private"]
    assert sum(verdict(case) == case["why"] for case in private) >= 0.85 * len(private)


@pytest.mark.parametrize(
    ("text", "said", "reason"),
    [
        ("It helps to write to x@y.example.", "", "email"),
        ("去 https://a.example 看看", "", "email"),
        ("Life in flat 9c is loud.", "", "address"),
        ("三号楼的人很友好", "", "address"),
        ("Living on larch lane is lonely.", "I live on Larch Lane", "address"),
        ("住在幸福小区的人不开心", "我搬到幸福小区了", "address"),
        ("人民路的路口总有人等", "就在人民路和解放街路口", "address"),
        ("A person like x7y is brave.", "", "code"),
        ("Workers at HRVQ are tired.", "I clean for the HRVQ", "code"),
        ("Remember the marmalade.", "my password is marmalade", "code"),
        ("At seventeen life is hard.", "", "number"),
        ("The code was nine one one.", "", "number"),
        ("他今年四十七岁", "", "number"),
        ("人在１２点会想家", "", "number"),
        ("People like Anna are brave.", "Anna is brave", "name"),
        ("有人和alice去看海", "我和Alice去看海", "name"),
        ("建国的脾气让人害怕", "我叫建国。", "name"),
        ("people always sleep with the light on", "I always sleep with the light: ON!", "run"),
        ("有人每天都在地铁站等他", "我每天都在地铁站等他", "run"),
        ("Axolotls are a comfort.", "i keep an axolotl", "rare"),
        ("养龟甲龙的人有耐心", "我养龟甲龙", "rare"),
    ],
)
def test_each_rule(text, said, reason):
    assert why(text, said) == reason


@pytest.mark.parametrize(
    "text",
    [
        "One person, a first step, and two friends.",
        "一个人走了两个小时，万一下雨怎么办，千万别急",
        "A Monday in March may first feel long.",
        "乱七八糟的一天，一两个朋友就够了",
        "上学路上有人等，我们学校的孩子都这样",
    ],
)
def test_small_numbers_days_and_general_places_are_harmless(text):
    assert why(text, "上学路上。我们学校。") is None


def test_a_name_is_told_in_parts_and_never_inside_another_word():
    assert why("Mary was kind.", names=["Mary Jane"]) == "name"
    assert why("小明很累", names=["王小明"]) == "name"
    assert why("People also talk.", names=["Al"]) is None
    assert why("人从小明白的道理", names=["小明"]) is None
    assert why("快乐很简单", names=["乐"]) is None
    assert why("等雯的电话", names=["雯"]) == "name"


def test_a_word_that_is_a_name_too_is_private_only_where_somebody_is_meant():
    assert why("There is hope in laughing.", "It rained.", names=["Hope"]) is None
    assert why("Then Hope laughed.", "It rained.", names=["Hope"]) == "name"
    assert why("Talking to hope helps.", "I told Hope everything.") == "name"
    assert why("Someone will wait.", "I will wait", names=["Will"]) is None


def test_words_and_characters_are_weighed_together():
    said = "我和team一起去海边看日出"
    assert why("和team一起去海边看", said) == "run"
    assert why("和team一起去海边", said) is None


def test_what_was_not_said_may_be_rare():
    assert why("Axolotls are a comfort.", "I have a pet") is None


def test_forty_messages_take_a_few_milliseconds():
    """The limit is generous: the measured time is about 2 to 5 ms."""
    said = [" ".join(case["said"]) * 3 for case in OPEN[:40]]
    text = "\n".join(case["event"] for case in OPEN if case["verdict"] == "global")[:600]
    why(text, *said)
    begin = thread_time()
    why(text, *said)
    assert thread_time() - begin < 0.05


SENTENCES_EN = [case["said"][0] for case in OPEN if case["lang"] == "en" and len(case["said"][0].split()) >= 7]
SENTENCES_ZH = [case["said"][0] for case in OPEN if re.fullmatch(r"[^A-Za-z0-9]{12,}", case["said"][0])]
ABSTRACT = ["People need time.", "难过的时候，有人陪着就好。", "A friend listened, and it helped"]


@settings(deadline=None)
@given(st.sampled_from(SENTENCES_EN), st.integers(0, 30), st.sampled_from(ABSTRACT), st.booleans())
def test_no_six_words_pass(sentence, start, around, loud):
    words = sentence.split()
    start %= len(words) - 5
    run = ", ".join(words[start : start + 6])
    assert why(f"{around} {run.upper() if loud else run}", sentence)


@settings(deadline=None)
@given(st.sampled_from(SENTENCES_ZH), st.integers(0, 30), st.sampled_from(ABSTRACT), st.sampled_from(["", "，", "\n"]))
def test_no_eight_characters_pass(sentence, start, around, between):
    characters = [char for char in sentence if "\u4e00" <= char <= "\u9fff"]
    start %= max(1, len(characters) - 7)
    run = characters[start : start + 8]
    assert why(f"{around}{between.join(run)}{around}", sentence) or len(run) < 8


@settings(deadline=None)
@given(st.integers(0, 10**12), st.sampled_from(ABSTRACT), st.sampled_from(["", " ", "，", "x"]))
def test_no_digits_pass(number, around, between):
    assert why(f"{around}{between}{number}{between}{around}", str(number))


NAMES = st.from_regex(r"[A-Z][a-z]{3,9}", fullmatch=True) | st.text("玥琳婷晗梓熙宸睿", min_size=2, max_size=3)


@settings(deadline=None)
@given(NAMES, st.sampled_from(ABSTRACT), st.sampled_from(["和{}一样", " like {} do", "，{}，"]))
def test_no_known_name_passes(name, around, frame):
    assert why(around + frame.format(name) + around, "hello", names=[name])


@settings(deadline=None)
@given(st.text("玥琳婷晗梓熙宸睿", min_size=2, max_size=3), st.sampled_from(["{}说他很累", "跟{}吵架了", "我叫{}。"]))
def test_no_name_that_was_said_passes(name, frame):
    assert why(f"像{name}这样的人需要休息", frame.format(name))
