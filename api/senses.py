"""The recognisers without a soul: the emotion of a text, and the intents it asks for."""

import time
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from soulgraph.api.auth import speaker
from soulgraph.api.edits import example
from soulgraph.api.fields import MAX_TEXT, Text
from soulgraph.api.services import Served
from soulgraph.nodes.answer import AppraisalReport
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.decision import IntentResult
from soulgraph.terminals.reports import IntentCatalog

router = APIRouter(prefix="/v1", tags=["senses"], dependencies=[speaker])


_LIGHT = {"id": "light_on", "name": "开灯", "match": {"keywords_any": ["开灯", "turn on the light"]}}


class Analyze(BaseModel):
    model_config = example({"text": "今天被老板骂了，好难过"})

    text: Text


class FeelingOut(BaseModel):
    emotion: str
    p: float
    a: float
    d: float
    intensity: float
    confidence: float | None
    appraisal: AppraisalReport
    latency_ms: float


class FilterOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    now: datetime | None = Field(None, description="the user's time, against which 明早七点 is resolved")


class Filter(BaseModel):
    model_config = example({"text": "Turn on the light, please", "intent_catalog": [_LIGHT]})

    text: Annotated[str, Field(max_length=MAX_TEXT)]
    intent_catalog: IntentCatalog
    options: FilterOptions = FilterOptions()


@router.post("/emotion/analyze")
async def analyze_emotion(request: Analyze, services: Served) -> FeelingOut:
    """Recognise the emotion of a text. It has no effect on any soul."""
    start = time.perf_counter()
    # `sane`, because a recogniser behind HTTP or a model may return values out of range.
    emotion = (await services.context.senses.emotions.recognise(request.text)).sane()
    return FeelingOut(**emotion.to_dict(), latency_ms=round((time.perf_counter() - start) * 1000, 2))


@router.post("/intents/filter")
async def filter_intents(request: Filter, services: Served) -> IntentResult:
    """Find the intents of the given catalog that a text asks for. Nothing is carried out."""
    now = request.options.now or services.context.local_time()
    return await services.context.senses.intents.filter(request.text, CompiledCatalog(request.intent_catalog), now)
