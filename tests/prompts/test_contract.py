from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from soulgraph.errors import ContractBroken
from soulgraph.prompts.contract import NarrativeStream, read_narrative, read_update

UPDATE = '<state_update_json>{"dynamic_state": {}}</state_update_json>'
TAGS = ("<narrative>", "</narrative>", "<state_update_json>")
EDGES = st.sampled_from(["<", ">", "/", " ", "\n", *(tag[:-1] for tag in TAGS)])


def streamed(text, size):
    stream = NarrativeStream()
    return "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size))


def tagless(text):
    return not any(tag in text.lower() for tag in TAGS)


texts = st.lists(st.characters(exclude_characters="\x00") | EDGES).map("".join).filter(tagless)


@pytest.mark.parametrize(
    ("answer", "narrative"),
    [
        pytest.param(f"<narrative>I hear you.</narrative>{UPDATE}", "I hear you.", id="as asked"),
        pytest.param(
            f"<narrative>\n 早安。\n\n又见面了。 \n</narrative>\n\n{UPDATE}", "早安。\n\n又见面了。", id="edges"
        ),
        pytest.param(f"Thinking: a < b, <narr?\n<narrative>Hi.</narrative>{UPDATE}", "Hi.", id="preamble"),
        pytest.param(f"<narrative>Hi.{UPDATE}", "Hi.", id="no close tag"),
        pytest.param(f"<narrative>Hi. {UPDATE}</narrative>", "Hi.", id="update inside"),
        pytest.param("<narrative>Hi, cut off", "Hi, cut off", id="cut off"),
        pytest.param("<narrative>Hi.</narr", "Hi.", id="cut off in the close tag"),
        pytest.param(f"<NARRATIVE>Hi.</Narrative>{UPDATE.upper()}", "Hi.", id="case"),
        pytest.param(f"<narrative>1 < 2 <b>a</b> </p> <3 <</narrative>{UPDATE}", "1 < 2 <b>a</b> </p> <3 <", id="html"),
        pytest.param(f"```xml\n<narrative>Hi.</narrative>{UPDATE}\n```", "Hi.", id="fenced"),
        pytest.param(f"<narrative>Hi.</narrative>{UPDATE}<narrative>Again.</narrative>", "Hi.", id="twice"),
        pytest.param(
            "<narrative>İstanbul’da İyi.</narrative>", "İstanbul’da İyi.", id="a letter that grows in lower case"
        ),
        pytest.param(f"İyi. <narrative>Hi.</narrative>{UPDATE}", "Hi.", id="such a letter before"),
    ],
)
def test_only_the_narrative_is_shown_however_the_answer_is_cut(answer, narrative):
    assert read_narrative(answer) == narrative
    assert {streamed(answer, size) for size in range(1, len(answer) + 1)} == {narrative}


@settings(max_examples=150, deadline=None)
@example("İ", "", [12])
@example("a\u2028<", "<narrative", [1, 2, 3])
@given(texts, texts, st.lists(st.integers(0, 80)))
def test_any_words_arrive_unchanged_but_for_the_space_around_them(text, preamble, cuts):
    answer = f"{preamble}\n<narrative>{text}</narrative>{UPDATE}"
    edges = [0, *sorted(cuts), len(answer)]
    stream = NarrativeStream()
    assert "".join(stream.feed(answer[a:b]) for a, b in pairwise(edges)) == text.strip()


def test_words_are_held_back_only_while_they_may_be_the_end():
    stream = NarrativeStream()
    chunks = ["sure: <narra", "tive>", "Hello", " ", "you", " </b", "> x </narr", "ator", "</narrative>", "later"]
    assert [stream.feed(chunk) for chunk in chunks] == [
        "",
        "",
        "Hello",
        "",
        " you",
        " </b",
        "> x",
        " </narrator",
        "",
        "",
    ]


@pytest.mark.parametrize(
    "body",
    [
        '{"a": 1}',
        '\n {"a": 1}\n',
        '```json\n{"a": 1}\n```',
        '```\n{"a": 1}```',
        '```json\n{"a": 1}',
        '```{"a": 1}```',
    ],
)
@pytest.mark.parametrize("close", ["</state_update_json>", "</STATE_UPDATE_JSON> bye", ""])
def test_the_update_is_found_in_fences_and_without_its_close_tag(body, close):
    assert read_update(f"<narrative>Hi.</narrative>\n<state_update_json>{body}{close}") == {"a": 1}


@pytest.mark.parametrize("answer", ["Hi.", "", "<narrative></narrative>", f"<narrative> \n{UPDATE}", UPDATE])
def test_an_answer_without_narrative_names_the_tag_it_misses(answer):
    with pytest.raises(ContractBroken, match="no text inside <narrative>…</narrative>"):
        read_narrative(answer)


@pytest.mark.parametrize(
    ("update", "complaint"),
    [
        ("", "<state_update_json>{…}</state_update_json> is missing"),
        ("<state_update_json></state_update_json>", "not JSON: Expecting value"),
        ("<state_update_json>{'a': 1}", "not JSON: Expecting property name"),
        ('<state_update_json>{"a": 1', "not JSON: Expecting ',' delimiter"),
        ("<state_update_json>{} and so on", "not JSON: Extra data"),
        ("<state_update_json>[]", "must be an object; {} means nothing changed"),
        ("<state_update_json>null", "must be an object"),
        (f"<state_update_json>{'[' * 100_000}", "not JSON"),
        (f"<state_update_json>{'9' * 5_000}", "not JSON"),
    ],
    ids=range(9),
)
def test_a_broken_update_says_what_is_wrong_with_it(update, complaint):
    with pytest.raises(ContractBroken) as broken:
        read_update(f"<narrative>Hi.</narrative>{update}")
    assert complaint in broken.value.detail
