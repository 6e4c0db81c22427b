"""Files that want to do harm, or are merely broken, are refused with what is wrong and where."""

import json
import re
import struct
import zipfile
import zlib
from base64 import b64encode
from copy import deepcopy

import pytest

from soulgraph.api.cards import read_card
from soulgraph.api.library import stored
from soulgraph.errors import InvalidInput
from soulgraph.library.cards.writing import card_of
from soulgraph.tests.library.cards.samples import DECORATED, V1, V3, as_bytes, charx, chunk, png, text_chunk

MEBIBYTE = 1024 * 1024


def with_data(**fields):
    return as_bytes({**V3, "data": {**V3["data"], **fields}})


def with_entry(**fields):
    return with_data(character_book={"extensions": {}, "entries": [{**DECORATED, **fields}]})


def text(content):
    return png(chunk(b"tEXt", b"ccv3\0" + content))


def lying(size):
    """An archive whose directory says that the card has so many bytes."""
    packed = bytearray(charx([("card.json", as_bytes(V3))]))
    struct.pack_into("<I", packed, packed.index(b"PK\x01\x02") + 24, size)
    return bytes(packed)


def flagged(at, value):
    packed = bytearray(charx([("card.json", as_bytes(V3))]))
    for header, offset in ((b"PK\x01\x02", at + 2), (b"PK\x03\x04", at)):
        struct.pack_into("<H", packed, packed.index(header) + offset, value)
    return bytes(packed)


def link():
    info = zipfile.ZipInfo("assets/link")
    info.external_attr = 0o120777 << 16
    return charx([("card.json", as_bytes(V3)), (info, "/etc/passwd")])


def broken_checksum():
    good = png(text_chunk(b"ccv3", V3))
    at = good.index(b"ccv3\0") + 40
    return good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]


