"""The headings under which the parts of a card stand in a base persona."""

import re

from soulgraph.soul.language import Lang

HEADINGS: dict[Lang, dict[str, str]] = {
    "zh": {"personality": "性格", "scenario": "场景", "guidance": "卡片作者的要求"},
    "en": {"personality": "Personality", "scenario": "Scenario", "guidance": "What the card's author asks for"},
}
_ANY = "|".join(re.escape(heading) for headings in HEADINGS.values() for heading in headings.values())
_HEADING = re.compile(rf"(?:{_ANY})[:：] ?")
_BOUNDARY = re.compile(rf"\n[ \t]*\n\s*(?=(?:{_ANY})[:：])")


def split_parts(base_persona: str) -> list[str]:
    """The parts of a base persona; a new one begins at each paragraph with a heading."""
    return [part for part in _BOUNDARY.split(base_persona.strip()) if part]


def heading_of(part: str) -> str:
    """The heading that a part begins with, with its colon; empty if it has none."""
    found = _HEADING.match(part)
    return found[0] if found else ""
