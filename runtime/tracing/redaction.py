"""What a trace leaves out before it goes anywhere."""

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
_KEYS = re.compile(
    r"\b(?:sk|pk|sg|lsv2|ghp|xox[abp])[-_][A-Za-z0-9_\-]{12,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
    r"|(?i:(?<=bearer )[A-Za-z0-9._~+/\-]{8,}=*)"
)
_INNER = re.compile(
    r"(?<=<inner_state>).*?(?=</inner_state>)"
    r"""|(?<="inner_state": ")(?:[^"\\]|\\.)+"""
    r"""|(?<="inner_state":")(?:[^"\\]|\\.)+""",
    re.DOTALL,
)


class Redactor:
    """`none` hides the server's own keys, `secrets` also whatever looks like a key and the inner monologue,
    `content` everything that was said or thought."""

    def __init__(self, what: Redact, secrets: Iterable[str]) -> None:
        own = sorted((one for one in secrets if len(one) >= _SHORTEST_SECRET), key=len, reverse=True)
        self.what = what
        self._own = re.compile("|".join(map(re.escape, own)) or r"(?!)")

    @property
    def content(self) -> bool:
        return self.what == "content"

    def text(self, said: str, trace: Trace) -> str:
        if len(said) < _SHORTEST_SECRET:
            return said
        said = self._own.sub(HIDDEN, said)
        if self.what == "none":
            return said
        for words in trace.private:
            said = said.replace(words, HIDDEN)
        return _INNER.sub(HIDDEN, _KEYS.sub(HIDDEN, said))

    def clean(self, value: Any, trace: Trace) -> Any:
        """A copy that is plain data; of what is none, only its kind is told."""
        if value is None or isinstance(value, bool | int | float | datetime | UUID):
            return value
        if isinstance(value, str):
            return self.text(value, trace)
        if isinstance(value, Mapping):
            return {str(key): self._field(str(key), one, trace) for key, one in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.clean(one, trace) for one in value]
        if isinstance(value, BaseModel):
            return self.clean(value.model_dump(), trace)
        if is_dataclass(value) and not isinstance(value, type):
            return self._record(value, trace)
        return f"<{type(value).__name__}>"

    def metadata(self, metadata: Mapping[str, Any], trace: Trace) -> dict[str, Any]:
        """Decisions rest on what was said, and go with it."""
        kept = {key: one for key, one in metadata.items() if not (self.content and key.startswith(PREFIX))}
        cleaned: dict[str, Any] = self.clean(kept, trace)
        return cleaned

    def error(self, error: str, trace: Trace) -> str:
        """An error may quote what was said: then its kind has to do."""
        return error.partition("(")[0] if self.content else self.text(error, trace)

    def _field(self, name: str, value: Any, trace: Trace) -> Any:
        hidden = name == "inner_state" and value and self.what != "none"
        return HIDDEN if hidden else self.clean(value, trace)

    def _record(self, value: Any, trace: Trace) -> Any:
        """Records of a state do not change while a turn runs. Each is kept with its copy, so its id stays its own."""
        if id(value) not in trace.cleaned:
            told = {one.name: getattr(value, one.name) for one in fields(value)}
            trace.cleaned[id(value)] = value, self.clean(told, trace)
        return trace.cleaned[id(value)][1]
