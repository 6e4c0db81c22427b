"""Skill calls that terminals have not answered yet."""

import asyncio
from collections.abc import Container, Iterator
from contextlib import contextmanager

from soulgraph.terminals.reports import SkillResult


class Invocations:
    def __init__(self, offline: Container[str] = ()) -> None:
        """`offline` are the terminals known to be offline; it is looked at for every call, so it may change."""
        self._offline = offline
        self._pending: dict[tuple[str, str], asyncio.Future[SkillResult]] = {}

    @contextmanager
    def pending(self, terminal_id: str, request_id: str) -> Iterator[asyncio.Future[SkillResult]]:
        """The future result of a call, while the block lasts. If the terminal is offline, it has failed at once."""
        answer: asyncio.Future[SkillResult] = asyncio.get_running_loop().create_future()
        self._pending[terminal_id, request_id] = answer
        if terminal_id in self._offline:
            self.fail_all(terminal_id, "the terminal is offline")
        try:
            yield answer
        finally:
            del self._pending[terminal_id, request_id]

    def fail_all(self, terminal_id: str, why: str = "the terminal went offline before it answered") -> None:
        """Fail every pending call of a terminal."""
        for called, request_id in self._pending:
            if called == terminal_id:
                self.resolve(terminal_id, SkillResult(request_id=request_id, ok=False, error=why))

    def resolve(self, terminal_id: str, result: SkillResult) -> None:
        """Set the result of a pending call. One that is not pending came too late, or belongs to another server."""
        answer = self._pending.get((terminal_id, result.request_id))
        if answer and not answer.done():
            answer.set_result(result)
