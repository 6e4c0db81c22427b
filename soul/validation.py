"""Validation errors of pydantic as short sentences, and rules for texts and numbers that come from outside."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

NUL = "\x00"


class Flaw(NamedTuple):
    """One validation error: the dotted path inside the input, and what is wrong there."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def flaws_in(errors: Sequence[Any], within: str = "") -> list[Flaw]:
    """`errors` come from the `errors()` of pydantic or FastAPI; `within` is the path of the input itself."""
    return [Flaw(_path(within, error["loc"]), error["msg"].removeprefix("Value error, ")) for error in errors]


def explain(error: ValidationError, within: str = "", root: str = "", limit: int = 1) -> str:
    """The first `limit` errors as one sentence; `root` names the input when an error is about all of it.

    The values themselves are left out: they may quote the user.
    """
    flaws = flaws_in(error.errors(include_url=False)[:limit], within)
    return "; ".join(str(Flaw(flaw.path or root, flaw.message)) for flaw in flaws)


def _path(within: str, location: Sequence[int | str]) -> str:
    return legible(".".join(filter(None, [within, *map(str, location)])))


def legible(text: str) -> str:
    """A text as an answer can quote it: half of a surrogate pair is written as its number."""
    return text.encode(errors="backslashreplace").decode()


def flaw_of_text(text: str) -> str:
    """Why a text cannot be stored; empty if it can be."""
    if NUL in text:  # PostgreSQL has no such character
        return "must not contain NUL characters"
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can say and UTF-8 cannot
        return "must be valid Unicode"
    return ""


def whole_characters(text: str) -> str:
    """The text with halves of characters joined, as JSON has them, and a sign for each that is alone."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def refuse_unstorable(text: str) -> str:
    """Raises ValueError for a text that cannot be stored."""
    if flaw := flaw_of_text(text):
        raise ValueError(flaw)
    return text


def drop_nul(text: Any) -> Any:
    """The text without NUL characters; used for a model's output, which should not fail because of one."""
    return text.replace(NUL, "") if isinstance(text, str) else text


def refuse_coercion(value: Any) -> Any:
    """Raises for texts and truth values, which pydantic would make numbers of: JSON has numbers of its own."""
    if isinstance(value, bool | str):
        raise PydanticCustomError("number_type", "must be a number")
    return value


STORABLE_TEXT = AfterValidator(refuse_unstorable)
# What pydantic strips. A schema's own `\S` is JavaScript's, for which also a byte order mark is blank.
_BLANK = r"\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
NOT_BLANK = Field(json_schema_extra={"pattern": f"[^{_BLANK}]"})
"""Of a text that is stripped and must not be empty: what a schema says of its length does not tell that."""
NUMBER = BeforeValidator(refuse_coercion)
FLAG = Field(strict=True)
"""Of a truth value: not 0, 1, "yes" or "off", which pydantic would take."""
DROP_NUL = BeforeValidator(drop_nul)
"""Must be the last in `Annotated[str, …]`, so that it runs before pydantic checks the length."""
