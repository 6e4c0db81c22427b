"""Quotations that cannot be forged: nothing inside the marks can close them or name another speaker."""

import re

from soulgraph.prompts.defuse import one_line

# Every mark that somebody might read as the end of a quotation, of any script.
_MARKS = re.compile('["“”„‟«»‹›「」『』〝〞〟＂《》]')
_NOT_IN_NAMES = re.compile(r'["“”„‟«»‹›「」『』〝〞〟＂《》:：\[\]{}()（）<>]')
_MAX_NAME = 80
_TAKEN = frozenset({"you", "they", "你", "对方"})
"""How transcripts call the soul itself, and people without a name."""


def quoted(text: str) -> str:
    """The text on one line in quotation marks; those inside become apostrophes."""
    inner = _MARKS.sub("'", one_line(text))
    return f"“{inner}”"


def speaker_name(name: str) -> str:
    """A name that cannot pass for more than a name: a label, a bracket or a quotation in it is gone."""
    shown = one_line(_NOT_IN_NAMES.sub(" ", name))[:_MAX_NAME].strip()
    return "?" if not shown or shown.casefold() in _TAKEN else shown
