"""The tokenizer: words of the same meaning become the same term, in both languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.senses.tokenizer import MAX_TERMS, fingerprint, fingerprints, query_terms, terms_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I was painting the fences", "She painted a fence"),
        ("Mika's bicycles", "mika bicycle"),
        ("我女兒喜歡畫畫", "我女儿喜欢画画"),
        ("ＷＩＦＩ 密码", "wifi密码"),
    ],
)
def test_spelling_and_grammar_do_not_matter(one, other):
    assert set(terms_of(one)) == set(terms_of(other))


def test_words_that_say_nothing_are_left_out():
    assert terms_of("Do you remember what I told you about it? I don't!") == []
    assert terms_of("你还记得吗？我是不是说过的") == []


def test_chinese_is_read_in_pairs_and_a_lone_character_alone():
    assert terms_of("米卡猫, 狗, tea茶") == ["米卡", "卡猫", "狗", "tea", "茶"]


def test_terms_keep_their_order_and_number():
    assert terms_of("tea and cake and tea") == ["tea", "cake", "tea"]


def test_numbers_are_terms():
    assert terms_of("room 302, code a7x") == ["room", "302", "code", "a7x"]


@given(st.text())
def test_any_text_has_a_bounded_number_of_plain_terms(text):
    terms = terms_of(text)
    assert len(terms) <= MAX_TERMS
    assert all(term and not any(sign.isspace() for sign in term) for term in terms)


def test_fingerprints_are_four_bytes_a_term_and_the_same_everywhere():
    assert fingerprints("tea, 米卡") == b"".join(
        fingerprint(term).to_bytes(4, "little") for term in ("tea", "米卡", "=tea")
    )
    assert fingerprint("tea") == 2391201714


def test_courtesies_ask_for_nothing_and_leave_the_rest_of_a_question_alone():
    assert query_terms("Good morning! 你好呀，谢谢你") == []
    assert query_terms("Hello, where is my umbrella? 晚安") == [fingerprint("umbrella"), fingerprint("=umbrella")]
    assert query_terms("Thanksgiving") == [fingerprint("thanksgiv")]
