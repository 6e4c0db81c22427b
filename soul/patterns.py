"""Patterns that are compiled when they are first used.

There are hundreds of them, and to compile them all would take a fifth of the start of a server.
"""

import re
from functools import cached_property
from typing import Any, cast
from weakref import WeakSet


def lazy_pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, for its attributes alone: functions like `re.sub` do not take it."""
    return cast("re.Pattern[str]", _LazyPattern(expression, flags))


def compile_pending() -> None:
    """Compile every pattern that nobody has used yet."""
    for pattern in [*_pending]:
        pattern.compiled  # noqa: B018 - a property that is kept


class _LazyPattern:
    def __init__(self, expression: str, flags: int) -> None:
        self.pattern = expression
        self._flags = flags
        _pending.add(self)

    def __getattr__(self, name: str) -> Any:
        """Called once for each method, because what is found is kept as an attribute."""
        found = getattr(self.compiled, name)
        setattr(self, name, found)
        return found

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        _pending.discard(self)
        return re.compile(self.pattern, self._flags)


_pending: WeakSet[_LazyPattern] = WeakSet()
