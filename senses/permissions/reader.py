"""Reads the acts of a sentence that share something or keep it secret."""

import re
from itertools import islice
from typing import Literal, NamedTuple

from soulgraph.senses.permissions.grammar import REFUSABLE, SHARING, Grammar, Match, after_gap
from soulgraph.senses.permissions.people import is_nobody, is_speaker_or_soul, people_in
from soulgraph.soul.people import EVERYONE

Kind = Literal["share", "private"]

_MAX_CLAUSES = 60  # of a sentence
_CLAUSE_START = re.compile(
    r"^|[,;:、—]\s*|\s-+\s+|\b(?P<joined>and|because|but|so)\s+|(?<=[\u3400-\u9fff])\s+", re.IGNORECASE
)


class Act(NamedTuple):
    """One act: its group in the grammar, the people as they are said, each of them, and the part it covers."""

    kind: Kind
    group: str
    words: str
    people: tuple[str, ...]
    start: int
    end: int


class Reader:
    """Reads one sentence from left to right. `named` are the people that a pronoun stands for."""

    def __init__(self, rules: Grammar, sentence: str, named: tuple[str, ...] = ()) -> None:
        self.rules = rules
        self.sentence = sentence
        self.named = named
        self.acts: list[Act] = []
        self._left_out: tuple[str, ...] = ()
        self._covered = 0
        self._occasions: list[tuple[int, int]] = []
        self._met: tuple[str, ...] = ()

    def read(self) -> list[Act]:
        for start in islice(_CLAUSE_START.finditer(self.sentence), _MAX_CLAUSES):
            if start.end() >= self._covered:
                self._read_clause(start.end(), must_be_led=(start["joined"] or "").lower() in ("and", "because"))
        return self.acts

    def aside(self) -> str:
        """What stands before the first act, without occasions."""
        end = self.acts[0].start if self.acts else len(self.sentence)
        return self._without_occasions(end)

    def _read_clause(self, at: int, must_be_led: bool) -> None:
        """Reads what a clause begins with, then the act behind it."""
        while self._passes_beginning(at):
            at = self._covered
            must_be_led = False
        for place in self.rules.places(self.sentence, at):
            act = self._private_at(at, place) or (None if must_be_led and place == at else self._share_at(at, place))
            if act is not None:
                self._add(act)
                return
        self._read_late_refusal(at)

    def _passes_beginning(self, at: int) -> bool:
        places = self.rules.places(self.sentence, at)
        return any(self._passes_occasion(place) or self._passes_exception(place) for place in places)

    def _read_late_refusal(self, at: int) -> None:
        """A refusal may stand further on in a clause, if nobody else is its subject: 打死也不能说."""
        for late in self.rules.signs["late"].finditer(self.sentence, at):
            if "," in self.sentence[at : late.start()]:
                return
            if act := self._private_at(at, late.end()):
                self._add(act)
                return

    def _passes_occasion(self, at: int) -> bool:
        """Remembers who will ask or be met: 小明问起来, "when you see Bob"."""
        found = self.rules.match(("occasions",), self.sentence, at)
        if found is None or is_speaker_or_soul(found[1].people):
            return False
        end = after_gap(self.sentence, found[1].end)
        self._met = tuple(dict.fromkeys((*self._met, *people_in(found[1].people, self._met or self.named))))
        self.named = self._met
        self._occasions.append((at, end))
        self._covered = end
        return True

    def _passes_exception(self, at: int) -> bool:
        """Remembers whom the act that follows leaves out: 除了小明, "apart from Bob"."""
        found = self.rules.match(("excepts",), self.sentence, at)
        if found is None or self.sentence.startswith("but", at):
            return False
        self._left_out = tuple(people_in(found[1].people, self.named))
        self._covered = after_gap(self.sentence, found[1].end)
        return True

    def _private_at(self, start: int, at: int) -> Act | None:
        if self.rules.signs["reports"].search(self.sentence, 0, start):
            return None
        behind = self.rules.refused(self.sentence, at)
        found = self.rules.match(REFUSABLE, self.sentence, behind) if behind is not None else None
        found = found or self.rules.match(("hushes",), self.sentence, at)
        if found is None and self.acts:
            found = self.rules.match(("spares",), self.sentence, at)
        return self._act("private", *found, start) if found else None

    def _share_at(self, start: int, at: int) -> Act | None:
        found = self.rules.match(SHARING, self.sentence, at)
        if found is None or self._is_no_permission(start, found[1].end):
            return None
        return self._act("share", *found, start)

    def _act(self, kind: Kind, group: str, match: Match, start: int) -> Act | None:
        if is_speaker_or_soul(match.people):
            return None
        if kind == "share" and is_nobody(match.people):
            return Act("private", group, match.people, (), start, match.end)
        people = tuple(people_in(match.people, self.named))
        if group == "spread":
            people = (EVERYONE,)
        elif group == "speaks":
            people = self._met
        return Act(kind, group, match.people, people, start, match.end) if people or kind == "private" else None

    def _is_no_permission(self, start: int, end: int) -> bool:
        """Whether it is asked, reported, supposed, done already or put off."""
        sentence, signs = self.sentence, self.rules.signs
        asked = signs["asks"].search(sentence) and not signs["polite"].search(sentence)
        return bool(
            asked
            or signs["reports"].search(sentence, 0, start)
            or signs["supposes"].search(self._without_occasions(start))
            or (signs["defers"].match(sentence, end) and not self._is_occasion(end))
            or (signs["done"].match(sentence, end) and not signs["licence"].search(sentence, start, end))
        )

    def _without_occasions(self, end: int) -> str:
        inside = {place for first, last in self._occasions for place in range(first, last)}
        return "".join(char for place, char in enumerate(self.sentence[:end]) if place not in inside)

    def _is_occasion(self, end: int) -> bool:
        return self.rules.match(("occasions",), self.sentence, after_gap(self.sentence, end)) is not None

    def _add(self, act: Act) -> None:
        """Adds an act, or the opposite for those that it leaves out: "tell nobody but Bob"."""
        found = self.rules.match(("excepts",), self.sentence, after_gap(self.sentence, act.end))
        left_out = tuple(people_in(found[1].people, self.named)) if found else self._left_out
        self._covered = found[1].end if found else act.end
        if left_out and (not act.people or EVERYONE in act.people):
            kind: Kind = "private" if act.kind == "share" else "share"
            act = act._replace(kind=kind, people=left_out, end=self._covered)
        if act.people and EVERYONE not in act.people:
            self.named = act.people
        self._left_out = ()
        self.acts.append(act)
