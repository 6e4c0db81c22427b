r"""Regexes that come from outside: compiled once, and searched for only as long as we can wait.

A backtracking matcher may try every combination of the choices a pattern leaves, so one search gets a few
milliseconds and all the searches of one utterance share a patience. What is not found by then is not there.
"""

import logging
import math
from dataclasses import dataclass
from functools import lru_cache
from time import thread_time

import regex

REACH = 120  # characters of an utterance a pattern gets to see
LONGEST_SEARCH_S = 0.005
_BOUNDS_S = (LONGEST_SEARCH_S, 10 * LONGEST_SEARCH_S, 100 * LONGEST_SEARCH_S)
MOST_COPIES = 10_000  # a counted repeat is written out when it is compiled

_COUNT = regex.compile(r"\{(\d+)")
_VERBOSE = regex.compile(r"\(\?[\w-]*x")

_log = logging.getLogger(__name__)


class UnsafePattern(ValueError):
    """A pattern that does not compile, or would take too much time or memory to."""


@lru_cache(maxsize=4096)
def compiled(source: str) -> regex.Pattern[str]:
    if _VERBOSE.search(source):
        raise UnsafePattern("is verbose, which is not supported")
    if math.prod(int(count) or 1 for count in _COUNT.findall(source)) > MOST_COPIES:
        raise UnsafePattern(f"repeats too much: its counts multiply to more than {MOST_COPIES}")
    try:
        return regex.compile(source, regex.IGNORECASE | regex.VERSION0)
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        raise UnsafePattern(f"does not compile ({error})") from error


@dataclass
class Patience:
    """The seconds that the searches of one utterance may still take together."""

    left: float = 0.05

    def search(self, source: str, text: str) -> regex.Match[str] | None:
        """The first match within reach; none when it takes too long, or when those before it did."""
        pattern, start = compiled(source), thread_time()
        for bound in _BOUNDS_S if self.left > 0 else ():
            try:
                return pattern.search(text[:REACH], timeout=bound)
            except TimeoutError:
                # The engine's clock runs for the whole process: it may be another thread's time that is up.
                if thread_time() - start >= LONGEST_SEARCH_S / 2:
                    return _given_up(source)
            finally:
                self.left -= thread_time() - start
        return None


@lru_cache(maxsize=1024)
def _given_up(source: str) -> None:
    """Cached, so that each pattern is reported once."""
    _log.warning("the pattern %s takes too long to search for and counts as not matching", source)
