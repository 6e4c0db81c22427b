from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from soulgraph.errors import ContractBroken
from soulgraph.prompts.contract import (
    PATIENCE,
    NarrativeStream,
    has_tags,
    looks_structured,
    narrative_of,
    read_update,
    without_thoughts,
)

UPDATE = '<state_update_json>{"dynamic_state": {}}</state_update_json>'
TAGS = ("<narrative>", "</narrative>", "<state_update_json>", "</state_update_json>")
THOUGHTS = ("<think>", "<thinking>", "</think>", "</thinking>")
TOKENS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>")
MARKS = (*TAGS, *THOUGHTS, *TOKENS)
LONGEST = max(map(len, MARKS))
EDGES = st.sampled_from(["<", ">", "/", " ", "\n", "`", "{", *(mark[:-1] for mark in MARKS)])
LONG = "I was thinking about what you said about the harbour. " * 4


def in_pieces(stream, answer, cuts):
    pieces = [stream.feed(answer[a:b]) for a, b in pairwise([0, *cuts, len(answer)])]
    return "".join(pieces) + stream.close()


def streamed(answer, size, patience=PATIENCE["tags"]):
    return in_pieces(NarrativeStream(patience), answer, range(size, len(answer), size))


def every_cut(answer, patience=PATIENCE["tags"]):
    """What is shown of the answer, whatever the size of its chunks."""
    return {streamed(answer, size, patience) for size in range(1, len(answer) + 2)}


def unmarked(text):
    return not any(mark in text.lower() for mark in MARKS)


def ends_in_a_mark(text):
    return any(text.lower().endswith(mark[:size]) for mark in MARKS for size in range(1, len(mark)))


texts = st.lists(st.characters(exclude_characters="\x00") | EDGES).map("".join).filter(unmarked)
plain_texts = texts.filter(lambda text: not looks_structured(text) and not ends_in_a_mark(text))
cuts = st.lists(st.integers(0, 80)).map(sorted)


@pytest.mark.parametrize(
    ("answer", "narrative"),
    [
        pytest.param(f"<narrative>I hear you.</narrative>{UPDATE}", "I hear you.", id="as asked"),
        pytest.param(
            f"<narrative>\n 早安。\n\n又见面了。 \n</narrative>\n\n{UPDATE}", "早安。\n\n又见面了。", id="edges"
        ),
        pytest.param(f"Thinking: a < b, <narr?\n<narrative>Hi.</narrative>{UPDATE}", "Hi.", id="preamble"),
        pytest.param(f"{LONG}\n<narrative>Hi.</narrative>{UPDATE}", f"{LONG}\nHi.", id="too long for a preamble"),
        pytest.param(f"<narrative>Hi.{UPDATE}", "Hi.", id="no close tag"),
        pytest.param(f"Hi.</narrative>{UPDATE}", "Hi.", id="no open tag"),
        pytest.param(f"Hi.\n{UPDATE}", "Hi.", id="no tag but the update"),
        pytest.param(f"<narrative>Hi. {UPDATE}</narrative>", "Hi.", id="update inside"),
        pytest.param("<narrative>Hi, cut off", "Hi, cut off", id="cut off"),
        pytest.param("<narrative>Hi.</narr", "Hi.", id="cut off in the close tag"),
        pytest.param(f"<NARRATIVE>Hi.</Narrative>{UPDATE.upper()}", "Hi.", id="case"),
        pytest.param(f"<narrative>1 < 2 <b>a</b> </p> <3 <</narrative>{UPDATE}", "1 < 2 <b>a</b> </p> <3 <", id="html"),
        pytest.param(f"```xml\n<narrative>Hi.</narrative>{UPDATE}\n```", "Hi.", id="fenced"),
        pytest.param(f"<narrative>Hi.</narrative>{UPDATE}<narrative>Again.</narrative>", "Hi.", id="twice"),
        pytest.param("<narrative>İstanbul’da İyi.</narrative>", "İstanbul’da İyi.", id="a letter that grows"),
        pytest.param(f"İyi. <narrative>Hi.</narrative>{UPDATE}", "Hi.", id="such a letter before"),
        pytest.param("  Good morning. \n", "Good morning.", id="plain"),
        pytest.param(LONG, LONG.strip(), id="long and plain"),
        pytest.param(UPDATE, "", id="only an update"),
        pytest.param("", "", id="nothing"),
        pytest.param("<narrative> \n</narrative>", "", id="an empty tag"),
        pytest.param("<narrative>Hi.<|im_end|>\n<|im_start|>user", "Hi.", id="end token"),
        pytest.param("Hi there.<|endoftext|>Human: next", "Hi there.", id="end token behind plain words"),
    ],
)
def test_only_the_narrative_is_shown_however_the_answer_is_cut(answer, narrative):
    assert narrative_of(answer) == narrative
    assert every_cut(answer) == {narrative}


