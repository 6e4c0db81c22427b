"""An MCP server as a process of ours: its messages, its last words, and its end, with all that it has started."""

import asyncio
import os
import shutil
import signal
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import anyio
from anyio import BrokenResourceError, ClosedResourceError
from pydantic import ValidationError

from soulgraph.nodes.tools.mcp_client.failures import ServerFailure, with_variables
from soulgraph.nodes.tools.mcp_client.wire import Ending, Wire

_GRACE_S = 2.0
_SETTLE_S = 0.2
"""Its pipes and its end are noticed in any order."""
_MAX_LINE = 32 * 1024 * 1024
_STDOUT, _STDERR = 1, 2


class Child(asyncio.SubprocessProtocol):
    """A server process: each line that it writes is a message, or else something that it should not have said here."""

    def __init__(self, told: Any) -> None:
        self.ending = Ending()
        self.exited = asyncio.Event()
        self._errors: deque[str] = deque(maxlen=6)
        self._noise: deque[str] = deque(maxlen=3)
        self._rest = {_STDOUT: b"", _STDERR: b""}
        self._loop = asyncio.get_running_loop()
        self._told = told

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        *lines, rest = (self._rest[fd] + data).split(b"\n")
        self._rest[fd] = rest if len(rest) <= _MAX_LINE else b""
        for line in lines:
            if line.strip():
                self._heard(line) if fd == _STDOUT else self._errors.append(_text(line))
        if len(rest) > _MAX_LINE:
            self.ending.tell(f"it writes lines of more than {_MAX_LINE // 1024**2} MiB")

    def _heard(self, line: bytes) -> None:
        from mcp.shared.message import SessionMessage
        from mcp.types import JSONRPCMessage

        try:
            message = SessionMessage(JSONRPCMessage.model_validate_json(line))
        except ValidationError:
            self._noise.append(_text(line))
            return
        with suppress(BrokenResourceError, ClosedResourceError):  # it comes too late
            self._told.send_nowait(message)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if self._rest.get(fd, b"").strip():
            self.pipe_data_received(fd, b"\n")
        if fd == _STDOUT:
            self._loop.call_later(_SETTLE_S, self._end)

    def process_exited(self) -> None:
        self.exited.set()
        self._loop.call_later(_SETTLE_S, self._end)

    def _end(self) -> None:
        code = self._transport.get_returncode()
        how = "it has closed its output" if code is None else f"it ended with {_exit_words(code)}"
        self.ending.tell(how)
        self._told.close()

    def last_words(self) -> str:
        said = f"; it said what is no message of MCP: {' / '.join(self._noise)}" if self._noise else ""
        return f"{said}; its last words: {' / '.join(self._errors)}" if self._errors else said

    def is_alive(self) -> bool:
        """Looked up rather than noted: of an end that has just come nobody may have been told."""
        if self.exited.is_set():
            return False
        try:
            options = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self._transport.get_pid(), options) is None
        except ChildProcessError:
            return False

    async def write_all(self, messages: Any) -> None:
        """What the session says, a line each."""
        pipe = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        async for one in messages:
            if not self.ending.come.is_set():
                pipe.write(one.message.model_dump_json(by_alias=True, exclude_none=True).encode() + b"\n")

    async def stop(self) -> None:
        """As the protocol wants it: its input is closed, then it is asked, then made to end; so is all it started."""
        if pipe := self._transport.get_pipe_transport(0):
            pipe.close()
        for sent in (None, signal.SIGTERM, signal.SIGKILL):
            if sent:
                self._signal(sent)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.exited.wait(), _GRACE_S)
                break
        self._signal(signal.SIGKILL)
        self._transport.close()

    def _signal(self, sent: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):  # nobody is left, or only what is dead already
            os.killpg(self._transport.get_pid(), sent)


@asynccontextmanager
async def stdio_wire(server: Mapping[str, Any]) -> AsyncIterator[Wire]:
    """Start the process; raises OSError if that cannot be done."""
    from mcp.client.stdio import get_default_environment

    command, *arguments = _command(server)
    env = get_default_environment() | with_variables(server.get("env") or {})
    told, heard = anyio.create_memory_object_stream[Any](float("inf"))
    said, messages = anyio.create_memory_object_stream[Any](0)
    with told, heard, said, messages:
        _, child = await asyncio.get_running_loop().subprocess_exec(
            lambda: Child(told), command, *arguments, env=env, cwd=server.get("cwd"), start_new_session=True
        )
        writing = asyncio.create_task(child.write_all(messages), name="mcp stdin")
        try:
            yield Wire(heard, said, child.ending, child.last_words, child.is_alive)
        finally:
            writing.cancel()
            await asyncio.wait({writing})
            await child.stop()


def _command(server: Mapping[str, Any]) -> Sequence[str]:
    command, arguments, env = server.get("command"), server.get("args") or [], server.get("env") or {}
    if not isinstance(command, str) or not command:
        raise ServerFailure("name the `command` that starts it, or its `url`")
    if not isinstance(arguments, list) or not isinstance(env, Mapping):
        raise ServerFailure("`args` must be a list, and `env` must map names to values")
    return [shutil.which(command) or command, *map(str, arguments)]


def _text(line: bytes) -> str:
    return line[:400].decode("utf-8", "replace").strip()


def _exit_words(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
