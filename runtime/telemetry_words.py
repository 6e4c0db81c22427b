"""What telemetry tells of an event without the words of users, or of models, which may repeat them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from soulgraph.soul.preference_words import PREFERENCE_KEYS


def without_words(event: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with ids, numbers and our own words alone; names of intents and settings are the operator's."""
    told = {name: _SHORTENED.get(name, _whole)(value) for name, value in fields.items() if name != "evidence"}
    if event.startswith("life.") and fields.get("silenced_by") != "rule":
        told.pop("reason", None)
    return told


def _whole(value: Any) -> Any:
    return value


def _decision(decision: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: decision[name] for name in ("verdict", "reason", "confidence")}
    return {"key": _key(decision["key"]), **kept, "evidence_count": len(decision["evidence"])}


def _sources(sources: Sequence[str]) -> list[str]:
    return [_source(*source.partition(":")) for source in sources]


def _source(kind: str, colon: str, name: str) -> str:
    return kind + colon + (_key(name) if kind == "preference" else name)


def _key(key: str) -> str:
    """Keys that we do not know are made of the wish itself, or of names and topics in it."""
    return key if key in PREFERENCE_KEYS else "other"


def _failed_source(problem: str) -> str:
    """What of the memory failed first; the error behind it may quote what was searched for."""
    return problem.partition(":")[0]


_SHORTENED: Mapping[str, Callable[[Any], Any]] = {
    "writeback_decision": _decision,
    "sources": _sources,
    "memory_problem": _failed_source,
}
