"""Which key opens which door: every endpoint with every kind of key."""

import json
import re

import pytest
from fastapi.routing import APIRoute, APIWebSocketRoute
from starlette.routing import Mount, Route

from soulgraph.api.auth import identify
from soulgraph.api.websocket import identify_socket
from soulgraph.server import create_app
from soulgraph.settings import Settings
from soulgraph.tests.e2e.keyring import CREDENTIALS, build
from soulgraph.tests.live import serving

EVERYBODY = {*CREDENTIALS, "open server"}
OWNERS = {"owner", "owner, soul 1", "open server"}
# Whom each kind of endpoint lets in; the others are refused with 403, and without a valid key with 401.
LETS_IN = {
    "public": EVERYBODY | {"nobody", "revoked"},
    "anyone": EVERYBODY,
    "people": EVERYBODY - {"terminal"},
    "terminals": OWNERS | {"terminal", "ann's terminal"},
    "owners": OWNERS,
    "server": OWNERS - {"owner, soul 1"},
}
# `$session` is Ann's with soul 1, so it is 404 for whoever is not her. `$person` is Ann.
TABLE = """
public    GET    /healthz
public    GET    /readyz
anyone    GET    /v1/me
anyone    POST   /v1/chat  {"text": "hi", "soul_id": "$soul"}
anyone    POST   /v1/sessions/$session/stop  {}
anyone    POST   /v1/chat/completions  {"model": "soul:$soul", "messages": [{"role": "user", "content": "hi"}]}
people    POST   /mcp  {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
anyone    POST   /v1/audio/speech  {"model": "soul:$soul", "input": "hi", "response_format": "wav"}
anyone    POST   /v1/audio/transcriptions  {}
anyone    POST   /v1/responses  {"model": "soul:$soul", "input": "hi"}
anyone    GET    /v1/models
anyone    GET    /v1/models/soul:$soul
anyone    GET    /v1/souls
anyone    GET    /v1/souls/$soul
anyone    GET    /v1/souls/$soul/emotion
anyone    GET    /v1/souls/$soul/emotion/history
anyone    GET    /v1/souls/$soul/stream
anyone    GET    /v1/terminals
anyone    GET    /v1/terminals/$lamp
anyone    POST   /v1/emotion/analyze  {"text": "hi"}
anyone    POST   /v1/embeddings  {"model": "builtin", "input": "hi"}
anyone    POST   /v1/intents/filter  {"text": "hi", "intent_catalog": []}
anyone    GET    /v1/characters
anyone    GET    /v1/characters/x
anyone    GET    /v1/characters/x/card
anyone    GET    /v1/characters/x/lore
anyone    GET    /v1/characters/x/images
anyone    GET    /v1/characters/x/images/avatar
anyone    GET    /v1/characters/x/mbti
anyone    GET    /v1/backgrounds
anyone    GET    /v1/backgrounds/x
anyone    GET    /v1/backgrounds/x/lore
anyone    GET    /v1/templates
anyone    GET    /v1/templates/x
anyone    GET    /v1/graphs
anyone    GET    /v1/templates/variables
anyone    POST   /v1/simulate  {"script": "joy@1s"}
people    GET    /v1/souls/$soul/profile
people    GET    /v1/souls/$soul/facts
people    GET    /v1/souls/$soul/facts/x
people    PATCH  /v1/souls/$soul/facts/x  {"content": "x"}
people    DELETE /v1/souls/$soul/facts/x
people    GET    /v1/souls/$soul/plans
people    POST   /v1/souls/$soul/plans  {"content": "x", "at": "2030-01-01T09:00:00"}
people    GET    /v1/souls/$soul/plans/x
people    PATCH  /v1/souls/$soul/plans/x  {"content": "x"}
people    DELETE /v1/souls/$soul/plans/x
people    GET    /v1/souls/$soul/slots
people    GET    /v1/souls/$soul/slots/1
people    PUT    /v1/souls/$soul/slots/1  {"content": "x"}
people    DELETE /v1/souls/$soul/slots/1
people    GET    /v1/souls/$soul/preferences
people    GET    /v1/souls/$soul/preferences/tone
people    PUT    /v1/souls/$soul/preferences/tone  {"value": "x"}
people    DELETE /v1/souls/$soul/preferences/tone
people    GET    /v1/souls/$soul/recall?q=hi
people    GET    /v1/souls/$soul/shared
people    GET    /v1/souls/$soul/relations
people    GET    /v1/souls/$soul/relations/$person
people    PUT    /v1/souls/$soul/relations/$person  {"bond": "friends"}
people    DELETE /v1/souls/$soul/relations/$person
people    GET    /v1/sessions
people    POST   /v1/sessions  {"soul_id": "$soul"}
people    POST   /v1/sessions/open  {"soul_id": "$soul"}
people    POST   /v1/sessions/import?soul_id=$soul  {"type": "metadata"}
people    GET    /v1/sessions/$session
people    PATCH  /v1/sessions/$session  {"title": "x"}
people    PUT    /v1/sessions/$session  {"title": "x"}
people    DELETE /v1/sessions/$session
people    GET    /v1/sessions/$session/messages
people    PATCH  /v1/sessions/$session/messages/1  {"content": "x"}
people    DELETE /v1/sessions/$session/messages/1
people    POST   /v1/sessions/$session/fork  {}
people    PUT    /v1/sessions/$session/messages/1/sharing  {"shared_with": []}
people    GET    /v1/sessions/$session/turns/x
people    GET    /v1/turns/x/stream
people    GET    /v1/sessions/$session/export
people    GET    /v1/sessions/$session/persona-state
people    PUT    /v1/sessions/$session/persona-state  {"mode": "strict"}
people    DELETE /v1/sessions/$session/persona-state
people    GET    /v1/sessions/$session/persona-versions
people    GET    /v1/sessions/$session/evolution
people    GET    /v1/events
people    GET    /v1/events/x
terminals POST   /v1/souls/select  {"terminal_id": "$lamp", "soul_id": "$soul"}
terminals PUT    /v1/terminals/$lamp/intent-catalog  {"catalog_version": 1, "intent_catalog": []}
terminals POST   /v1/terminals/$lamp/heartbeat
terminals DELETE /v1/terminals/$lamp
owners    PATCH  /v1/souls/$soul  {"name": "Mo"}
owners    PUT    /v1/souls/$soul  {"name": "Mo"}
owners    DELETE /v1/souls/$soul
owners    POST   /v1/souls/$soul/character  {}
owners    PUT    /v1/souls/$soul/profile  {"dynamic_state": {}}
owners    POST   /v1/souls/$soul/profile/maintain
owners    POST   /v1/souls/$soul/profile/restore  {"id": "x"}
owners    GET    /v1/souls/$soul/inner-state
owners    PUT    /v1/souls/$soul/inner-state  {"inner_state": "x"}
owners    GET    /v1/souls/$soul/inner-state/versions
owners    POST   /v1/souls/$soul/inner-state/versions/0/restore
owners    GET    /v1/souls/$soul/scratch-area
owners    PUT    /v1/souls/$soul/scratch-area  {"scratch_area": "x"}
owners    GET    /v1/souls/$soul/usage
owners    GET    /v1/souls/$soul/export
owners    POST   /v1/sessions/$session/update-memory
owners    POST   /v1/sessions/$session/persona-versions/0/restore
owners    POST   /v1/sessions/$session/summarize
owners    POST   /v1/templates/companion_v1/preview  {"text": "hi", "session_id": "$session"}
owners    POST   /v1/templates/preview  {"text": "hi", "session_id": "$session", "template": $draft}
owners    DELETE /v1/events?session_id=$session
server    POST   /v1/souls  {}
server    POST   /v1/souls/import
owners    POST   /v1/souls/$soul/import-chats
server    GET    /v1/keys
server    POST   /v1/keys  {}
server    GET    /v1/keys/x
server    DELETE /v1/keys/x
server    POST   /v1/characters  {}
server    PUT    /v1/characters/x  {}
server    DELETE /v1/characters/x
server    POST   /v1/characters/import
server    POST   /v1/characters/x/lore  {}
server    PUT    /v1/characters/x/lore  []
server    POST   /v1/characters/x/lore/import  {}
server    PUT    /v1/characters/x/images/avatar
server    POST   /v1/characters/x/images/import
server    DELETE /v1/characters/x/images/avatar
server    PUT    /v1/characters/x/lore/y  {}
server    DELETE /v1/characters/x/lore/y
server    POST   /v1/backgrounds  {}
server    PUT    /v1/backgrounds/x  {"name": "x"}
server    DELETE /v1/backgrounds/x
server    POST   /v1/backgrounds/x/lore  {}
server    PUT    /v1/backgrounds/x/lore  []
server    POST   /v1/backgrounds/x/lore/import  {}
server    PUT    /v1/backgrounds/x/lore/y  {}
server    DELETE /v1/backgrounds/x/lore/y
server    POST   /v1/templates  {}
server    PUT    /v1/templates/x  {}
server    DELETE /v1/templates/x
server    POST   /v1/events/tidy  {"keep": 1}
server    DELETE /v1/events/x
server    GET    /v1/jobs
server    POST   /v1/jobs/1/retry
server    POST   /v1/jobs/retry
server    GET    /metrics
server    GET    /v1/settings
server    GET    /v1/doctor
server    POST   /v1/doctor/repair
server    POST   /v1/backup
"""
ROWS = [line.split(maxsplit=3) for line in TABLE.strip().splitlines()]
# What is deleted is deleted last, and the soul after everything that it has.
CALLS = sorted(ROWS, key=lambda row: (row[1] == "DELETE", -len(row[2]) if row[1] == "DELETE" else 0))
STUDIO = {"/", "/studio", "/studio/{path:path}", "/prompt-templates"}
DRAFT = '{"name": "x", "modules": [{"name": "Who", "template": "{{base_persona}}"}]}'
PUBLIC = {"/healthz", "/readyz", "/docs", "/openapi.json", *STUDIO}
HIDDEN = {"soul", "session", "terminal", "relation", "message", "model"}
"""What a caller who may not see it is told does not exist."""


