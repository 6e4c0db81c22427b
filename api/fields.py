"""The types of the fields of requests."""

from typing import Annotated

from pydantic import Field, StringConstraints

from soulgraph.soul.validation import NO_NUL
from soulgraph.stores.messages import MAX_ID

MAX_TEXT = 8000

_ID = r"[\w.:@-]{1,128}"

Id = Annotated[str, StringConstraints(pattern=rf"^{_ID}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT, strip_whitespace=True), NO_NUL]
Content = Annotated[str, NO_NUL]
Name = Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True), NO_NUL]
Title = Annotated[str, StringConstraints(max_length=200, strip_whitespace=True), NO_NUL]
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
MessageNumber = Annotated[int, Field(strict=True, ge=1, le=MAX_ID)]
