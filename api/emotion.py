"""The emotion of a soul: now, and its history for a plot."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from soulgraph.api.auth import Speaker
from soulgraph.api.fields import Id
from soulgraph.api.services import Served, Services
from soulgraph.errors import InvalidInput
from soulgraph.soul.dynamics import evolve
from soulgraph.soul.emotion_report import Bilingual, EmotionReport, GateFigures, emotion_report
from soulgraph.soul.emotions import EmotionState, EmotionStateDict
from soulgraph.soul.gate import ExecMode, Gate, judge
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
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "format": "date-time"}, {"type": "number"}],
            "description": "ISO 8601, or epoch seconds",
            "examples": ["2026-11-16T04:45:00Z"],
        }
    ),
]


class TraitsOut(BaseModel):
    """The five traits, or how far each has moved."""

    empathy: float
    sensitivity: float
    stability: float
    expressiveness: float
    dominance: float


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
    drift: TraitsOut | None = Field(description="how far each trait has moved; null in points from before it was kept")

    @classmethod
    def of(cls, point: EmotionPoint) -> "PointOut":
        return cls(**asdict(point) | {"at": iso(point.at)})


class HistoryOut(BaseModel):
    soul_id: str
    points: list[PointOut]


class EmotionOut(BaseModel):
    soul_id: str
    at: str
    soul_emotion: EmotionStateDict
    mood: Bilingual = Field(description="the emotion in words")
    gate: GateFigures = Field(description="whether it would act, and if not, why")


@router.get("")
async def read_emotion(soul_id: Id, caller: Speaker, services: Served) -> EmotionOut:
    """Read the soul's present emotion, its mood in words, and its gate: whether it would act, and if not, why.

    Reading changes nothing.
    """
    async with services.stores.read() as tx:
        soul = await caller.soul(tx, soul_id)
    return EmotionOut(**present_emotion(soul, services))


def present_emotion(soul: Soul, services: Services) -> EmotionReport:
    return emotion_report(soul.soul_id, *_present(soul, services), services.context.constants)


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


def present_state(soul: Soul, services: Services) -> EmotionState:
    return _present(soul, services)[0]


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
