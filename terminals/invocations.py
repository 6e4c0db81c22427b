"""Skills that terminals were asked to use and have not answered for yet."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from soulgraph.terminals.reports import SkillResult


class Invocations:
    def __init__(self) -> None:
        self._asked: dict[tuple[str, str], asyncio.Future[SkillResult]] = {}

    @contextmanager
    def asked(self, terminal_id: str, request_id: str) -> Iterator[asyncio.Future[SkillResult]]:
        """The answer that is waited for while the block lasts."""
        answer: asyncio.Future[SkillResult] = asyncio.get_running_loop().create_future()
        self._asked[terminal_id, request_id] = answer
        try:
            yield answer
        finally:
            del self._asked[terminal_id, request_id]

    def answered(self, terminal_id: str, result: SkillResult) -> None:
        """One that nobody waits for came too late, or belongs to another server."""
        answer = self._asked.get((terminal_id, result.request_id))
        if answer and not answer.done():
            answer.set_result(result)
