"""The types of the fields of requests."""

import re
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from soulgraph.soul.validation import NOT_BLANK, NUMBER, STORABLE_TEXT

MAX_TEXT = 8000
MAX_ID = 2**53 - 1
"""The largest number that every program reads from JSON as it was written."""
MAX_INTEGER = 2**31 - 1
"""The largest number in a column of the type Integer on PostgreSQL."""

_ID = r"[\w.:@-]{1,128}"
WORDS = frozenset({"import", "open", "preview", "select", "tidy", "variables"})
"""That stand in paths where others have an id; see `api/paths.py`."""
_WRITTEN_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}")


def _refuse_other_times(value: Any) -> Any:
    """Raises ValueError for numbers and bare dates, which pydantic would take too."""
    if isinstance(value, str) and _WRITTEN_TIME.match(value):
        return value
    raise ValueError("must be a time in ISO 8601, like 2027-01-15T19:00")


def _refuse_words(new_id: str) -> str:
    """Raises ValueError for an id under which a thing could not be read again."""
    if new_id in WORDS:
        raise ValueError(f"{new_id!r} is a word of the API itself: choose another id")
    return new_id


WRITTEN_TIME = BeforeValidator(_refuse_other_times)

Id = Annotated[str, StringConstraints(pattern=rf"^{_ID}$")]
NewId = Annotated[Id, AfterValidator(_refuse_words), Field(json_schema_extra={"not": {"enum": sorted(WORDS)}})]
Text = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_TEXT, strip_whitespace=True), NOT_BLANK, STORABLE_TEXT
]
Content = Annotated[str, STORABLE_TEXT]
Name = Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True), NOT_BLANK, STORABLE_TEXT]
Title = Annotated[str, StringConstraints(max_length=200, strip_whitespace=True), STORABLE_TEXT]
ModelName = Annotated[str, STORABLE_TEXT, Field(max_length=300, description="`soul:` and the name or id of a soul")]
Mbti = Annotated[str, Field(json_schema_extra={"pattern": "^[EIei][SNsn][TFtf][JPjp]$"}, examples=["INFJ"])]
UserId = Annotated[Id, Field(description="a person")]
UserIdOrNobody = Annotated[
    str,
    StringConstraints(pattern=r"^[\w.:@-]{0,128}$"),
    Field(description="whose; without it the caller's person, for an owner everybody. Empty: what is nobody's"),
]
UserIdOrEveryone = Annotated[str, StringConstraints(pattern=rf"^(?:{_ID}|\*)$")]
SharedWith = Annotated[
    list[UserIdOrEveryone], Field(max_length=100, description='the people who may know of it too, or `["*"]` for all')
]
MessageNumber = Annotated[int, Field(ge=1, le=MAX_ID), NUMBER]
MessageId = Annotated[int, Path(ge=1, le=MAX_ID)]
JobId = Annotated[int, Path(ge=1, le=MAX_ID)]
VersionNumber = Annotated[int, Path(ge=0, le=MAX_INTEGER)]
SlotNumber = Annotated[int, Path(ge=0, le=99)]
AfterId = Annotated[int, Query(ge=0, le=MAX_ID, description="the page after this id")]
BeforeId = Annotated[int | None, Query(ge=1, le=MAX_ID, description="the page before this id")]
Offset = Annotated[int, Query(ge=0, le=MAX_INTEGER)]
