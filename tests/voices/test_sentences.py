from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.voices.sentences import MAX_SENTENCE, Sentences

FOLDER = Path(__file__).parent
CASES = [
    pytest.param(case, id=f"{name}: {case['id']}")
    for name in ("open", "held", "fourth")
    for case in yaml.safe_load((FOLDER / f"sentences_{name}.yaml").read_text("utf-8"))
]


def said(pieces):
    sentences = Sentences()
    return [*(one for piece in pieces for one in sentences.feed(piece)), *sentences.rest()]


@pytest.mark.parametrize("case", CASES)
def test_a_reply_is_said_sentence_by_sentence(case):
    assert said(case["pieces"]) == case["said"]


@given(st.lists(st.sampled_from(["Hi", ".", " ", "你好", "。", "!", "\n", "A", "3", '"', "…"]), max_size=12))
def test_how_a_text_is_cut_into_pieces_does_not_change_what_is_said(pieces):
    assert said(pieces) == said(["".join(pieces)]) == said("".join(pieces))


def test_a_sentence_is_said_before_the_reply_is_whole():
    assert Sentences().feed("I am here. What") == ["I am here."]


def test_what_does_not_end_is_cut_where_one_may_breathe():
    pieces = said(["word " * 200])
    assert all(0 < len(piece) <= MAX_SENTENCE for piece in pieces)
    assert " ".join(pieces) == ("word " * 200).strip()
    assert [len(piece) for piece in said(["字" * 700 + "。"])] == [300, 300, 101]
