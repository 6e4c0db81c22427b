"""How a soul feels, over HTTP: now, and over time for a plot."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, BeforeValidator, WithJsonSchema

from soulgraph.api.auth import chatter
from soulgraph.api.fields import Id
from soulgraph.api.services import Served, Services
from soulgraph.errors import InvalidInput
from soulgraph.soul.dynamics import EmotionState, evolve
from soulgraph.soul.gate import ExecMode, Gate, judge
from soulgraph.soul.mood import describe
from soulgraph.soul.personality import extremity
from soulgraph.soul.timestamps import epoch, iso
from soulgraph.stores.history import point_of
from soulgraph.stores.records import EmotionPoint, Soul

router = APIRouter(prefix="/v1/souls/{soul_id}/emotion", tags=["souls"], dependencies=[chatter])


def _moment(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        return epoch(text)
    if not math.isfinite(seconds):
        raise ValueError("must be a moment in time")
    return seconds


Moment = Annotated[
    float,
    BeforeValidator(_moment),
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
async def read_emotion(soul_id: Id, services: Served) -> dict[str, Any]:
    """How the soul feels at this moment, and whether it would act. Reading changes nothing."""
    async with services.stores.read() as tx:
        soul = await tx.souls.get(soul_id)
    feeling, gate = _now(soul, services)
    constants = services.context.constants
    return {
        "soul_id": soul_id,
        "at": iso(feeling.updated_at),
        "soul_emotion": feeling.to_dict(),
        "mood": {"zh": describe(feeling, "zh", constants), "en": describe(feeling, "en", constants)},
        "gate": asdict(gate),
    }


@router.get("/history")
async def read_history(
    soul_id: Id,
    services: Served,
    since: Moment | None = None,
    until: Moment | None = None,
    points: Annotated[int, Query(ge=2, le=2000)] = 300,
) -> HistoryOut:
    """How the soul felt, the oldest first, up to this moment; at most `points` of it, peaks before the rest."""
    start, end = -math.inf if since is None else since, math.inf if until is None else until
    if start > end:
        raise InvalidInput("since must not be later than until")
    async with services.stores.read() as tx:
        soul = await tx.souls.get(soul_id)
        past = await tx.history.between(soul_id, start, end)
    shown, present = thinned(past, points - 1), point_of(soul_id, *_now(soul, services))
    if start <= present.at <= end:
        shown.append(present)
    return HistoryOut(soul_id=soul_id, points=[PointOut.of(point) for point in shown])


def _now(soul: Soul, services: Services) -> tuple[EmotionState, Gate]:
    now, constants = services.now(), services.context.constants
    traits = soul.personality_vector
    feeling = evolve(traits, soul.emotion_state, now, constants)
    return feeling, judge(traits, feeling, now, constants)


def thinned(points: Sequence[EmotionPoint], most: int) -> list[EmotionPoint]:
    """As they are if they are few; else of each of `most` equal stretches of time the most extreme one."""
    if len(points) <= most:
        return list(points)
    first, span = points[0].at, points[-1].at - points[0].at
    peaks: dict[int, EmotionPoint] = {}
    for point in points:
        stretch = min(int((point.at - first) / span * most), most - 1) if span else 0
        if stretch not in peaks or _extremity(point) > _extremity(peaks[stretch]):
            peaks[stretch] = point
    return list(peaks.values())


def _extremity(point: EmotionPoint) -> float:
    return extremity((point.p, point.a, point.d))
