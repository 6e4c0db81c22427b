"""Compares every answer of a server under test with its own description: every test that uses `serving` proves a part.

A description costs half a second of every process that runs tests, and an answer less than a tenth of a millisecond.
"""

import functools
import json

import jsonschema_rs
from fastapi.routing import APIRoute

from soulgraph.server import create_app
from soulgraph.settings import Settings

JSON = ("application/json", "application/problem+json")


@functools.cache
def description():
    return create_app(Settings.load()).openapi()


@functools.cache
def validator(schema):
    """For the bodies that are described by this schema, as JSON: most answers share a few."""
    schemas = {"schemas": description()["components"]["schemas"]}
    return jsonschema_rs.Draft202012Validator({**json.loads(schema), "components": schemas})


def complaint(method, path, status, media_type, body):
    """What of an answer is not in the description; None if all of it is."""
    operation = description()["paths"].get(path, {}).get(method.lower())
    if operation is None:
        return f"there is no {method} {path}"
    if str(status) not in operation["responses"]:
        return f"{status} is not among {', '.join(operation['responses'])}"
    content = resolved(operation["responses"][str(status)]).get("content", {})
    if not content and not body:
        return None
    if media_type not in content:
        return f"{status} is {media_type}, not {', '.join(content) or 'empty'}"
    if media_type not in JSON:
        return None
    try:
        answer = json.loads(body)
    except ValueError as error:
        return f"{status} is no JSON: {error}"
    if status >= 400 and code_of(answer) not in codes(content[media_type]):
        return f"{status} {code_of(answer)} is not among {', '.join(codes(content[media_type]))}"
    flaws = validator(json.dumps(content[media_type]["schema"])).iter_errors(answer)
    return next((f"{status}: {flaw.message} at {flaw.instance_path}" for flaw in flaws), None)


def codes(content):
    return dict.fromkeys(code_of(resolved(example)["value"]) for example in content["examples"].values())


def code_of(problem):
    """Its code, and of what there is none."""
    told = problem.get("error") or problem
    return " ".join(filter(None, (str(told["code"]), told.get("kind"))))


def resolved(part):
    if "$ref" not in part:
        return part
    found = description()
    for step in part["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found


class Watched:
    """An ASGI app whose answers are compared; `complaints` are about those that are not as described."""

    def __init__(self, app):
        self.app = app
        self.complaints = set()

    async def __call__(self, scope, receive, send):
        answer = Answer()

        async def send_and_note(message):
            answer.note(message)
            await send(message)

        await self.app(scope, receive, send_and_note if scope["type"] == "http" else send)
        self.compare(scope, answer)

    def compare(self, scope, answer):
        route = scope.get("route")
        described = isinstance(route, APIRoute) and route.include_in_schema and scope["method"] in route.methods
        if not described or not answer.complete:
            return
        found = complaint(scope["method"], route.path_format, answer.status, answer.media_type, answer.body)
        if found:
            self.complaints.add(f"{scope['method']} {route.path_format}: {found}")


class Answer:
    def __init__(self):
        self.status = 0
        self.media_type = ""
        self.body = b""
        self.complete = False

    def note(self, message):
        if message["type"] == "http.response.start":
            headers = dict(message["headers"])
            self.status = message["status"]
            self.media_type = headers.get(b"content-type", b"").decode().partition(";")[0]
        if message["type"] == "http.response.body":
            if self.media_type in JSON:
                self.body += message.get("body", b"")
            self.complete = not message.get("more_body", False)
