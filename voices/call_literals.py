"""The arguments of a call in Python's notation, without running anything: only literals are read."""

import ast
from typing import Any

_JSON_NAMES = {"true": True, "false": False, "null": None}


def literal_arguments(source: str) -> Any:
    """Those of `name(arg="…")`, or the one value of `name({"arg": …})`. Raises ValueError for anything else."""
    try:
        call = ast.parse(source, mode="eval").body
    except (SyntaxError, MemoryError) as error:
        raise ValueError("this is no expression") from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ValueError("this is no plain call")
    match call.args:
        case []:
            return {_keyword(keyword): _literal(keyword.value) for keyword in call.keywords}
        case [only] if not call.keywords:
            return _literal(only)
    raise ValueError("arguments without a name cannot be told apart")


def _keyword(keyword: ast.keyword) -> str:
    if keyword.arg is None:
        raise ValueError("** is no argument")
    return keyword.arg


def _literal(node: ast.expr) -> Any:
    """A value as Python or JSON writes it."""
    if isinstance(node, ast.Name) and node.id in _JSON_NAMES:
        return _JSON_NAMES[node.id]
    if isinstance(node, ast.Dict):
        return {_key(key): _literal(value) for key, value in zip(node.keys, node.values, strict=True)}
    if isinstance(node, ast.List):
        return [_literal(item) for item in node.elts]
    value = ast.literal_eval(node)
    if not isinstance(value, str | int | float | None):
        raise ValueError("JSON has no such value")
    return value


def _key(node: ast.expr | None) -> str:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise ValueError("a key is a text")
    return node.value
