import pytest

from soulgraph.soul.words import terms_of


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("My Daughter is called MIKA!", {"daughter", "called", "mika"}),
        ("What did I tell you about the storm?", {"storm"}),
        ("room 101, it's cold", {"room", "101", "it's", "cold"}),
        ("我喜欢爬山", {"我喜", "喜欢", "欢爬", "爬山"}),
        ("还记得什么", {"得什"}),
        ("猫", {"猫"}),
        ("我的猫叫Mika，很乖", {"我的", "的猫", "猫叫", "mika", "很乖"}),
        ("a is to be", set()),
        ("……！ 🙂", set()),
        ("", set()),
    ],
)
def test_the_terms_of_a_text(text, terms):
    assert terms_of(text) == terms


@pytest.mark.parametrize(
    ("question", "fact", "other"),
    [
        ("Do you remember what my daughter is called?", "My daughter's name: daughter Mika", "I live in Oslo"),
        ("还记得我女儿叫什么吗", "我女儿叫美香", "今天下雨了"),
    ],
)
def test_a_question_shares_terms_with_its_answer_and_not_with_other_sentences(question, fact, other):
    assert terms_of(question) & terms_of(fact)
    assert not terms_of(question) & terms_of(other)
