"""The response and error formats of OpenAI's API."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from soulgraph.nodes.answer import Answer
from soulgraph.soul.emotions import EmotionStateDict
from soulgraph.soul.gate import ExecMode
from soulgraph.stores.records import Json

PATHS = tuple(
    f"/v1/{name}"
    for name in (
        "models",
        "chat/completions",
        "completions",
        "responses",
        "embeddings",
        "audio",
        "images",
        "moderations",
        "files",
        "uploads",
        "batches",
        "fine_tuning",
        "assistants",
        "threads",
        "vector_stores",
        "conversations",
        "containers",
        "realtime",
        "videos",
        "evals",
        "engines",
        "edits",
        "dashboard",
        "organization",
        "fine-tunes",
        "rerank",
    )
)
"""What OpenAI's clients call: below these paths they find errors in the form that they know, also where nothing is."""


class Model(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[Model]


class Reply(BaseModel):
    """The words; from the model `plain` whatever it answers, calls of tools included."""

    model_config = ConfigDict(extra="allow")

    role: Literal["assistant"]
    content: str | None
    refusal: str | None = None


class Choice(BaseModel):
    model_config = ConfigDict(extra="allow")

    index: int
    message: Reply
    finish_reason: str | None = Field(description="always `stop` from a soul")


class Tokens(BaseModel):
    model_config = ConfigDict(extra="allow")

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
    """The answer to a request that is not streamed, with what a soul has to say beside its words.

    `soulgraph` is missing where no soul has answered.
    """

    model_config = ConfigDict(extra="allow")

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Choice]
    usage: Tokens | None = None
    soulgraph: Extras | None = None


NO_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


@dataclass(frozen=True, slots=True)
class Completion:
    """Builds the response to one request, whole or in chunks. `begun` is what the client has of the reply already."""

    turn_id: str
    model: str
    created: int
    begun: str = ""

    def whole(self, answer: Answer) -> Json:
        reply = answer["reply"].removeprefix(self.begun)
        return self.said(reply, usage=usage_of(answer), soulgraph=extras_of(answer))

    def said(self, words: str, **more: Json) -> Json:
        message = {"role": "assistant", "content": words, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return self._envelope("chat.completion", [choice], **({"usage": NO_USAGE} | more))

    def delta(self, finish_reason: str | None = None, /, **delta: str) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self._envelope("chat.completion.chunk", [choice])

    def last(self, answer: Answer) -> Json:
        """The chunk after the last token."""
        return {**self.delta("stop"), "soulgraph": extras_of(answer)}

    def cost(self, answer: Answer) -> Json:
        """The chunk with the token usage, sent last if the client asked for it."""
        return self._envelope("chat.completion.chunk", [], usage=usage_of(answer))

    def _envelope(self, kind: str, choices: list[Json], **more: Json) -> Json:
        header = {"id": f"chatcmpl-{self.turn_id}", "object": kind, "created": self.created, "model": self.model}
        return {**header, "choices": choices, **more}


def usage_of(answer: Answer) -> Json:
    """The tokens that the model reported. Nothing is estimated, so with the offline voice they are 0."""
    prompt, completion = answer["usage"]["input_tokens"], answer["usage"]["output_tokens"]
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def extras_of(answer: Answer) -> Json:
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
        listed = f"{body['message']}: GET /v1/models lists those there are"
        body |= {"message": listed, "param": "model", "code": "model_not_found"}
    return {"error": body}


def _param(problem: Json) -> str | None:
    """The path of the first invalid field, without the leading `body`; None if the problem is about no field."""
    paths = [str(flaw["where"]).partition(".")[2] for flaw in problem.get("errors", [])]
    return next(iter(paths), None)
