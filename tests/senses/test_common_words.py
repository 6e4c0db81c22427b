import pytest

from soulgraph.senses.common_words import is_common


@pytest.mark.parametrize("word", ["exam", "exams", "knitting", "lonely", "tomorrow's", "幸福", "外卖", "从小", "的"])
def test_everybody_uses_these(word):
    assert is_common(word)


@pytest.mark.parametrize("word", ["axolotl", "mablethorpe", "siobhan", "london", "龟甲龙", "秀英", "大理", "老张"])
def test_these_point_at_somebody(word):
    assert not is_common(word)
