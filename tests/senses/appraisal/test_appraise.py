"""The appraisal by head and words together; the open set was looked at while the words were chosen."""

import csv
from pathlib import Path

import numpy as np
import pytest

from soulgraph.errors import ConfigurationError
from soulgraph.senses.appraisal.appraise import appraise
from soulgraph.senses.appraisal.features import LAYOUT
from soulgraph.senses.appraisal.head import FILE, head, head_from
from soulgraph.senses.arrays import EMBEDDING
from soulgraph.senses.embedding.local import encode
from soulgraph.senses.emotion.local import judge

HERE = Path(__file__).parent
ORDERS = """
以后回答都不要超过两行
请别在我开会的时候说话
不要给我念新闻
从下周起六点叫我
别再放那首歌
每次出门前报一下天气
先听我说完
以后只提醒我一次
别把窗户打开
回复里不要加图片
叫我老陈就行
不用解释，直接给答案
少放点糖
记得锁门
把这条删掉
Please don't send me pictures.
Never read my mail out loud.
Stop announcing the time.
From now on use short sentences.
Always lock the door when I leave.
Don't use my nickname in front of guests.
Keep the radio low.
No more weather reports.
Only wake me on weekdays.
Just answer yes or no.
Don't turn the page yet.
Use Celsius.
Speak a bit slower.
I'd rather you didn't sing.
Call me Anna.
""".strip().splitlines()


def rows(half):
    with (HERE / f"evaluation_{half}.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def f1(truth, found):
    hits = sum(one and other for one, other in zip(truth, found, strict=True))
    return 2 * hits / (sum(truth) + sum(found))


FLOORS = {"open": 0.93, "held": 0.90}


@pytest.fixture(scope="module", params=FLOORS)
def evaluated(request):
    cases = rows(request.param)
    texts = [case["text"] for case in cases]
    return cases, [appraise(text, vector) for text, vector in zip(texts, encode(texts), strict=True)], request.param


@pytest.mark.parametrize(("column", "value"), [("hostile", "hostility"), ("repair", "repair")])
def test_hostility_and_repair_are_told_from_all_else(evaluated, column, value):
    cases, heard, half = evaluated
    found = [getattr(each, value) >= 0.5 for each in heard]
    assert f1([case[column] == "1" for case in cases], found) >= FLOORS[half]


def test_every_verdict_has_a_reason(evaluated):
    assert [each for each in evaluated[1] if max(each.hostility, each.repair) >= 0.5 and not each.reasons] == []


def test_all_numbers_are_shares(evaluated):
    for each in evaluated[1]:
        assert min(each.toward, each.hostility, each.repair) >= 0
        assert 1 >= each.toward >= max(each.hostility, each.repair)


def test_the_emotion_comes_with_the_appraisal_of_the_same_embedding():
    text = "你这个饭桶，滚"
    vector = encode([text])[0]
    assert judge(text, vector).appraisal == appraise(text, vector)


@pytest.mark.parametrize("text", ["", "…", "\ud83d", "哈" * 20_000, "\u0000\u202e"])
def test_odd_texts_are_appraised_within_bounds(text):
    each = appraise(text, np.zeros(EMBEDDING, np.float32))
    assert 0 <= min(each.toward, each.hostility, each.repair) <= max(each.toward, each.hostility, each.repair) <= 1


@pytest.mark.parametrize("text", ORDERS)
def test_orders_and_wishes_are_neither_anger_nor_an_attack(text):
    felt = judge(text, encode([text])[0])
    assert felt.intensity <= 0.25
    assert felt.appraisal.hostility < 0.5
    assert felt.appraisal.repair < 0.5


@pytest.mark.parametrize(("text", "hostile"), [("the grey days go on", False), ("your grey days go on", True)])
def test_a_head_alone_must_be_surer_of_an_attack_that_names_nobody(text, hostile):
    class Unsure:
        def judge(self, vector, words):
            return 0.6, 0.5, 0.0

    assert (appraise(text, np.zeros(EMBEDDING, np.float32), Unsure()).hostility >= 0.5) is hostile


def test_a_head_for_other_features_is_refused():
    arrays = {"signature": np.array("other"), "inner": np.zeros((1, 1))}
    with pytest.raises(ConfigurationError, match=FILE):
        head_from(arrays)


def test_the_shipped_head_is_small_and_fits_the_features():
    assert head().inner.shape[0] == EMBEDDING + len(LAYOUT)
    assert (Path(__file__).parents[3] / "senses" / "appraisal" / FILE).stat().st_size < 100_000
