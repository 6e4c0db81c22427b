"""What OpenAI's clients send: which fields are read, and which a soul has no use for."""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from soulgraph.api.fields import ModelName
from soulgraph.soul.validation import FLAG

IGNORED = "X-Soulgraph-Ignored"
"""The header that names what of a request had no effect."""

_MAX_NAMED = 32
_ID = re.compile(r"[\w.:@-]{1,128}")
_UNSAFE = re.compile(r"[^\w.:@-]+")
_READ = frozenset(
    {
        "model",
        "messages",
        "input",
        "user",
        "metadata",
        "stream",
        "stream_options",
        "previous_response_id",
        "conversation",
    }
)
_ABOUT_THE_CALL = frozenset(
    {"safety_identifier", "prompt_cache_key", "service_tier", "chat_id", "session_id", "id", "keep_alive", "background"}
)
"""Of the request itself: they ask for nothing that a person would notice."""
_ASKS_NOTHING: dict[str, tuple[Any, ...]] = {
    "n": (1,),
    "logprobs": (False,),
    "response_format": ({"type": "text"},),
    "text": ({"format": {"type": "text"}},),
    "modalities": (["text"],),
    "tool_choice": ("auto", "none"),
    "function_call": ("auto", "none"),
    "parallel_tool_calls": (True, False),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "store": (False, True),
    "include": ([],),
}
"""Values of fields that are as if they were not there, beside null and what is empty."""


class Message(BaseModel):
    model_config = ConfigDict(extra="allow")

    role: str
    content: Any = None
    name: Any = None


class StreamOptions(BaseModel):
    include_usage: Annotated[bool, FLAG] = False


class OpenAIRequest(BaseModel):
    """What requests of both kinds have. Every other field is taken, and named in a header if it has no effect."""

    model_config = ConfigDict(extra="allow")

    model: ModelName
    user: Any = Field(None, description="who speaks: any text")
    metadata: Any = Field(None, description="`session_id`, or whatever a client calls the conversation")
    stream: Annotated[bool, FLAG] | None = None
    stream_options: StreamOptions | None = None

    @property
    def forced_by(self) -> str | None:
        """The field that says that a tool of the client must be called, which no soul does; None if none does."""
        fields = self.model_extra or {}
        return next((name for name in ("tool_choice", "function_call") if _forces(fields.get(name))), None)

    @property
    def unused(self) -> list[str]:
        """The names of fields that ask for something and have no effect."""
        asked = ((name, value) for name, value in (self.model_extra or {}).items() if name not in _ABOUT_THE_CALL)
        return [name for name, value in asked if not _asks_nothing(name, value)]

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage


class CompletionRequest(OpenAIRequest):
    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [{"model": "soul:小满", "messages": [{"role": "user", "content": "今天被老板骂了，好难过"}]}]
        },
    )

    messages: list[Message] = Field(
        min_length=1,
        description="the user's last words are new: the soul remembers the others, and finds by them what was said "
        "again, otherwise, or in another conversation",
    )


def _forces(choice: Any) -> bool:
    """Whether a tool must be called: OpenAI's `required` and Mistral's `any`, or one that is named."""
    if not isinstance(choice, dict):
        return choice in ("required", "any")
    among = choice.get("allowed_tools")
    mode = (among if isinstance(among, dict) else choice).get("mode", choice.get("type"))
    return bool(choice) and mode not in ("auto", "none")


def _asks_nothing(name: str, value: Any) -> bool:
    if value is None or value in ([], {}, ""):
        return True
    # Not `in`: True would be 1.
    return any(
        value == known and isinstance(value, bool) == isinstance(known, bool) for known in _ASKS_NOTHING.get(name, ())
    )


PartKind = Literal["text", "images", "audio", "files"]


def text_of(content: Any) -> str:
    """The words of a message's content, one part a line; what is no text is left out."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in _parts(content) if isinstance(part.get("text"), str))


def kinds_in(content: Any) -> set[PartKind]:
    """What a message has beside words."""
    return {kind for part in _parts(content) if (kind := _kind_of(str(part.get("type", "")))) != "text"}


def _parts(content: Any) -> list[dict[str, Any]]:
    parts = content if isinstance(content, list) else []
    return [{"text": part} if isinstance(part, str) else part for part in parts if isinstance(part, str | dict)]


def _kind_of(part_type: str) -> PartKind:
    kinds: dict[str, PartKind] = {"image": "images", "audio": "audio", "file": "files", "video": "files"}
    return next((kind for mark, kind in kinds.items() if mark in part_type), "text")


def ignored_header(names: Iterable[str]) -> dict[str, str]:
    """The header with these names; none if nothing was ignored."""
    known = [quote(name[:64], safe="._-[]") for name in dict.fromkeys(names)]
    return {IGNORED: ", ".join(known[:_MAX_NAMED])} if known else {}


def person_called(value: Any) -> str | None:
    """The id of the person that `user` names: itself if it can be an id, else one made from it, always the same.

    Some programs send an object, whose id, e-mail or name it is.
    """
    if isinstance(value, dict):
        value = next((value[key] for key in ("id", "email", "name") if value.get(key)), None)
    if value is None or isinstance(value, bool | list) or not str(value).strip():
        return None
    name = str(value)
    if _ID.fullmatch(name):
        return name
    digest = blake2b(name.encode(errors="backslashreplace"), digest_size=6).hexdigest()
    return f"{_UNSAFE.sub('_', name)[:64]}-{digest}"


def session_in(metadata: Any, *names: str) -> str | None:
    """The first of these fields of the metadata that is a text."""
    fields = metadata if isinstance(metadata, dict) else {}
    found = (fields.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), None)


def as_id(name: str, *scope: str, prefix: str = "openai:") -> str:
    """An id for what a client calls so: within a scope, because others may call theirs the same."""
    digest = blake2b("\0".join([*scope, name]).encode(errors="backslashreplace"), digest_size=12).hexdigest()
    return f"{prefix}{digest}"


def roles(messages: Sequence[Message]) -> set[str]:
    return {message.role for message in messages}
