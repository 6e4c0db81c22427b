"""The request, response and error formats of OpenAI's chat completions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
    field_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from soulgraph.api.fields import Id, ModelName, Text, UserId
from soulgraph.nodes.answer import Answer
from soulgraph.soul.emotions import EmotionStateDict
from soulgraph.soul.gate import ExecMode
from soulgraph.soul.validation import FLAG, explain
from soulgraph.stores.records import Json

PATHS = ("/v1/models", "/v1/chat/completions", "/v1/embeddings")

_text = TypeAdapter(Text)


class _Only:
    """Of a field that asks for what a soul cannot give (several choices, tools, audio …).

    Allowed are the values that ask for nothing.
    """

    def __init__(self, *values: Any) -> None:
        self._values = (None, *values)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"enum": [*self._values]}

    def _check(self, value: Any) -> Any:
        # Not `in`: True would be 1.
        if any(value == allowed and type(value) is type(allowed) for allowed in self._values):
            return value
        raise ValueError("a soul answers once, in plain text and with tools of its own: leave this out")


class Message(BaseModel):
    role: str
    content: str | list[dict[str, Any]] | None = None
    name: Any = None

    @property
    def text(self) -> str:
        """The content as one text; raises ValueError if a part of it is no text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(_text_of(part) for part in self.content or [])


def _text_of(part: Json) -> str:
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    raise ValueError(f"a soul reads text alone, not a part of type {part.get('type')!r}")


class Metadata(BaseModel):
    session_id: Id | None = None


class StreamOptions(BaseModel):
    include_usage: Annotated[bool, FLAG] = False


class CompletionRequest(BaseModel):
    """The fields of a request that are read. Others, such as sampling parameters and limits, are ignored."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"model": "soul:小满", "messages": [{"role": "user", "content": "今天被老板骂了，好难过"}]}]
        }
    )

    model: ModelName
    messages: list[Message] = Field(description="only the user's last one is new: the soul remembers the others")
    user: UserId | None = None
    metadata: Metadata | None = None
    stream: Annotated[bool, FLAG] | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[Any, _Only(1)] = None
    tools: Annotated[Any, _Only([])] = None
    functions: Annotated[Any, _Only([])] = None
    response_format: Annotated[Any, _Only({"type": "text"})] = None
    logprobs: Annotated[Any, _Only(False)] = None
    modalities: Annotated[Any, _Only(["text"])] = None
    audio: Annotated[Any, _Only()] = None

    @field_validator("messages")
    @classmethod
    def _check_user_text(cls, messages: list[Message]) -> list[Message]:
        try:
            _text.validate_python(_last_user_message(messages).text)
        except ValidationError as error:
            raise ValueError(f"the user's last message: {explain(error)}") from error
        return messages

    @property
    def user_text(self) -> str:
        """The text of the user's last message, stripped of white space."""
        return _text.validate_python(_last_user_message(self.messages).text)

    @property
    def speaker(self) -> str | None:
        """The `name` of the user's last message: who speaks in a group."""
        name = _last_user_message(self.messages).name
        return name if isinstance(name, str) and name else None

    @property
    def session_id(self) -> str | None:
        return self.metadata.session_id if self.metadata else None

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage


def _last_user_message(messages: Sequence[Message]) -> Message:
    for message in reversed(messages):
        if message.role == "user":
            return message
    raise ValueError("there is no message of the user")


class Model(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[Model]


class Reply(BaseModel):
    role: Literal["assistant"]
    content: str
    refusal: None


class Choice(BaseModel):
    index: int
    message: Reply
    logprobs: None
    finish_reason: Literal["stop"]


class Tokens(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Extras(BaseModel):
    session_id: str
    turn_id: str
    soul_id: str
    soul_emotion: EmotionStateDict
    exec_mode: ExecMode


class CompletionOut(BaseModel):
    """The answer to a request that is not streamed, with what a soul has to say beside its words."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Choice]
    usage: Tokens
    soulgraph: Extras


@dataclass(frozen=True, slots=True)
class Completion:
    """Builds the response to one request, whole or in chunks."""

    turn_id: str
    model: str
    created: int

    def whole(self, answer: Answer) -> Json:
        message = {"role": "assistant", "content": answer["reply"], "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return self._envelope("chat.completion", [choice], usage=_usage(answer), soulgraph=_extras(answer))

    def delta(self, finish_reason: str | None = None, /, **delta: str) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self._envelope("chat.completion.chunk", [choice])

    def last(self, answer: Answer) -> Json:
        """The chunk after the last token."""
        return {**self.delta("stop"), "soulgraph": _extras(answer)}

    def cost(self, answer: Answer) -> Json:
        """The chunk with the token usage, sent last if the client asked for it."""
        return self._envelope("chat.completion.chunk", [], usage=_usage(answer))

    def _envelope(self, kind: str, choices: list[Json], **more: Json) -> Json:
        header = {"id": f"chatcmpl-{self.turn_id}", "object": kind, "created": self.created, "model": self.model}
        return {**header, "choices": choices, **more}


def _usage(answer: Answer) -> Json:
    """The tokens that the model reported. Nothing is estimated, so with the offline voice they are 0."""
    prompt, completion = answer["usage"]["input_tokens"], answer["usage"]["output_tokens"]
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _extras(answer: Answer) -> Json:
    return {key: value for key, value in answer.items() if key in Extras.model_fields}


def status(problem: Json) -> int:
    """The HTTP status of a problem; OpenAI's clients expect 400, not 422, for invalid requests."""
    return 400 if problem["status"] == 422 else int(problem["status"])


def error(problem: Json) -> Json:
    """A problem in OpenAI's error format."""
    side = "server_error" if problem["status"] >= 500 else "invalid_request_error"
    kind = "rate_limit_error" if problem["status"] == 429 else side
    body = {"message": problem["detail"], "type": kind, "param": _param(problem), "code": problem["code"]}
    if problem.get("kind") == "model":
        body |= {"param": "model", "code": "model_not_found"}
    return {"error": body}


def _param(problem: Json) -> str | None:
    """The path of the first invalid field, without the leading `body`; None if the problem is about no field."""
    paths = [str(flaw["where"]).partition(".")[2] for flaw in problem.get("errors", [])]
    return next(iter(paths), None)
