"""Errors on the wire: RFC 9457 problems with stable codes."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from soulgraph.errors import Busy, InvalidInput, RequestError, SoulgraphError, Unauthorized

_log = logging.getLogger(__name__)


def install(app: FastAPI) -> None:
    app.add_exception_handler(SoulgraphError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)


def problem(error: SoulgraphError) -> JSONResponse:
    headers = {}
    if isinstance(error, Busy):
        headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    return _response(error.problem(), headers)


def _response(body: dict[str, Any], headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(body, body["status"], headers, media_type="application/problem+json")


async def _ours(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SoulgraphError)
    return problem(error)


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    errors = [{"where": ".".join(str(part) for part in e["loc"]), "message": e["msg"]} for e in error.errors()]
    detail = "; ".join(f"{e['where']}: {e['message']}" for e in errors[:5])
    return problem(InvalidInput(detail, errors=errors[:50]))


async def _http(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = {404: "no_such_path", 405: "method_not_allowed"}.get(error.status_code, RequestError.code)
    body = RequestError(str(error.detail)).problem()
    body |= {"status": error.status_code, "code": code, "type": f"urn:soulgraph:problem:{code}"}
    return _response(body, dict(error.headers or {}))


async def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(SoulgraphError("the request failed; the server's log says why"))
