"""JSON schemas in the small dialect that every server with structured output understands."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_KEPT = {"type", "enum", "const", "description"}
_DEFAULT_TITLE = "answer"


def plain_schema(schema: type[BaseModel] | Mapping[str, Any], bounded: bool = False) -> dict[str, Any]:
    """The schema without references, limits and formats; objects are closed and need all their keys.

    `bounded` keeps the greatest length of lists. `title` is kept at the top alone.
    """
    whole = schema.model_json_schema() if isinstance(schema, type) else schema
    title = str(whole.get("title", _DEFAULT_TITLE))
    return {"title": title, **_plain(whole, whole.get("$defs", {}), bounded)}


def _plain(node: Mapping[str, Any], defs: Mapping[str, Any], bounded: bool) -> dict[str, Any]:
    if "$ref" in node:
        return _plain({**defs[node["$ref"].rpartition("/")[2]], **_beside_ref(node)}, defs, bounded)
    plain = {key: value for key, value in node.items() if key in _KEPT}
    if options := node.get("anyOf") or node.get("oneOf"):
        plain["anyOf"] = [_plain(option, defs, bounded) for option in options]
    if properties := node.get("properties"):
        plain["properties"] = {name: _plain(value, defs, bounded) for name, value in properties.items()}
        plain |= {"required": list(properties), "additionalProperties": False}
        plain.pop("description", None)  # of an object it is the docstring of its class
    if "items" in node:
        plain["items"] = _plain(node["items"], defs, bounded)
        if bounded and "maxItems" in node:
            plain["maxItems"] = node["maxItems"]
    return plain


def _beside_ref(node: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key != "$ref"}
