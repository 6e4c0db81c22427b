"""What users see of an answer while it arrives, and when reading it ends."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from soulgraph.prompts.cues import cued
from soulgraph.prompts.layers import example_replies
from soulgraph.voices.reply_stream import Forbidden, ReplyStream, forbidden_in

UPDATE = "<state_update_json>{}</state_update_json>"
SECRET = "I am afraid that he will leave, and I would never tell him how much it hurts."
LINE = "I came home late again and missed dinner."
WORDS = "The harbour was quiet this morning, so I counted the boats."


def read(stream, text, size=4):
    """What is shown, and how much of the text was read before the stream said that the rest is not worth it."""
    shown = ""
    for at in range(0, len(text), size):
        shown += stream.feed(text[at : at + size])
        if stream.ended:
            return shown + stream.close(), at + size
    return shown + stream.close(), len(text)


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize("carrier", ["tags", "plain"])
@pytest.mark.parametrize("answer", [f"<narrative>{WORDS}</narrative>{UPDATE}", f"{WORDS}\n{UPDATE}", WORDS])
def test_both_forms_are_understood_whichever_was_asked_for(answer, carrier, size):
    stream = ReplyStream(carrier)
    assert read(stream, answer, size)[0] == WORDS
    assert stream.complete


def test_in_tags_reading_ends_behind_the_update_and_in_plain_text_behind_the_words():
    answer = f"<narrative>{WORDS}</narrative>\n{UPDATE}"
    more = "\nHuman: and then?" * 50
    assert read(ReplyStream("tags"), answer + more, 1)[1] == len(answer)
    assert read(ReplyStream("plain"), answer + more, 1)[1] == answer.index("</narrative>") + len("</narrative>")


@pytest.mark.parametrize("size", [1, 7, 19, 40])
def test_the_end_of_the_update_is_seen_wherever_it_is_cut(size):
    stream = ReplyStream("tags")
    read(stream, f"<narrative>Hi.</narrative>{UPDATE.upper()}", size)
    assert stream.ended


@pytest.mark.parametrize("carrier", ["tags", "plain"])
def test_an_answer_that_breaks_off_in_its_words_is_not_complete(carrier):
    stream = ReplyStream(carrier)
    stream.feed(f"<narrative>{WORDS}")
    assert not stream.complete
    assert not stream.ended


def test_a_loop_in_the_words_ends_them():
    stream = ReplyStream("plain")
    shown, size = read(stream, f"{WORDS} " + "I miss you. " * 1000)
    assert shown.startswith(WORDS)
    assert shown.count("I miss you") <= 3
    assert size < 300


def test_a_loop_in_the_update_ends_the_answer_and_leaves_the_words():
    answer = f'<narrative>{WORDS}</narrative><state_update_json>{{"a": [' + '"sad", ' * 5000
    shown, size = read(ReplyStream("tags"), answer)
    assert shown == WORDS
    assert size < 400


def test_a_loop_of_nothing_ends_the_answer_too():
    stream = ReplyStream("plain")
    assert read(stream, "\n" * 5000) == ("", 72)


@pytest.mark.parametrize("carrier", ["tags", "plain"])
@pytest.mark.parametrize("form", ["@", f"<narrative>@</narrative>{UPDATE}", '{"reply": "@"}'])
@pytest.mark.parametrize(
    ("copied", "problem"),
    [(LINE, "the answer only copies a line text"), (SECRET, "the answer only copies a secret text")],
)
def test_a_copy_is_not_shown_in_any_form(copied, problem, form, carrier):
    stream = ReplyStream(carrier, forbidden=Forbidden([SECRET], [LINE]))
    shown, _ = read(stream, form.replace("@", copied))
    assert len(shown) < 30
    assert shown in copied
    assert stream.problem == problem


def test_an_answer_without_words_says_so():
    stream = ReplyStream("tags")
    assert read(stream, UPDATE)[0] == ""
    assert stream.problem == "the answer has no words for the user"


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("colon", [":", "："])
def test_the_name_before_the_words_is_not_shown(size, colon):
    named = Forbidden(name="Mika")
    assert read(ReplyStream("plain", named), f"Mika{colon} {WORDS}", size)[0] == WORDS
    assert read(ReplyStream("plain", named), "Mika is my name.", size)[0] == "Mika is my name."
    assert read(ReplyStream("plain", named), "Mik", size)[0] == "Mik"
    assert read(ReplyStream("plain", named), f"Mika{colon}", size)[0] == ""


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(sorted(set(WORDS.split()))), unique=True).map(" ".join), st.integers(1, 60))
def test_ordinary_words_are_shown_whole(text, size):
    forbidden = Forbidden([SECRET], [LINE])
    assert read(ReplyStream("plain", forbidden=forbidden), text, size)[0] == text
    assert read(ReplyStream("tags", forbidden=forbidden), f"<narrative>{text}</narrative>{UPDATE}", size)[0] == text


def conversation(cues, replies):
    said = [message for reply in replies for message in (HumanMessage("and?"), AIMessage(reply))]
    return [cued("You are Mika.", cues), *said, HumanMessage(LINE)]


def test_forbidden_are_secrets_the_users_line_and_the_last_replies_without_their_tags():
    replies = [f"<narrative>Reply {n}.</narrative>{UPDATE}" for n in range(9)]
    forbidden = forbidden_in(conversation({"secrets": [SECRET], "user_text": LINE}, replies))
    assert forbidden.secrets == [SECRET]
    assert forbidden.lines == [LINE, *example_replies(), *(f"Reply {n}." for n in range(3, 9))]


@pytest.mark.parametrize("carrier", ["tags", "plain"])
@pytest.mark.parametrize("example", ["You found it! And under the sofa, of all places.", "找到啦！居然在沙发底下。"])
def test_an_example_of_the_contract_is_no_reply(example, carrier):
    assert example in example_replies()
    stream = ReplyStream(carrier, forbidden=forbidden_in(conversation({"secrets": [], "user_text": LINE}, [])))
    assert read(stream, example)[0] == ""
    assert stream.problem


def test_the_offline_voice_may_repeat_its_lines():
    assert forbidden_in(conversation({"user_text": LINE}, ["Hi."])) == Forbidden()
