"""The emotion of a soul: now, and its history for a plot."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, BeforeValidator, WithJsonSchema

from soulgraph.api.auth import Speaker
from soulgraph.api.fields import Id
from soulgraph.api.services import Served, Services
from soulgraph.errors import InvalidInput
from soulgraph.soul.dynamics import evolve
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.gate import ExecMode, Gate, judge
from soulgraph.soul.gate_words import gate_words
from soulgraph.soul.language import Lang
from soulgraph.soul.mood import describe
from soulgraph.soul.personality import extremity
from soulgraph.soul.timestamps import epoch, iso
from soulgraph.stores.history import point_of
from soulgraph.stores.records import EmotionPoint, Soul

router = APIRouter(prefix="/v1/souls/{soul_id}/emotion", tags=["souls"])


def _parse_time(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        return epoch(text)
    if not math.isfinite(seconds):
        raise ValueError("must be a moment in time")
    return seconds


Timestamp = Annotated[
    float,
    BeforeValidator(_parse_time),
    WithJsonSchema({"type": "string", "description": "ISO 8601, or epoch seconds", "examples": ["2026-11-16T04:45Z"]}),
]


class PointOut(BaseModel):
    at: str
    p: float
    a: float
    d: float
    boredom: float
    shock_load: float
    extreme_memory: float
    exec_probability: float
    exec_mode: ExecMode
    locked: bool

    @classmethod
    def of(cls, point: EmotionPoint) -> "PointOut":
        return cls(**asdict(point) | {"at": iso(point.at)})


class HistoryOut(BaseModel):
    soul_id: str
    points: list[PointOut]


@router.get("")
async def read_emotion(soul_id: Id, caller: Speaker, services: Served) -> dict[str, Any]:
    """Read the soul's present emotion, its mood in words, and its gate: whether it would act, and if not, why.

    Reading changes nothing.
    """
    async with services.stores.read() as tx:
        soul = await caller.soul(tx, soul_id)
    emotion, gate = _present(soul, services)
    constants = services.context.constants
    return {
        "soul_id": soul_id,
        "at": iso(emotion.updated_at),
        "soul_emotion": emotion.to_dict(),
        "mood": {"zh": describe(emotion, "zh", constants), "en": describe(emotion, "en", constants)},
        "gate": asdict(gate) | _gate_words(gate),
    }


def _gate_words(gate: Gate) -> dict[str, dict[Lang, str] | None]:
    """Why the gate is closed and what would help, in both languages; None while it is open."""
    if gate.reason is None:
        return {"why": None, "helps": None}
    zh = gate_words(gate.reason, "zh")
    en = gate_words(gate.reason, "en")
    return {"why": {"zh": zh["why"], "en": en["why"]}, "helps": {"zh": zh["helps"], "en": en["helps"]}}


@router.get("/history")
async def read_history(
    soul_id: Id,
    caller: Speaker,
    services: Served,
    since: Timestamp | None = None,
    until: Timestamp | None = None,
    points: Annotated[int, Query(ge=2, le=2000)] = 300,
) -> HistoryOut:
    """Read the soul's emotion over time, the oldest point first, up to now.

    If there are more than `points`, the most extreme point of each interval is kept.
    """
    start = -math.inf if since is None else since
    end = math.inf if until is None else until
    if start > end:
        raise InvalidInput("since must not be later than until")
    async with services.stores.read() as tx:
        soul = await caller.soul(tx, soul_id)
        past = await tx.history.between(soul_id, start, end)
    shown = thinned(past, points - 1)  # one is left for the present
    present = point_of(soul_id, *_present(soul, services))
    if start <= present.at <= end:
        shown.append(present)
    return HistoryOut(soul_id=soul_id, points=[PointOut.of(point) for point in shown])


def _present(soul: Soul, services: Services) -> tuple[EmotionState, Gate]:
    """The stored emotion evolved to this moment, and the gate that follows from it."""
    now = services.now()
    constants = services.context.constants
    traits = soul.personality_vector
    emotion = evolve(traits, soul.emotion_state, now, constants)
    return emotion, judge(traits, emotion, now, constants)


def thinned(points: Sequence[EmotionPoint], most: int) -> list[EmotionPoint]:
    """At most `most` points: all of them, or the most extreme one of each of `most` equal intervals of time."""
    if len(points) <= most:
        return list(points)
    start, span = points[0].at, points[-1].at - points[0].at
    peaks: dict[int, EmotionPoint] = {}
    for point in points:
        interval = min(int((point.at - start) / span * most), most - 1) if span else 0
        if interval not in peaks or _extremity(point) > _extremity(peaks[interval]):
            peaks[interval] = point
    return list(peaks.values())


def _extremity(point: EmotionPoint) -> float:
    return extremity((point.p, point.a, point.d))
