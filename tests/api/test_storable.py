"""No way in lets a text through that a database cannot hold: NUL, or half of a surrogate pair."""

import inspect
from typing import get_args

import pytest
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import APIRoute
from pydantic import BaseModel

from soulgraph.api.audio import SpeechRequest
from soulgraph.api.edits import Storable, unstorable
from soulgraph.api.embeddings import EmbeddingRequest
from soulgraph.api.openai_request import CompletionRequest
from soulgraph.api.responses import ResponseRequest
from soulgraph.server import create_app
from soulgraph.settings import Settings

CHECKED_FIELD_BY_FIELD = {CompletionRequest, EmbeddingRequest, ResponseRequest, SpeechRequest}
"""Most of what OpenAI's clients send is not read: what they have said before must not spoil what they say now.

What is embedded or said aloud is not stored.
"""


@pytest.fixture(scope="module")
def routes():
    app = create_app(Settings(_env_file=None))
    return [route for route in app.routes if isinstance(route, APIRoute)]


def models_in(annotation):
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from models_in(inner)


def test_every_body_is_checked_as_a_whole(routes):
    bodies = [route.body_field.field_info.annotation for route in routes if route.body_field]
    models = {model for body in bodies for model in models_in(body)}
    assert {model for model in models if not issubclass(model, Storable)} == CHECKED_FIELD_BY_FIELD


@pytest.mark.parametrize("text", ["a\x00b", "\x00"])
def test_every_parameter_refuses_nul(routes, text):
    through = [
        f"{route.path} {field.alias}"
        for route in routes
        for field in get_flat_params(route.dependant)
        if field.field_info.__class__.__name__ in ("Path", "Query") and not field.validate(text, {}, loc=())[1]
    ]
    assert through == []


def test_what_is_wrong_can_be_said_also_of_a_place_whose_name_is_half_a_character():
    assert unstorable({"a\ud800": {"b": "\x00"}}).encode() == rb"a\ud800.b: must not contain NUL characters"
