r"""Regexes that come from outside: compiled once, and searched for only as long as we can wait.

A backtracking matcher may try every combination of the choices a pattern leaves, so one search gets a few
milliseconds and all the searches of one utterance share a patience. What is not found by then is not there.
"""

import logging
import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from time import thread_time

import regex

REACH = 120  # characters of an utterance a pattern gets to see
MAX_SEARCH_S = 0.005
_BOUNDS_S = (MAX_SEARCH_S, 10 * MAX_SEARCH_S, 100 * MAX_SEARCH_S)
MAX_COPIES = 10_000  # a counted repeat is written out when it is compiled

# Back references, names, flags and verbs mean something else, or something more, beside other patterns.
_OF_ITS_OWN = regex.compile(r"\\[1-9gGkK]|\(\?(?![:=!]|<[=!])|\(\*")
_COUNT = regex.compile(r"\{(\d+)")
_VERBOSE = regex.compile(r"\(\?[\w-]*x")

_log = logging.getLogger(__name__)


class UnsafePattern(ValueError):
    """A pattern that does not compile, or would take too much time or memory to."""


@lru_cache(maxsize=4096)
def compiled(source: str) -> regex.Pattern[str]:
    if _VERBOSE.search(source):
        raise UnsafePattern("is verbose, which is not supported")
    if math.prod(int(count) or 1 for count in _COUNT.findall(source)) > MAX_COPIES:
        raise UnsafePattern(f"repeats too much: its counts multiply to more than {MAX_COPIES}")
    try:
        return _read(source)
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        raise UnsafePattern(f"does not compile ({error})") from error


def refuse_explosive(source: str) -> None:
    """Try a stranger's pattern on texts made of its own letters, before it is kept."""
    pattern, start = compiled(source), thread_time()
    for text in _provocations(source):
        with suppress(TimeoutError):  # what counts is the time of this thread, which the engine does not know
            pattern.search(text, timeout=MAX_SEARCH_S)
        if thread_time() - start >= MAX_SEARCH_S:
            raise UnsafePattern("takes too long to search for: leave it fewer ways to match")


def _provocations(source: str) -> list[str]:
    """Long texts that nearly match: what repeats is there often, and what must follow is missing or comes too late."""
    letters = "".join(dict.fromkeys(letter for letter in source if letter.isalnum()))[:8]
    runs = dict.fromkeys([*"a0 ", letters or "a", *letters, *map("".join, pairwise(letters))])
    return [(run * REACH)[:REACH] + end for run in runs for end in ("\x01", "\x01" + letters)]


class Sieve:
    """Tells at once that none of many patterns is in a text, as in most texts none is."""

    def __init__(self, sources: Iterable[str]) -> None:
        self._any = _joined(tuple(sources))

    def passes(self, text: str) -> bool:
        """Whether one of them may be found; where that cannot be told in time, it may."""
        try:
            return self._any is None or self._any.search(text[:REACH], timeout=MAX_SEARCH_S) is not None
        except TimeoutError:
            return True


@dataclass
class RegexBudget:
    """The seconds that the searches of one utterance may still take together, and how far into it they see."""

    left: float = 0.05
    reach: int = REACH

    def search(self, source: str, text: str) -> regex.Match[str] | None:
        """The first match within reach; none when it takes too long, or when those before it did."""
        pattern, start = compiled(source), thread_time()
        for bound in _BOUNDS_S if self.left > 0 else ():
            try:
                return pattern.search(text[: self.reach], timeout=bound)
            except TimeoutError:
                # The engine's clock runs for the whole process: it may be another thread's time that is up.
                if thread_time() - start >= MAX_SEARCH_S / 2:
                    return _given_up(source)
            finally:
                self.left -= thread_time() - start
        return None


@lru_cache(maxsize=256)
def _joined(sources: tuple[str, ...]) -> regex.Pattern[str] | None:
    """One pattern that is found where any of these is, if they can be read side by side."""
    if any(map(_OF_ITS_OWN.search, sources)):
        return None
    return _read("|".join(f"(?:{source})" for source in sources))


def _read(source: str) -> regex.Pattern[str]:
    return regex.compile(source, regex.IGNORECASE | regex.VERSION0)


@lru_cache(maxsize=1024)
def _given_up(source: str) -> None:
    """Cached, so that each pattern is reported once."""
    _log.warning("the pattern %s takes too long to search for and counts as not matching", source)
