"""Requests whose work nobody needs once the client has left."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

T = TypeVar("T")


class NoAnswer(Response):
    """To a client that has left."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends nothing."""


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T | NoAnswer:
    """The result of `work`, which is cancelled when the client leaves. The body must have been read."""
    working = asyncio.create_task(work, name=f"work for {request.url.path}")
    leaving = asyncio.create_task(_gone(request), name=f"client of {request.url.path}")
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else NoAnswer()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.wait({working, leaving})


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
