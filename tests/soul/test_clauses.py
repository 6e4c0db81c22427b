import pytest

from soulgraph.soul.clauses import clauses_of, is_refused, wish_sentences


@pytest.mark.parametrize(
    "text",
    [
        "说短一点",
        "能不能说短一点？",
        "Could you slow down?",
        "可以小声点吗",
        "Please sit down.",
        "why do you keep shouting?",
    ],
)
def test_a_wish_is_meant_also_when_it_is_put_as_a_question(text):
    assert wish_sentences(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "你喜欢下雨吗？",
        "Are you awake?",
        "严格模式是什么意思",
        "what does strict mean",
        "如果我走了会怎样",
        "Imagine you were taller",
        "我妈让我早点睡",
        "My sister says hello",
        "她的声音很好听",
        "> 说短一点",
        "```\nkeep it short\n```",
        "“请你以后都说短一点”",
        "",
        "……",
    ],
)
def test_questions_suppositions_hearsay_and_quotations_are_not(text):
    assert wish_sentences(text) == []


def test_a_text_is_read_sentence_by_sentence():
    assert wish_sentences("你是谁？说短一点。Keep version 2.5 short! ok") == [
        "说短一点。",
        "Keep version 2.5 short!",
        "ok",
    ]


def test_a_name_in_quotation_marks_stays_without_them():
    assert wish_sentences("请叫我“小林”") == ["请叫我小林"]


@pytest.mark.parametrize("text", ["如果可以的话，说短一点", "If you don't mind, say less"])
def test_a_polite_if_supposes_nothing(text):
    assert len(wish_sentences(text)) == 1


def test_only_the_beginning_of_a_long_text_is_read():
    assert len("".join(wish_sentences("好" * 5000))) == 2000


def test_a_sentence_has_clauses():
    assert clauses_of("好的，说短一点, please：now") == ["好的", "说短一点", "please", "now"]


@pytest.mark.parametrize("before", ["别", "请不要再", "你能不能别老", "please don't ", "I never want to ", "stop "])
def test_words_behind_a_refusal_are_refused(before):
    assert is_refused(before)


@pytest.mark.parametrize("before", ["", "请", "特别", "要不要", "能不", "why not, ", "don't worry about it and "])
def test_other_words_are_not(before):
    assert not is_refused(before)
