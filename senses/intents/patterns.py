r"""Regexes from outside: compiled once, and searched with a time limit.

A backtracking matcher may take exponential time, so one search gets a few milliseconds, and all searches for one
utterance share a budget, however many patterns a catalog has. A search that runs out of time counts as no match.
"""

import logging
import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from time import thread_time
from weakref import WeakValueDictionary

import regex

REACH = 120  # characters of an utterance in which patterns are searched
MAX_SEARCH_S = 0.005
_TIMEOUTS_S = (MAX_SEARCH_S, 10 * MAX_SEARCH_S, 100 * MAX_SEARCH_S)
MAX_COPIES = 10_000  # a counted repeat is written out when it is compiled

# Back references, group names, flags and verbs would change their meaning inside an alternation.
_NOT_JOINABLE = regex.compile(r"\\[1-9gGkK]|\(\?(?![:=!]|<[=!])|\(\*")
_COUNT = regex.compile(r"\{(\d+)")
_VERBOSE = regex.compile(r"\(\?[\w-]*x")

_in_use: WeakValueDictionary[str, regex.Pattern[str]] = WeakValueDictionary()
"""Whoever holds on to a compiled pattern, as a compiled catalog does, keeps it from being compiled again."""

_log = logging.getLogger(__name__)


class UnsafePattern(ValueError):
    """A pattern that does not compile, or takes too much time or memory."""


@lru_cache(maxsize=4096)
def compiled(source: str) -> regex.Pattern[str]:
    if _VERBOSE.search(source):
        raise UnsafePattern("is verbose, which is not supported")
    if math.prod(int(count) or 1 for count in _COUNT.findall(source)) > MAX_COPIES:
        raise UnsafePattern(f"repeats too much: its counts multiply to more than {MAX_COPIES}")
    if pattern := _in_use.get(source):
        return pattern
    try:
        return _in_use.setdefault(source, _compile(source))
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        raise UnsafePattern(f"does not compile ({error})") from error


def refuse_slow_pattern(source: str) -> None:
    """Raises UnsafePattern for a pattern that is slow on hostile texts made of its own letters."""
    pattern = compiled(source)
    start = thread_time()
    for text in _hostile_texts(source):
        with suppress(TimeoutError):  # its clock is that of the process; the time of this thread decides below
            pattern.search(text, timeout=MAX_SEARCH_S)
        if thread_time() - start >= MAX_SEARCH_S:
            raise UnsafePattern("takes too long to search for: leave it fewer ways to match")


def _hostile_texts(source: str) -> list[str]:
    """Long texts that nearly match: many repetitions of the pattern's letters, followed by one that cannot match."""
    letters = "".join(dict.fromkeys(letter for letter in source if letter.isalnum()))[:8]
    runs = dict.fromkeys([*"a0 ", letters or "a", *letters, *map("".join, pairwise(letters))])
    return [(run * REACH)[:REACH] + end for run in runs for end in ("\x01", "\x01" + letters)]


@dataclass
class RegexBudget:
    """The seconds that the searches for one utterance may still take, and the characters they are searched in."""

    left: float = 0.05
    reach: int = REACH

    def search(self, source: str, text: str) -> regex.Match[str] | None:
        """The first match in the first `reach` characters; None when it takes too long or the budget is used up."""
        if self.left <= 0:
            return None
        pattern = compiled(source)
        start = thread_time()
        for bound in _TIMEOUTS_S:
            try:
                return pattern.search(text[: self.reach], timeout=bound)
            except TimeoutError:
                # The engine's clock runs for the whole process: it may be another thread's time that is up.
                if thread_time() - start >= MAX_SEARCH_S / 2:
                    return _warn_once(source)
            finally:
                self.left -= thread_time() - start
        return None

    def may_match(self, pattern: regex.Pattern[str], text: str) -> bool:
        """Whether a pattern matches; True also when that cannot be told in time."""
        if self.left <= 0:
            return True
        start = thread_time()
        try:
            return pattern.search(text[: self.reach], timeout=MAX_SEARCH_S) is not None
        except TimeoutError:
            return True
        finally:
            self.left -= thread_time() - start


class PatternPrefilter:
    """Rules out many patterns with one search: most texts match none of them."""

    def __init__(self, sources: Iterable[str]) -> None:
        self._any = _alternation(tuple(sources))

    def passes(self, text: str, budget: RegexBudget | None = None) -> bool:
        """Whether one of the patterns may match; `budget` is that of the utterance."""
        return self._any is None or (budget or RegexBudget()).may_match(self._any, text)


def _alternation(sources: tuple[str, ...]) -> regex.Pattern[str] | None:
    """One pattern that matches where any of these does; None if they cannot be joined."""
    if any(map(_NOT_JOINABLE.search, sources)):
        return None
    return _compile("|".join(f"(?:{source})" for source in sources))


def _compile(source: str) -> regex.Pattern[str]:
    return regex.compile(source, regex.IGNORECASE | regex.VERSION0)


@lru_cache(maxsize=1024)
def _warn_once(source: str) -> None:
    """Logs a pattern that timed out; cached, so that each is logged once."""
    _log.warning("the pattern %s takes too long to search for and counts as not matching", source)
