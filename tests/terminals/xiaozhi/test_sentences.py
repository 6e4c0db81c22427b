from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.soul.mood import Mood
from soulgraph.terminals.xiaozhi.faces import EMOJI, FACES
from soulgraph.terminals.xiaozhi.sentences import Sentences


def cut(*pieces):
    sentences = Sentences()
    return [one for piece in pieces for one in sentences.add(piece)] + sentences.rest()


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("你好。今天怎么样？", ["你好。", "今天怎么样？"]),
        ("Hi. It is 3.5 degrees at example.com. Really?!", ["Hi.", "It is 3.5 degrees at example.com.", "Really?!"]),
        ("“走吧！”她说……好。", ["“走吧！”", "她说……", "好。"]),
        ("一\n二", ["一", "二"]),
        ("no end", ["no end"]),
        ("", []),
        ("  \n ", []),
    ],
)
def test_a_reply_is_cut_into_sentences_however_it_comes(text, sentences):
    assert cut(text) == sentences
    assert cut(*text) == sentences


@given(st.lists(st.text("ab。！. \n”", max_size=8)))
def test_nothing_is_lost_or_said_twice(pieces):
    assert "".join("".join(cut(*pieces)).split()) == "".join("".join(pieces).split())


def test_every_mood_has_a_face_that_devices_can_draw():
    assert FACES.keys() == set(get_args(Mood))
    assert set(FACES.values()) <= EMOJI.keys()
    assert len(EMOJI) == 21
