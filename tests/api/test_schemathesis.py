"""Schemathesis reads the description of the API, sends what follows from it, and finds nothing.

Every operation gets its own examples, values at and beyond every limit, methods that its path has not, and whatever
else Hypothesis thinks of. With `SOULGRAPH_TEST_SCHEMATHESIS_EXAMPLES` it thinks that often for each operation, and
also of the limits in the bodies of POST and PUT, which takes two minutes.
"""

import asyncio
import json
import os

import pytest
import schemathesis
from hypothesis import strategies as st
from schemathesis.checks import load_all_checks
from schemathesis.engine import events, from_schema
from schemathesis.generation import coverage

from soulgraph.api.media import GZIP, NDJSON, OCTETS, SSE
from soulgraph.api.patterns import WORD
from soulgraph.server import create_app
from soulgraph.tests.api import scenario
from soulgraph.tests.declared import description

THOROUGH = os.environ.get("SOULGRAPH_TEST_SCHEMATHESIS_EXAMPLES")
EXAMPLES = int(THOROUGH or 2)
PHASES = ("examples", "coverage", "fuzzing")
FLAGS = ["true", "false", "1", "0", "yes", "no", "on", "off"]
# What is well-formed may still make no sense, like a template that uses an unknown variable.
UNCHECKED = ("positive_data_acceptance",)

register = schemathesis.openapi.format
load_all_checks()
schemathesis.serializer.alias(["image/png", "image/jpeg", "image/webp", GZIP, NDJSON], OCTETS)


# The server runs in the same process, and may draw a random pause just while Hypothesis draws an example.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
async def test_schemathesis_finds_nothing(tmp_path, monkeypatch, method):
    monkeypatch.setattr(coverage, "_negative_type", wrong_types)
    monkeypatch.setattr(scenario, "create_app", with_ended_streams)
    async with scenario.living(tmp_path) as lived:
        await lived.make()
        document = json.loads(lived.real(json.dumps(description())))
        phases = PHASES if THOROUGH or method in ("GET", "PATCH", "DELETE") else ("examples", "fuzzing")
        assert await asyncio.to_thread(findings, document, lived.client, phases, method=method) == []


async def test_schemathesis_finds_what_is_not_as_described(tmp_path):
    """Else to find nothing would prove nothing."""
    document = json.loads(json.dumps(description()))
    responses = document["paths"]["/healthz"]["get"]["responses"]
    responses["200"]["content"]["application/json"]["schema"] = {"type": "array"}
    del document["paths"]["/v1/souls/{soul_id}"]["get"]["responses"]["404"]
    async with scenario.living(tmp_path) as lived:
        path = ["/healthz", "/v1/souls/{soul_id}"]
        found = await asyncio.to_thread(findings, document, lived.client, PHASES, method="GET", path=path)
    assert any("GET /healthz" in flaw and "array" in flaw for flaw in found)
    assert any("GET /v1/souls/{soul_id}" in flaw and "404" in flaw for flaw in found)


FORMS = ["/v1/audio/transcriptions"]
"""Of the forms that it makes up some are no HTTP: `tests/e2e/test_audio.py` sends what may be wrong with one."""

NEGATIVE_TYPE = coverage._negative_type


def wrong_types(context, kind, *rest):
    """Values of other types than the right one.

    What stands for a text in a path, a query, a header or a file is a text, whatever it was: to find that out by
    trying takes half a second for every parameter.
    """
    if context.media_type == ("application", "json") or "string" not in kind:
        yield from NEGATIVE_TYPE(context, kind, *rest)


def findings(document, client, phases, **operations):
    """What is wrong with the answers of some operations, each with the command that repeats the request."""
    guide(document)
    schema = schemathesis.openapi.from_dict(document, config=config_for(client, phases))
    wanted = schema.include(**operations).exclude(path=FORMS)
    return [flaw for event in from_schema(wanted).execute() for flaw in flaws(event)]


def config_for(client, phases):
    return schemathesis.Config.from_dict(
        {
            "base-url": str(client.base_url).rstrip("/"),
            "headers": {"Authorization": client.headers["Authorization"]},
            "seed": 1,
            "continue-on-failure": True,
            "request-timeout": 60,
            "suppress-health-check": ["all"],
            "generation": {"max-examples": EXAMPLES, "database": ":memory:", "allow-extra-parameters": False},
            "phases": {"enabled": False, **{name: {"enabled": True} for name in phases}},
            "checks": {name: {"enabled": False} for name in UNCHECKED},
        }
    )


def flaws(event):
    if isinstance(event, events.NonFatalError):
        yield f"{event.label}: {event.value!r}"
    if isinstance(event, events.FatalError):
        yield repr(event.exception)
    if isinstance(event, events.ScenarioFinished):
        checks = [check for found in event.recorder.checks.values() for check in found]
        for info in (check.failure_info for check in checks if check.failure_info):
            if "violates `format`" not in info.failure.message:  # the formats are our own: see `guided`
                yield f"{event.label}: {info.failure.message}\n{info.code_sample}"


def guide(document):
    """Lead what is made up to things that there are, and away from what costs minutes and proves nothing."""
    for operation in (one for operations in document["paths"].values() for one in operations.values()):
        for parameter in operation.get("parameters", ()):
            parameter["schema"] = guided(parameter)
        for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
            if media_type != "application/json":
                content["schema"] = {}  # a file may have anything in it, and its answer may be a stream that says no
        for response in operation["responses"].values():
            response.get("content", {}).get(SSE, {}).pop("schema", None)  # it would be taken for that of an event
    for schema in document["components"]["schemas"].values():
        fields = schema.get("properties", {})
        schema["properties"] = {name: field for name, field in fields.items() if not field.get("readOnly")}
    name_patterns(document)


def guided(parameter):
    """The schema of a parameter: half of the things in paths are those that there are."""
    schema = parameter["schema"]
    if schema.get("type") == "boolean":
        return {"type": "string", "enum": FLAGS}
    if parameter["in"] != "path" or "pattern" not in schema:
        return schema
    register(parameter["example"], st.just(parameter["example"]) | matching(schema["pattern"]))
    return {**schema, "format": parameter["example"]}


def name_patterns(part):
    """Make of every pattern that Python's cannot say a format: Schemathesis would make up any text for it."""
    if isinstance(part, dict) and WORD in str(part.get("pattern")) and "format" not in part:
        part["format"] = part["pattern"]
        register(part["format"], matching(part["pattern"]))
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        name_patterns(inner)


def matching(pattern):
    # Python's `\w` has digits that are no digits, like ½, and ours has not.
    alphabet = st.characters(exclude_categories=["No", "Cs"])
    return st.from_regex(pattern.replace(WORD, r"\w"), fullmatch=True, alphabet=alphabet)


def with_ended_streams(settings):
    app = create_app(settings)
    app.add_middleware(EndedStreams)
    return app


class EndedStreams:
    """ASGI middleware that ends a soul's stream of events after its first piece: by itself it has no end."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        async def send_first(message):
            if not answering.cancelling():
                await send({**message, "more_body": False} if message.get("body") else message)
            if message.get("body"):
                answering.cancel()

        if scope.get("path", "").endswith("/stream"):
            answering = asyncio.ensure_future(self.app(scope, receive, send_first))
            await asyncio.wait([answering])
        else:
            await self.app(scope, receive, send)
