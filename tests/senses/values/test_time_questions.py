"""Questions about time are known by their words, and what they are about by their times."""

from datetime import datetime

import pytest

from soulgraph.senses.values.time_questions import asked_times, asks_when

NOW = datetime(2026, 3, 4, 10)


@pytest.mark.parametrize(
    "question",
    [
        "When did I move to Leeds?",
        "do you remember when we met",
        "What day was the wedding?",
        "which month is it due",
        "how long ago did she leave?",
        "Since when do I swim?",
        "how many years ago was that",
        "我什么时候搬的家",
        "哪天考试来着",
        "婚礼是几号",
        "我们多久以前认识的",
        "他哪一年出生的",
        "我几个月前辞的职",
        "星期几上课",
    ],
)
def test_a_question_for_a_time_is_one(question):
    assert asks_when(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where did I go on Friday?",
        "what did I do when I was sick",
        "周五我去哪了",
        "你几岁",
        "who came last week",
        "点几个菜",
    ],
)
def test_other_questions_are_not(question):
    assert not asks_when(question)


@pytest.mark.parametrize(
    ("question", "begins", "ends"),
    [
        ("What did I do on Friday?", "2026-02-27", "2026-02-28"),
        ("what am I going to do on Friday?", "2026-03-06", "2026-03-07"),
        ("what happened before March 2025?", "0001-01-01", "2025-03-01"),
        ("去年之前我住哪", "0001-01-01", "2025-01-01"),
        ("where have I worked after 2019?", "2020-01-01", "2026-03-05"),
        ("三月一号以后我去了哪", "2026-03-02", "2026-03-05"),
        ("what have I read since January?", "2026-01-01", "2026-03-05"),
    ],
)
def test_before_and_after_open_the_range(question, begins, ends):
    (mention,) = asked_times(question, NOW)
    assert (mention.begins, mention.ends) == (datetime.fromisoformat(begins), datetime.fromisoformat(ends))
