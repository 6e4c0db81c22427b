from typing import Annotated

import jsonschema_rs
from pydantic import StringConstraints, TypeAdapter, ValidationError

from soulgraph.soul.validation import NOT_BLANK, flaws_in

TEXT = TypeAdapter(Annotated[str, StringConstraints(min_length=1, strip_whitespace=True), NOT_BLANK])


def is_taken(text):
    try:
        TEXT.validate_python(text)
    except ValidationError:
        return False
    return True


def test_a_schema_tells_of_every_character_whether_it_is_blank():
    described = jsonschema_rs.Draft202012Validator(TEXT.json_schema())
    every = [*range(0xD800), *range(0xE000, 0x10000)]
    assert [hex(code) for code in every if is_taken(chr(code)) != described.is_valid(chr(code))] == []


def test_a_name_that_is_no_unicode_can_be_told_in_an_answer():
    [flaw] = flaws_in([{"loc": ("entries", "a\ud800b", 0), "msg": "Field required"}])
    assert str(flaw).encode() == rb"entries.a\ud800b.0: Field required"
