"""What went wrong with an MCP server, in words for operators: the innermost reason, and no secret of its settings."""

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from soulgraph.prompts.defuse import one_line

NOT_DELIVERED = 32600
"""The code by which `mcp` tells that a server knows no such session; ours too for what never reached one."""
LOST = 32098
"""Of a call that may have been carried out, and of which nobody will hear."""
REFUSED = 32097
"""Of a call that was refused with a status of HTTP."""
BUSY = 32096
"""The same, of a server that takes other calls as before."""

_MAX_REASON = 500
_SHORTEST = 4
_SECRET_NAME = re.compile(r"(?i)key|token|secret|passw|auth|credential|cookie")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{4,}")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_PLAIN = frozenset({"true", "false", "none", "info", "debug", "error", "warning", "production", "development"})


class ServerFailure(Exception):
    """A server cannot be used, for a reason in our own words."""


def innermost(error: BaseException) -> BaseException:
    """Of a group of errors the first that is no mere consequence of another."""
    while isinstance(error, BaseExceptionGroup):
        causes = [one for one in error.exceptions if not isinstance(one, asyncio.CancelledError)]
        error = (causes or error.exceptions)[0]
    return error


def reason_of(error: BaseException) -> str:
    found = innermost(error)
    if isinstance(found, OSError) and found.filename and found.strerror:
        return f"{found.filename}: {found.strerror}"
    return str(found) or type(found).__name__


def with_variables(values: Mapping[str, Any]) -> dict[str, str]:
    """Values in which `${NAME}` stands for a variable of the environment."""
    return {
        name: _VARIABLE.sub(lambda found: os.environ.get(found[1], found[0]), str(value))
        for name, value in values.items()
    }


class Secrets:
    """What may not be seen of how a server is reached."""

    def __init__(self, server: Mapping[str, Any]) -> None:
        found = {one for one in _secrets(server) if len(one) >= _SHORTEST and one.lower() not in _PLAIN}
        self._found = sorted(found, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """The text as one line, not too long and without them."""
        for secret in self._found:
            text = text.replace(secret, "***")
        text = _BEARER.sub(r"\1 ***", one_line(text))
        return text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON]} …"


def _secrets(server: Mapping[str, Any]) -> Iterator[str]:
    for part in ("env", "headers"):
        given = server.get(part)
        if isinstance(given, Mapping):
            for value in with_variables(given).values():
                yield from (value, value.rpartition(" ")[2])
    yield from _of_url(str(server.get("url", "")))
    arguments = server.get("args")
    if isinstance(arguments, Iterable) and not isinstance(arguments, str):
        yield from _of_arguments([str(one) for one in arguments])


def _of_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    yield from (parts.password or "", parts.username or "")
    yield from (value for _, value in parse_qsl(parts.query))


def _of_arguments(arguments: list[str]) -> Iterator[str]:
    """What follows an option that is called like a secret, and what is called one in `name=value`."""
    for before, argument in zip(["", *arguments], arguments, strict=False):
        name, has_value, value = argument.partition("=")
        if has_value and _SECRET_NAME.search(name):
            yield value
        elif before.startswith("-") and "=" not in before and _SECRET_NAME.search(before):
            yield argument
        yield from _of_url(argument)
