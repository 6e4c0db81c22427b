"""`/openapi.json`: what FastAPI tells of the endpoints, and beside it every problem that each of them answers with.

Problems follow from what an endpoint and its dependencies say that they raise (`api/raising.py`), from its path, its
parameters and its body. It is done once, when somebody asks for the description, so that the start stays fast.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Param
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from soulgraph.api import openai_wire
from soulgraph.api.examples import KEYS, kind_of
from soulgraph.api.limits import MEBIBYTE, limit_of
from soulgraph.api.patterns import translate_patterns
from soulgraph.api.problems import invalid
from soulgraph.api.raising import DEFECT, not_found, raised_by
from soulgraph.errors import InvalidInput, SoulgraphError, TooLarge
from soulgraph.stores.records import Json

PROBLEM = "application/problem+json"
EXAMPLES = Path(__file__).parent / "examples.json"
"""Answers that were given to the requests of the examples; `tests/api/test_examples.py` writes them."""

_WRONG_BODIES: tuple[Any, ...] = ({}, {"unknown": 1}, [])
_WRONG_TEXT = "not this\0"
_HEADERS = {401: "WWW-Authenticate", 429: "Retry-After"}


class FlawOut(BaseModel):
    where: str = Field(description="the path of the value: `body.modules.0.name`")
    message: str
    name: str | None = Field(None, description="of the thing in a list that is meant, if it has one")


class Problem(BaseModel):
    """What went wrong, as RFC 9457 writes it. Match on `code`; `detail` is for people and says what to do."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="`urn:soulgraph:problem:` and the code")
    title: str
    status: int
    code: str
    detail: str
    kind: str | None = Field(None, description="of `not_found`: what there is none of")
    errors: list[FlawOut] | None = Field(None, description="of `invalid_input`: all that is wrong with the request")
    line: int | None = Field(None, description="of `invalid_input`: the line of a file")
    reason: str | None = Field(None, description="of a failure of the model: what it was")
    retry_after_s: int | None = Field(None, description="of `session_busy`: when to send it again")


class OpenAIError(BaseModel):
    message: str
    type: str
    param: str | None
    code: str


class OpenAIProblem(BaseModel):
    """The same in the format of OpenAI's API, for its clients."""

    error: OpenAIError


class DescribedApp(FastAPI):
    """A FastAPI app that describes every answer of its endpoints.

    `outermost` wraps all of it: what is added as middleware does not see the answers to unexpected errors.
    """

    def __init__(self, outermost: Callable[[ASGIApp], ASGIApp] = lambda app: app, **options: Any) -> None:
        super().__init__(**options)
        self._outermost = outermost

    def build_middleware_stack(self) -> ASGIApp:
        return self._outermost(super().build_middleware_stack())

    def setup(self) -> None:
        """To describe it all takes half a second, in which nobody would be answered: it is done in a thread."""

        def openapi(request: Request) -> JSONResponse:
            return JSONResponse(self.openapi())

        self.add_route("/openapi.json", openapi, include_in_schema=False)

    def openapi(self) -> Json:
        if self.openapi_schema is None:
            self.openapi_schema = _with_problems(super().openapi(), self.routes)
        return self.openapi_schema


def _with_problems(document: Json, routes: Iterable[BaseRoute]) -> Json:
    examples: Json = {}
    answers: Json = json.loads(EXAMPLES.read_text("utf-8")) if EXAMPLES.exists() else {}
    for route in routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                operation = document["paths"][route.path_format][method.lower()]
                for parameter in operation.get("parameters", ()):
                    parameter["schema"] = _without_null(parameter["schema"])
                    _show(parameter, route.path)
                operation["responses"].pop("422", None)  # FastAPI's own, which is not what we answer
                _show_answers(operation, f"{method} {route.path_format}", answers)
                operation["responses"] |= _responses(route, method, examples)
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for model in (FlawOut, Problem, OpenAIError, OpenAIProblem):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas[model.__name__] = {name: value for name, value in schema.items() if name != "$defs"}
    document["components"]["examples"] = examples
    translate_patterns(document)
    return document


def _show(parameter: Json, path: str) -> None:
    """Give a parameter of the path, or one that must be sent, an example."""
    kind = kind_of(parameter["name"], path)
    if parameter["required"] and kind:
        key = KEYS[kind]
        parameter["example"] = int(key) if parameter["schema"].get("type") == "integer" else key


