"""The search index of one soul: every message of its sessions, by BM25 and by vector."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import mul

import numpy as np
from numpy.typing import NDArray

from soulgraph.memory.growable_array import GrowableArray
from soulgraph.memory.inverted_index import InvertedIndex
from soulgraph.memory.ranking import EPISODES, Floats, Weights, is_relevant, relevance, score, top_k
from soulgraph.memory.vector_index import VectorIndex
from soulgraph.stores.records import Episode

_SEEDS = 64
"""Messages taken from the best by BM25, and from the nearest by vector; their neighbours become candidates too."""

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The messages found for one query, the best first."""

    message_ids: list[int]
    neighbours: list[tuple[int | None, int | None]]
    """The ids of the message before and after each; None at the ends of a session."""
    scores: Floats


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

    def search(
        self,
        terms: Sequence[int],
        vector: Floats | None,
        now: float,
        limit: int,
        exclude: Collection[int] = (),
        weights: Weights = EPISODES,
    ) -> Candidates:
        """The best candidates for a query, none of them next to a better one; empty when nothing is relevant.

        Scores leave out the usefulness bonus, because uses are counted in the database and not here.
        """
        match = self._terms.match(terms)
        by_terms = top_k(match.scores, _SEEDS)
        seeds = np.union1d(by_terms, self._nearest_rows(vector)).astype(np.int64)
        rows = self._with_neighbours(seeds)
        compared = self._with_neighbours(rows)  # neighbours need a relevance too, to add to that of the candidates
        cosines = self._cosines(vector, compared)
        similarities = self._similarities(vector, cosines, by_terms)
        if not any(is_relevant(one, match.known_terms, len(self), weights) for one in similarities):
            return Candidates([], [], np.zeros(0, np.float32))
        own = np.zeros(len(self) + 1, np.float32)  # one more row, always 0, for the index -1 of a missing neighbour
        own[compared] = relevance(match.scores[compared], cosines, weights)
        excluded = [self._rows[message_id] for message_id in exclude if message_id in self._rows]
        own[excluded] = 0  # what the prompt shows already must not lift its neighbours either
        of_neighbours = (own[neighbours] for neighbours in self._neighbours(rows))
        relevant = own[rows] + sum(map(mul, weights.neighbours, of_neighbours))
        kept = ~np.isin(rows, excluded)
        return self._ranked(rows[kept], relevant[kept], now, limit, weights)

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

    def _neighbours(self, rows: Rows) -> list[Rows]:
        """The rows before, after, two before and two after each of these; -1 where there is none."""
        before, after = self._before.values[rows], self._after.values[rows]
        two_before = np.where(before >= 0, self._before.values[before], -1)
        two_after = np.where(after >= 0, self._after.values[after], -1)
        return [before, after, two_before, two_after]

    def _with_neighbours(self, rows: Rows) -> Rows:
        every = np.unique(np.concatenate([rows, *self._neighbours(rows)]))
        return every[every >= 0]

    def _ranked(self, rows: Rows, relevant: Floats, now: float, limit: int, weights: Weights) -> Candidates:
        scores = score(relevant, self._by_user.values[rows], now - self._at.values[rows], weights)
        order = np.argsort(-scores, kind="stable")
        order = order[relevant[order] >= max(weights.floor, weights.relative_floor * relevant.max(initial=0))]
        order = order[self._skip_neighbours(rows[order], limit)]
        before, after = self._neighbours(rows[order])[:2]
        neighbours = zip(self._ids_of(before), self._ids_of(after), strict=True)
        return Candidates(self._ids.values[rows[order]].tolist(), list(neighbours), scores[order])

    def _skip_neighbours(self, rows: Rows, limit: int) -> list[int]:
        """The positions of the first rows that are not shown already as the neighbour of an earlier one."""
        positions: list[int] = []
        shown: set[int] = set()
        for position, row in enumerate(rows.tolist()):
            if len(positions) == limit:
                break
            if row not in shown:
                positions.append(position)
                shown.update((int(self._before.values[row]), int(self._after.values[row])))
        return positions

    def _ids_of(self, rows: Rows) -> list[int | None]:
        return [int(self._ids.values[row]) if row >= 0 else None for row in rows]
