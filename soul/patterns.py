"""Patterns that are compiled when they are first used, and not looked for in texts that cannot have them.

There are hundreds of them: to compile them all would take a fifth of the start of a server, and to look for them all a
tenth of a turn.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar, cast
from weakref import WeakSet

from soulgraph.soul.ngram_index import NgramIndex
from soulgraph.soul.required_ngrams import Ngrams, ngrams_of

Name = TypeVar("Name")


def lazy_pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, for its attributes alone: functions like `re.sub` do not take it."""
    return cast("re.Pattern[str]", _LazyPattern(expression, flags))


def compile_pending() -> None:
    """Compile every pattern that nobody has used yet."""
    for pattern in [*_pending]:
        pattern.compiled  # noqa: B018 - a property that is kept
        pattern.ngrams  # noqa: B018


class _LazyPattern:
    def __init__(self, expression: str, flags: int) -> None:
        self.pattern = expression
        self._flags = flags
        _pending.add(self)

    def __getattr__(self, name: str) -> Any:
        """Called once for each method, because what is found is kept as an attribute."""
        found = getattr(self.compiled, name)
        if name in _FILTERED and self.ngrams:
            found = _FILTERED[name](found, NgramIndex([self.ngrams]))
        setattr(self, name, found)
        return found

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        _pending.discard(self)
        return re.compile(self.pattern, self._flags)

    @cached_property
    def ngrams(self) -> Sequence[Ngrams]:
        return ngrams_of(self.pattern, self._flags)


_pending: WeakSet[_LazyPattern] = WeakSet()


class PatternIndex(Generic[Name]):
    """Many lazy patterns by name, of which a text is searched only for those that it may have."""

    def __init__(self, patterns: Mapping[Name, re.Pattern[str]]) -> None:
        self._patterns = patterns

    def candidates(self, text: str) -> Iterator[tuple[Name, re.Pattern[str]]]:
        """Those that may be found, in their order."""
        return (self._compiled[number] for number in self._ngrams.candidates(text))

    def found_in(self, text: str) -> Iterator[Name]:
        """The names of those that are found."""
        return (name for name, pattern in self.candidates(text) if pattern.search(text))

    @cached_property
    def _compiled(self) -> list[tuple[Name, re.Pattern[str]]]:
        return [(name, cast(_LazyPattern, pattern).compiled) for name, pattern in self._patterns.items()]

    @cached_property
    def _ngrams(self) -> NgramIndex:
        return NgramIndex([ngrams_of_pattern(pattern) for pattern in self._patterns.values()])


def ngrams_of_pattern(pattern: re.Pattern[str]) -> Sequence[Ngrams]:
    """Those of a lazy pattern."""
    return cast(_LazyPattern, pattern).ngrams


def _search(search: Callable[..., Any], ngrams: NgramIndex) -> Callable[..., Any]:
    def found(text: str, *span: int) -> Any:
        return None if _lacks(text, ngrams, span) else search(text, *span)

    return found


def _finditer(finditer: Callable[..., Any], ngrams: NgramIndex) -> Callable[..., Any]:
    def found(text: str, *span: int) -> Iterator[Any]:
        return iter(()) if _lacks(text, ngrams, span) else finditer(text, *span)

    return found


def _sub(sub: Callable[..., Any], ngrams: NgramIndex) -> Callable[..., Any]:
    def replaced(by: Any, text: str, count: int = 0) -> Any:
        return text if _lacks(text, ngrams) else sub(by, text, count)

    return replaced


def _lacks(text: str, ngrams: NgramIndex, span: tuple[int, ...] = ()) -> bool:
    """Whether a text has none of the ngrams; a search that ends before the text does may end within a word."""
    return len(span) < 2 and not ngrams.candidates(text)


_FILTERED = {"search": _search, "finditer": _finditer, "sub": _sub}