def takes_a_caller(dependant):
    return dependant.call in (identify, identify_socket) or any(map(takes_a_caller, dependant.dependencies))


def test_no_route_forgets_who_calls():
    routes = create_app(Settings.load()).routes
    assert {type(route) for route in routes} == {APIRoute, APIWebSocketRoute, Mount, Route}, "a kind that hides routes"
    forgetful = {
        route.path
        for route in routes
        if not (isinstance(route, APIRoute | APIWebSocketRoute) and takes_a_caller(route.dependant))
    }
    assert forgetful == PUBLIC | {"/docs/assets"}


def test_the_table_has_every_endpoint():
    def pattern(path):
        return re.compile(re.sub(r"\{\w+\}", r"[^/]+", path) + r"(\?.*)?$")

    paths = create_app(Settings.load()).openapi()["paths"]
    served = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    # The longest first: `/v1/souls/select` is no soul.
    by_length = sorted(served, key=lambda call: -len(re.sub(r"\{\w+\}", "", call[1])))
    listed = [next(c for c in by_length if c[0] == row[1] and pattern(c[1]).match(row[2])) for row in ROWS]
    assert len(listed) == len(ROWS)
    assert {*listed} == served


def expected(kind, who, call):
    if who in ("nobody", "revoked") and kind != "public":
        return 401
    if who not in LETS_IN[kind]:
        return 403
    is_anns = "$session" in call or (who == "chat" and "$person" in call)
    return 404 if who in ("chat", "anybody") and is_anns else "allowed"


