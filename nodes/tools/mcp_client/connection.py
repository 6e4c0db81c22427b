"""One session with an MCP server: how it begins, what it lists, and one call at a time or many."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from pydantic import BaseModel, ValidationError

from soulgraph.nodes.tools.mcp_client.failures import LOST, NOT_DELIVERED, REFUSED, ServerFailure
from soulgraph.nodes.tools.mcp_client.wire import Wire

_MAX_PAGES = 100
_CLOSED = -32000
_CLOSED_BY_US = "Connection closed"
"""How `mcp` tells that a connection has ended. Servers use the same code for whatever went wrong."""


class Page(BaseModel):
    """Of the list of tools; each tool is judged by itself."""

    tools: list[Any]
    nextCursor: str | None = None  # noqa: N815


class Undelivered(Exception):
    """The server has certainly not carried out the call, so it may be sent again."""


class LostCall(Exception):
    """The call may have been carried out."""


def _is_closed(error: Any) -> bool:
    return bool(error.error.code == _CLOSED and error.error.message == _CLOSED_BY_US)


class Connection:
    def __init__(self, session: Any, wire: Wire) -> None:
        self._session = session
        self._wire = wire
        self._calls: set[asyncio.Future[Any]] = set()

    @property
    def is_open(self) -> bool:
        return not self._wire.ending.come.is_set() and self._wire.is_alive()

    async def begin(self, limit_s: float) -> None:
        """Raises ServerFailure, with what the server itself has said."""
        await self._asked("initialize", self._session.initialize(), limit_s)

    async def tools(self, limit_s: float) -> list[Any]:
        found: list[Any] = await self._asked("tools/list", self._pages(), limit_s)
        return found

    async def _pages(self) -> list[Any]:
        from mcp.types import ClientRequest, ListToolsRequest, PaginatedRequestParams

        found: list[Any] = []
        cursor = None
        for _ in range(_MAX_PAGES):
            request = ListToolsRequest(params=PaginatedRequestParams(cursor=cursor))
            page = await self._session.send_request(ClientRequest(request), Page)
            found += page.tools
            cursor = page.nextCursor
            if not cursor:
                return found
        raise ServerFailure(f"its list of tools has more than {_MAX_PAGES} pages")

    async def _asked(self, method: str, asking: Any, limit_s: float) -> Any:
        """The answer; raises ServerFailure as soon as there can be none."""
        from mcp import McpError

        try:
            async with asyncio.timeout(limit_s):
                return await self._or_ending(asking)
        except TimeoutError as error:
            raise ServerFailure(f"no answer to `{method}` in {limit_s:g} s{self._wire.last_words()}") from error
        except LostCall as error:
            raise ServerFailure(f"{self._wire.ending.reason}{self._wire.last_words()}") from error
        except McpError as error:
            if _is_closed(error):
                with suppress(TimeoutError):  # a server may say the same, and not be over
                    await asyncio.wait_for(self._wire.ending.come.wait(), limit_s)
                why = self._wire.ending.reason or error.error.message
                raise ServerFailure(f"{why}{self._wire.last_words()}") from error
            raise ServerFailure(f"{error.error.message}{self._wire.last_words()}") from error
        except ValidationError as error:
            raise ServerFailure(f"its answer to `{method}` is no answer of MCP: {error.errors()[0]['msg']}") from error

    async def _or_ending(self, asking: Any) -> Any:
        """Raises LostCall if the connection ends before the answer: then the session would wait for ever."""
        answer = asyncio.ensure_future(asking)
        self._calls.add(answer)
        over = asyncio.ensure_future(self._wire.ending.come.wait())
        try:
            await asyncio.wait((answer, over), return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                await asyncio.wait((answer,), timeout=self._wire.grace_s)
            if answer.done():
                return answer.result()
            raise LostCall(self._wire.ending.reason)
        finally:
            over.cancel()
            answer.cancel()
            self._calls.discard(answer)

    async def calls_ended(self) -> None:
        """After the end: until every call under way is answered or given up, which the grace limits."""
        while self._calls:
            await asyncio.wait(self._calls)

    async def call(self, name: str, arguments: dict[str, Any], limit_s: float) -> Any:
        """Raises Undelivered or LostCall if the server cannot be reached, TimeoutError if it does not answer, McpError
        if it answers with an error, and ValidationError if nobody can read its answer."""
        from mcp import McpError
        from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest

        request = ClientRequest(CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments)))
        # Not `call_tool`, which raises if an answer does not keep to the tool's own schema of it.
        asking = self._session.send_request(request, CallToolResult, timedelta(seconds=2 * limit_s))
        try:
            async with asyncio.timeout(limit_s):
                return await self._or_ending(asking)
        except McpError as error:
            code, why = error.error.code, error.error.message
            if code in (NOT_DELIVERED, LOST, REFUSED):
                self.end(why)
            if code == NOT_DELIVERED:
                raise Undelivered(why) from error
            if code == LOST or _is_closed(error):
                raise LostCall(why) from error
            raise

    def end(self, reason: str) -> None:
        self._wire.ending.tell(reason)

    async def until_over(self, wake: Sequence[asyncio.Event], every_s: float | None) -> bool:
        """Wait for the end, or for one of these events, or for this long; whether it is over."""
        events = [asyncio.ensure_future(event.wait()) for event in (self._wire.ending.come, *wake)]
        try:
            await asyncio.wait(events, timeout=every_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for event in events:
                event.cancel()
        return self._wire.ending.come.is_set()

    @property
    def why_over(self) -> str:
        return f"{self._wire.ending.reason}{self._wire.last_words()}"
