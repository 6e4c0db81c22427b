"""What pydantic found wrong, in one form for every edge, and the one rule for text that no database can keep."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import AfterValidator, BeforeValidator, ValidationError

NUL = "\x00"


class Flaw(NamedTuple):
    """One thing that is wrong: its path inside the input, with dots, and what to do about it."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def flaws_in(errors: Sequence[Any], within: str = "") -> list[Flaw]:
    """`errors` are what pydantic's (or FastAPI's) `errors()` lists; `within` is where the input itself was found."""
    return [Flaw(_path(within, error["loc"]), error["msg"].removeprefix("Value error, ")) for error in errors]


def explain(error: ValidationError, within: str = "", root: str = "", most: int = 1) -> str:
    """The first flaws as one sentence; `root` names the input where the whole of it is wrong.

    The values themselves are left out: they may quote the user.
    """
    flaws = flaws_in(error.errors(include_url=False)[:most], within)
    return "; ".join(str(Flaw(flaw.path or root, flaw.message)) for flaw in flaws)


def _path(within: str, location: Sequence[int | str]) -> str:
    return ".".join(filter(None, [within, *map(str, location)]))


def refuse_nul(text: str) -> str:
    """PostgreSQL keeps no NUL: what people and programs send us with one is refused."""
    if NUL in text:
        raise ValueError("must not contain NUL characters")
    return text


def drop_nul(text: Any) -> Any:
    """What a model wrote is not refused for a NUL, but kept without it."""
    return text.replace(NUL, "") if isinstance(text, str) else text


NO_NUL = AfterValidator(refuse_nul)
DROP_NUL = BeforeValidator(drop_nul)
"""To be the last in `Annotated[str, …]`: pydantic would check the length of what a validator before it returned."""
