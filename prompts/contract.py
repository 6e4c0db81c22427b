"""The turn output contract: `<narrative>…</narrative><state_update_json>{…}</state_update_json>`.

Users only see the narrative. `NarrativeStream` extracts it from the model's tokens as they arrive; whole answers
go through the same class, so that the stored text is the one that was shown.
"""

import json
import re
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from soulgraph.errors import ContractBroken
from soulgraph.soul.validation import drop_nul

_OPEN, _CLOSE, _UPDATE = "<narrative>", "</narrative>", "<state_update_json>"
_UPDATE_JSON = re.compile(r"<state_update_json>(.*?)(?:</state_update_json>|\Z)", re.DOTALL | re.IGNORECASE)
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_FENCE = re.compile(r"\A```\w*\s*(.*?)\s*(?:```)?\Z", re.DOTALL)


class NarrativeStream:
    """Takes chunks of model output and returns the narrative in them."""

    def __init__(self) -> None:
        self._buffer = ""
        self._inside = self._done = self._started = False

    def feed(self, chunk: str) -> str:
        self._buffer += drop_nul(chunk)
        if not self._inside and not self._done:
            self._skip_to_narrative()
        return self._emit() if self._inside else ""

    def _skip_to_narrative(self) -> None:
        start = _ascii_lower(self._buffer).find(_OPEN)
        if start >= 0:
            self._buffer = self._buffer[start + len(_OPEN) :]
            self._inside = True
        else:
            self._buffer = self._buffer[-len(_OPEN) :]

    def _emit(self) -> str:
        """The part of the buffer that is certainly narrative; the rest stays in the buffer."""
        lowered = _ascii_lower(self._buffer)
        ends = [at for tag in (_CLOSE, _UPDATE) if (at := lowered.find(tag)) >= 0]
        if ends:
            text, self._buffer = self._buffer[: min(ends)].rstrip(), ""
            self._inside, self._done = False, True
        else:
            size = _safe_length(lowered)
            text, self._buffer = self._buffer[:size], self._buffer[size:]
        if not self._started:
            text = text.lstrip()
            self._started = bool(text)
        return text


def _ascii_lower(text: str) -> str:
    """Lower case for ASCII only: other characters might change their length, and offsets must stay."""
    return text.translate(_LOWER)


def _safe_length(lowered: str) -> int:
    """How much can be shown: not the beginning of a tag, nor white space that may be the last."""
    end = len(lowered)
    tail = lowered.rfind("<", max(0, end - len(_UPDATE)))
    if tail >= 0 and any(tag.startswith(lowered[tail:]) for tag in (_CLOSE, _UPDATE)):
        end = tail
    return len(lowered[:end].rstrip())


def read_narrative(text: str) -> str:
    """The narrative of a whole answer; raises ContractBroken when it is empty."""
    narrative = NarrativeStream().feed(text)
    if not narrative:
        raise ContractBroken("there is no text inside <narrative>…</narrative>")
    return narrative


def read_update(text: str) -> dict[str, Any]:
    """The state update as the model wrote it, not validated; raises ContractBroken when it is no JSON object."""
    found = _UPDATE_JSON.search(text)
    if found is None:
        raise ContractBroken("<state_update_json>{…}</state_update_json> is missing")
    body = found[1].strip()
    if fenced := _FENCE.match(body):
        body = fenced[1]
    try:
        update = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ContractBroken(f"state_update_json is not JSON: {error}") from error
    if not isinstance(update, dict):
        raise ContractBroken("state_update_json must be an object; {} means nothing changed")
    return update
