"""The index of one soul: everything said in its sessions, by word and by meaning."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulgraph.memory.meanings import Meanings
from soulgraph.memory.postings import Postings
from soulgraph.memory.ranking import EPISODES, Floats, Signals, Weights, relevance, standing
from soulgraph.memory.words import fingerprint, found_by
from soulgraph.stores.records import Episode

_BY_WORD, _BY_MEANING = 128, 192
"""Candidates that the words and the meaning of a question bring up, before both are weighed for each."""


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates for one question, with the messages around each."""

    message_ids: list[int]
    around: list[tuple[int | None, int | None]]
    signals: Signals


class SoulIndex:
    def __init__(self) -> None:
        self.last_id = 0
        self._row: dict[int, int] = {}
        self._ids = np.zeros(0, np.int64)
        self._before = np.zeros(0, np.int64)
        self._after = np.zeros(0, np.int64)
        self._by_user = np.zeros(0, np.float32)
        self._at = np.zeros(0, np.float64)
        self._embedded = np.zeros(0, bool)
        self._postings = Postings()
        self._meanings: Meanings | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, episodes: Sequence[Episode]) -> None:
        """Rows are in the order in which they are added; those known already are passed over."""
        new = [episode for episode in episodes if episode.message_id not in self._row]
        if not new:
            return
        self._row.update((episode.message_id, len(self) + i) for i, episode in enumerate(new))
        self.last_id = max(self.last_id, new[-1].message_id)
        before = np.array([self._row.get(episode.previous_id or 0, -1) for episode in new], np.int64)
        start = len(self)
        self._ids = np.append(self._ids, [episode.message_id for episode in new])
        self._by_user = np.append(self._by_user, np.array([episode.by_user for episode in new], np.float32))
        self._at = np.append(self._at, [episode.at for episode in new])
        self._before = np.append(self._before, before)
        self._after = np.append(self._after, np.full(len(new), -1))
        self._embedded = np.append(self._embedded, np.zeros(len(new), bool))
        followed = before >= 0
        self._after[before[followed]] = np.arange(start, len(self))[followed]
        self._postings.add([episode.terms for episode in new])

    @property
    def embedded_to(self) -> int:
        """Every message up to this one has its vector."""
        missing = np.flatnonzero(~self._embedded)
        first = int(missing[0]) if len(missing) else len(self)
        return int(self._ids[first - 1]) if first else 0

    def embed(self, vectors: Sequence[tuple[int, bytes]]) -> None:
        known = [(self._row[message_id], vector) for message_id, vector in vectors if message_id in self._row]
        known = [(row, vector) for row, vector in known if not self._embedded[row]]
        if known:
            rows = np.array([row for row, _ in known])
            self._meanings = self._meanings or Meanings(len(known[0][1]) // 2)
            self._meanings.put(rows, [vector for _, vector in known])
            self._embedded[rows] = True

    def search(
        self,
        text: str,
        vector: Floats | None,
        now: float,
        most: int,
        exclude: Collection[int] = (),
        weights: Weights = EPISODES,
    ) -> Found:
        """The best candidates, none beside a better one. How useful each was is not known here."""
        lexical = self._lexical(text, weights.context)
        rows = np.union1d(_most(lexical, _BY_WORD), self._near(vector))
        hidden = [self._row[message_id] for message_id in exclude if message_id in self._row]
        rows = rows[~np.isin(rows, hidden)].astype(np.int64)
        signals = self._signals(rows, lexical[rows], self._dense(vector, rows), now)
        return self._found(rows, signals, most, weights)

    def _lexical(self, text: str, context: float) -> Floats:
        own = self._postings.match([fingerprint(term) for term in found_by(text)])
        return own + np.float32(context) * np.where(self._before >= 0, own[self._before], 0)

    def _near(self, vector: Floats | None) -> NDArray[np.int64]:
        if vector is None or self._meanings is None:
            return np.zeros(0, np.int64)
        return self._meanings.shortlist(vector, self._before, _BY_MEANING)

    def _dense(self, vector: Floats | None, rows: NDArray[np.int64]) -> Floats:
        if vector is None or self._meanings is None:
            return np.zeros(len(rows), np.float32)
        return self._meanings.nearness(vector, rows, self._before)

    def _signals(self, rows: NDArray[np.int64], lexical: Floats, dense: Floats, now: float) -> Signals:
        return Signals(lexical, dense, self._by_user[rows], now - self._at[rows], np.zeros(len(rows), np.float32))

    def _found(self, rows: NDArray[np.int64], signals: Signals, most: int, weights: Weights) -> Found:
        order = np.argsort(-standing(signals, weights), kind="stable")
        order = order[relevance(signals.lexical, signals.dense, weights)[order] >= weights.floor]
        order = order[self._apart(rows[order], most)]
        rows = rows[order]
        around = zip(self._ids_at(self._before[rows]), self._ids_at(self._after[rows]), strict=True)
        return Found([int(message_id) for message_id in self._ids[rows]], list(around), signals.at(order))

    def _apart(self, rows: NDArray[np.int64], most: int) -> list[int]:
        """The places of the first rows that do not come along with one before them already."""
        places: list[int] = []
        shown: set[int] = set()
        for place, row in enumerate(rows.tolist()):
            if len(places) == most:
                break
            if row not in shown:
                places.append(place)
                shown.update((int(self._before[row]), int(self._after[row])))
        return places

    def _ids_at(self, rows: NDArray[np.int64]) -> list[int | None]:
        return [int(self._ids[row]) if row >= 0 else None for row in rows]


def _most(values: Floats, limit: int) -> NDArray[np.int64]:
    """The rows of the greatest values above zero."""
    rows = np.flatnonzero(values)
    if len(rows) > limit:
        rows = rows[np.argpartition(-values[rows], limit)[:limit]]
    return rows