GOOD = png(text_chunk(b"ccv3", V3))
FILES = {
    "empty": (b"", "the file is no card"),
    "a jpeg": (b"\xff\xd8\xff\xe0", "the file is no card"),
    "a list": (b"[]", "the file is no card"),
    "cut json": (as_bytes(V3)[:-9], "cannot be read"),
    "json in latin": ('{"name": "é"}'.encode("latin-1"), "not UTF-8"),
    "a huge json": (b'{"name": "' + b"x" * (2 * MEBIBYTE) + b'"}', "at most 2097152 are read"),
    "deep json": (b'{"a": ' * 100_000, "nested too deeply"),
    "a huge number": (b'{"name": ' + b"1" * 5000 + b"}", "cannot be read"),
    "half a character": (b'{"name": "\\ud800"}', "the card is empty"),
    "no data": (as_bytes({"spec": V3["spec"]}), "data: "),
    "a png without a card": (png(), "holds no card"),
    "a png of another text": (png(text_chunk(b"comment", V3)), "holds no card"),
    "a cut png": (GOOD[:-20], "cut off|more than the file holds"),
    "a png without an end": (GOOD[:-12], "cut off at byte"),
    "only a header": (GOOD[:33], "cut off at byte 33"),
    "a png without a header": (GOOD[:8] + chunk(b"IEND", b""), "does not begin with its header"),
    "a huge chunk": (GOOD[:33] + struct.pack(">I4s", 2**31 - 1, b"tEXt") + b"x" * 99, "byte 33: .*more than the file"),
    "a wrong checksum": (broken_checksum(), "checksum"),
    "many chunks": (png(*[chunk(b"tIME", b"")] * 20_001), "more than 20000 chunks"),
    "an empty text": (text(b""), "the text ccv3 of the PNG is empty"),
    "a text of blanks": (text(b" \n"), "the text ccv3 of the PNG is empty"),
    "two empty texts": (
        png(chunk(b"tEXt", b"chara\0"), chunk(b"tEXt", b"ccv3\0")),
        "the text ccv3 of the PNG is empty",
    ),
    "a text without its keyword's end": (png(chunk(b"tEXt", b"chara")), "the text chara of the PNG is empty"),
    "no base64": (text(b"{}{}"), "the text ccv3 is not base64"),
    "half of base64": (text(b64encode(as_bytes(V3))[:-3]), "is not base64"),
    "base64 of a picture": (text(b64encode(GOOD)), "not UTF-8"),
    "a packed text that is no end": (
        png(chunk(b"zTXt", b"ccv3\0\0" + zlib.compress(b" " * (17 * MEBIBYTE)))),
        "packed text of the PNG has more than",
    ),
    "a packed text of nothing": (png(chunk(b"zTXt", b"chara\0\0x")), "packed text of the PNG is damaged"),
    "an international text cut short": (png(chunk(b"iTXt", b"chara\0\1")), "packed text|is empty"),
    "a manifest of nothing": (charx([("manifest.json", b"[]")]), "manifest.json is no object"),
    "a manifest without characters": (charx([("manifest.json", b"{}")]), "no card"),
    "a manifest of what is not there": (
        charx([("manifest.json", as_bytes({"characters": ["a.json"], "scenarios": [7]}))]),
        "no card",
    ),
    "a huge manifest": (charx([("manifest.json", b" " * (3 * MEBIBYTE))]), "at most 2097152 are read"),
    "packed json": (text(b64encode(zlib.compress(as_bytes(V3)))), "not UTF-8"),
    "a cut archive": (charx([("card.json", as_bytes(V3))])[:-30], "cannot be read"),
    "not really an archive": (b"PK\x03\x04" + b"\0" * 99, "cannot be read"),
    "an archive without a card": (charx([("other/cards.json", b"{}")]), "has 0 files card.json"),
    "two cards": (b"", "has 2 files card.json"),
    "a zip bomb": (charx([("card.json", b" " * (8 * MEBIBYTE))]), "has 8388608 bytes"),
    "a bomb beside the card": (
        charx([("card.json", as_bytes(V3)), *((f"assets/{n}", b"\0" * (13 * MEBIBYTE)) for n in range(5))]),
        "unpack to more than",
    ),
    "a bomb that lies": (lying(10), "cannot be read"),
    "a lie the other way": (lying(2**31), "unpack to more than"),
    "many files": (charx([("card.json", as_bytes(V3)), *((f"{n}", b"") for n in range(2000))]), "has 2001 files"),
    "a way up": (charx([("card.json", as_bytes(V3)), ("assets/../../x", b"")]), "outside"),
    "a root": (charx([("card.json", as_bytes(V3)), ("/etc/x", b"")]), "outside"),
    "a drive": (charx([("card.json", as_bytes(V3)), ("C:\\x", b"")]), "outside"),
    "a link": (link(), "outside"),
    "an encrypted card": (flagged(6, 1), "encrypted"),
    "an odd packing": (flagged(8, 12), "encrypted or packed"),
}
MENDED = {
    "a little deep json": (with_data(x=json.loads("[" * 40 + "]" * 40)), "nested more than 26 levels"),
    "not a number": (with_data(x=float("nan")), "data.x: numbers without end"),
    "an infinite order": (with_entry(insertion_order=float("inf")), "insertion_order: numbers without end"),
    "a NUL": (with_data(description="a\0b"), "data.description: characters that cannot be stored"),
    "another spec": (
        as_bytes({**V3, "spec": "chara_card_v9"}),
        "spec: is 'chara_card_v9', and was read as chara_card_v3",
    ),
    "a list for the spec": (as_bytes({**V3, "spec": [V3["spec"]]}), "spec: is .'chara_card_v3'., and was read"),
    "an object for the spec": (as_bytes({**V3, "spec": {}}), "spec: is {}, and was read"),
    "null for the spec": (as_bytes({**V3, "spec": None}), "spec: is None, and was read"),
    "a long spec": (as_bytes({**V3, "spec": "x" * 100_000}), "^spec: is 'x+[.]{3}x+', and was read"),
    "no name": (as_bytes({"description": "x"}), "data.name: is empty"),
    "an empty name": (as_bytes({**V1, "name": " "}), "data.name: is empty"),
    "a long name": (as_bytes({**V1, "name": "x" * 81}), "data.name: 80 of 81"),
    "a number for a text": (with_data(description=7), "description: is no text but a number"),
    "a text for a list": (with_data(alternate_greetings="hi"), "alternate_greetings: is no list but a text"),
    "a number among texts": (with_data(alternate_greetings=["a", 1]), "alternate_greetings: is no text but a number"),
    "a list for extensions": (with_data(extensions=[1]), ""),
    "a text for a book": (with_data(character_book="x"), ""),
    "a text for entries": (with_data(character_book={"entries": "x"}), ""),
    "a number for keys": (with_entry(keys=7), "keys: is no list, and is left out"),
    "a text for assets": (with_data(assets="x"), ""),
    "a long persona": (with_data(scenario="x" * 20_000), "prompts together: .* at most 20,000"),
    "a long greeting": (with_data(alternate_greetings=["a", "x" * 8001]), "data.alternate_greetings.1: 8,000 of 8,001"),
    "many greetings": (with_data(alternate_greetings=["a"] * 250), "the first 250 of 251"),
    "a long example": (with_data(mes_example="x" * 8001), "data.mes_example.0: 8,000 of 8,001"),
    "a long entry": (with_entry(content="x" * 4001), "data.character_book.entries.0: 4,000 of 4,001"),
    "a long key": (with_entry(keys=["x" * 201]), "entries.0.keys: 1 are left out: at most 200"),
    "too much lore": (
        with_data(character_book={"entries": [{**DECORATED, "keys": []}] * 501}),
        "data.character_book.entries: the first 500 of 501",
    ),
    "a broken regex": (with_entry(keys=["(unclosed"]), "entries.0.keys: .*does not compile"),
    "an evil regex": (with_entry(keys=["(a+)+$"]), "entries.0.keys: .*takes too long"),
    "an evil choice": (with_entry(keys=["^(ab|a|b)*c$"]), "entries.0.keys: .*takes too long"),
    "a regex that fills memory": (with_entry(keys=["(((a{99}){99}){99}){99}"]), "entries.0.keys: .*repeats too much"),
    "many regexes": (with_entry(keys=["a"] * 9), "entries.0.keys: at most 8 regular expressions"),
    "a false profile": (
        with_data(extensions={"soulgraph": {"initial_profile": {"dynamic_state": 1}}}),
        "data.extensions.soulgraph.initial_profile",
    ),
    "a false type": (with_data(extensions={"soulgraph": {"mbti_type": "ABCD"}}), "data.extensions.soulgraph.mbti_type"),
}
"""Files with a card that is not as it should be, and what is said of it."""


