"""Says in words why a gate is closed and what would help."""

from functools import cache
from importlib.resources import files

import yaml
from typing_extensions import TypedDict

from soulgraph.soul.gate import ExecMode, Gate, GateReason
from soulgraph.soul.language import Lang


class GateWords(TypedDict):
    why: str
    helps: str


class GateReport(TypedDict):
    """A gate as it is told to people and terminals; an open one has neither reason nor words."""

    exec_mode: ExecMode
    reason: GateReason | None
    why: str | None
    helps: str | None
    lock_remaining_s: float


def gate_words(reason: GateReason, lang: Lang) -> GateWords:
    return _words()[lang][reason]


def gate_report(gate: Gate, lang: Lang) -> GateReport:
    words = gate_words(gate.reason, lang) if gate.reason else None
    return {
        "exec_mode": gate.exec_mode,
        "reason": gate.reason,
        "why": words["why"] if words else None,
        "helps": words["helps"] if words else None,
        "lock_remaining_s": gate.lock_remaining_s,
    }


@cache
def _words() -> dict[Lang, dict[GateReason, GateWords]]:
    loaded: dict[Lang, dict[GateReason, GateWords]] = yaml.load(
        (files(__package__) / "gate_words.yaml").read_text("utf-8"), yaml.CSafeLoader
    )
    return loaded
