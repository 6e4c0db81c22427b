"""Which optional parameters of a request a server has refused: they are left out, and the call is repeated."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from openai import APIStatusError

_NAMED = {
    "stream_options": r"stream_options|include_usage",
    "stop": r"""['"`.]stop\b|(?:supplied|parameter|field|argument):? stop\b|\bstop: """,
    "max_tokens": r"\bmax_tokens\b",
    "max_completion_tokens": r"\bmax_completion_tokens\b",
    "temperature": r"\btemperature\b",
    "tool_choice": r"\btool_choice\b",
    "forced tool_choice": r"\btool_choice\b",
    # Only what says that there are none at all: a tool with a bad schema is for the operator to see.
    "tools": r"support (?:tools?|function)\b|tool choice requires|(?:supplied|[Uu]nsupported parameter): '?tools\b",
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _NAMED.items()}
_ABOUT_THIS_REQUEST = re.compile(r"(?i)too (?:large|long)|exceed|context (?:length|window|size)")
_RESPONSE_FORMAT = "response_format"
_FORCED = "forced tool_choice"
"""Reasoning models and LM Studio refuse to be told which tool to call, and still may be told to call none."""


@dataclass
class Attempt:
    """What one call of the model has sent, and what it leaves out because the server refused it."""

    dropped: set[str] = field(default_factory=set)
    lasting: set[str] = field(default_factory=set)
    """Those of `dropped` that the server will refuse again."""
    sent: Collection[str] = ()

    def drop(self, error: APIStatusError) -> bool:
        """Leave out what the error names; False if it names nothing that could be left out."""
        refused = _refused(error, self.sent) - self.dropped
        self.dropped |= refused
        if not _ABOUT_THIS_REQUEST.search(error.response.text):
            self.lasting |= refused
        return bool(refused)


def without(payload: dict[str, Any], refused: Collection[str], limit_names: Collection[str]) -> dict[str, Any]:
    """The request without what is refused; its output limit goes by the first of the names that is not."""
    limits = [payload.pop(name) for name in limit_names if name in payload]
    names = [name for name in limit_names if name not in refused]
    if limits and names:
        payload[names[0]] = limits[0]
    refused = {*refused}
    if "tool_choice" in refused and payload.get("tool_choice") == "none":
        refused.add("tools")  # the only other way to say that none may be called
    if "tools" in refused or _FORCED in names_sent(payload) & refused:
        refused.add("tool_choice")
    return {name: value for name, value in payload.items() if name not in refused}


def names_sent(payload: dict[str, Any]) -> set[str]:
    """The parameters of a request, by the names under which they may be refused."""
    is_forced = payload.get("tool_choice", "auto") not in ("none", "auto")
    return {*payload, _FORCED} - {"tool_choice"} if is_forced else {*payload}


def _refused(error: APIStatusError, sent: Collection[str]) -> set[str]:
    """The sent parameters that an error names. None if it is about the response format: its caller has another way."""
    text = error.response.text  # the error itself is silent about bodies that are not formed like OpenAI's
    if _RESPONSE_FORMAT in sent and _RESPONSE_FORMAT in text:
        return set()
    if error.param in _PATTERNS and error.param in sent:
        return {error.param}
    return {name for name, pattern in _PATTERNS.items() if name in sent and pattern.search(text)}
