"""Reads Chinese as common words, and finds what is none."""

from collections.abc import Iterator

from soulgraph.soul.name_words import IsCommon

_MAX_WORD = 4
_UNREADABLE = 2.5  # what a character that belongs to no common word costs; a word costs 1


def rare_pairs(run: str, is_common: IsCommon) -> Iterator[str]:
    """The pairs of neighbouring characters of which one belongs to no common word."""
    rare = _rare_places(run, is_common)
    yield from (run[at : at + 2] for at in range(len(run) - 1) if at in rare or at + 1 in rare)


def _rare_places(run: str, is_common: IsCommon) -> set[int]:
    """Where a run of characters is not made of common words, in the reading that has the fewest such places."""
    words = reading(run, is_common)[1]
    return {at for at, length in words if length == 1 and not is_common(run[at])}


def reading(run: str, is_common: IsCommon) -> tuple[float, list[tuple[int, int]]]:
    """The cheapest way to read the run as common words: its cost, and each word's place and length."""
    costs: list[float] = [0.0]
    lengths = [0]
    for end in range(1, len(run) + 1):
        best = costs[end - 1] + (1.0 if is_common(run[end - 1]) else _UNREADABLE)
        length = 1
        for size in range(2, min(_MAX_WORD, end) + 1):
            if is_common(run[end - size : end]) and costs[end - size] + 1 < best:
                best = costs[end - size] + 1
                length = size
        costs.append(best)
        lengths.append(length)
    words = []
    end = len(run)
    while end:
        words.append((end - lengths[end], lengths[end]))
        end -= lengths[end]
    return costs[-1], words
