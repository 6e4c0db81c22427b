"""`/v1/embeddings`: vectors of texts for OpenAI's clients, by the encoder with which souls remember."""

import base64
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from soulgraph.api.auth import speaker
from soulgraph.api.disconnects import NoAnswer, unless_gone
from soulgraph.api.fields import ModelName
from soulgraph.api.openai_request import ignored_header
from soulgraph.api.problems import invalid_field
from soulgraph.api.raising import NO_SENSE, raises
from soulgraph.api.services import Served
from soulgraph.runtime.notices import encode_json
from soulgraph.senses.embedding.passages import Embedded, embed_passages, scaled
from soulgraph.senses.ports import Embedder, Vectors
from soulgraph.soul.validation import NUMBER

router = APIRouter(prefix="/v1", tags=["OpenAI"], dependencies=[speaker])

MAX_INPUTS = 2048
MAX_INPUT = 32_000
_BUILT_IN = "builtin"
_INPUT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": MAX_INPUT}
_INPUTS = {"anyOf": [_INPUT, {"type": "array", "items": _INPUT, "minItems": 1, "maxItems": MAX_INPUTS}]}


def _read_inputs(value: Any) -> list[str]:
    """Raises ValueError for what cannot be embedded."""
    inputs = [value] if isinstance(value, str) else value
    if not isinstance(inputs, list):
        raise ValueError("must be a text or a list of texts")
    if not 1 <= len(inputs) <= MAX_INPUTS:
        raise ValueError(f"must be 1 to {MAX_INPUTS} texts, not {len(inputs)}: send more in several requests")
    for place, text in enumerate(inputs):
        _check_input(text, f"the one at {place}: " if len(inputs) > 1 else "")
    return inputs


def _check_input(text: Any, which: str) -> None:
    if isinstance(text, int | list):
        fix = "send the text itself (LangChain: check_embedding_ctx_length=False)"
        raise ValueError(f"{which}tokens are those of another model, and cannot be read: {fix}")
    if not isinstance(text, str):
        raise ValueError(f"{which}must be a text")
    if not 1 <= len(text) <= MAX_INPUT:
        raise ValueError(f"{which}must have 1 to {MAX_INPUT:,} characters, not {len(text):,}")


class EmbeddingRequest(BaseModel):
    """Of other fields the header `X-Soulgraph-Ignored` tells."""

    model_config = ConfigDict(
        extra="allow", json_schema_extra={"examples": [{"model": _BUILT_IN, "input": ["今天天气真好", "hello"]}]}
    )

    model: Annotated[ModelName, Field(description="any: all names mean the encoder of this server")]
    input: Annotated[list[str], BeforeValidator(_read_inputs), WithJsonSchema(_INPUTS)]
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Field(ge=1), NUMBER] | None = Field(
        None, description="the first so many numbers, scaled to length 1 again; at most what the encoder has"
    )
    user: Any = Field(None, description="is not looked at")

    def ignored(self, embedder: Embedder) -> list[str]:
        """What was asked for and is not done."""
        own = self.model in (_BUILT_IN, embedder.name)
        return [*([] if own else ["model"]), *(self.model_extra or ())]


class EmbeddingOut(BaseModel):
    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class EmbeddingUsage(BaseModel):
    prompt_tokens: int
    total_tokens: int


class EmbeddingList(BaseModel):
    object: Literal["list"]
    data: list[EmbeddingOut]
    model: str
    usage: EmbeddingUsage


@router.post("/embeddings", response_model=EmbeddingList)
@raises(NO_SENSE)
async def create_embeddings(wanted: EmbeddingRequest, services: Served, request: Request) -> Response | NoAnswer:
    """Turn texts into vectors of length 1, with the encoder with which souls remember. It stops when the client leaves.

    `usage` counts the tokens that the built-in encoder read; those of another one are not known, and 0.
    """
    embedder = services.context.memory.embedder
    assert embedder, "a server has one"
    return await unless_gone(request, _embed(wanted, embedder))


async def _embed(wanted: EmbeddingRequest, embedder: Embedder) -> Response:
    found: list[str] = []
    tokens = 0
    async for one in embed_passages(embedder, wanted.input):
        found.append(_entry(one, len(found), wanted))
        tokens += one.tokens
    rest = encode_json({"model": embedder.name, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}})
    body = f'{{"object":"list","data":[{",".join(found)}],{rest[1:]}'
    return Response(body, media_type="application/json", headers=ignored_header(wanted.ignored(embedder)))


def _entry(one: Embedded, index: int, wanted: EmbeddingRequest) -> str:
    """Written as soon as there is its vector: to write thousands at once would take the event loop for seconds."""
    vector = _shortened(one.vector, wanted.dimensions)
    as_text = wanted.encoding_format == "base64"
    written = base64.b64encode(vector.astype("<f4").tobytes()).decode() if as_text else vector.tolist()
    return encode_json({"object": "embedding", "index": index, "embedding": written})


def _shortened(vector: Vectors, dimensions: int | None) -> Vectors:
    if dimensions is None or dimensions == len(vector):
        return vector
    if dimensions > len(vector):
        raise invalid_field("dimensions", f"this encoder has {len(vector)}: ask for fewer, or leave it out")
    return scaled(vector[:dimensions])
