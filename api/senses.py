"""The recognisers without a soul: the emotion of a text, and the intents it asks for."""

import time
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from soulgraph.api.auth import speaker
from soulgraph.api.catalogs import UncheckedCatalog, read_catalog
from soulgraph.api.disconnects import NoAnswer, unless_gone
from soulgraph.api.edits import Body, example
from soulgraph.api.fields import MAX_TEXT, WRITTEN_TIME, Text
from soulgraph.api.raising import CATALOGS_BUSY, NO_SENSE, raises
from soulgraph.api.services import Served, Services
from soulgraph.nodes.answer import AppraisalReport
from soulgraph.senses.intents.decision import IntentResult
from soulgraph.soul.timestamps import check_time

router = APIRouter(prefix="/v1", tags=["senses"], dependencies=[speaker])


_LIGHT = {"id": "light_on", "name": "开灯", "match": {"keywords_any": ["开灯", "turn on the light"]}}


class Analyze(Body):
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

    now: Annotated[datetime, AfterValidator(check_time), WRITTEN_TIME] | None = Field(
        None, description="the user's time, against which 明早七点 is resolved"
    )


class Filter(Body):
    model_config = example({"text": "Turn on the light, please", "intent_catalog": [_LIGHT]})

    text: Annotated[str, Field(max_length=MAX_TEXT)]
    intent_catalog: UncheckedCatalog
    options: FilterOptions = FilterOptions()


@router.post("/emotion/analyze")
@raises(NO_SENSE)
async def analyze_emotion(request: Analyze, services: Served) -> FeelingOut:
    """Recognise the emotion of a text. It has no effect on any soul."""
    start = time.perf_counter()
    # `sane`, because a recogniser behind HTTP or a model may return values out of range.
    emotion = (await services.context.senses.emotions.recognise(request.text)).sane()
    return FeelingOut(**emotion.to_dict(), latency_ms=round((time.perf_counter() - start) * 1000, 2))


@router.post("/intents/filter", response_model=IntentResult)
@raises(CATALOGS_BUSY)
async def filter_intents(wanted: Filter, services: Served, request: Request) -> IntentResult | NoAnswer:
    """Find the intents of the given catalog that a text asks for. Nothing is carried out.

    A catalog that was sent or reported before is known. A new one is compiled, which takes about a millisecond for
    each example, and stops when the client leaves.
    """
    return await unless_gone(request, _filter(wanted, services))


async def _filter(wanted: Filter, services: Services) -> IntentResult:
    intents = services.context.senses.intents
    now = wanted.options.now or services.context.local_time()
    catalog = await intents.catalogs.compiled(await read_catalog(wanted.intent_catalog))
    return await intents.filter(wanted.text, catalog, now)
