"""Reads YAML of strangers: plain values within limits. Aliases, tags and depth are refused before it is built."""

import re
from datetime import date
from typing import Any

import yaml

from soulgraph.errors import InvalidInput

_MAX_BYTES = 512 * 1024
_MAX_EVENTS = 20_000
_MAX_DEPTH = 20
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAPPING = re.compile(r"\A(?:[ \t\r]*(?:#[^\n]*|---[^\n]*)?\n)*[\"']?\w[\w .-]{0,80}[\"']?[ \t]*:(?:\s|\Z)")


def looks_like_yaml(text: str) -> bool:
    """Whether a text begins like a mapping."""
    return _MAPPING.match(text) is not None


def parse_yaml(text: str) -> Any:
    """The mapping in a YAML text; raises InvalidInput if it is none, or asks for more than plain values."""
    if len(text) > _MAX_BYTES:
        raise InvalidInput(f"the YAML has {len(text)} characters, at most {_MAX_BYTES} are read: shorten it")
    try:
        _check_events(text)
        data = yaml.load(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise InvalidInput(f"the YAML cannot be read: {' '.join(str(error).split())[:300]}") from error
    except ValueError as error:  # a date or a number that there is not
        raise InvalidInput(f"the YAML cannot be read: {error}: put the value in quotes") from error
    return _plain(data)


def _check_events(text: str) -> None:
    depth = 0
    for n, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        if isinstance(event, yaml.AliasEvent):
            raise InvalidInput("the YAML has aliases (`*name`), which are not read: write the values out")
        if n > _MAX_EVENTS:
            raise InvalidInput(f"the YAML has more than {_MAX_EVENTS} parts: shorten it")
        if getattr(event, "tag", None) not in (None, "!"):
            raise InvalidInput("the YAML has tags (`!name`), which are not read: write plain values")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise InvalidInput("the YAML is nested too deeply")


def _plain(value: Any) -> Any:
    """Dates as texts, and keys as texts: as JSON has them."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else value
