"""Error responses: RFC 9457 problems with stable codes, or OpenAI's format on the OpenAI-compatible paths."""

import errno
import logging
from collections.abc import Iterable, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.requests import HTTPConnection
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute
from starlette.types import Scope

from soulgraph.api import openai_wire
from soulgraph.api.paths import allowed_methods
from soulgraph.errors import Busy, InvalidInput, RequestError, SoulgraphError, StoreUnavailable, Unauthorized
from soulgraph.soul.validation import flaws_in, legible
from soulgraph.stores.failures import DISK_FULL

_log = logging.getLogger(__name__)


def install(app: FastAPI) -> None:
    app.add_exception_handler(SoulgraphError, _on_soulgraph_error)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(OSError, _on_os_error)
    app.add_exception_handler(Exception, _on_unexpected_error)


def problem(error: SoulgraphError, path: str) -> JSONResponse:
    """The response for an error of a request to this path."""
    headers = {}
    if isinstance(error, Busy):
        headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    return _response(error.problem(), path, headers)


def invalid(errors: Sequence[Any], body: Any = None) -> InvalidInput:
    """Pydantic's validation errors as one InvalidInput; long lists are cut off.

    Where the body has a named thing, like a module of a template, its errors have its `name`.
    """
    flaws = flaws_in(errors[:50])
    names = [_named_in(body, error["loc"]) for error in errors[:50]]
    details = [
        {"where": flaw.path, "message": flaw.message} | ({"name": name} if name else {})
        for flaw, name in zip(flaws, names, strict=True)
    ]
    return InvalidInput("; ".join(map(str, flaws[:5])), errors=details)


def invalid_field(field: str, message: str) -> InvalidInput:
    """The same for one field of the body."""
    return InvalidInput(f"{field}: {message}", errors=[{"where": f"body.{field}", "message": message}])


def _named_in(body: Any, location: Sequence[int | str]) -> str:
    """The name of the innermost thing of a list on the way to a place in the body; empty if it has none."""
    name = ""
    for step in location[1:]:  # the first is `body` itself
        try:
            body = body[step]
        except (LookupError, TypeError):
            break
        if isinstance(step, int) and isinstance(body, dict) and isinstance(body.get("name"), str):
            name = legible(body["name"][:80])
    return name


def _response(body: dict[str, Any], path: str, headers: dict[str, str]) -> JSONResponse:
    if path.startswith(openai_wire.PATHS):
        return JSONResponse(openai_wire.error(body), openai_wire.status(body), headers)
    return JSONResponse(body, body["status"], headers, media_type="application/problem+json")


async def _on_soulgraph_error(connection: HTTPConnection, error: Exception) -> JSONResponse:
    """Of a web socket this is the answer to its handshake: the client gets a status and not a close code."""
    assert isinstance(error, SoulgraphError)
    return problem(error, connection.url.path)


async def _on_validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return problem(invalid(error.errors(), error.body), request.url.path)


async def _on_http_exception(request: Request, error: Exception) -> JSONResponse:
    """Errors of the framework itself, such as an unknown path; of a body that it cannot read it keeps the reason."""
    assert isinstance(error, HTTPException)
    if unreadable := _reason_of_unreadable(error.__cause__):
        return problem(InvalidInput(f"body: {unreadable}"), request.url.path)
    if error.status_code == 405:
        return method_not_allowed(request.app.routes, request.scope)
    code, detail = RequestError.code, str(error.detail)
    if error.status_code == 404:
        code, detail = "no_such_path", "there is nothing at this path: /docs lists what there is"
    return _framework_problem(error.status_code, code, detail, request.url.path, dict(error.headers or {}))


def method_not_allowed(routes: Iterable[BaseRoute], scope: Scope) -> JSONResponse:
    allowed = allowed_methods(routes, scope)
    detail = f"this path has no {scope['method']}: use one of {allowed}"
    return _framework_problem(405, "method_not_allowed", detail, scope["path"], {"Allow": allowed})


def _framework_problem(status: int, code: str, detail: str, path: str, headers: dict[str, str]) -> JSONResponse:
    body = RequestError(detail).problem()
    body |= {"status": status, "code": code, "type": f"urn:soulgraph:problem:{code}"}
    return _response(body, path, headers)


async def _on_os_error(request: Request, error: Exception) -> JSONResponse:
    """A file that finds no room, such as an upload on its way; any other is unexpected."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return problem(StoreUnavailable(DISK_FULL), request.url.path)
    raise error


def _reason_of_unreadable(cause: BaseException | None) -> str:
    if isinstance(cause, RecursionError):
        return "is nested too deeply"
    return f"is no JSON that can be read: {cause}" if isinstance(cause, ValueError) else ""


async def _on_unexpected_error(request: Request, error: Exception) -> JSONResponse:
    """The details go to the log only: they may contain what must not leave the server."""
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(SoulgraphError("the request failed; the server's log says why"), request.url.path)
