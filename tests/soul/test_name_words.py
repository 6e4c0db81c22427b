import pytest

from soulgraph.senses.common_words import is_common
from soulgraph.soul.name_words import fold, likely_names_in, names_in, parts_of


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("我和Alice去看海", ["Alice"]),
        ("Alice说她累了", ["Alice"]),
        ("昨天Ｌｉｎｄａ来了", ["Linda"]),
        ("我叫建国。", ["建国"]),
        ("大家都管我叫小李子，我不喜欢", ["小李子"]),
        ("阿强借了我的钱", ["阿强"]),
        ("老张和王老师都来了", ["老张", "王老师"]),
        ("My dog is called biscuit.", ["biscuit"]),
        ("We met Mr. Bell on Monday.", ["Bell"]),
        ("Anneliese left me", ["Anneliese"]),
        ("Rose left me", ["Rose"]),
        ("I told Hope about Siobhán's party", ["Hope", "Siobhan"]),
        ("叫我起床，叫你别吵", []),
        ("Monday is long. I think so, Mum.", []),
        ("星期一我很高兴，周到的安排", []),
    ],
)
def test_names_are_found_by_how_they_are_written_and_introduced(text, names):
    assert names_in([text], is_common) == names


@pytest.mark.parametrize(
    ("text", "name"), [("跟秀英吵架了", "秀英"), ("志强说他来", "志强"), ("婷婷走了", "婷婷"), ("年糕昨天吐了", "年糕")]
)
def test_where_a_word_stands_makes_it_a_likely_name(text, name):
    assert name in likely_names_in(text, is_common)


def test_roles_are_no_names():
    assert not {"妈妈", "同事", "女朋友"} & {*likely_names_in("跟女朋友吵架，妈妈说同事也是", is_common)}


def test_a_name_has_parts():
    assert [*parts_of("Mary Jane")] == ["Mary Jane", "Mary", "Jane"]
    assert [*parts_of("王小明")] == ["王小明", "小明"]
    assert [*parts_of("A")] == [*parts_of("")] == []


def test_letters_are_made_plain():
    assert fold("Ｓｉｏｂｈáｎ’s\u200b") == "Siobhan's"
