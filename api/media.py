"""Bodies that are no JSON, as the description of the API tells them."""

from typing import Any

GZIP = "application/gzip"
NDJSON = "application/x-ndjson"
OCTETS = "application/octet-stream"
SSE = "text/event-stream"

Responses = dict[int | str, dict[str, Any]]


def binary(*media_types: str) -> dict[str, Any]:
    return {"content": {media_type: {"schema": {"type": "string", "format": "binary"}} for media_type in media_types}}


def text(media_type: str, description: str, example: str) -> dict[str, Any]:
    schema = {"type": "string", "description": description}
    return {"content": {media_type: {"schema": schema, "example": example}}}


def json_file(example: dict[str, Any]) -> dict[str, Any]:
    """A file in JSON that we read as it is: others say what is in it."""
    return {"content": {"application/json": {"schema": {"type": "object"}, "example": example}}}


def either(*bodies: dict[str, Any]) -> dict[str, Any]:
    return {"content": {media: content for body in bodies for media, content in body["content"].items()}}


def sent(body: dict[str, Any]) -> dict[str, Any]:
    """For `openapi_extra` of an endpoint that reads the body of its request by itself."""
    return {"requestBody": {"required": True, **body}}