@pytest.mark.parametrize("patience", PATIENCE.values())
@pytest.mark.parametrize(
    ("answer", "narrative"),
    [
        pytest.param("<think>They greet me.</think>\n\nHi.", "Hi.", id="before plain words"),
        pytest.param("<thinking>Hm.</thinking><narrative>Hi.</narrative>", "Hi.", id="before the tag"),
        pytest.param("<narrative><think>Hm.</think>Hi.</narrative>", "Hi.", id="inside the tag"),
        pytest.param("<think>I say <narrative>no</narrative></think>Hi.", "Hi.", id="with tags in it"),
        pytest.param("<think>One.</think><think>Two.</think>Hi.", "Hi.", id="two"),
        pytest.param("<think>It never ends, and so nothing is said", "", id="without end"),
        pytest.param("<narrative>Hi. <think>and then", "Hi.", id="without end behind words"),
        pytest.param("<think></think>", "", id="and nothing else"),
    ],
)
def test_thoughts_are_never_shown(answer, narrative, patience):
    assert every_cut(answer, patience) == {narrative}


@pytest.mark.parametrize("answer", ["They greet me.</think>\n\nHi.", f"{LONG}</think>Hi.", "</thinking>Hi."])
def test_of_a_whole_answer_that_begins_in_thoughts_what_follows_them_is_the_narrative(answer):
    assert narrative_of(answer) == "Hi."


def test_a_short_thought_that_only_ends_is_known_by_its_end():
    assert every_cut("They greet me.</think>\n\nHi.") == {"Hi."}


@pytest.mark.parametrize(
    ("answer", "narrative"),
    [
        ('{"narrative": "Hi.", "state_update_json": {}}', "Hi."),
        ('{"reply": "Hi."}', "Hi."),
        ('```json\n{"response": "Hi."}\n```', "Hi."),
        ('```\n{"reply": "Hi."}\n```', "Hi."),
        ('{\n  "message": "Hi."\n}', "Hi."),
        ('{"reply": {"text": "Hi."}}', ""),
        ('{"reply": 7, "text": "Hi."}', "Hi."),
        ('{"reply": "Hi."}</narrative>', "Hi."),
        ('{"reply": "Hi."}<state_update_json>{}', "Hi."),
        ('{"reply": "<narrative>Hi.</narrative>"}', "Hi."),
        ('{"dynamic_state": {}}', ""),
        ('{"reply": "cut o', ""),
        ("{'reply': 'Hi.'}", ""),
        ("{reply: Hi.}", ""),
        ("{}", ""),
        ("[{}]", ""),
        ("{smiles} Hi.", "{smiles} Hi."),
        ("{微笑} 你好", "{微笑} 你好"),
        ("[微笑] 你好", "[微笑] 你好"),
        ("[Tom waves]", "[Tom waves]"),
        ("*waves*", "*waves*"),
        ("<3 you", "<3 you"),
        ("`code` is fine", "`code` is fine"),
        ("```rust\nfn main() {}\n```", "```rust\nfn main() {}\n```"),
        ("```python\nfor n in (1, 2):\n    print(n)\n```", "```python\nfor n in (1, 2):\n    print(n)\n```"),
    ],
)
def test_of_json_only_the_words_are_shown_and_prose_stays_prose(answer, narrative):
    for patience in PATIENCE.values():
        assert every_cut(answer, patience) == {narrative}


CALL = '{"name": "remember", "arguments": {"fact": "likes tea"}}'


@pytest.mark.parametrize(
    "answer",
    [
        CALL,
        f"  \n{CALL}\n",
        f"[{CALL}]",
        f"[\n  {CALL}\n]",
        f"{CALL}\n{CALL}",
        f"{CALL}<|im_end|>",
        f"```json\n{CALL}\n```",
        f"``` json\n{CALL}\n```",
        f"```JSON\n{CALL}\n```",
        f"```\n{CALL}\n```",
        f"```json\n{CALL}\n```\n```json\n{CALL}\n```",
        f"```tool_call\n{CALL}\n```",
        '```python\nremember(fact="likes tea")\n```',
        '```\nremember(fact="likes tea")\n```',
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>\n{CALL}",
        f"<tool_calls>[{CALL}]</tool_calls>",
        f"<|python_tag|>{CALL}<|eom_id|>",
        f"[TOOL_CALLS][{CALL}]",
        f"[TOOL_CALLS] [{CALL}]",
        '<function=remember>{"fact": "likes tea"}</function>',
    ],
)
def test_a_call_written_as_text_is_never_shown(answer):
    for patience in PATIENCE.values():
        assert every_cut(answer, patience) == {""}


@pytest.mark.parametrize("patience", PATIENCE.values())
@pytest.mark.parametrize("text", ["Hello", "你好", "[微", "<3", "*", "“", "remember(fact"])
def test_prose_is_told_by_its_first_letters(text, patience):
    assert not looks_structured(text)
    assert looks_structured("")
    stream = NarrativeStream(patience)
    assert stream.feed(text + " and so on" * 20) != ""


