"""Patterns of texts as the description of the API tells them: they are JavaScript's, and ours are pydantic's."""

import re
from typing import Any

_CHARACTERS = re.compile(r"\[[^]]*]|\\w")
WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}"
"""What pydantic takes for `\\w`: JavaScript's own has only English letters, and a client would refuse 小林."""


def translate_patterns(part: Any) -> None:
    """Write the patterns of a description, or of a part of it, so that every client reads them as we do."""
    if isinstance(part, dict) and isinstance(part.get("pattern"), str):
        part["pattern"] = _CHARACTERS.sub(_translated, part["pattern"])
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        translate_patterns(inner)


def _translated(characters: re.Match[str]) -> str:
    return f"[{WORD}]" if characters[0] == r"\w" else characters[0].replace(r"\w", WORD)
