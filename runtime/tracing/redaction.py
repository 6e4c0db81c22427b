"""Removes secrets, the inner monologue or all content from traces before they are exported."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from soulgraph.runtime.tracing.trace import PREFIX, Trace

Redact = Literal["none", "secrets", "content"]

HIDDEN = "[hidden]"
_SHORTEST_SECRET = 8
# Keys with the prefixes of well-known services, passwords in URLs, and bearer tokens.
_KEYS = re.compile(
    r"\b(?:sk|pk|sg|lsv2|ghp|xox[abp])[-_][A-Za-z0-9_\-]{12,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
    r"|(?i:(?<=bearer )[A-Za-z0-9._~+/\-]{8,}=*)"
)
_MONOLOGUES = ("inner_state", "about_itself")
# In the XML-like sections of prompts and in JSON.
_THOUGHTS = re.compile(
    "|".join(
        rf"""(?<=<{name}>).*?(?=</{name}>)|(?<="{name}": ")(?:[^"\\]|\\.)+|(?<="{name}":")(?:[^"\\]|\\.)+"""
        for name in _MONOLOGUES
    ),
    re.DOTALL,
)


class Redactor:
    """Redacts texts and data at one of three levels.

    `none` hides the server's own keys, `secrets` also everything that looks like a key and the inner monologue,
    `content` also everything that was said or thought.
    """

    def __init__(self, what: Redact, secrets: Iterable[str]) -> None:
        # The longest first, so that a secret that contains another one is hidden as a whole.
        own = sorted((secret for secret in secrets if len(secret) >= _SHORTEST_SECRET), key=len, reverse=True)
        self.what = what
        self._own_secrets = re.compile("|".join(map(re.escape, own)) or r"(?!)")

    @property
    def content(self) -> bool:
        return self.what == "content"

    def text(self, text: str, trace: Trace) -> str:
        if len(text) < _SHORTEST_SECRET:
            return text
        text = self._own_secrets.sub(HIDDEN, text)
        if self.what == "none":
            return text
        for private in trace.private:
            text = text.replace(private, HIDDEN)
        return _THOUGHTS.sub(HIDDEN, _KEYS.sub(HIDDEN, text))

    def clean(self, value: Any, trace: Trace) -> Any:
        """A redacted copy as plain data; an object that is no plain data becomes the name of its type."""
        if value is None or isinstance(value, bool | int | float | datetime | UUID):
            return value
        if isinstance(value, str):
            return self.text(value, trace)
        if isinstance(value, Mapping):
            return {str(key): self._clean_field(str(key), inner, trace) for key, inner in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.clean(inner, trace) for inner in value]
        if isinstance(value, BaseModel):
            return self.clean(value.model_dump(), trace)
        if is_dataclass(value) and not isinstance(value, type):
            return self._clean_record(value, trace)
        return f"<{type(value).__name__}>"

    def metadata(self, metadata: Mapping[str, Any], trace: Trace) -> dict[str, Any]:
        """Redacted metadata; `content` also drops the decisions, because they may quote what was said."""
        kept = {key: value for key, value in metadata.items() if not (self.content and key.startswith(PREFIX))}
        cleaned: dict[str, Any] = self.clean(kept, trace)
        return cleaned

    def error(self, error: str, trace: Trace) -> str:
        """A redacted error text; `content` keeps only the type, because the message may quote what was said."""
        return error.partition("(")[0] if self.content else self.text(error, trace)

    def _clean_field(self, name: str, value: Any, trace: Trace) -> Any:
        hidden = name in _MONOLOGUES and value and self.what != "none"
        return HIDDEN if hidden else self.clean(value, trace)

    def _clean_record(self, value: Any, trace: Trace) -> Any:
        """A redacted dataclass, from the cache of the trace: the records of a state do not change during a turn.

        The cache also holds the record itself, so that no other object can get its id meanwhile.
        """
        if id(value) not in trace.cleaned:
            plain = {field.name: getattr(value, field.name) for field in fields(value)}
            trace.cleaned[id(value)] = value, self.clean(plain, trace)
        return trace.cleaned[id(value)][1]
