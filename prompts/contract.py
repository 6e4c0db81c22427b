"""The turn output contract: what of a model's answer is the narrative, and what is the state update.

The full form is `<narrative>…</narrative><state_update_json>{…}</state_update_json>`. An answer without tags is the
narrative itself. Users only see the narrative; `NarrativeStream` extracts it from the tokens as they arrive.
"""

import json
import re
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal

import json_repair

from soulgraph.errors import ContractBroken
from soulgraph.soul.validation import drop_nul

Carrier = Literal["tags", "plain"]
"""How the state update travels: in tags behind the narrative, or by a structured call after a plain reply."""

STOP: dict[Carrier, list[str]] = {"tags": ["</state_update_json>"], "plain": ["<state_update_json>"]}
"""What a server is told to stop at: small models go on writing behind the end."""

PATIENCE: dict[Carrier, int] = {"tags": 120, "plain": 0}
"""Characters before the first tag that are held back; what is longer is no preamble but the narrative itself."""

_OPEN, _CLOSE, _UPDATE = "<narrative>", "</narrative>", "<state_update_json>"
_THINK, _THOUGHT = ("<think>", "<thinking>"), ("</think>", "</thinking>")
_END_TOKENS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>")  # of servers with the wrong chat template
_ENDS = (_CLOSE, _UPDATE, "</state_update_json>", *_END_TOKENS)
_MARKS = (_OPEN, *_ENDS, *_THINK, *_THOUGHT)
_LONGEST = max(map(len, _MARKS))
_UPDATE_JSON = re.compile(r"<state_update_json>(.*?)(?:</state_update_json>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHTS = re.compile(r"\A.*</think(?:ing)?>|<think(?:ing)?>.*\Z", re.DOTALL | re.IGNORECASE)
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_STRUCTURED = ("{", "[{", "[tool_calls]", "```", "<|", "<tool_call", "<function")
_SPOKEN_KEYS = ("narrative", "reply", "response", "answer", "message", "text", "content", "say")
_FENCE = re.compile(r"\A```[ \t]*\w*\s*")
_UNSPOKEN = re.compile(
    r"\{\s*(?:[\"'}]|\w+\s*:|\Z)|\[\s*(?:\{|\Z|tool_calls\])|<|[a-z_][\w.]*\([^\n]*\)\Z", re.IGNORECASE
)
"""How JSON, marks and the call of a function begin; `{smiles}` is something people say."""
_BEGINNING = 200  # characters by which JSON is told from something people say
_MAX_UPDATE = 20_000  # characters of JSON that are read


class NarrativeStream:
    """Takes chunks of model output and returns the narrative in them. `closed` once it has ended."""

    def __init__(self, patience: int = PATIENCE["tags"]) -> None:
        self._buffer = ""
        self._searched = 0  # characters of the buffer in which no mark begins
        self._space = ""  # white space that is shown only once something follows it
        self._patience = patience
        self._thinking = False
        self._inside = self._started = self.closed = False

    def feed(self, chunk: str) -> str:
        self._buffer += drop_nul(chunk)
        if self._inside and not self.closed and not self._thinking and "<" not in self._buffer:  # no mark, nor a part
            narrative, self._buffer = self._buffer, ""
            return self._tidied(narrative)
        narrative = ""
        while not self.closed and (step := self._step()) is not None:
            narrative += step
        return self._tidied(narrative)

    def close(self) -> str:
        """What was held back and turns out to be narrative, now that nothing follows."""
        if self.closed or self._thinking:
            return ""
        text = self._buffer[: _safe_length(_ascii_lower(self._buffer))]
        self.closed = True
        return self._tidied(text if self._inside else _spoken_in(text))

    def _step(self) -> str | None:
        """One step through the buffer: the narrative it yields, or None if more output is needed."""
        if not self._inside and not self._thinking:
            return self._find_beginning()
        lowered = _ascii_lower(self._buffer)
        return self._skip_thoughts(lowered) if self._thinking else self._emit(lowered)

    def _skip_thoughts(self, lowered: str) -> str | None:
        ends = [at + len(mark) for mark in _THOUGHT if (at := lowered.find(mark)) >= 0]
        if not ends:
            self._buffer = self._buffer[-_LONGEST:]
            return None
        self._buffer, self._thinking = self._buffer[min(ends) :], False
        return ""

    def _find_beginning(self) -> str | None:
        """Decide what the answer begins with: thoughts, a tag, or the narrative without a tag."""
        # JSON is held back to its end: only what is new is searched, or each piece would cost as much as all before.
        lowered = _ascii_lower(self._buffer[self._searched :])
        found, mark = _first(lowered, _MARKS)
        at = self._searched + (found if mark else _safe_length(lowered))
        known = self._buffer[:at].strip()
        self._searched = 0 if mark else max(0, len(self._buffer) - _LONGEST)
        if len(known) > self._patience and not looks_structured(known[:_BEGINNING]):
            self._inside = True
            return ""
        if not mark:
            return None
        if mark in _ENDS:
            return _spoken_in(self._end(at))
        # What stands before it is a preamble, or the end of a thought that began before the answer.
        self._buffer = self._buffer[at + len(mark) :]
        self._inside, self._thinking = mark == _OPEN, mark in _THINK
        return ""

    def _emit(self, lowered: str) -> str | None:
        """The part of the buffer that is certainly narrative; the rest stays in the buffer."""
        at, mark = _first(lowered, _MARKS)
        if mark in _ENDS:
            return self._end(at)
        if mark:
            text, self._buffer = self._buffer[:at], self._buffer[at + len(mark) :]
            self._thinking = mark in _THINK
            return text
        size = _safe_length(lowered)
        text, self._buffer = self._buffer[:size], self._buffer[size:]
        return text or None

    def _end(self, at: int) -> str:
        text, self._buffer, self.closed = self._buffer[:at], "", True
        return text

    def _tidied(self, text: str) -> str:
        """Without white space before the first word and behind the last one."""
        text = self._space + text if self._started else text.lstrip()
        words = text.rstrip()
        self._started = self._started or bool(words)
        self._space = text[len(words) :]
        return words


def looks_structured(beginning: str) -> bool:
    """Whether an answer that begins so is, or may become, JSON or a call rather than something people say."""
    seen = _ascii_lower("".join(beginning.split()))
    return any(seen.startswith(mark) or mark.startswith(seen) for mark in _STRUCTURED)


def _spoken_in(text: str) -> str:
    """What is said in a whole answer without tags: the text itself, or the words inside of a JSON object."""
    if not looks_structured(text):
        return text
    inner = _unfenced(text)
    try:
        answer = json.loads(inner)
    except (ValueError, RecursionError):
        return "" if _UNSPOKEN.match(inner) else text
    spoken = [answer[key] for key in _SPOKEN_KEYS if isinstance(answer, dict) and isinstance(answer.get(key), str)]
    return next(filter(None, spoken), "")


def _unfenced(text: str) -> str:
    """What stands between the fences of a block of code; a text without them is itself."""
    body = _FENCE.sub("", text.strip())
    return body if body == text.strip() else body.removesuffix("```").rstrip()


def _first(lowered: str, marks: tuple[str, ...]) -> tuple[int, str]:
    """Where the first of the marks stands, and which it is; -1 and "" without one."""
    return min(((at, mark) for mark in marks if (at := lowered.find(mark)) >= 0), default=(-1, ""))


def _ascii_lower(text: str) -> str:
    """Lower case for ASCII only: other characters might change their length, and offsets must stay."""
    return text.translate(_LOWER)


def _safe_length(lowered: str) -> int:
    """How much can be shown: not the beginning of a tag."""
    end = len(lowered)
    tail = lowered.rfind("<", max(0, end - _LONGEST))
    if tail >= 0 and any(mark.startswith(lowered[tail:]) for mark in _MARKS):
        end = tail
    return end


def narrative_of(text: str) -> str:
    """The narrative of a whole answer; empty if it has none."""
    stream = NarrativeStream()
    return stream.feed(without_thoughts(text)) + stream.close()


def has_tags(text: str) -> bool:
    """Whether the narrative stands inside its tag."""
    return _OPEN in _ascii_lower(text)


def without_thoughts(text: str) -> str:
    """The answer of a reasoning model without what it thought aloud."""
    return _THOUGHTS.sub("", text).strip()


def read_update(text: str, strict: bool = False) -> dict[str, Any]:
    """The state update as the model wrote it, not validated.

    Unless `strict`, trailing commas, single quotes and a missing end are mended. Raises ContractBroken when there is
    no update, or no JSON object in it.
    """
    found = _UPDATE_JSON.search(without_thoughts(text))
    if found is None:
        raise ContractBroken("<state_update_json>{…}</state_update_json> is missing")
    body = _unfenced(found[1])
    try:
        update = json.loads(body) if strict else json_repair.loads(body[:_MAX_UPDATE])
    except (ValueError, RecursionError) as error:
        raise ContractBroken(f"state_update_json is not JSON: {error}") from error
    if not isinstance(update, dict):
        raise ContractBroken("state_update_json must be an object; {} means nothing changed")
    return update
