"""What is known about each candidate for a question: the features by which messages are ranked.

Words are looked for in the message itself and around it, because a talk does not repeat its topic in every line;
meaning counts for more where words find little.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulgraph.memory.inverted_index import Match, Postings
from soulgraph.memory.ranking import Floats
from soulgraph.senses.question import Question, Span

Rows = NDArray[np.int64]

_NEAR = (0.6, 0.4, 0.3, 0.2)  # what a term counts that stands before, after, two before or two after the message
_MAX_TF = 2.2
_AROUND = 5  # messages before and after in which the topic may have been named
_BEST = 5  # messages by which it is judged how much the words find
_DAY_S = 86_400.0
_DAYS_AWAY = 7.0
_USUAL_CONCEPTS = 6.0
_MIN_CALLS = 4  # messages in which a name must occur to show whose it is
_ONE_SIDED = 0.85  # the share of them that one of the two said


class Features(NamedTuple):
    """One value for each candidate."""

    words: Floats
    """BM25 of the question's words."""
    words_beside: Floats
    """The share of the words that the message and its two neighbours have."""
    words_near: Floats
    """The same within two messages."""
    words_fading: Floats
    """The same, less for those that are further away, more for those that are repeated."""
    topic: Floats
    """The best BM25 of the message and those around it."""
    concepts: Floats
    meaning: Floats
    meaning_before: Floats
    wordless_meaning: Floats
    """Meaning, where the words find little: in another language, or in other words."""
    wordless_meaning_near: Floats
    speaker: Floats
    """1 if it was said by whom the question is about, -1 by the other."""
    size: Floats
    asks: Floats
    dated: Floats
    """Whether it names a time, if the question asks for one."""
    day: Floats
    """How near it was said to the days that the question names."""
    recent: Floats


@dataclass(frozen=True, slots=True)
class Lines:
    """What an index knows of its messages, by row, and the rows around each; -1 stands for no row."""

    by_user: NDArray[np.bool_]
    at: Floats
    size: Floats
    asks: NDArray[np.bool_]
    dated: NDArray[np.bool_]
    before: Rows
    after: Rows

    def around(self, rows: Rows, distance: int) -> list[Rows]:
        """The rows before, after, two before, two after, and so on."""
        found = []
        before, after = rows, rows
        for _ in range(distance):
            before = _step(self.before, before)
            after = _step(self.after, after)
            found += [before, after]
        return found


def features_of(
    lines: Lines,
    question: Question,
    rows: Rows,
    match: Match,
    concepts: Match,
    cosines: Floats,
    about: float,
    now: float,
) -> Features:
    """The features of the candidates in `rows`.

    `concepts` has its idf undivided: one concept that is shared says less than three. `cosines` are by row of the whole
    index and one more for no row, 0 where they were not computed.
    """
    words = np.append(match.scores(), np.float32(0))
    near = lines.around(rows, 2)
    beside, within, fading = _shares(match, [rows, *near], len(words))
    meaning = np.maximum(cosines, 0)
    meaning_near = sum((meaning[one] * weight for one, weight in zip(near, _NEAR, strict=True)), np.zeros(len(rows)))
    best = np.partition(words, -_BEST)[-_BEST:] if len(words) > _BEST else words
    wordless = 1 - min(1.0, float(best.mean()))
    speaker = np.where(lines.by_user[rows], 1, -1) * about
    return Features(
        words=words[rows],
        words_beside=beside,
        words_near=within,
        words_fading=fading,
        topic=np.maximum.reduce([words[one] for one in (rows, *lines.around(rows, _AROUND))]),
        concepts=concepts.scores()[rows] / _USUAL_CONCEPTS,
        meaning=cosines[rows],
        meaning_before=cosines[near[0]],
        wordless_meaning=wordless * cosines[rows],
        wordless_meaning_near=wordless * meaning_near,
        speaker=speaker,
        size=np.log1p(lines.size[rows]) / 5,
        asks=lines.asks[rows].astype(np.float32),
        dated=lines.dated[rows] * np.float32(question.when),
        day=_nearness(question.spans, lines.at[rows]),
        recent=np.exp2(-np.maximum(now - lines.at[rows], 0) / (30 * _DAY_S)),
    )


def speaker_named(
    question: Question, postings: Mapping[int, Postings], by_user: NDArray[np.bool_]
) -> tuple[set[int], float]:
    """The terms of the question that name one of the two who talk, and whom: 1 the user, -1 the soul.

    People say the name of the one they talk to: a name that nearly only one of them says is that of the other.
    """
    found: dict[int, float] = {}
    for term in question.terms:
        if term in question.names and len(postings[term].rows) >= _MIN_CALLS:
            share = float(by_user[postings[term].rows].mean())
            if share >= _ONE_SIDED or share <= 1 - _ONE_SIDED:
                found[term] = -1.0 if share >= _ONE_SIDED else 1.0
    whom = {*found.values()}
    return {*found}, whom.pop() if len(whom) == 1 else 0.0 if whom else question.about


def _step(links: Rows, rows: Rows) -> Rows:
    return np.where(rows >= 0, links[rows], -1)


def _shares(match: Match, hops: Sequence[Rows], size: int) -> tuple[Floats, Floats, Floats]:
    """How much of the question's idf is found in the message and its neighbours, in three ways."""
    columns = np.unique(np.concatenate(hops))
    columns = columns[columns >= 0]
    position = np.full(size, len(columns))
    position[columns] = np.arange(len(columns))
    places = [position[hop] for hop in hops]
    beside, within, fading = (np.zeros(len(hops[0]), np.float32) for _ in range(3))
    weights = np.zeros(len(columns) + 1, np.float32)
    for term in match.postings:
        if not len(term.rows):
            continue
        weights[:] = 0
        weights[position[term.rows]] = term.weights
        weights[-1] = 0  # of no row, and of all that are not compared
        here = [weights[place] for place in places]
        beside += term.idf * (np.maximum.reduce(here[:3]) > 0)
        within += term.idf * (np.maximum.reduce(here) > 0)
        faded = [np.minimum(one, _MAX_TF) * weight for one, weight in zip(here, (1.0, *_NEAR), strict=True)]
        fading += term.idf * np.maximum.reduce(faded)
    return beside, within, fading


def _nearness(spans: Sequence[Span], at: Floats) -> Floats:
    if not spans:
        return np.zeros(len(at), np.float32)
    outside = [np.maximum.reduce([begins - at, at - ends, np.zeros(len(at))]) for begins, ends in spans]
    nearness: Floats = np.exp(-np.minimum.reduce(outside) / _DAY_S / _DAYS_AWAY)
    return nearness.astype(np.float32)
