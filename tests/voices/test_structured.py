import json
from typing import Annotated, Literal

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call
from pydantic import BaseModel, Field

from soulgraph.errors import ModelRefused, ModelUnavailable
from soulgraph.tests.nodes.homes import open_stub_voice
from soulgraph.tests.stub_openai import Reply, StubOpenAI
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.schemas import plain_schema
from soulgraph.voices.structured import Form, ask, ask_in_form, json_text

ASKED = [HumanMessage("Where?")]
OSLO = '{"town": "Oslo"}'


class Place(BaseModel):
    """Where somebody is."""

    town: Annotated[str, Field(max_length=20, pattern="^[A-Z]")]


class Trip(BaseModel):
    stops: Annotated[list[Place], Field(max_length=3)]
    kind: Literal["walk", "ride"] = "walk"
    km: Annotated[int, Field(ge=0)] | None = None


def form_of(body):
    """The form in which a request asks for its answer."""
    if "tools" in body:
        return Form.TOOL
    match body.get("response_format", {}).get("type"):
        case "json_schema":
            return Form.BOUNDED if "maxItems" in json.dumps(body) else Form.SCHEMA
        case "json_object":
            return Form.OBJECT
    return Form.TEXT


class Server:
    """A stub that refuses some forms, each with its status and words, and answers the others."""

    def __init__(self, refusals, answer=OSLO):
        self.stub = StubOpenAI()
        self.stub.when("Where?", lambda body: refusals.get(form_of(body)) or self._answer(body, answer))

    def _answer(self, body, answer):
        if form_of(body) is Form.TOOL:
            return Reply(tool_calls=({"name": body["tools"][0]["function"]["name"], "arguments": answer},))
        return Reply(text=answer)

    @property
    def forms(self):
        return [form_of(request.body) for request in self.stub.requests]


NO_LENGTHS = Reply(status=400, text="In the given schema 'maxItems' is not permitted")
NO_SCHEMA = Reply(status=400, text="response_format type json_schema is not supported")
NO_TOOLS = Reply(status=422, text="tools are not available for this model")
NO_OBJECT = Reply(status=404, text="Unsupported: response_format")
LADDER = {Form.BOUNDED: NO_LENGTHS, Form.SCHEMA: NO_SCHEMA, Form.TOOL: NO_TOOLS, Form.OBJECT: NO_OBJECT}


@pytest.mark.parametrize("works", Form, ids=lambda form: form.name)
async def test_a_refused_form_gives_way_to_the_next_and_what_works_is_remembered(works):
    server = Server({form: reply for form, reply in LADDER.items() if form < works})
    async with server.stub as stub, open_stub_voice(stub) as voice:
        first = await ask_in_form(voice.model, ASKED, Trip)
        assert server.forms == [form for form in Form if form <= works]
        assert (json.loads(first.text), first.form) == (json.loads(OSLO), works)
        stub.requests.clear()
        assert json.loads(await ask(voice.model, ASKED, Trip)) == json.loads(OSLO)
        assert server.forms == [works]


async def test_two_models_learn_apart():
    server = Server({Form.BOUNDED: NO_SCHEMA, Form.SCHEMA: NO_SCHEMA})
    async with server.stub as stub, open_stub_voice(stub) as one, open_stub_voice(stub) as other:
        await ask(one.model, ASKED, Trip)
        stub.requests.clear()
        await ask(other.model, ASKED, Trip)
        assert server.forms == [Form.BOUNDED, Form.SCHEMA, Form.TOOL]


async def test_a_server_that_ignores_the_form_is_asked_in_the_next_one_from_then_on():
    server = Server({}, answer="It is Oslo.")
    async with server.stub as stub, open_stub_voice(stub) as voice:
        assert await ask(voice.model, ASKED, Trip) == "It is Oslo."
        await ask(voice.model, ASKED, Trip)
        assert server.forms == [Form.BOUNDED, Form.SCHEMA]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(status=401, text="response_format needs a key"), ModelRefused),
        (Reply(status=400, text="the context is too long"), ModelRefused),
        (Reply(status=503, text="overloaded"), ModelUnavailable),
        (Reply(garbage='{"choices": []}'), ModelUnavailable),
    ],
)
async def test_other_errors_are_raised_at_once(reply, error):
    async with StubOpenAI(reply) as stub, open_stub_voice(stub) as voice:
        with pytest.raises(error):
            await ask(voice.model, ASKED, Trip)
        assert len(stub.requests) == 1


