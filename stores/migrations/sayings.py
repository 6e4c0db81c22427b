"""What people have said to a soul, to find out from whom it has a note."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from soulgraph.senses.tokenizer import terms_of
from soulgraph.soul.people import NOBODY

_MOST_TERMS = 0.6  # share of a note's words that one message of a person must have, for the note to be from them
_THE_PERSON = re.compile(r"\buser(?:'s)?\b|用户", re.IGNORECASE)  # what notes call a person who says "I"


class Sayings:
    """Finds who has said something in almost the same words."""

    def __init__(self, said: Iterable[tuple[str, str]]) -> None:
        """`said` are people and texts."""
        self._speakers: list[str] = []
        self._with_term: dict[str, list[int]] = defaultdict(list)
        for user_id, content in said:
            for term in {*terms_of(content)}:
                self._with_term[term].append(len(self._speakers))
            self._speakers.append(user_id)

    def speaker(self, *notes: Any) -> str:
        """The only person who has said all of these; nobody if there are several, or none.

        What has no words to compare, such as a "yes", says nothing about who it is from.
        """
        compared = [terms for note in notes if isinstance(note, str) and (terms := _terms(note))]
        speakers = set.intersection(*map(self._speakers_of, compared)) if compared else set()
        return speakers.pop() if len(speakers) == 1 else NOBODY

    def _speakers_of(self, terms: set[str]) -> set[str]:
        shared = Counter(message for term in terms for message in self._with_term.get(term, ()))
        return {self._speakers[message] for message, count in shared.items() if count >= _MOST_TERMS * len(terms)}


def _terms(note: str) -> set[str]:
    return {*terms_of(_THE_PERSON.sub(" ", note))}
