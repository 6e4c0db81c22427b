"""`/studio/`: the built pages of the studio, which need no key; `/` leads there.

Every address is relative, so that the studio works under any path of a reverse proxy.
"""

import asyncio
import mimetypes
import secrets
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from soulgraph.api.fields import Content

router = APIRouter(include_in_schema=False)

DIST = Path(__file__).parent.parent / "web" / "dist"
NOT_BUILT = "The studio has not been built: run `make studio` in the checkout, or install a wheel, which has it.\n"

_PREFIX = b"/studio/"
_ASSETS = "assets/"
_BASE = '<base href="./">'
_NONCE = "__CSP_NONCE__"
_READ = ("GET", "HEAD")


@router.api_route("/", methods=[*_READ])
@router.api_route("/studio", methods=[*_READ])
async def home() -> Response:
    return RedirectResponse("studio/", headers=_headers("no-store"))


@router.api_route("/prompt-templates", methods=[*_READ])
async def prompt_templates() -> Response:
    return RedirectResponse("studio/prompt-templates", headers=_headers("no-store"))


@router.api_route("/studio/{path:path}", methods=[*_READ])
async def studio(path: Content, request: Request) -> Response:
    """A built file, or the page itself: what is no file is a route that the page's own program knows."""
    if path in ("", "index.html"):
        return await _page(request)
    try:
        return await _file(path, request)
    except HTTPException as error:
        # An asset that is gone belonged to an older build. The page in its place would fail as a script.
        if error.status_code == 404 and not path.startswith(_ASSETS):
            return await _page(request)
        raise HTTPException(error.status_code, headers=_headers("no-store")) from error


async def _page(request: Request) -> Response:
    try:
        page = await asyncio.to_thread((DIST / "index.html").read_text, "utf-8")
    except FileNotFoundError:
        return PlainTextResponse(NOT_BUILT, 503, _headers("no-store"))
    nonce = secrets.token_urlsafe(16)
    page = page.replace(_BASE, f'<base href="{_base(request)}">').replace(_NONCE, nonce)
    return Response(page, headers=_headers("no-store", nonce), media_type="text/html")


def _base(request: Request) -> str:
    """The way from the requested address up to `/studio/`.

    Counted in what the browser sent: a slash that it wrote as %2F is no step on its way.
    """
    raw: bytes = request.scope["raw_path"]
    return "../" * raw.partition(_PREFIX)[2].count(b"/") or "./"


async def _file(path: str, request: Request) -> Response:
    """A file of the build, compressed if the build has it so and the browser takes it."""
    files = StaticFiles(directory=DIST, check_dir=False)
    cached = "public, max-age=31536000, immutable" if path.startswith(_ASSETS) else "no-cache"
    headers = _headers(cached) | {"Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        try:
            response = await files.get_response(f"{path}.gz", request.scope)
            response.headers.update({**headers, "Content-Encoding": "gzip", "Content-Type": _media_type(path)})
            return response
        except HTTPException:  # it is not there; the plain one may be
            pass
    response = await files.get_response(path, request.scope)
    response.headers.update({**headers, "Content-Type": _media_type(path)})
    return response


def _media_type(path: str) -> str:
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def _headers(cached: str, nonce: str | None = None) -> dict[str, str]:
    """Nothing may be loaded or asked but what this server has, and no other page may frame it."""
    styles = f"'self' 'nonce-{nonce or secrets.token_urlsafe(16)}'"
    allowed = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": styles,
        "img-src": "'self' blob: data:",
        "connect-src": "'self'",
        "font-src": "'self'",
        "manifest-src": "'self'",
        "base-uri": "'self'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return {
        "Cache-Control": cached,
        "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in allowed.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
