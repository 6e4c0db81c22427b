"""The kinds of values requests are made of."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

MAX_TEXT = 8000


def _printable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("must not contain NUL characters")
    return text


Id = Annotated[str, StringConstraints(pattern=r"^[\w.:@-]{1,128}$")]
Text = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_TEXT, strip_whitespace=True),
    AfterValidator(_printable),
]
Content = Annotated[str, AfterValidator(_printable)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True), AfterValidator(_printable)]
Title = Annotated[str, StringConstraints(max_length=200, strip_whitespace=True), AfterValidator(_printable)]
UserId = Annotated[Id, Field(description="whose soul or conversation this is")]
