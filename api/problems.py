"""Errors on the wire: RFC 9457 problems with stable codes, or OpenAI's errors where its clients call."""

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from soulgraph.api import openai_wire
from soulgraph.errors import Busy, InvalidInput, RequestError, SoulgraphError, Unauthorized
from soulgraph.soul.validation import flaws_in

_log = logging.getLogger(__name__)


def install(app: FastAPI) -> None:
    app.add_exception_handler(SoulgraphError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)


def problem(error: SoulgraphError, path: str) -> JSONResponse:
    """The answer to a request for this path, in the form its callers know."""
    headers = {}
    if isinstance(error, Busy):
        headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    return _response(error.problem(), path, headers)


def invalid(errors: Sequence[Any]) -> InvalidInput:
    """What pydantic found wrong, in our words."""
    flaws = flaws_in(errors[:50])
    told = [{"where": flaw.path, "message": flaw.message} for flaw in flaws]
    return InvalidInput("; ".join(map(str, flaws[:5])), errors=told)


def _response(body: dict[str, Any], path: str, headers: dict[str, str]) -> JSONResponse:
    if path.startswith(openai_wire.PATHS):
        return JSONResponse(openai_wire.error(body), openai_wire.status(body), headers)
    return JSONResponse(body, body["status"], headers, media_type="application/problem+json")


async def _ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SoulgraphError)
    return problem(error, request.url.path)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return problem(invalid(error.errors()), request.url.path)


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = {404: "no_such_path", 405: "method_not_allowed"}.get(error.status_code, RequestError.code)
    body = RequestError(str(error.detail)).problem()
    body |= {"status": error.status_code, "code": code, "type": f"urn:soulgraph:problem:{code}"}
    return _response(body, request.url.path, dict(error.headers or {}))


async def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(SoulgraphError("the request failed; the server's log says why"), request.url.path)