@pytest.fixture(autouse=True, scope="module")
def two_cards():
    with pytest.warns(UserWarning, match="Duplicate name"):
        packed = charx([("card.json", as_bytes(V3)), ("card.json", as_bytes(V3))])
    FILES["two cards"] = (packed, FILES["two cards"][1])


@pytest.mark.parametrize("kind", FILES)
def test_it_is_refused_with_what_is_wrong(kind):
    content, why = FILES[kind]
    with pytest.raises(InvalidInput, match=why):
        read_card(content)


@pytest.mark.parametrize("kind", MENDED)
def test_what_cannot_be_kept_is_cut_and_named_and_the_rest_is_taken(kind):
    content, note = MENDED[kind]
    card = read_card(content)
    assert re.search(note, "\n".join(card.notes), re.MULTILINE), card.notes
    assert read_card(content).character.name
    for spec in ("chara_card_v2", "chara_card_v3"):
        card_of(card.character.name, stored(card.character), spec)


def test_the_samples_are_refused_for_their_fault_alone():
    for good in (GOOD, charx([("card.json", as_bytes(V3))]), with_entry(), with_data(), as_bytes(V1)):
        assert read_card(good).character.name == "Lumen"


def test_what_others_leave_empty_is_no_fault():
    nothing = {"description": None, "alternate_greetings": None, "extensions": None, "character_book": []}
    assert read_card(with_data(**nothing)).character.lore == []
    assert read_card(with_data(character_book=None, assets=None)).character.lore == []


def test_an_empty_text_beside_a_card_is_no_fault():
    assert read_card(png(text_chunk(b"chara", V3), chunk(b"tEXt", b"ccv3\0"))).character.name == "Lumen"


@pytest.mark.parametrize("good", [GOOD, charx([("card.json", as_bytes(V3)), ("assets/a.png", b"x" * 50)])], ids=len)
def test_a_file_with_one_wrong_byte_is_read_or_refused_and_never_fails(good):
    outcomes = set()
    for at in range(0, len(good), 3):
        try:
            outcomes.add(read_card(good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :]).character.name)
        except InvalidInput:
            outcomes.add("refused")
    assert "refused" in outcomes and outcomes <= {"refused", "Lumen"}


def test_reading_changes_nothing_of_what_it_reads():
    card = deepcopy(V3)
    read_card(as_bytes(card))
    assert card == V3
