"""What sounds like an errand of a program is told from what people say, also where no pattern knows the prompt.

None of these requests is among those that the head has learnt from.
"""

import pytest

from soulgraph.api.errands import asked_in, errand_in
from soulgraph.api.openai_request import CompletionRequest
from soulgraph.senses.errands.head import probability

TALK = [
    {"role": "user", "content": "The kettle broke this morning."},
    {"role": "assistant", "content": "Then we drink cold tea, like pirates."},
]


def request(*messages, **fields):
    return CompletionRequest.model_validate({"model": "soul:Mo", "messages": list(messages), **fields})


def user(text):
    return {"role": "user", "content": text}


def system(text):
    return {"role": "system", "content": text}


ERRANDS = [
    request(
        system("You extract durable facts about the user. Output a JSON array of strings and nothing else."),
        user("USER: I moved to Turin\nASSISTANT: Is there snow?\n\nFacts:"),
    ),
    request(user('Classify the intent of this utterance as one of [music, lights, other]: "play it again". Label:')),
    request(
        *TALK, user("Based on the conversation above, write a short label for this thread. Reply with the label only.")
    ),
    request(
        system("你是一个查询改写助手，只输出改写后的检索词，用空格分隔，不要解释。"),
        user("上次说的那个面馆几点关门来着"),
    ),
    request(
        user(
            "下面是用户与角色的对话记录，请压缩成不超过100字的摘要，供后续模型使用，只输出摘要。\n用户：我不想上班\n角色：那就晚点去"
        )
    ),
]
SPEECH = [
    request(user("hi")),
    request(user("今天真累")),
    request(
        *TALK, user("Give me a title for my memoir, something with the kettle in it. And only the title, no jokes!")
    ),
    request(
        user("Can you turn this into JSON for me?\n- milk 2\n- eggs 12\nI can never remember where the brackets go.")
    ),
    request(*TALK, user("帮我把“茶凉了”翻成英文，我要写在杯子上")),
    request(
        system(
            "You are Mo, a lighthouse keeper. Your answers are read aloud: two sentences at most, no lists, no emoji."
        ),
        user("summarise the day for me, would you"),
    ),
]


def words_of(asked):
    return asked.messages[-1].content[:40]


@pytest.mark.parametrize("asked", ERRANDS, ids=words_of)
def test_what_a_program_wants_is_likely_an_errand(asked):
    assert probability(asked_in(asked, asked.messages)) > 0.5


@pytest.mark.parametrize("asked", SPEECH, ids=words_of)
def test_what_a_person_says_is_none(asked):
    assert probability(asked_in(asked, asked.messages)) < 0.95
    assert errand_in(asked, asked.messages) is None


@pytest.mark.parametrize("text", ["", " ", "\ud800", "好" * 100_000, "\n" * 100_000, "\0"], ids=repr)
def test_any_text_has_a_probability(text):
    asked = request(system(text), user(text))
    assert 0 <= probability(asked_in(asked, asked.messages)) <= 1


def test_a_request_that_ends_with_a_reply_is_none():
    goes_on = request(*ERRANDS[0].messages, {"role": "assistant", "content": "["})
    assert errand_in(goes_on, goes_on.messages) is None