def _show_answers(operation: Json, call: str, answers: Json) -> None:
    """Of what went well; problems have examples of their own."""
    for status, response in operation["responses"].items():
        if int(status) >= 400:
            continue
        for media_type, content in response.get("content", {}).items():
            if (answer := answers.get(f"{call} {media_type}")) is not None:
                content["example"] = answer


def _without_null(schema: Json) -> Json:
    """What is optional in Python may be None; in a query or a header it can only be left out."""
    if "anyOf" not in schema:
        return schema
    kinds = [kind for kind in schema["anyOf"] if kind != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    return {**kinds[0], **rest} if len(kinds) == 1 else {"anyOf": kinds, **rest}


def _responses(route: APIRoute, method: str, examples: Json) -> Json:
    """The problems of an endpoint as responses by status; each example is kept once for all endpoints."""
    for_openai = route.path.startswith(openai_wire.PATHS)
    problems = [error.problem() for error in problems_of(route, method)]
    status = openai_wire.status if for_openai else lambda problem: int(problem["status"])
    responses: Json = {}
    for code, group in groupby(sorted(problems, key=status), key=status):
        found = [*group]
        names = [_keep(openai_wire.error(one) if for_openai else one, one, examples) for one in found]
        content = {
            "schema": {"$ref": f"#/components/schemas/{'OpenAIProblem' if for_openai else 'Problem'}"},
            "examples": {name: {"$ref": f"#/components/examples/{name}"} for name in names},
        }
        titles = dict.fromkeys(problem["title"] for problem in found)
        responses[str(code)] = {
            "description": "; ".join(titles),
            "content": {"application/json" if for_openai else PROBLEM: content},
        }
        if header := _HEADERS.get(code):
            responses[str(code)]["headers"] = {header: {"required": True, "schema": {"type": "string"}}}
    return responses


def _keep(body: Json, problem: Json, examples: Json) -> str:
    """The name of the example: its code, with a number if other examples have the same code."""
    base = problem["code"] if body is problem else f"openai.{problem['code']}"
    number = 1
    while True:
        name = base if number == 1 else f"{base}.{number}"
        if examples.setdefault(name, {"summary": problem["detail"], "value": body})["value"] == body:
            return name
        number += 1


def problems_of(route: APIRoute, method: str) -> list[SoulgraphError]:
    """Every error that an endpoint answers with, the defect included that there should never be."""
    found = [
        *_raised(route.dependant),
        *not_found(*_kinds(route, method)),
        *_refusals(route),
        DEFECT,
    ]
    return [*{(error.problem_code, error.detail): error for error in found}.values()]


def _raised(dependant: Dependant) -> Iterator[SoulgraphError]:
    yield from raised_by(dependant.call)
    for dependency in dependant.dependencies:
        yield from _raised(dependency)


def _kinds(route: APIRoute, method: str) -> Sequence[str]:
    """What the path names and may not exist. A PUT makes what the last part of its path names."""
    names = [*route.param_convertors]
    if method == "PUT" and route.path.endswith("}"):
        names.pop()
    return [kind for name in names if (kind := kind_of(name, route.path))]


def _refusals(route: APIRoute) -> Iterator[SoulgraphError]:
    """What the parameters and the body of a request may be refused for."""
    if route.body_field or "requestBody" in (route.openapi_extra or {}):
        limit = limit_of(route.path)
        yield TooLarge(f"the body may have {limit // MEBIBYTE} MiB at most")
    if refusal := _wrong_body(route) or _wrong_parameter(route):
        yield refusal


def _wrong_body(route: APIRoute) -> InvalidInput | None:
    """What the validation of the body itself says of one that is wrong."""
    if (field := route.body_field) is None:
        return None
    found = (field.validate(body, loc=("body",))[1] for body in _WRONG_BODIES)
    return next((invalid(errors) for errors in found if errors), None)


def _wrong_parameter(route: APIRoute) -> InvalidInput | None:
    for parameter in get_flat_params(route.dependant):
        assert isinstance(parameter.field_info, Param)
        where = parameter.field_info.in_.value
        errors = parameter.validate(_WRONG_TEXT, loc=(where, parameter.alias))[1]
        if errors:
            return invalid(errors)
    return None
