"""The HTTP API as the `soulgraph` command uses it, on a running server or on one started for the command."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx

from soulgraph.cli.addresses import http_url
from soulgraph.errors import ConfigurationError, NotFound, RequestError, SoulgraphError
from soulgraph.settings import Settings
from soulgraph.soul.people import EVERYONE

Json = dict[str, Any]

_TIMEOUT = httpx.Timeout(10, read=60)  # while a turn runs, the server sends something every 5 s
_PATIENT = httpx.Timeout(10, read=None, write=60)  # a large file is checked to its end before anything is answered
# A proxy of the environment must not get what is meant for this machine.
NO_PROXY = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}
_LOOPBACK_OF = {"0.0.0.0": "127.0.0.1", "::": "::1"}


class Event(NamedTuple):
    name: str
    data: Json


class Body(NamedTuple):
    """A file on its way to the server, and how many bytes it has."""

    chunks: Iterable[bytes]
    size: int


class SoulClient:
    """Every call returns what the API returns, or raises RequestError with the server's own explanation."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._url = str(http.base_url).rstrip("/")

    def souls(self) -> list[Json]:
        souls: list[Json] = self._call("GET", "/v1/souls")
        return souls

    def soul(self, name_or_id: str) -> Json:
        """The soul of this id, or of this name if only one soul has it."""
        souls = self.souls()
        found = [soul for soul in souls if name_or_id in (soul["soul_id"], soul["name"])]
        if not found:
            raise NotFound("soul", name_or_id)
        if len(found) > 1:
            ids = ", ".join(soul["soul_id"] for soul in found)
            raise RequestError(f"{len(found)} souls are called {name_or_id!r}: use an id ({ids})")
        return found[0]

    def create_soul(self, name: str, mbti_type: str | None, **options: str | None) -> Json:
        given = {key: value for key, value in options.items() if value is not None}
        soul: Json = self._call("POST", "/v1/souls", {"name": name, "mbti_type": mbti_type, **given})
        return soul

    def select(self, terminal_id: str, soul_id: str) -> None:
        self._call("POST", "/v1/souls/select", {"terminal_id": terminal_id, "soul_id": soul_id})

    def emotion(self, soul_id: str) -> Json:
        emotion: Json = self._call("GET", f"/v1/souls/{soul_id}/emotion")
        return emotion

    def jobs(self, status: str | None) -> list[Json]:
        answer: list[Json] = self._call("GET", "/v1/jobs" + (f"?status={status}" if status else ""))
        return answer

    def retry_jobs(self, job_id: int | None) -> list[int]:
        """Retry one dead job, or all of them; returns the ids of those that will run again."""
        if job_id is not None:
            return [self._call("POST", f"/v1/jobs/{job_id}/retry")["job_id"]]
        retried: list[int] = self._call("POST", "/v1/jobs/retry")["retried"]
        return retried

    def events(self, about: str | None) -> list[Json]:
        answer: list[Json] = self._call("GET", "/v1/events" + (f"?q={quote(about)}" if about else ""))
        return answer

    def tidy_events(self, keep: int) -> list[str]:
        forgotten: list[str] = self._call("POST", "/v1/events/tidy", {"keep": keep})["forgotten"]
        return forgotten

    def usage(self, soul_id: str, days: int) -> Json:
        usage: Json = self._call("GET", f"/v1/souls/{soul_id}/usage?days={days}")
        return usage

    def save_as_character(self, soul_id: str, character_id: str | None, session_id: str | None) -> Json:
        given = {"id": character_id, "session_id": session_id}
        wanted = {name: value for name, value in given.items() if value}
        character: Json = self._call("POST", f"/v1/souls/{soul_id}/character", wanted)
        return character

    def import_card(self, card: bytes) -> Json:
        with _translate_errors(self._url):
            character: Json = _checked(self._http.post("/v1/characters/import", content=card)).json()
        return character

    def export_card(self, character_id: str, kind: str, spec: str) -> bytes:
        wanted = {"format": kind, "spec": spec}
        with _translate_errors(self._url):
            path = f"/v1/characters/{quote(character_id, safe='')}/card"
            return _checked(self._http.get(path, params=wanted)).content

    def person(self) -> str | None:
        """The person whom the key is; None if it acts for anybody."""
        user_id: str | None = self._call("GET", "/v1/me")["user_id"]
        return None if user_id == EVERYONE else user_id

    def open_session(self, soul: Json, session_id: str) -> Json:
        """Open a session, and start it if it is new; the result holds the soul's greeting."""
        request = {"soul_id": soul["soul_id"], "user_id": soul["user_id"], "session_id": session_id}
        session: Json = self._call("POST", "/v1/sessions/open", request)
        return session

    def choose_mode(self, session_id: str, mode: str) -> Json:
        state: Json = self._call("PUT", f"/v1/sessions/{session_id}/persona-state", {"mode": mode})
        return state

    def chat(self, soul: Json, session_id: str, text: str) -> Iterator[Event]:
        """Run a turn and yield its events as they arrive; the last is `done` or `error`."""
        turn = {"soul_id": soul["soul_id"], "user_id": soul["user_id"], "session_id": session_id}
        with (
            _translate_errors(self._url),
            self._http.stream("POST", "/v1/chat", json={**turn, "text": text, "stream": True}) as response,
        ):
            _checked(response)
            yield from events(response.iter_text())

    @contextmanager
    def streaming(self, method: str, path: str, params: Json, body: Body | None = None) -> Iterator[httpx.Response]:
        """A response whose body comes bit by bit, as a file does; the server may take its time."""
        sent: Json = {"content": body.chunks, "headers": {"Content-Length": str(body.size)}} if body else {}
        given = {name: value for name, value in params.items() if value is not None}
        with (
            _translate_errors(self._url),
            self._http.stream(method, path, params=given, timeout=_PATIENT, **sent) as response,
        ):
            yield _checked(response)

    def _call(self, method: str, path: str, body: Json | None = None) -> Any:
        with _translate_errors(self._url):
            return _checked(self._http.request(method, path, json=body)).json()


