"""The built-in recogniser on 440 sentences that it was never trained on."""

import statistics
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
import yaml

from soulgraph.senses.embedding.local import encode
from soulgraph.senses.emotion.local import judge
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES

CASES = yaml.safe_load((Path(__file__).parent / "evaluation.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def emotions():
    texts = [case["text"] for case in CASES]
    return [judge(text, vector) for text, vector in zip(texts, encode(texts), strict=True)]


def macro_f1(truth, found):
    hits = Counter(one for one, other in zip(truth, found, strict=True) if one == other)
    predicted = Counter(found)
    actual = Counter(truth)
    return statistics.fmean(2 * hits[label] / (predicted[label] + actual[label]) for label in EMOTIONS)


def test_the_set_has_every_label_in_both_languages_and_the_hard_kinds():
    assert len(CASES) >= 300
    cells = Counter((case["emotion"], case["lang"]) for case in CASES)
    assert min(cells[label, lang] for label in EMOTIONS for lang in ("zh", "en")) >= 12
    kinds = {"negation", "degree", "emoji", "laughter", "curse", "sarcasm", "command", "question", "contrast"}
    assert kinds <= {case["kind"] for case in CASES}


@pytest.mark.parametrize("langs", [("zh", "en"), ("zh",), ("en",)])
def test_labels_are_right_in_three_of_four_cases_whatever_the_label(emotions, langs):
    chosen = [
        (case["emotion"], each.emotion) for case, each in zip(CASES, emotions, strict=True) if case["lang"] in langs
    ]
    assert macro_f1(*zip(*chosen, strict=True)) >= 0.75


def test_every_negation_turns_pleasure_around(emotions):
    pairs = defaultdict(list)
    for case, each in zip(CASES, emotions, strict=True):
        if "pair" in case:
            pairs[case["pair"]].append((case["text"], each.p))
    assert len(pairs) >= 40
    assert [pair for pair in pairs.values() if pair[0][1] * pair[1][1] >= 0] == []


@pytest.mark.parametrize("label", EMOTIONS)
def test_sentences_of_a_label_land_near_its_prototype(emotions, label):
    own = [(each.p, each.a, each.d) for case, each in zip(CASES, emotions, strict=True) if case["emotion"] == label]
    distances = np.sqrt(np.mean((np.array(own) - PROTOTYPES[label]) ** 2, axis=1))
    assert distances.mean() <= 0.35


def test_neutral_sentences_hardly_move_a_soul(emotions):
    moved = [
        abs(each.p) * each.intensity for case, each in zip(CASES, emotions, strict=True) if case["emotion"] == "neutral"
    ]
    assert statistics.fmean(moved) <= 0.08


def test_confidence_says_how_often_it_is_right(emotions):
    sure = [
        case["emotion"] == each.emotion for case, each in zip(CASES, emotions, strict=True) if each.confidence >= 0.8
    ]
    unsure = [
        case["emotion"] == each.emotion for case, each in zip(CASES, emotions, strict=True) if each.confidence < 0.5
    ]
    assert statistics.fmean(sure) >= 0.85
    assert statistics.fmean(unsure) <= 0.65


def test_a_feeling_that_is_told_and_not_named_is_heard():
    cases = yaml.safe_load((Path(__file__).parent / "told.yaml").read_text("utf-8"))
    texts = [case["text"] for case in cases]
    heard = [judge(text, vector) for text, vector in zip(texts, encode(texts), strict=True)]
    felt = [(case["emotion"], each) for case, each in zip(cases, heard, strict=True) if case["emotion"] != "neutral"]
    plain = [each for case, each in zip(cases, heard, strict=True) if case["emotion"] == "neutral"]
    assert statistics.fmean(each.emotion == "neutral" for _, each in felt) <= 0.2
    assert statistics.fmean(each.emotion == label for label, each in felt) >= 0.55
    assert statistics.fmean(each.p * PROTOTYPES[label][0] > 0 for label, each in felt) >= 0.8
    assert statistics.fmean(each.intensity for each in plain) <= 0.2
