"""The index of one soul: everything said in its sessions, by word and by meaning."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import mul

import numpy as np
from numpy.typing import NDArray

from soulgraph.memory.growable_array import Column
from soulgraph.memory.inverted_index import InvertedIndex
from soulgraph.memory.ranking import EPISODES, Floats, Weights, is_relevant, relevance, standing, top_k
from soulgraph.memory.vector_index import VectorIndex
from soulgraph.stores.records import Episode

_SEEDS = 64
"""Messages that the words of a question bring up, and its meaning; each brings those around it."""

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates for one question, the best first, with how high each stands and the messages around it."""

    message_ids: list[int]
    around: list[tuple[int | None, int | None]]
    standing: Floats


class SoulIndex:
    """Rows are in the order in which messages were added, whatever their ids; -1 is no row."""

    def __init__(self) -> None:
        self.last_id = 0
        self._row: dict[int, int] = {}
        self._followers: dict[int, int] = {}  # rows whose message before them is not here yet, by its id
        self._bare: set[int] = set()  # messages without a vector
        self._ids = Column(np.int64)
        self._before = Column(np.int64)
        self._after = Column(np.int64)
        self._by_user = Column(bool)
        self._at = Column(np.float64)
        self._postings = InvertedIndex()
        self._meanings: VectorIndex | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, episodes: Sequence[Episode]) -> None:
        """Those known already are passed over; what they mean is not."""
        new = [episode for episode in episodes if episode.message_id not in self._row]
        if new:
            start, ids = len(self), [episode.message_id for episode in new]
            self._row.update(zip(ids, range(start, start + len(new)), strict=True))
            self._bare.update(ids)
            self.last_id = max(self.last_id, *ids)
            self._ids.extend(ids)
            self._by_user.extend([episode.by_user for episode in new])
            self._at.extend([episode.at for episode in new])
            self._before.extend(np.full(len(new), -1))
            self._after.extend(np.full(len(new), -1))
            self._link(new, start)
            self._postings.add([episode.terms for episode in new])
        self.embed([(episode.message_id, episode.vector) for episode in episodes if episode.vector])

    def _link(self, new: Sequence[Episode], start: int) -> None:
        """Each to the message before it, whichever of the two came first."""
        pairs = []
        for row, episode in enumerate(new, start):
            if episode.message_id in self._followers:
                pairs.append((row, self._followers.pop(episode.message_id)))
            if episode.previous_id in self._row:
                pairs.append((self._row[episode.previous_id], row))
            elif episode.previous_id is not None:
                self._followers[episode.previous_id] = row
        earlier, later = np.array(pairs, np.int64).reshape(-1, 2).T
        self._after.values[earlier], self._before.values[later] = later, earlier

    @property
    def embedded_to(self) -> int:
        """Every message up to this one has its vector."""
        return min(self._bare) - 1 if self._bare else self.last_id

    def embed(self, vectors: Sequence[tuple[int, bytes]]) -> None:
        new = [(self._row[message_id], vector) for message_id, vector in vectors if message_id in self._bare]
        if new:
            rows = np.array([row for row, _ in new])
            self._meanings = self._meanings or VectorIndex(len(new[0][1]) // 2)
            self._meanings.put(rows, [vector for _, vector in new], self._by_user.values[rows])
            self._bare.difference_update(self._ids.values[rows].tolist())

    def search(
        self,
        asked: Sequence[int],
        vector: Floats | None,
        now: float,
        most: int,
        exclude: Collection[int] = (),
        weights: Weights = EPISODES,
    ) -> Found:
        """The best candidates for these terms, none beside a better one. How useful each was is not known here."""
        match = self._postings.match(asked)
        seeds = np.union1d(top_k(match.shares, _SEEDS), self._near(vector)).astype(np.int64)
        rows = self._with_those_around(seeds)
        reach = self._with_those_around(rows)
        dense = self._dense(vector, reach)
        if not is_relevant(self._nearest(vector, dense), match.familiar, len(self), weights):
            return Found([], [], np.zeros(0, np.float32))
        own = np.zeros(len(self) + 1, np.float32)  # the last is what -1 points to
        own[reach] = relevance(match.shares[reach], dense, weights)
        hidden = [self._row[message_id] for message_id in exclude if message_id in self._row]
        own[hidden] = 0
        relevant = own[rows] + sum(map(mul, weights.around, (own[beside] for beside in self._around(rows))))
        seen = ~np.isin(rows, hidden)
        return self._found(rows[seen], relevant[seen], now, most, weights)

    def _near(self, vector: Floats | None) -> Rows:
        if vector is None or self._meanings is None:
            return np.zeros(0, np.int64)
        return self._meanings.shortlist(vector, _SEEDS)

    def _dense(self, vector: Floats | None, rows: Rows) -> Floats:
        if vector is None or self._meanings is None:
            return np.zeros(len(rows), np.float32)
        return self._meanings.nearness(vector, rows)

    def _nearest(self, vector: Floats | None, dense: Floats) -> float | None:
        return None if vector is None or self._meanings is None else float(dense.max(initial=0))

    def _around(self, rows: Rows) -> list[Rows]:
        """The rows before, after, two before and two after each of these."""
        before, after = self._before.values[rows], self._after.values[rows]
        earlier = np.where(before >= 0, self._before.values[before], -1)
        later = np.where(after >= 0, self._after.values[after], -1)
        return [before, after, earlier, later]

    def _with_those_around(self, rows: Rows) -> Rows:
        every = np.unique(np.concatenate([rows, *self._around(rows)]))
        return every[every >= 0]

    def _found(self, rows: Rows, relevant: Floats, now: float, most: int, weights: Weights) -> Found:
        heights = standing(relevant, self._by_user.values[rows], now - self._at.values[rows], weights)
        order = np.argsort(-heights, kind="stable")
        order = order[relevant[order] >= max(weights.floor, weights.relative_floor * relevant.max(initial=0))]
        order = order[self._apart(rows[order], most)]
        before, after = self._around(rows[order])[:2]
        around = zip(self._ids_at(before), self._ids_at(after), strict=True)
        return Found(self._ids.values[rows[order]].tolist(), list(around), heights[order])

    def _apart(self, rows: Rows, most: int) -> list[int]:
        """The places of the first rows that do not come along with one before them already."""
        places: list[int] = []
        shown: set[int] = set()
        for place, row in enumerate(rows.tolist()):
            if len(places) == most:
                break
            if row not in shown:
                places.append(place)
                shown.update((int(self._before.values[row]), int(self._after.values[row])))
        return places

    def _ids_at(self, rows: Rows) -> list[int | None]:
        return [int(self._ids.values[row]) if row >= 0 else None for row in rows]