async def answer(client, house, who, method, call, ids):
    """401, 403, 404 for what is hidden, or `allowed`: whatever came of it, the caller was let in."""
    for name, value in (ids | {"draft": DRAFT}).items():
        call = call.replace(f"${name}", value)
    path, _, body = call.partition(" ")
    headers = {**house.headers(who), "content-type": "application/json"}
    async with client.stream(method, path, content=body.strip() or None, headers=headers) as response:
        if response.status_code in (401, 403):
            return response.status_code
        if response.status_code != 404:
            return "allowed"
        problem = json.loads(await response.aread())
        kind = problem.get("kind") or ("model" if problem["error"]["code"] == "model_not_found" else "")
        return 404 if kind in HIDDEN else "allowed"


@pytest.mark.parametrize("who", ["nobody", "revoked", *CREDENTIALS, "open server"])
async def test_every_endpoint_lets_in_whom_the_table_says(tmp_path, who):
    house = await build(tmp_path, with_keys=who != "open server")
    ids = {"soul": house.souls[0], "session": house.session("ann"), "lamp": "lamp-0", "person": "ann"}
    async with serving(data_dir=tmp_path) as client:
        for kind, method, *call in CALLS:
            call = " ".join(call)
            assert await answer(client, house, who, method, call, ids) == expected(kind, who, call), (method, call)


@pytest.mark.parametrize(
    ("who", "soul", "person"),
    [
        ("ann", 0, "bob"),
        ("ann's terminal", 0, "bob"),
        ("ann, soul 1", 0, "bob"),
        ("ann, soul 1", 1, "ann"),
        ("owner, soul 1", 1, "ann"),
    ],
)
async def test_what_is_not_the_callers_does_not_exist(tmp_path, who, soul, person):
    """Bob's session and relation for Ann, and everything of the second soul for a key of the first."""
    house = await build(tmp_path)
    ids = {"soul": house.souls[soul], "session": house.session(person, soul), "lamp": f"lamp-{soul}", "person": person}
    foreign = ("$soul", "$session", "$lamp", "$person") if soul else ("$session", "$person")
    async with serving(data_dir=tmp_path) as client:
        for kind, method, *call in CALLS:
            call = " ".join(call)
            if any(mark in call for mark in foreign):
                wanted = 404 if who in LETS_IN[kind] else 403
                assert await answer(client, house, who, method, call, ids) == wanted, (method, call)
        everything = await client.get(f"/v1/sessions/{ids['session']}", headers=house.headers("owner"))
        assert everything.status_code == 200
        assert everything.json()["title"] == ""
