"""Which sentences of a message may tell a fact: the speaker's own statements about what is so.

Questions, suppositions, hearsay, quotations, games and instructions to the soul tell none.
"""

import re
from collections.abc import Iterable, Sequence

from soulgraph.senses.facts.grammar import words
from soulgraph.senses.text import normalise
from soulgraph.soul.clauses import own_sentences
from soulgraph.soul.language import Lang

_SAINT = re.compile(r"\bSt\. (?=[A-Z])")


def plays_a_role(text: str, earlier: Sequence[str]) -> bool:
    """Whether a game is under way, or a story or a translation asked for.

    `earlier` is what the person said before, the oldest first: a game goes on until somebody ends it.
    """
    if words("fiction").search(text):
        return True
    for said in (text, *reversed(earlier)):
        if words("game_over").search(said):
            return False
        if words("game").search(said):
            return True
    return False


def instructs(text: str) -> bool:
    """Whether a text tells the soul what to do, or hands it something to keep as a rule."""
    return words("instructs").search(text) is not None


def telling_sentences(text: str) -> list[str]:
    """The sentences that may tell a fact. A question that is only tagged on is cut off."""
    sentences = (words("tag").sub("", sentence) for sentence in own_sentences(_SAINT.sub("St ", normalise(text))))
    return _with_fragments(sentence for sentence in sentences if not _tells_nothing(sentence))


def _with_fragments(sentences: Iterable[str]) -> list[str]:
    """The sentences, and what only says where added to the one before: "I taught. In Ludlow"."""
    whole: list[str] = []
    for sentence in sentences:
        if whole and words("says_where").search(sentence):
            whole[-1] = f"{whole[-1].rstrip(' .!…')}, {sentence[0].lower()}{sentence[1:]}"
        else:
            whole.append(sentence)
    return whole


def _tells_nothing(sentence: str) -> bool:
    return any(pattern.search(sentence) for pattern in map(words, ("instructs", "supposes", "asks")))


def told_words(text: str) -> str:
    """The message without code and quotations, but with its questions; empty if it instructs or supposes."""
    sentences = own_sentences(normalise(text))
    return " ".join(
        one for one in sentences if not words("instructs").search(one) and not words("supposes").search(one)
    )


def is_said(before: str, lang: Lang) -> bool:
    """Whether what stands before a statement in its sentence leaves it the speaker's own, and true."""
    return lang == "zh" or words("not_so").search(before) is None
