"""One MCP server as it is kept: connected, found again when it is lost, and never asked twice to do a thing."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import httpx
from langchain_core.tools import BaseTool
from pydantic import ValidationError

from soulgraph import __version__
from soulgraph.nodes.tools.mcp_client.connection import Connection, LostCall, Undelivered
from soulgraph.nodes.tools.mcp_client.failures import Secrets, ServerFailure, reason_of
from soulgraph.nodes.tools.mcp_client.offer import Offered, offer
from soulgraph.nodes.tools.mcp_client.wire import reach

_log = logging.getLogger(__name__)

State = Literal["connecting", "connected", "broken"]


@dataclass(frozen=True, slots=True)
class McpLimits:
    """Seconds: how long the start waits for servers, the first answers of one, a call, and a call for a server that is
    being found again; the first and the longest pause between attempts, and how often a remote one is looked after."""

    start_s: float = 10.0
    answer_s: float = 30.0
    call_s: float = 60.0
    found_s: float = 10.0
    first_pause_s: float = 0.25
    longest_pause_s: float = 60.0
    check_s: float = 60.0


@dataclass(frozen=True, slots=True)
class McpReport:
    """How it stands with a server: `problem` is the inner error of the last attempt."""

    name: str
    state: State
    tools: int = 0
    problem: str = ""
    left_out: tuple[str, ...] = ()


class McpServer:
    """`tools` are those that it listed last; `changed` is called when they may be others."""

    def __init__(
        self, name: str, settings: Mapping[str, Any], limits: McpLimits, changed: Callable[[], None] = lambda: None
    ) -> None:
        self.name = name
        self.settled = asyncio.Event()
        self.problem = ""
        self._settings = settings
        self._limits = limits
        self._changed = changed
        self._secrets = Secrets(settings)
        self._offered = Offered((), {})
        self._connection: Connection | None = None
        self._connected = asyncio.Event()
        self._listed_anew = asyncio.Event()
        self._stopping = asyncio.Event()

    @property
    def tools(self) -> Sequence[BaseTool]:
        return self._offered.tools

    @property
    def left_out(self) -> dict[str, str]:
        return self._offered.left_out

    @property
    def is_offered(self) -> bool:
        """Also while it is being found again: a call then waits for it. Once that has failed it is not."""
        return not self.problem and bool(self.tools)

    @property
    def state(self) -> State:
        if self.problem:
            return "broken"
        return "connected" if self._connection else "connecting"

    def stop(self) -> None:
        self._stopping.set()
        if self._connection:
            self._connection.end("it is not needed any more")

    async def keep(self) -> None:
        """Connect, and connect anew whenever that ends, until it is stopped."""
        limits = self._limits
        pause = limits.first_pause_s
        while not self._stopping.is_set():
            began = asyncio.get_running_loop().time()
            try:
                await self._live()
                why = ""
            except ServerFailure as error:
                why = self._secrets.hide(str(error))
            except _FAILURES as error:
                why = self._secrets.hide(reason_of(error))
            finally:
                self._connection = None
                self._connected.clear()
            if why:
                self._failed(why)
            if asyncio.get_running_loop().time() - began > limits.longest_pause_s:
                pause = limits.first_pause_s
            await self._rest(pause)
            pause = min(pause * 2, limits.longest_pause_s)

    async def _rest(self, pause: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), pause)

    async def _live(self) -> None:
        """One connection from its beginning to its end. Raises if it does not come to be."""
        from mcp import ClientSession
        from mcp.types import Implementation

        async with reach(self._settings) as wire:
            us = Implementation(name="soulgraph", version=__version__)
            opened = ClientSession(wire.read, wire.write, message_handler=self._on_message, client_info=us)
            async with opened as session:
                connection = Connection(session, wire)
                await connection.begin(self._limits.answer_s)
                await self._list(connection)
                self._open(connection)
                await self._follow(connection)
                await connection.calls_ended()
                if not self._stopping.is_set():
                    why = self._secrets.hide(connection.why_over)
                    _log.warning("MCP server %s: %s; connecting anew", self.name, why)

    def _open(self, connection: Connection) -> None:
        self._connection = connection
        if self.problem or not self.settled.is_set():
            _log.info("MCP server %s: %d tools", self.name, len(self.tools))
        self.problem = ""
        self._connected.set()
        self.settled.set()
        self._changed()

    async def _follow(self, connection: Connection) -> None:
        """Until it is over; what is listed anew is taken over, and a remote server is asked from time to time."""
        every_s = None if self._settings.get("transport") == "stdio" else self._limits.check_s
        while not await connection.until_over((self._listed_anew,), every_s):
            self._listed_anew.clear()
            try:
                await self._list(connection)
            except ServerFailure as error:
                connection.end(str(error))
                return
            self._changed()

    async def _list(self, connection: Connection) -> None:
        offered = offer(await connection.tools(self._limits.answer_s), self.name, self.call)
        for name, why in offered.left_out.items():
            if name not in self.left_out:
                told = self._secrets.hide(f"{name}: {why}")
                _log.warning("MCP server %s: this tool is left out, %s", self.name, told)
        self._offered = offered

    async def _on_message(self, message: Any) -> None:
        from mcp.types import ServerNotification, ToolListChangedNotification

        # Not asked for here: the answer would be waited for by the one who has to receive it.
        if isinstance(message, ServerNotification) and isinstance(message.root, ToolListChangedNotification):
            self._listed_anew.set()

    def _failed(self, why: str) -> None:
        """One warning per reason: a server that is away for a day must not fill the log."""
        if why != self.problem and not self._stopping.is_set():
            _log.warning("MCP server %s is skipped until it can be used: %s", self.name, why)
        self.problem = why
        self.settled.set()
        self._changed()

    async def call(self, request: Any, handler: Any = None) -> Any:
        """Carry out a call of a tool, on whatever connection there is; what goes wrong is told to the model."""
        try:
            try:
                return await self._called_once(request)
            except Undelivered:
                return await self._called_once(request)
        except Undelivered:
            return self._not_done("cannot be reached")
        except LostCall:
            return self._unknown("cannot be reached any more")
        except TimeoutError:
            return self._unknown(f"did not answer in {self._call_s:g} s")
        except ValidationError:
            return self._unknown("answered what cannot be read")
        except _mcp_error() as error:
            # Not into the log: what a server says of an error may quote the arguments.
            return self._not_done(f"answers with an error: {self._secrets.hide(error.error.message)}")

    async def _called_once(self, request: Any) -> Any:
        connection = await self._present()
        return _legible(await connection.call(request.name, request.args, self._call_s))

    async def _present(self) -> Connection:
        """The connection, which is waited for if it is just being found again. Raises Undelivered."""
        deadline = asyncio.get_running_loop().time() + self._limits.found_s
        while True:
            if self._connection and self._connection.is_open:
                return self._connection
            if self.problem or asyncio.get_running_loop().time() > deadline:
                raise Undelivered(self.name)
            await asyncio.sleep(0.02)

    @property
    def _call_s(self) -> float:
        given = self._settings.get("call_timeout_s")
        return float(given) if isinstance(given, int | float) and given > 0 else self._limits.call_s

    def _not_done(self, why: str) -> Any:
        _log.warning("MCP server %s: a call was not carried out", self.name)
        return _told(f"Not done: {self.name} {why}.")

    def _unknown(self, why: str) -> Any:
        _log.warning("MCP server %s: a call was lost, it %s", self.name, why)
        return _told(f"It is not known whether this was done: {self.name} {why}.")


def _told(text: str) -> Any:
    from mcp.types import CallToolResult, TextContent

    return CallToolResult(content=[TextContent(type="text", text=text)], isError=True)


def _legible(result: Any) -> Any:
    """The result without what servers of chat models refuse from a tool: a note says what was there."""
    from mcp.types import TextContent

    content = [TextContent(type="text", text=_in_words(one)) for one in result.content]
    return result.model_copy(update={"content": content})


def _in_words(content: Any) -> str:
    """A block of an answer: its text, or what it is."""
    from mcp.types import EmbeddedResource, ResourceLink, TextContent, TextResourceContents

    match content:
        case TextContent():
            return content.text
        case EmbeddedResource(resource=TextResourceContents() as resource):
            return resource.text
        case EmbeddedResource(resource=resource):
            return f"(a file, {resource.mimeType or 'of an unknown kind'})"
        case ResourceLink():
            return f"(a link to {content.name}: {content.uri})"
    return f"({content.type}, {content.mimeType})"


def _mcp_error() -> Any:
    from mcp import McpError

    return McpError


_FAILURES = (OSError, ValueError, TypeError, RuntimeError, LookupError, httpx.HTTPError, ExceptionGroup)
