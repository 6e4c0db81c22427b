"""Compares every answer of a server under test with its own description: whoever uses `serving` proves it a little."""

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
def validator(method, path, status, media_type):
    """For the bodies of these answers."""
    response = resolved(description()["paths"][path][method.lower()]["responses"][str(status)])
    schema = response["content"][media_type]["schema"]
    return jsonschema_rs.Draft202012Validator({**schema, "components": description()["components"]})


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
    answer = json.loads(body)
    if status >= 400 and code_of(answer) not in codes(content[media_type]):
        return f"{status} {code_of(answer)} is not among {', '.join(codes(content[media_type]))}"
    flaws = validator(method, path, status, media_type).iter_errors(answer)
    return next((f"{flaw.message} at {flaw.instance_path}" for flaw in flaws), None)


def codes(content):
    return dict.fromkeys(code_of(resolved(example)["value"]) for example in content["examples"].values())


def code_of(problem):
    """Its code, and of what there is none."""
    told = problem.get("error") or problem
    return " ".join(filter(None, (told["code"], told.get("kind"))))


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

    def report(self):
        import os

        if place := os.environ.get("SOULGRAPH_TEST_COMPLAINTS"):
            with open(place, "a") as file:
                file.writelines(f"{line}\n" for line in sorted(self.complaints))

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        answer = Answer()

        async def send_and_note(message):
            answer.note(message)
            await send(message)

        await self.app(scope, receive, send_and_note)
        import os

        if os.environ.get("SOULGRAPH_TEST_COMPLAINTS"):
            self.compare(scope, answer)

    def compare(self, scope, answer):
        route = scope.get("route")
        if not answer.complete or not isinstance(route, APIRoute) or not route.include_in_schema:
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
