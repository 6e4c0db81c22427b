"""Removes secrets, the inner monologue or all content from traces before they are exported."""

import re
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from soulgraph.runtime.tracing.messages import chat_message
from soulgraph.runtime.tracing.trace import PREFIX, Trace

Redact = Literal["none", "secrets", "content"]

HIDDEN = "[hidden]"
_SHORTEST_SECRET = 8
_PLAIN = (bool, int, float, datetime, UUID)
# Keys with the prefixes of well-known services, passwords in URLs, and bearer tokens.
_PREFIXED = r"(?:sk|pk|sg|lsv2|ghp|xox[abp])[-_][A-Za-z0-9_\-]{12,}"
_KEYS = re.compile(
    rf"\b{_PREFIXED}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
    r"|(?i:(?<=bearer )[A-Za-z0-9._~+/\-]{8,}=*)"
)
# Ten times as fast, because it begins with letters: most texts have nothing that could be a key.
_MAYBE_PREFIXED = re.compile(_PREFIXED)
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
        known = trace.texts.get(text)
        if known is None:
            known = trace.texts[text] = self._redact(text, trace)
        return known

    def clean(self, value: Any, trace: Trace) -> Any:
        """A redacted copy as plain data; an object that is no plain data becomes the name of its type."""
        if isinstance(value, str):
            return self.text(value, trace)
        if value is None or isinstance(value, _PLAIN):
            return value
        if isinstance(value, Mapping):
            return {str(key): self._clean_field(str(key), inner, trace) for key, inner in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.clean(inner, trace) for inner in value]
        if isinstance(value, BaseMessage):
            return self.clean(chat_message(value), trace)
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

    def error(self, error: BaseException, trace: Trace) -> str:
        """An error with its traceback; of `content` only its type, because the message may quote what was said."""
        if self.content:
            return type(error).__name__
        return self.text(f"{error!r}\n\n{''.join(traceback.format_exception(error))}", trace)

    def _redact(self, text: str, trace: Trace) -> str:
        text = self._own_secrets.sub(HIDDEN, text)
        if self.what == "none":
            return text
        for private in sorted(trace.private, key=len, reverse=True):  # one may contain another
            text = text.replace(private, HIDDEN)
        if _may_have_keys(text):
            text = _KEYS.sub(HIDDEN, text)
        if any(name in text for name in _MONOLOGUES):
            text = _THOUGHTS.sub(HIDDEN, text)
        return text

    def _clean_field(self, name: str, value: Any, trace: Trace) -> Any:
        hidden = name in _MONOLOGUES and value and self.what != "none"
        return HIDDEN if hidden else self.clean(value, trace)

    def _clean_record(self, value: Any, trace: Trace) -> Any:
        """A redacted dataclass, from the cache of the trace: the records of a state do not change during a turn.

        The cache also holds the record itself, so that no other object can get its id meanwhile.
        """
        known = trace.cleaned.get(id(value))
        if known is None:
            plain = {field.name: getattr(value, field.name) for field in fields(value)}
            known = trace.cleaned[id(value)] = value, self.clean(plain, trace)
        return known[1]


def _may_have_keys(text: str) -> bool:
    return "://" in text or _MAYBE_PREFIXED.search(text) is not None or "bearer " in text.lower()
