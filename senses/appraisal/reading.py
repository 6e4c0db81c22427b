"""Reads a text clause by clause: which words attack or make good, and whom they are meant for."""

import re
from bisect import bisect_right
from typing import Literal, NamedTuple

from soulgraph.senses.appraisal.lexicon import AMENDS, ATTACKS, REPAIRS, VERBS, Hit, Lexicon, lexicon
from soulgraph.senses.text import normalise
from soulgraph.senses.units import units_of

State = Literal["aimed", "denied", "away"]

MAX_CHARS = 500
NEAR = 3  # units within which a negator or an object belongs to a word
_QUOTED = re.compile(r"""《[^》]+》|“[^”]+”|「[^」]+」|『[^』]+』|"[^"]+"|(?<![^\s:,(])'[^']{2,}'(?![^\s.,!?)])""")
_QUOTE = "“”"
_ONESELF = list("自己")
_SENTENCE_ENDS = frozenset(".!?。…;")
_CLAUSE_ENDS = _SENTENCE_ENDS | frozenset(",，、:—~")


class Finding(NamedTuple):
    """A word that attacks or makes good: `aimed` at the soul, `denied`, or `away` from it."""

    kind: str
    words: str
    state: State
    clause: int
    named: bool = True
    """Whether somebody is named beside it; else it is taken to be meant for the listener."""


class Reading(NamedTuple):
    findings: list[Finding]
    persons: list[Hit]
    turns: list[Hit]
    clauses: int
    quotes: int
    reported: bool
    units: list[str]


def read(text: str) -> Reading:
    """The findings of the first `MAX_CHARS` characters of a text; what is quoted is left out."""
    plain = normalise(text[:MAX_CHARS]).replace("\n", ". ")
    bare, quotes = _QUOTED.subn(_QUOTE, plain)
    units = units_of(bare if bare.strip(_QUOTE + " .!") else plain).plain
    return _Reader(units, lexicon()).read(quotes)


