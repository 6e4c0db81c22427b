"""The pieces of words that the built-in encoder knows, read as texts need them.

As one table of all their beginnings, which is what its tokenizer makes of them, they take 40 MB and most of a second.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[np.generic]]

PIECE_ARRAYS = "piece_text", "piece_ids", "piece_bounds", "piece_longest", "piece_heads"

_HEAD = 3
_SEPARATOR = "\n"  # of pieces and of heads: no piece has it, because the tokenizer makes spaces of line ends


class Pieces:
    """Stands in for the tokenizer's table: `get` says the id of a piece plus one, 0 for the beginning of a piece, or
    None for neither.

    Pieces are in groups by their heads, the first three characters; a group is read when a text has its head.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._text = arrays["piece_text"].tobytes()
        self._ids = arrays["piece_ids"]
        self._bounds = arrays["piece_bounds"]
        heads = arrays["piece_heads"].tobytes().decode().split(_SEPARATOR)
        self._unread = {head: number for number, head in enumerate(heads)}
        self.longest = int(arrays["piece_longest"])
        self._known: dict[str, int] = {head[:length]: 0 for head in heads for length in range(1, _HEAD)}
        for head in heads:
            if len(head) < _HEAD:
                self._read(head)

    def get(self, prefix: str) -> int | None:
        known = self._known.get(prefix)
        if known is None and prefix[:_HEAD] in self._unread:
            self._read(prefix[:_HEAD])
            known = self._known.get(prefix)
        return known

    def _read(self, head: str) -> None:
        number = self._unread[head]
        (begin, first), (end, last) = self._bounds[number : number + 2].tolist()
        pieces = self._text[begin : end - 1].decode().split(_SEPARATOR)
        for piece, piece_id in zip(pieces, self._ids[first:last].tolist(), strict=True):
            for length in range(_HEAD, len(piece)):
                self._known.setdefault(piece[:length], 0)
            self._known[piece] = piece_id + 1
        self._unread.pop(head, None)  # last, so that no other thread looks for what is not there yet


def pack_pieces(pieces: Sequence[str]) -> dict[str, NDArray[np.generic]]:
    """The arrays that `Pieces` reads."""
    ids = sorted(range(len(pieces)), key=pieces.__getitem__)
    groups = {head: [*group] for head, group in groupby(ids, lambda piece_id: pieces[piece_id][:_HEAD])}
    texts = [_SEPARATOR.join([*map(pieces.__getitem__, group), ""]).encode() for group in groups.values()]
    sizes = [(0, 0), *((len(text), len(group)) for text, group in zip(texts, groups.values(), strict=True))]
    return {
        "piece_text": np.frombuffer(b"".join(texts), np.uint8),
        "piece_ids": np.array(ids, np.int32),
        "piece_bounds": np.cumsum(sizes, axis=0, dtype=np.int32),
        "piece_longest": np.array(max(map(len, pieces))),
        "piece_heads": np.frombuffer(_SEPARATOR.join(groups).encode(), np.uint8),
    }
