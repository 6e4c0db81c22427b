"""How a soul feels and whether it would act, in numbers and words, for everybody who watches it."""

from dataclasses import asdict
from typing import cast

from typing_extensions import TypedDict

from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.emotions import EmotionState, EmotionStateDict
from soulgraph.soul.gate import ExecMode, Gate, GateReason
from soulgraph.soul.gate_words import gate_words
from soulgraph.soul.mood import describe
from soulgraph.soul.timestamps import iso


class Bilingual(TypedDict):
    zh: str
    en: str


class GateFigures(TypedDict):
    """A gate with the numbers it was made from; `why` it is closed and what `helps` are null while it is open."""

    exec_probability: float
    exec_mode: ExecMode
    threshold: float
    z: float
    z_n: float
    m: float
    s: float
    locked: bool
    lock_remaining_s: float
    reason: GateReason | None
    why: Bilingual | None
    helps: Bilingual | None


class EmotionReport(TypedDict):
    soul_id: str
    at: str
    soul_emotion: EmotionStateDict
    mood: Bilingual
    gate: GateFigures


def emotion_report(soul_id: str, emotion: EmotionState, gate: Gate, constants: Constants = DEFAULT) -> EmotionReport:
    return {
        "soul_id": soul_id,
        "at": iso(emotion.updated_at),
        "soul_emotion": emotion.to_dict(),
        "mood": {"zh": describe(emotion, "zh", constants), "en": describe(emotion, "en", constants)},
        "gate": cast(GateFigures, asdict(gate) | _words(gate)),
    }


def _words(gate: Gate) -> dict[str, Bilingual | None]:
    if gate.reason is None:
        return {"why": None, "helps": None}
    zh = gate_words(gate.reason, "zh")
    en = gate_words(gate.reason, "en")
    return {"why": {"zh": zh["why"], "en": en["why"]}, "helps": {"zh": zh["helps"], "en": en["helps"]}}
