"""Training the heads: reproducible, and the public sets are read as documented."""

import json
from collections import Counter

import numpy as np
import pytest

from soulgraph.scripts.training import public_sets
from soulgraph.scripts.training.emotion import train
from soulgraph.scripts.training.network import TrainingConfig, TrainingSet, fit
from soulgraph.scripts.training.public_sets import (
    EKMAN,
    EKMAN_OF_GOEMOTIONS,
    EKMAN_OF_OURS,
    OURS_OF_GOEMOTIONS,
    Labelled,
)
from soulgraph.scripts.training.sentences import folds_of, own_sentences
from soulgraph.senses.emotion.heads import heads_from
from soulgraph.senses.emotion.local import judge
from soulgraph.soul.emotions import EMOTIONS

SMALL = TrainingConfig(hidden=4, epochs=1)
RATED = [("I won a prize", 4.2, 3.9, 3.4), ("The train is late", 2.6, 3.0, 2.9), ("He was shot", 1.5, 4.1, 2.4)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("sets")
    rows = [f'{n},{"dev" if n % 5 == 4 else "train"},{v},{a},{d},"{t} {n}"' for n in range(20) for t, v, a, d in RATED]
    (place / "emobank_small.csv").write_text("\n".join(["id,split,V,A,D,text", *rows]), "utf-8")
    (place / "goemotions_labels.txt").write_text("\n".join(EKMAN_OF_GOEMOTIONS), "utf-8")
    comments = [f"comment {n}\t{n % 28},{(n + 3) % 28}\tid{n}" for n in range(56)]
    for split in ("train", "dev"):
        (place / f"goemotions_{split}.tsv").write_text("\n".join([*comments, ""]), "utf-8")
    asked = {"catalog": {"timer": ["set a timer"], "thank_you": ["thank you"]}, "out_of_scope": ["who won"]}
    queries = [{"intent": "timer", "text": "ten minutes please"}]
    (place / "intents_dev_en.json").write_text(json.dumps(asked | {"queries": queries}), "utf-8")
    return place


def encode(texts):
    """A stand-in for the encoder: letters counted, length 1."""
    vectors = np.zeros((len(texts), 512), np.float32)
    for row, text in zip(vectors, texts, strict=True):
        for letter in text:
            row[ord(letter) % 512] += 1
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)


def test_training_twice_gives_the_same_file_and_the_recogniser_can_use_it(folder):
    one, two = (train(folder, encode, SMALL) for _ in range(2))
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert judge("I won a prize", encode(["I won a prize"])[0], heads_from(one)).emotion in EMOTIONS


def test_the_public_sets_are_read_with_their_splits_and_names(folder):
    rated = public_sets.emobank(folder, "dev")
    assert (len(rated), rated[0].vad) == (12, (4.2, 3.9, 3.4))
    first, *_ = public_sets.goemotions(folder, "train")
    assert first == Labelled("comment 0", tuple(np.array(list(EKMAN_OF_GOEMOTIONS))[[0, 3]]))


def test_a_query_that_carries_a_feeling_is_no_example_of_neutral(folder):
    assert public_sets.queries(folder) == ["set a timer", "ten minutes please", "who won"]


def test_a_folder_without_queries_has_none(tmp_path):
    assert public_sets.queries(tmp_path) == []


def test_every_label_has_its_ekman_group():
    assert EKMAN_OF_OURS.keys() == {*EMOTIONS}
    assert {*EKMAN_OF_OURS.values()} == {*EKMAN} == {*EKMAN_OF_GOEMOTIONS.values()}
    assert all(EKMAN_OF_OURS[ours] == EKMAN_OF_GOEMOTIONS[name] for name, ours in OURS_OF_GOEMOTIONS.items())


def test_f1_counts_the_group_that_was_not_said_as_missed():
    truth = [Labelled("a", ("anger", "joy")), Labelled("b", ("neutral",))]
    f1 = public_sets.ekman_f1(truth, ["joy", "neutral"])
    assert (f1["joy"], f1["neutral"], f1["anger"]) == (1.0, 1.0, 0.0)


def test_own_sentences_cover_every_label_in_both_languages_without_contradiction():
    sentences = own_sentences()
    counts = Counter((sentence.label, sentence.lang) for sentence in sentences)
    assert min(counts[label, lang] for label in EMOTIONS for lang in ("zh", "en")) >= 35
    labels = {}
    for sentence in sentences:
        assert labels.setdefault(sentence.text, sentence.label) == sentence.label


def test_telling_sentences_are_many_and_a_topic_is_held_out_as_a_whole():
    telling = [sentence for sentence in own_sentences() if sentence.topic]
    assert min(Counter(sentence.lang for sentence in telling).values()) >= 1500
    folds = {}
    for sentence, fold in zip(telling, folds_of(telling, 5), strict=True):
        assert folds.setdefault(sentence.topic, fold) == fold
    assert {*folds.values()} == {0, 1, 2, 3, 4}


def test_the_network_learns_what_no_straight_line_separates():
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    inputs = np.tile(corners, (200, 1))
    shares = np.eye(2, dtype=np.float32)[inputs.sum(1).astype(int) % 2]
    config = TrainingConfig(hidden=32, epochs=60, batch=50, rate=1e-2, dropout=0.0)
    network = fit(TrainingSet(inputs, shares, np.ones(len(inputs), np.float32)), config)
    assert network(corners).argmax(1).tolist() == [0, 1, 1, 0]
