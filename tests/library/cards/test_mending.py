"""Text that people and programs have damaged: it is read as it was meant, in linear time, or refused."""

import json
from contextlib import suppress
from time import thread_time

import pytest

from soulgraph.api.cards import read_card
from soulgraph.errors import InvalidInput
from soulgraph.library.cards.encodings import decode_text
from soulgraph.library.cards.json_text import parse_json
from soulgraph.library.cards.mending import mended_json


@pytest.mark.parametrize(
    ("text", "data", "what"),
    [
        ('{"a": [1, 2,], // one\n /* two */ "b": {},\n# three\n}', {"a": [1, 2], "b": {}}, ["commas", "remarks"]),
        ('{"a": 1 "b": [{} {}]}', {"a": 1, "b": [{}, {}]}, ["commas"]),
        ('{"a": "x\n\ty"}', {"a": "x\n\ty"}, ["line breaks inside of texts"]),
        ('{"a": "say "hi" now", "b": 1}', {"a": 'say "hi" now', "b": 1}, ["quotes inside of texts"]),
        ("{'a': 'it\\'s \"so\"'}", {"a": 'it\'s "so"'}, ["quotes"]),
        ('{“名字”：“阿梨”，“b”：“她说"好"”}', {"名字": "阿梨", "b": '她说"好"'}, ["quotes"]),
        ("{a: True, b_2: None, 'c': undefined}", {"a": True, "b_2": None, "c": None}, ["names without quotes"]),
        (r'{"a": "\d+ \u00e9 \u12"}', {"a": r"\d+ é \u12"}, ["backslashes"]),
        ('{"a": "http://x"} the rest', {"a": "http://x"}, ["what stands behind its end"]),
    ],
)
def test_what_is_nearly_json_is_read_as_it_was_meant(text, data, what):
    mended = mended_json(text)
    assert mended.data == data
    assert set(what) <= set(mended.what)


def test_json_without_mistakes_is_not_touched():
    text = json.dumps({"a": 'x // no remark, "quoted": {1,}', "b": ["\\", "\n", "é", {"c": None}]})
    assert parse_json(text.encode()) == (json.loads(text), ())
    assert mended_json(text) == (json.loads(text), [])


@pytest.mark.parametrize("text", ['{"a": "b', '{"a": [1, 2', '{"a": 1]', '{"a": nonsense}', '{"a" 1 2:}', "{]", ""])
def test_what_is_no_json_at_all_is_refused(text):
    with pytest.raises(InvalidInput, match="cannot be read"):
        parse_json(text.encode())


HOSTILE = ["{'", "/*", "{“", '"x" ', '{"a":"' + "\\", '",', "[1,,", "#", "//\n", "{a b ", "a:", '{"a": "b" "', "```"]


@pytest.mark.parametrize("part", HOSTILE)
@pytest.mark.parametrize("start", ["", '{"a": ', '{"a": "x'])
def test_mending_takes_no_more_time_than_the_text_is_long(part, start):
    begin = thread_time()
    with suppress(ValueError, RecursionError):
        mended_json(start + part * 50_000 + '"')
    assert thread_time() - begin < 3


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "周砚在巷口修表，说话不多。"),
        ("big5", "他說：「今天天氣真好，我們出去走走吧。」"),
        ("shift_jis", "ユキは図書館で本を読むのが好きです。"),
    ],
)
def test_older_encodings_are_known_by_their_letters(encoding, text):
    decoded = decode_text(text.encode(encoding))
    assert decoded.text == text
    assert encoding.upper() in decoded.notes[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings_of_unicode_need_no_word(encoding):
    assert decode_text('{"name": "Zoë 海"}'.encode(encoding)) == ('{"name": "Zoë 海"}', ())


@pytest.mark.parametrize("content", ["Élan, naïve café".encode("latin-1"), b"\xff\xfe{", bytes(range(128, 256))])
def test_what_no_encoding_speaks_for_is_refused(content):
    with pytest.raises(InvalidInput, match=r"is not UTF-.*: save it as UTF-8"):
        decode_text(content)


def test_a_mended_card_says_so():
    card = read_card(b'{"name": "Tad", "description": "Tad whittles.",}')
    assert card.character.name == "Tad"
    assert card.notes == ["the JSON has mistakes (commas), and was read as it is probably meant: look it over"]
