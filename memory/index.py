"""The search index of one soul: every message of its sessions, by BM25 and by vector."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulgraph.memory.doubt import DOUBT
from soulgraph.memory.features import Features, Lines, features_of, speaker_named
from soulgraph.memory.growable_array import GrowableArray
from soulgraph.memory.inverted_index import InvertedIndex, Match
from soulgraph.memory.ranking import EPISODES, Floats, is_relevant, top_k
from soulgraph.memory.source import Query
from soulgraph.memory.spreading import RANKING, Ranking, spread
from soulgraph.memory.vector_index import VectorIndex
from soulgraph.senses.question import Question
from soulgraph.stores.records import Episode

_SEEDS = 64
"""Messages taken from the best by BM25, and from the nearest by vector; their neighbours become candidates too."""

_MIN_MEANING = 0.001  # the cosine from which a message has to do with a question

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The messages found for one query, the best first."""

    message_ids: list[int]
    around: list[list[int]]
    """The ids of the lines that are shown with each: up to two of those within two messages of it."""
    scores: Floats
    doubtful: bool = False
    """Whether the question names one of the two, and what was found is probably not about them."""


class SoulIndex:
    """Rows are in the order in which messages were added, whatever their ids; row -1 stands for no row."""

    def __init__(self) -> None:
        self.last_id = 0
        self._rows: dict[int, int] = {}
        self._awaiting_previous: dict[int, int] = {}  # by the id of a message not added yet: the row that follows it
        self._without_vector: set[int] = set()
        self._ids = GrowableArray(np.int64)
        self._before = GrowableArray(np.int64)
        self._after = GrowableArray(np.int64)
        self._by_user = GrowableArray(bool)
        self._at = GrowableArray(np.float64)
        self._size = GrowableArray(np.int32)
        self._asks = GrowableArray(bool)
        self._dated = GrowableArray(bool)
        self._terms = InvertedIndex()
        self._vectors: VectorIndex | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, episodes: Sequence[Episode]) -> None:
        """Add the messages that are new. Vectors are taken from all of them: a known message may have got one since."""
        new = [episode for episode in episodes if episode.message_id not in self._rows]
        if new:
            start = len(self)
            ids = [episode.message_id for episode in new]
            self._rows.update(zip(ids, range(start, start + len(new)), strict=True))
            self._without_vector.update(ids)
            self.last_id = max(self.last_id, *ids)
            self._ids.extend(ids)
            self._by_user.extend([episode.by_user for episode in new])
            self._at.extend([episode.at for episode in new])
            self._size.extend([episode.size for episode in new])
            self._asks.extend([episode.asks for episode in new])
            self._dated.extend([episode.dated for episode in new])
            self._before.extend(np.full(len(new), -1))
            self._after.extend(np.full(len(new), -1))
            self._link(new, start)
            self._terms.add([episode.terms for episode in new])
        self.add_vectors([(episode.message_id, episode.vector) for episode in episodes if episode.vector])

    def _link(self, new: Sequence[Episode], start: int) -> None:
        """Link each message with the one before it in its session, whichever of the two was added first."""
        pairs = []
        # Old messages are read newest first, so the message before is often added later.
        for row, episode in enumerate(new, start):
            if episode.message_id in self._awaiting_previous:
                pairs.append((row, self._awaiting_previous.pop(episode.message_id)))
            if episode.previous_id in self._rows:
                pairs.append((self._rows[episode.previous_id], row))
            elif episode.previous_id is not None:
                self._awaiting_previous[episode.previous_id] = row
        earlier, later = np.array(pairs, np.int64).reshape(-1, 2).T
        self._after.values[earlier] = later
        self._before.values[later] = earlier

    @property
    def embedded_to(self) -> int:
        """Every message up to this id has its vector."""
        return min(self._without_vector) - 1 if self._without_vector else self.last_id

    def add_vectors(self, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Give messages their vectors, by id. Unknown messages and those that have one already are skipped."""
        new = [(self._rows[message_id], vector) for message_id, vector in vectors if message_id in self._without_vector]
        if new:
            rows = np.array([row for row, _ in new])
            # The model's dimension is known from its first vector: two bytes for each value.
            self._vectors = self._vectors or VectorIndex(len(new[0][1]) // 2)
            self._vectors.put(rows, [vector for _, vector in new], self._by_user.values[rows])
            self._without_vector.difference_update(self._ids.values[rows].tolist())

    def search(self, query: Query, question: Question, limit: int, ranking: Ranking = RANKING) -> Candidates:
        """The best candidates for a query, each with lines from around it; empty when nothing is relevant.

        Scores leave out the usefulness bonus, because uses are counted in the database and not here.
        """
        found = self.candidates(query, question)
        if found is None:
            return Candidates([], [], np.zeros(0, np.float32))
        rows, features, names_speaker = found
        scores = np.full(len(self) + 1, -np.inf)
        scores[rows] = ranking.scores(features)
        scores[[self._rows[one] for one in query.exclude if one in self._rows]] = -np.inf
        speaks = np.zeros(len(self), bool)
        speaks[rows] = (features.words > 0) | (features.concepts > 0) | (features.meaning >= _MIN_MEANING)
        chosen = spread(scores, speaks, self._lines, limit, ranking)
        ids = self._ids_of([one.row for one in chosen])
        around = [self._ids_of(one.around) for one in chosen]
        scores = np.array([one.score for one in chosen], np.float32)
        return Candidates(ids, around, scores, names_speaker and DOUBT.doubts(features))

    def candidates(self, query: Query, question: Question) -> tuple[Rows, Features, bool] | None:
        """The rows that may answer, their features, and whether the question names one of the two who talk.

        None when the query is about nothing in the index.
        """
        postings = self._terms.postings((*question.terms, *question.concepts))
        names, about = speaker_named(question, postings, self._by_user.values)
        match = self._terms.match(postings[term] for term in question.terms if term not in names)
        concepts = Match([postings[term] for term in question.concepts], len(self))
        by_terms = np.union1d(top_k(match.scores(), _SEEDS), top_k(concepts.scores(), _SEEDS))
        seeds = np.union1d(by_terms, self._nearest_rows(query.vector)).astype(np.int64)
        rows = self._with_neighbours(seeds)
        compared = self._with_neighbours(rows)  # neighbours need a meaning too, to add to that of the candidates
        cosines = np.zeros(len(self) + 1, np.float32)  # one more row, always 0, for the index -1 of a missing neighbour
        cosines[compared] = self._cosines(query.vector, compared)
        similarities = self._similarities(query.vector, cosines, by_terms)
        known_terms = self._terms.match(postings.values()).known_terms
        if not any(is_relevant(one, known_terms, len(self), EPISODES) for one in similarities):
            return None
        features = features_of(self._lines, question, rows, match, concepts, cosines, about, query.now)
        return rows, features, bool(names)

    def _nearest_rows(self, vector: Floats | None) -> Rows:
        if vector is None or self._vectors is None:
            return np.zeros(0, np.int64)
        return self._vectors.shortlist(vector, _SEEDS)

    def _cosines(self, vector: Floats | None, rows: Rows) -> Floats:
        if vector is None or self._vectors is None:
            return np.zeros(len(rows), np.float32)
        return self._vectors.cosines(vector, rows)

    def _similarities(self, vector: Floats | None, cosines: Floats, by_terms: Rows) -> list[float | None]:
        """The best cosine. None stands for texts whose meaning cannot be compared: only their terms speak for them."""
        if vector is None or self._vectors is None:
            return [None]
        best = float(cosines.max(initial=0))
        waiting = not self._without_vector.isdisjoint(self._ids.values[by_terms].tolist())
        return [best, None] if waiting else [best]

    @property
    def _lines(self) -> Lines:
        columns = (self._by_user, self._at, self._size, self._asks, self._dated, self._before, self._after)
        return Lines(*(column.values for column in columns))

    def _with_neighbours(self, rows: Rows) -> Rows:
        present = np.zeros(len(self) + 1, bool)  # one more row, for the index -1 of a missing neighbour
        for some in (rows, *self._lines.around(rows, 2)):
            present[some] = True
        return np.flatnonzero(present[:-1])

    def _ids_of(self, rows: Sequence[int]) -> list[int]:
        return self._ids.values[list(rows)].tolist() if rows else []
