"""Products of spellings without a matrix of all n-grams."""

import numpy as np
import pytest

from soulgraph.senses.intents.spelling import Spelling, gram_set

DOORS = ("open the door", "shut the door", "open the 窗帘", "shut the 窗帘")
TEXTS = [f"{act} {when}" for act in DOORS for when in ("now", "明天")]
ASKED = ["open the window now", "把窗帘打开", "xyz", "", "open the door now"]


def dense(spelling, texts):
    spelled = spelling.spell(map(gram_set, texts))
    matrix = np.zeros((len(texts), 1 + max(spelling.own.grams)))
    matrix[spelled.texts, spelled.grams] = spelled.weights
    return matrix


def alike(spelling, texts):
    spelled = spelling.spell(map(gram_set, texts))
    return spelling.common(spelled) @ spelling.common(spelling.own).T + spelling.rare(spelled)


@pytest.mark.parametrize("common_share", [0.0, 0.3, 1.0])
def test_how_alike_texts_are_does_not_depend_on_which_n_grams_count_as_common(monkeypatch, common_share):
    monkeypatch.setattr("soulgraph.senses.intents.spelling.COMMON_SHARE", common_share)
    spelling = Spelling([gram_set(text) for text in TEXTS])
    expected = dense(spelling, ASKED) @ dense(spelling, TEXTS).T
    assert alike(spelling, ASKED) == pytest.approx(expected, abs=1e-5)
    assert expected.max() == pytest.approx(1)


def test_a_text_is_fully_alike_to_itself_and_unknown_n_grams_make_it_less_so():
    spelling = Spelling([gram_set(text) for text in TEXTS])
    itself, longer = alike(spelling, [TEXTS[0], f"{TEXTS[0]} or never"])[:, 0]
    assert itself == pytest.approx(1)
    assert longer < itself


def test_a_single_text_has_no_spelling_that_tells_it_apart():
    spelling = Spelling([gram_set("开灯")])
    assert alike(spelling, ["开灯", "关灯"]).tolist() == [[0], [0]]
    assert spelling.nbytes > 0