class _Reader:
    def __init__(self, units: list[str], words: Lexicon) -> None:
        self.units = units
        self.words = words
        self.content = words.content.find(units)
        self.turns = words.turns.find(units)
        contrasts = {hit.start for hit in self.turns if hit.kind == "contrasts"}
        self.clause_starts = [at for at, unit in enumerate(units) if unit in _CLAUSE_ENDS or at in contrasts]
        self.sentence_starts = [at for at, unit in enumerate(units) if unit in _SENTENCE_ENDS]
        self.persons = self._without_echoes(words.persons.find(units))
        self.sorry = any(hit.kind in AMENDS for hit in self.content)

    def read(self, quotes: int) -> Reading:
        findings = [finding for hit in self.content if (finding := self._finding(hit))]
        reported = any(self._is_reported(hit) for hit in self.content)
        return Reading(findings, self.persons, self.turns, 1 + len(self.clause_starts), quotes, reported, self.units)

    def _without_echoes(self, persons: list[Hit]) -> list[Hit]:
        """Leaves out 自己 after somebody in its clause: it is whoever stands before it, not the speaker."""
        return [
            person
            for before, person in zip((None, *persons), persons, strict=False)
            if self.units[person.start : person.end] != _ONESELF or not (before and self._same_clause(before, person))
        ]

    def _finding(self, hit: Hit) -> Finding | None:
        kind = VERBS.get(hit.kind, hit.kind)
        if hit.kind in VERBS and not self._strikes_you(hit):
            return None
        target = self._target(hit)
        state = self._state(hit, kind, target)
        named = target is not None or self._names_you(hit)
        return Finding(kind, self._words(hit), state, bisect_right(self.clause_starts, hit.start), named)

    def _state(self, hit: Hit, kind: str, target: str | None) -> State:
        if self._is_reported(hit) or self._is_mentioned(hit) or self._is_confessed(hit, kind):
            return "away"
        if kind in ("insult", "praise") and not self._is_for_you(hit, target):
            return "away"
        if kind in REPAIRS and (self._is_asked_for(hit) or (kind != "praise" and self._is_for_others(hit))):
            return "away"
        if kind == "apology" and self._is_your_duty(hit):
            return "away"
        if kind in ATTACKS and kind != "insult" and hit.kind not in VERBS and self._is_others_deed(hit):
            return "away"
        return "denied" if self._is_negated(hit) else "aimed"

    def _target(self, hit: Hit) -> str | None:
        """Who is named in the clause: the nearest before the word, else the first after it that is not the speaker."""
        inside = [person for person in self.persons if self._same_clause(person, hit) and not self._undergoes(person)]
        before = [person.kind for person in inside if person.start < hit.start]
        after = [person.kind for person in inside if person.start >= hit.end and person.kind != "self"]
        return next(iter([*before[-1:], *after]), None)

    def _undergoes(self, person: Hit) -> bool:
        """The speaker as an object, "you make me sick", is not whom the words are about."""
        return person.kind == "self" and person.start > 0 and self.units[person.start - 1] in self.words.before_objects

    def _is_for_you(self, hit: Hit, target: str | None) -> bool:
        if target == "pointing" and self._is_addressed(hit):
            return True  # 你刚那个比喻太妙了
        if target is not None:
            return target == "you"
        if self._is_of_a_thing(hit) or self._vents(hit):
            return False
        others = {person.kind for person in self.persons if person.start < hit.start}
        return not others & {"third", "thing"} or "you" in others

    def _is_addressed(self, hit: Hit) -> bool:
        return any(
            person.kind == "you" and person.start < hit.start and self._same_clause(person, hit)
            for person in self.persons
        )

    def _is_of_a_thing(self, hit: Hit) -> bool:
        """Whether some thing is pointed at beside it: "this pan is garbage", 这锅真垃圾, "my stupid kettle"."""
        for at in range(max(0, hit.start - 2 * NEAR), hit.start):
            if self.units[at] in self.words.pointers and self.units[at - 1 : at] not in (["你"], ["您"]):
                named = self.units[hit.end : hit.end + 1] if at + 1 == hit.start else self.units[at + 1 : at + 2]
                if named and named[0].isalpha() and named[0] not in self.words.still_listener:
                    return True
        return False

    def _vents(self, hit: Hit) -> bool:
        """Whether it is let out in anger at no matter whom: 王八蛋，气得我发抖."""
        return any(turn.kind == "venting" and self._same_sentence(turn, hit) for turn in self.turns)

    def _subject(self, hit: Hit) -> str | None:
        before = [person.kind for person in self.persons if person.end <= hit.start and self._same_clause(person, hit)]
        return before[-1] if before else None

    def _is_for_others(self, hit: Hit) -> bool:
        """Thanks, comfort or an apology that somebody else says or gets."""
        if self._is_others_deed(hit):
            return True
        after = [
            person.kind
            for person in self.persons
            if hit.end <= person.start <= hit.end + 2 * NEAR and self._same_clause(person, hit)
        ]
        return after[:1] == ["third"] and not self._names_you(hit)

    def _is_others_deed(self, hit: Hit) -> bool:
        return self._subject(hit) in ("third", "thing") and not self._names_you(hit)

    def _names_you(self, hit: Hit) -> bool:
        """Whether the words themselves say whom they are for: "wasn't your fault"."""
        return any(person.kind == "you" and hit.start <= person.start < hit.end for person in self.persons)

    def _is_asked_for(self, hit: Hit) -> bool:
        """Whether the speaker wishes to hear or get it: "tell me it's okay", "抱抱我"."""
        return any(
            turn.kind == "asking" and turn.start <= hit.start and self._same_clause(turn, hit) for turn in self.turns
        )

    def _is_your_duty(self, hit: Hit) -> bool:
        """你不应该这么正式 blames the listener; sorry is who says it of himself."""
        return any(
            person.kind == "you"
            and person.end == hit.start
            and self.units[person.start - 1 : person.start] not in [[word] for word in self.words.before_objects]
            for person in self.persons
        )

    def _strikes_you(self, hit: Hit) -> bool:
        """Whether the soul is the object of a verb: "delete you", "把你删掉"."""
        objects = [
            person
            for person in self.persons
            if person.kind == "you"
            and self._same_clause(person, hit)
            and (hit.end <= person.start <= hit.end + NEAR - 1 or self._is_taken(person, hit))
        ]
        between = [person for person in self.persons if objects and hit.end <= person.start < objects[0].start]
        return bool(objects) and not between and self._subject(hit) not in ("third", "thing")

    def _is_taken(self, person: Hit, hit: Hit) -> bool:
        """把你…删掉: the object stands before the verb."""
        before = self.units[person.start - 1] if person.start else ""
        return before in ("把", "将", "给") and person.end <= hit.start <= person.end + 2 * NEAR

    def _is_negated(self, hit: Hit) -> bool:
        """Whether a negator stands before it; one inside of another word (没用的饭桶) denies only that."""
        before = (turn for turn in self.turns if turn.end <= hit.start and self._same_clause(turn, hit))
        return any(self._reaches(turn, hit) and not self._is_covered(turn) for turn in before)

    def _reaches(self, turn: Hit, hit: Hit) -> bool:
        """What nobody does may be told many words later: "nobody here is ever going to hurt you"."""
        if turn.kind == "nobody":
            return hit.kind in VERBS or hit.kind == "threat"
        return turn.kind == "negators" and hit.start - NEAR <= turn.end and not self._asks_either(turn)

    def _asks_either(self, turn: Hit) -> bool:
        """蠢不蠢, 丢不丢人: the same on both sides of the negator."""
        return turn.start > 0 and self.units[turn.start - 1] == self.units[turn.end]

    def _is_covered(self, turn: Hit) -> bool:
        return any(hit.start <= turn.start < hit.end for hit in self.content)

    def _is_reported(self, hit: Hit) -> bool:
        """Whether somebody else said it: a third person and a verb of saying stand before it in the sentence."""
        verbs = [
            turn.start
            for turn in self.turns
            if turn.kind == "reporting" and turn.end <= hit.start and self._same_sentence(turn, hit)
        ]
        return any(
            person.kind == "third"
            and person.start < verb
            and bisect_right(self.sentence_starts, person.start) == bisect_right(self.sentence_starts, verb)
            for verb in verbs
            for person in self.persons
        )

    def _is_mentioned(self, hit: Hit) -> bool:
        """Whether it is a title, or a word that is talked about: "play Sorry", "废物是什么意思"."""
        return not any(person.kind == "you" for person in self.persons if person.start < hit.start) and any(
            turn.kind == "mentions" and self._same_sentence(turn, hit) for turn in self.turns
        )

    def _is_confessed(self, hit: Hit, kind: str) -> bool:
        """An attack that the user is sorry to have said: "I called you an idiot"."""
        if not self.sorry or kind not in ATTACKS:
            return False
        told = (
            person
            for person in self.persons
            if person.kind == "you" and person.start <= hit.start and self._same_clause(person, hit)
        )
        return any(
            turn.kind == "reporting" and turn.start < person.start <= turn.end for person in told for turn in self.turns
        )

    def _same_clause(self, one: Hit, other: Hit) -> bool:
        return bisect_right(self.clause_starts, one.start) == bisect_right(self.clause_starts, other.start)

    def _same_sentence(self, one: Hit, other: Hit) -> bool:
        return bisect_right(self.sentence_starts, one.start) == bisect_right(self.sentence_starts, other.start)

    def _words(self, hit: Hit) -> str:
        units = self.units[hit.start : hit.end]
        return (" " if all(unit.isascii() for unit in units) else "").join(units)