@settings(max_examples=150, deadline=None)
@example("İ", "", [12])
@example("a\u2028<", "<narrative", [1, 2, 3])
@given(texts, texts.filter(lambda text: len(text) < PATIENCE["tags"]), cuts)
def test_any_words_in_the_tag_arrive_unchanged_but_for_the_space_around_them(text, preamble, cuts):
    answer = f"{preamble}\n<narrative>{text}</narrative>{UPDATE}"
    assert in_pieces(NarrativeStream(), answer, [cut for cut in cuts if cut < len(answer)]) == text.strip()


@settings(max_examples=150, deadline=None)
@given(plain_texts, cuts, st.sampled_from([*PATIENCE.values()]))
def test_plain_words_arrive_unchanged_but_for_the_space_around_them(text, cuts, patience):
    shown = in_pieces(NarrativeStream(patience), text, [cut for cut in cuts if cut < len(text)])
    assert shown == text.strip()


@settings(max_examples=100, deadline=None)
@given(st.lists(plain_texts | st.sampled_from(MARKS), max_size=6).map("".join), cuts, st.sampled_from([0, 5, 120]))
def test_any_cut_of_any_answer_shows_the_same(answer, cuts, patience):
    cut = in_pieces(NarrativeStream(patience), answer, [cut for cut in cuts if cut < len(answer)])
    assert cut == in_pieces(NarrativeStream(patience), answer, [])


@settings(max_examples=100, deadline=None)
@given(plain_texts.map("I".__add__))
def test_without_patience_nothing_longer_than_a_tag_is_withheld(text):
    stream, shown = NarrativeStream(PATIENCE["plain"]), ""
    for size, character in enumerate(text, 1):
        shown += stream.feed(character)
        assert len(text[len(shown) : size].strip()) < LONGEST


def test_words_are_held_back_only_while_they_may_be_the_end():
    stream = NarrativeStream()
    chunks = ["sure: <narra", "tive>", "Hello", " ", "you", " </b", "> x </narr", "ator", "</narrative>", "later"]
    shown = ["", "", "Hello", "", " you", " </b", "> x", " </narrator", "", ""]
    assert [stream.feed(chunk) for chunk in chunks] == shown
    assert stream.closed


def test_a_narrative_is_closed_by_its_end_and_not_by_its_beginning():
    stream = NarrativeStream()
    stream.feed("<narrative>Hi")
    assert not stream.closed
    stream.feed("</narrative>")
    assert stream.closed
    assert stream.close() == ""


def test_tags_are_known_in_any_case():
    assert has_tags("<Narrative>Hi.")
    assert not has_tags("Hi. </narrative>")


def test_thoughts_are_taken_from_a_whole_answer():
    assert without_thoughts("<think>a</think> Hi. <think>b") == "Hi."
    assert without_thoughts("a</thinking>Hi.") == "Hi."


@pytest.mark.parametrize("strict", [True, False])
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
def test_the_update_is_found_in_fences_and_without_its_close_tag(body, close, strict):
    assert read_update(f"<narrative>Hi.</narrative>\n<state_update_json>{body}{close}", strict) == {"a": 1}


def test_an_update_inside_of_a_thought_is_none():
    answer = '<think><state_update_json>{"a": 1}</state_update_json></think>Hi.<state_update_json>{"b": 2}'
    assert read_update(answer) == {"b": 2}


@pytest.mark.parametrize(
    ("body", "update"),
    [
        ("{'a': 1}", {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": 1', {"a": 1}),
        ('{"a": [{"b": "c"}', {"a": [{"b": "c"}]}),
        ("{}", {}),
    ],
)
def test_an_update_with_slips_of_the_pen_is_mended(body, update):
    assert read_update(f"<narrative>Hi.</narrative><state_update_json>{body}") == update


BROKEN = [
    ("", "<state_update_json>{…}</state_update_json> is missing"),
    ("<state_update_json>[]", "must be an object; {} means nothing changed"),
    ("<state_update_json>null", "must be an object"),
]
BROKEN_TO_THE_LETTER = [
    ("<state_update_json></state_update_json>", "not JSON: Expecting value"),
    ("<state_update_json>{'a': 1}", "not JSON: Expecting property name"),
    ('<state_update_json>{"a": 1', "not JSON: Expecting ',' delimiter"),
    ("<state_update_json>{} and so on", "not JSON: Extra data"),
    (f"<state_update_json>{'[' * 100_000}", "not JSON"),
    (f"<state_update_json>{'9' * 5_000}", "not JSON"),
]


@pytest.mark.parametrize(("update", "complaint"), [*BROKEN, *BROKEN_TO_THE_LETTER], ids=range(9))
def test_a_broken_update_says_what_is_wrong_with_it(update, complaint):
    with pytest.raises(ContractBroken) as broken:
        read_update(f"<narrative>Hi.</narrative>{update}", strict=True)
    assert complaint in broken.value.detail


@pytest.mark.parametrize("update", ["", "[]", "null", "nothing changed", "[" * 100_000, "9" * 5_000, "{" * 5_000])
def test_what_cannot_be_mended_is_broken_or_empty_and_never_a_crash(update):
    try:
        assert read_update(f"Hi.<state_update_json>{update}") is not None
    except ContractBroken as broken:
        assert "state_update_json" in broken.detail