async def test_a_server_that_refuses_everything_is_not_asked_for_ever():
    async with StubOpenAI(Reply(status=400, text="unsupported")) as stub, open_stub_voice(stub) as voice:
        with pytest.raises(ModelRefused):
            await ask(voice.model, ASKED, Trip)
        assert len(stub.requests) == len(Form)


async def test_calls_are_cool_and_bounded_unless_the_server_refuses_that():
    async with StubOpenAI(Reply(text=OSLO)) as stub, open_stub_voice(stub) as voice:
        await ask(voice.model, ASKED, Trip, max_tokens=50)
        stub.when('"temperature":', Reply(status=400, text="temperature does not support 0.2 with this model"))
        await ask(voice.model, ASKED, Trip)
        await ask(voice.model, ASKED, Trip)
    first, refused, bare, later = [request.body for request in stub.requests]
    assert (first["temperature"], first["max_tokens"]) == (0.2, 50)
    assert (refused["temperature"], refused["max_tokens"]) == (0.2, 700)
    for body in (bare, later):
        assert "temperature" not in body
        assert body["max_tokens"] == 700
        assert form_of(body) is Form.BOUNDED


async def test_the_schema_that_is_sent_is_strict_and_named():
    async with StubOpenAI(Reply(text=OSLO)) as stub, open_stub_voice(stub) as voice:
        await ask(voice.model, ASKED, Place)
    [request] = stub.requests
    assert request.body["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "Place",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {"town": {"type": "string"}},
                "required": ["town"],
                "additionalProperties": False,
            },
        },
    }


async def test_models_without_such_forms_are_asked_in_plain_words():
    answer = await ask_in_form(OfflineVoice(), ASKED, Trip)
    assert answer.form is Form.TEXT


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (AIMessage(f"<think>Perhaps {{}}?\n</think>\n{OSLO}"), OSLO),
        (AIMessage(f"no opening tag </think>{OSLO}"), OSLO),
        (AIMessage('<think>{"town": "Rome"} or'), ""),
        (AIMessage(f"Here: {OSLO}"), f"Here: {OSLO}"),
        (AIMessage("", tool_calls=[tool_call(name="Place", args={"town": "Oslo"}, id="1")]), OSLO),
        (AIMessage("", invalid_tool_calls=[invalid_tool_call(name="Place", args='{"town": ', id="1")]), '{"town": '),
    ],
    ids=["thoughts", "unopened", "unclosed", "prose", "tool", "broken tool"],
)
def test_the_json_is_found_where_the_form_puts_it(message, text):
    assert json_text(message) == text


def test_a_plain_schema_has_no_references_limits_or_optional_keys():
    place = {
        "type": "object",
        "properties": {"town": {"type": "string"}},
        "required": ["town"],
        "additionalProperties": False,
    }
    assert plain_schema(Trip) == {
        "title": "Trip",
        "type": "object",
        "properties": {
            "stops": {"type": "array", "items": place},
            "kind": {"type": "string", "enum": ["walk", "ride"]},
            "km": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["stops", "kind", "km"],
        "additionalProperties": False,
    }
    assert plain_schema(Trip, bounded=True)["properties"]["stops"]["maxItems"] == 3


def test_a_schema_may_be_given_as_it_is():
    given = {"type": "object", "properties": {"mood": {"type": "string", "description": "in a word"}}}
    plain = plain_schema(given)
    assert (plain["title"], plain["properties"]["mood"]["description"]) == ("answer", "in a word")
    assert plain["required"] == ["mood"]
