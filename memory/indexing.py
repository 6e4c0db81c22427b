"""Computes the vectors of messages that have none: outside the turn, a batch at a time."""

from soulgraph.memory.ranking import Floats
from soulgraph.senses.ports import Embedder
from soulgraph.stores.records import EpisodeVector
from soulgraph.stores.stores import Stores

_LOOK_BACK = 1000  # ids looked at again, because a message may be committed after one with a later id
_WINDOW = 5000  # ids searched at once for messages without a vector


class Indexing:
    def __init__(self, stores: Stores, embedder: Embedder) -> None:
        self._stores = stores
        self._embedder = embedder
        self._indexed_to = 0
        self._corrected: set[int] = set()  # messages that were corrected while `index` computed vectors

    def revisit(self, message_id: int) -> None:
        """To be called when a message was corrected, and has lost its vector."""
        self._corrected.add(message_id)
        self._indexed_to = min(self._indexed_to, message_id - 1)

    async def index(self, limit: int) -> int:
        """Compute up to `limit` vectors; returns how many, 0 when none is missing."""
        self._corrected.clear()
        start = self._indexed_to
        async with self._stores.read() as tx:
            last = await tx.vectors.last_message()
            missing = await tx.vectors.missing(self._embedder.name, start, start + _WINDOW, limit)
        if not missing and self._corrected:  # in what was just searched, perhaps
            return await self.index(limit)
        if not missing:
            self._indexed_to = max(0, min(start + _WINDOW, last - _LOOK_BACK))
            return await self.index(limit) if self._indexed_to + _WINDOW < last else 0
        vectors = await self._embedder.embed([content for _, _, content in missing])
        indexed = [pair for pair in zip(missing, vectors, strict=True) if pair[0][0] not in self._corrected]
        rows = [self._vector_row(message, vector) for message, vector in indexed]
        async with self._stores.write() as tx:
            await tx.vectors.put(rows)
        if not self._corrected:
            # Up to here all have theirs: after an import of many messages the next batch is found at once.
            self._indexed_to = max(start, min(missing[-1][0] - 1, last - _LOOK_BACK))
        return len(missing)

    def _vector_row(self, message: tuple[int, str, str], vector: Floats) -> EpisodeVector:
        return EpisodeVector(message[0], message[1], self._embedder.name, vector.astype("<f2").tobytes())
