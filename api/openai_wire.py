"""The forms of OpenAI's chat completions: what its clients send, and what they expect to get."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter, ValidationError, ValidationInfo, field_validator

from soulgraph.api.fields import Id, Text, UserId
from soulgraph.nodes.state import Answer
from soulgraph.soul.validation import explain
from soulgraph.stores.factories import DEFAULT_USER
from soulgraph.stores.records import Json

PATHS = ("/v1/models", "/v1/chat/completions")

_EXTRAS = ("session_id", "turn_id", "soul_id", "soul_emotion", "exec_mode")
_text = TypeAdapter(Text)
# Fields that ask for another kind of answer than a soul gives, and what of them asks for nothing.
_HARMLESS: dict[str, Sequence[Any]] = {
    "n": [1],
    "tools": [[]],
    "functions": [[]],
    "response_format": [{"type": "text"}],
    "logprobs": [False],
    "modalities": [["text"]],
    "audio": [],
}


class Message(BaseModel):
    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def words(self) -> str:
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
    include_usage: bool = False


class CompletionRequest(BaseModel):
    """What is read of a request; the rest (instructions, sampling, limits) is the soul's own business and ignored."""

    model: str = Field(description="`soul:` and the name or id of a soul")
    messages: list[Message] = Field(description="only the user's last one is new: the soul remembers the others")
    user: UserId | None = None
    metadata: Metadata | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Any = None
    tools: Any = None
    functions: Any = None
    response_format: Any = None
    logprobs: Any = None
    modalities: Any = None
    audio: Any = None

    @field_validator(*_HARMLESS)
    @classmethod
    def _no_other_answer(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None or value in _HARMLESS[str(info.field_name)]:
            return value
        raise ValueError("a soul answers once, in plain text and with tools of its own: leave this out")

    @field_validator("messages")
    @classmethod
    def _something_new(cls, messages: list[Message]) -> list[Message]:
        try:
            _text.validate_python(_newest(messages))
        except ValidationError as error:
            raise ValueError(f"the user's last message: {explain(error)}") from error
        return messages

    @property
    def said(self) -> str:
        return _text.validate_python(_newest(self.messages))

    @property
    def user_id(self) -> str:
        return self.user or DEFAULT_USER

    @property
    def session_id(self) -> str | None:
        return self.metadata.session_id if self.metadata else None

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage


def _newest(messages: Sequence[Message]) -> str:
    for message in reversed(messages):
        if message.role == "user":
            return message.words
    raise ValueError("there is no message of the user")


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer on the wire, in one piece or in chunks."""

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
        return {**self.delta("stop"), "soulgraph": _extras(answer)}

    def cost(self, answer: Answer) -> Json:
        return self._envelope("chat.completion.chunk", [], usage=_usage(answer))

    def _envelope(self, kind: str, choices: list[Json], **more: Json) -> Json:
        names = {"id": f"chatcmpl-{self.turn_id}", "object": kind, "created": self.created, "model": self.model}
        return {**names, "choices": choices, **more}


def _usage(answer: Answer) -> Json:
    """What the model counted; nothing is estimated, so the offline voice costs nothing."""
    asked, answered = answer["usage"]["input_tokens"], answer["usage"]["output_tokens"]
    return {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}


def _extras(answer: Answer) -> Json:
    return {key: value for key, value in answer.items() if key in _EXTRAS}


def status(problem: Json) -> int:
    """OpenAI's clients know a request that is not acceptable by 400."""
    return 400 if problem["status"] == 422 else int(problem["status"])


def error(problem: Json) -> Json:
    """A problem of ours as their clients read it."""
    blame = "server_error" if problem["status"] >= 500 else "invalid_request_error"
    kind = "rate_limit_error" if problem["status"] == 429 else blame
    told = {"message": problem["detail"], "type": kind, "param": _param(problem), "code": problem["code"]}
    if problem.get("kind") == "model":
        told |= {"param": "model", "code": "model_not_found"}
    return {"error": told}


def _param(problem: Json) -> str | None:
    """The field that is to blame, without the part of the request it is in."""
    places = [str(found["where"]).partition(".")[2] for found in problem.get("errors", [])]
    return next(iter(places), None)
