"""Hostile requests and cards by an author who saw no code, sent as they are, and what every answer has to be like."""

import json
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import yaml

from soulgraph.api.openai_wire import PATHS
from soulgraph.tests.live import new_soul, say

_SECRETLY_STREAMED = "text/event-stream"


class Outcome(NamedTuple):
    """What came of a case; `flaw` says what is wrong with the answer, and is empty if nothing is."""

    case_id: str
    status: int
    flaw: str


async def prepared(client: httpx.AsyncClient) -> dict[str, str]:
    """The ids of things that are there, by the names that the cases have for them."""
    soul_id = await new_soul(client, "Target")
    answer = await say(client, "hello there", soul_id=soul_id, session_id="target")
    [message, *_] = (await client.get("/v1/sessions/target/messages")).json()
    for kind in ("characters", "backgrounds"):
        await client.put(f"/v1/{kind}/target", json={"name": "Target"})
    await client.post("/v1/souls/select", json={"terminal_id": "target", "soul_id": soul_id})
    others = dict.fromkeys(("session_id", "character_id", "background_id", "terminal_id"), "target")
    return {**others, "soul_id": soul_id, "turn_id": answer["turn_id"], "message_id": str(message["message_id"])}


def cases_in(folder: Path) -> list[dict[str, Any]]:
    """Those of all `requests_*.yaml` and `cards_*.yaml`; a card is a request that imports it."""
    cases: list[dict[str, Any]] = []
    for file in sorted(folder.glob("requests_*.yaml")):
        cases += yaml.safe_load(file.read_text())
    for file in sorted(folder.glob("cards_*.yaml")):
        cases += [_card_request(case) for case in yaml.safe_load(file.read_text())]
    return cases


def _card_request(case: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": case["id"], "method": "POST", "path": "/v1/characters/import", "json": case["card"]}


async def send(client: httpx.AsyncClient, case: Mapping[str, Any], ids: Mapping[str, str]) -> Outcome:
    headers = {name: value.encode() for name, value in case.get("headers", {}).items()}
    query = {name: _filled(value, ids) for name, value in case.get("query", {}).items()}
    content = _content(case, ids)
    if "json" in case:
        headers.setdefault("content-type", b"application/json")
    request = client.build_request(
        case["method"], _filled(case["path"], ids), params=query or None, content=content, headers=headers
    )
    response = await client.send(request, stream=True)
    try:
        return Outcome(case["id"], response.status_code, await _flaw_of(response, request))
    finally:
        await response.aclose()


def _content(case: Mapping[str, Any], ids: Mapping[str, str]) -> bytes | None:
    if "json" in case:
        return _filled(json.dumps(case["json"]), ids).encode()
    if "body_base64" in case:
        return b64decode(case["body_base64"])
    if "repeat" in case:
        repeat = case["repeat"]
        body = f"{repeat.get('prefix', '')}{repeat['text'] * repeat['times']}{repeat.get('suffix', '')}"
        return _filled(body, ids).encode()
    return _filled(case["body"], ids).encode() if "body" in case else None


def _filled(text: Any, ids: Mapping[str, str]) -> str:
    text = str(text)
    for name, value in ids.items():
        text = text.replace("{" + name + "}", value)
    return text


async def _flaw_of(response: httpx.Response, request: httpx.Request) -> str:
    """What is wrong with an answer: every error is a problem with a reason, and none is ours."""
    if response.status_code < 400:
        if not response.headers.get("content-type", "").startswith(_SECRETLY_STREAMED):
            await response.aread()
        return ""
    body = await response.aread()
    if response.status_code >= 500:
        return f"{response.status_code}: {body[:200]!r}"
    if "upgrade" in request.headers:  # of a handshake that is none the library says so itself
        return ""
    return _flaw_of_problem(body, request.url.path)


def _flaw_of_problem(body: bytes, path: str) -> str:
    try:
        problem = json.loads(body)
    except ValueError:
        return f"no problem, but {body[:200]!r}"
    if path.startswith(PATHS):
        problem = {"code": problem["error"]["code"], "detail": problem["error"]["message"]}
    return "" if problem.get("code") and problem.get("detail") else f"without code or detail: {body[:200]!r}"


async def unreadable(client: httpx.AsyncClient) -> list[str]:
    """What can no longer be read of all that is stored: a value that came in must also go out."""
    soul_ids = [soul["soul_id"] for soul in (await client.get("/v1/souls")).json()]
    session_ids = [session["session_id"] for session in (await client.get("/v1/sessions")).json()]
    character_ids = [character["id"] for character in (await client.get("/v1/characters")).json()]
    paths = ["/v1/souls", "/v1/sessions", "/v1/characters", "/v1/backgrounds", "/v1/templates", "/v1/terminals"]
    for soul_id in soul_ids:
        parts = ("emotion/history", "plans", "facts", "slots", "preferences", "profile", "relations", "export")
        paths += [f"/v1/souls/{soul_id}/{part}" for part in parts]
    paths += [f"/v1/sessions/{session_id}/{part}" for session_id in session_ids for part in ("messages", "export")]
    paths += [
        f"/v1/characters/{one}/card?format={kind}&spec={spec}"
        for one in character_ids
        for kind in ("json", "png")
        for spec in ("v2", "v3")
    ]
    answers = {path: await client.get(path) for path in paths}
    return [f"{path}: {answer.text[:200]}" for path, answer in answers.items() if answer.status_code != 200]
