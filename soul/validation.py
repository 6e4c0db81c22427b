"""Validation errors of pydantic as short sentences, and the rule for NUL characters in texts."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import AfterValidator, BeforeValidator, ValidationError

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
    return ".".join(filter(None, [within, *map(str, location)]))


def refuse_nul(text: str) -> str:
    """Raises ValueError for a text with NUL, which PostgreSQL cannot store."""
    if NUL in text:
        raise ValueError("must not contain NUL characters")
    return text


def drop_nul(text: Any) -> Any:
    """The text without NUL characters; used for a model's output, which should not fail because of one."""
    return text.replace(NUL, "") if isinstance(text, str) else text


NO_NUL = AfterValidator(refuse_nul)
DROP_NUL = BeforeValidator(drop_nul)
"""Must be the last in `Annotated[str, …]`, so that it runs before pydantic checks the length."""
