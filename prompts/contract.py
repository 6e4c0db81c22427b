"""The turn output contract: `<narrative>…</narrative><state_update_json>{…}</state_update_json>`.

People only ever see narrative. `NarrativeStream` cuts it out of the model's tokens as they arrive; whole answers
go through the same cutter, so what was shown is what is stored.
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
    """Feed it chunks of model output; it returns the narrative in them, and nothing else."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = self._done = self._started = False

    def feed(self, chunk: str) -> str:
        self._held += drop_nul(chunk)
        if not self._inside and not self._done:
            self._skip_to_narrative()
        return self._take() if self._inside else ""

    def _skip_to_narrative(self) -> None:
        start = _folded(self._held).find(_OPEN)
        if start >= 0:
            self._held = self._held[start + len(_OPEN) :]
            self._inside = True
        else:
            self._held = self._held[-len(_OPEN) :]

    def _take(self) -> str:
        lowered = _folded(self._held)
        ends = [at for tag in (_CLOSE, _UPDATE) if (at := lowered.find(tag)) >= 0]
        if ends:
            text, self._held = self._held[: min(ends)].rstrip(), ""
            self._inside, self._done = False, True
        else:
            keep = _settled(lowered)
            text, self._held = self._held[:keep], self._held[keep:]
        if not self._started:
            text = text.lstrip()
            self._started = bool(text)
        return text


def _folded(text: str) -> str:
    """Lower case for ASCII alone, which keeps every offset where it is."""
    return text.translate(_LOWER)


def _settled(lowered: str) -> int:
    """How much can be shown: not a tag's beginning, nor white space that may turn out to be the end."""
    end = len(lowered)
    tail = lowered.rfind("<", max(0, end - len(_UPDATE)))
    if tail >= 0 and any(tag.startswith(lowered[tail:]) for tag in (_CLOSE, _UPDATE)):
        end = tail
    return len(lowered[:end].rstrip())


def read_narrative(text: str) -> str:
    narrative = NarrativeStream().feed(text)
    if not narrative:
        raise ContractBroken("there is no text inside <narrative>…</narrative>")
    return narrative


def read_update(text: str) -> dict[str, Any]:
    """The state update as the model wrote it, not yet checked."""
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
