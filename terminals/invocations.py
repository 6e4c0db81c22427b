"""Skills that terminals were asked to use and have not answered for yet."""

import asyncio
from collections.abc import Container, Iterator
from contextlib import contextmanager

from soulgraph.terminals.reports import SkillResult


class Invocations:
    def __init__(self, gone: Container[str] = ()) -> None:
        """`gone` are the terminals that are known to be offline, at any time."""
        self._gone = gone
        self._asked: dict[tuple[str, str], asyncio.Future[SkillResult]] = {}

    @contextmanager
    def asked(self, terminal_id: str, request_id: str) -> Iterator[asyncio.Future[SkillResult]]:
        """The answer that is waited for while the block lasts; of a terminal that is offline it is there at once."""
        answer: asyncio.Future[SkillResult] = asyncio.get_running_loop().create_future()
        self._asked[terminal_id, request_id] = answer
        if terminal_id in self._gone:
            self.lost(terminal_id, "the terminal is offline")
        try:
            yield answer
        finally:
            del self._asked[terminal_id, request_id]

    def lost(self, terminal_id: str, why: str = "the terminal went offline before it answered") -> None:
        """No answer comes from a terminal that has gone."""
        for asked_of, request_id in self._asked:
            if asked_of == terminal_id:
                self.answered(terminal_id, SkillResult(request_id=request_id, ok=False, error=why))

    def answered(self, terminal_id: str, result: SkillResult) -> None:
        """One that nobody waits for came too late, or belongs to another server."""
        answer = self._asked.get((terminal_id, result.request_id))
        if answer and not answer.done():
            answer.set_result(result)