@contextmanager
def reach(settings: Settings, server: str | None) -> Iterator[SoulClient]:
    """A client of the named server, or of the one in the settings; if that does not run, one is started meanwhile."""
    with address(settings, server) as url:
        with _translate_errors(url):
            http = httpx.Client(base_url=url, headers=key_headers(settings), timeout=_TIMEOUT, mounts=NO_PROXY)
        with http:
            yield SoulClient(http)


@contextmanager
def address(settings: Settings, server: str | None) -> Iterator[str]:
    """The URL of the named server, or of the one in the settings; if that does not run, one is started meanwhile."""
    url = server or own_url(settings)
    if server or running(url) is not None:
        yield url
        return
    from soulgraph.cli.hosting import hosted  # takes seconds to import, and mostly a server runs

    with hosted(settings) as url:
        yield url


def key_headers(settings: Settings) -> dict[str, str]:
    key = settings.api_key.get_secret_value()
    return {"Authorization": f"Bearer {key}"} if key else {}


def running(url: str) -> Json | None:
    """What `/readyz` of the server at this URL says; None if nothing listens there."""
    with _translate_errors(url):
        try:
            response = httpx.get(f"{url}/readyz", timeout=3, trust_env=False)
        except httpx.ConnectError:
            return None
        if not _is_soulgraph(response):
            raise ConfigurationError("SOULGRAPH_PORT", f"another program answers at {url}: choose another port")
        ready: Json = _checked(response).json()
        return ready


def _is_soulgraph(response: httpx.Response) -> bool:
    """Whether the answer of `/readyz` has our form: a report, or a problem with a code."""
    try:
        body = response.json()
    except ValueError:
        return False
    return isinstance(body, dict) and bool({"voice", "code"} & body.keys())


def own_url(settings: Settings) -> str:
    """The URL at which this machine reaches the server of the settings."""
    return http_url(_LOOPBACK_OF.get(settings.host, settings.host), settings.port)


def events(chunks: Iterable[str]) -> Iterator[Event]:
    """Parse server-sent events."""
    rest = ""
    for chunk in chunks:
        *blocks, rest = (rest + chunk).split("\n\n")
        for block in blocks:
            # Not `splitlines`: it would also break at Unicode line separators inside the JSON.
            fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
            if "event" in fields:
                yield Event(fields["event"], json.loads(fields["data"]))


def _checked(response: httpx.Response) -> httpx.Response:
    """The response if it is a success; otherwise raise the problem it describes."""
    if response.is_success:
        return response
    response.read()
    problem = response.json()
    hint = " (the key is read from SOULGRAPH_API_KEY)" if response.status_code == httpx.codes.UNAUTHORIZED else ""
    raise RequestError(problem["detail"] + hint, code=problem.get("code"))


@contextmanager
def _translate_errors(url: str) -> Iterator[None]:
    """Raise errors of the connection, and answers of an unexpected form, as SoulgraphError with one sentence."""
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SoulgraphError(f"{url} cannot be reached: {error}") from error
    except UnicodeEncodeError as error:
        raise SoulgraphError("only UTF-8 text can be sent") from error
    except (ValueError, LookupError, TypeError) as error:
        raise SoulgraphError(f"{url} does not answer like a soulgraph server: is the address right?") from error
