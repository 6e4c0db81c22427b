"""`POST /v1/simulate`: plays a script of sentences or emotions to souls of some MBTI types; nothing is stored."""

import asyncio
import json
from collections.abc import Sequence
from typing import Annotated, Any, Self

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, WithJsonSchema, model_validator

from soulgraph.api.auth import speaker
from soulgraph.api.edits import Body, example, form, forms_of
from soulgraph.api.emotion import TraitsOut
from soulgraph.api.fields import Mbti
from soulgraph.api.raising import NO_SENSE, raises
from soulgraph.api.services import Served, Services
from soulgraph.errors import InvalidInput
from soulgraph.soul.constants import Constants
from soulgraph.soul.emotion_report import Bilingual
from soulgraph.soul.emotions import EMOTIONS, UserEmotion
from soulgraph.soul.gate import ExecMode, GateReason
from soulgraph.soul.language import Lang
from soulgraph.soul.mood import mood_words
from soulgraph.soul.personality import Traits, traits_of
from soulgraph.soul.simulation import (
    AFTERMATH_S,
    DEFAULT_STEPS,
    MAX_S,
    SHORTHANDS,
    Cue,
    Sample,
    Script,
    TimelinePoint,
    heard_as,
    live,
    said,
    script_of,
    seconds,
    timeline,
)
from soulgraph.soul.validation import NUMBER

router = APIRouter(prefix="/v1", tags=["senses"], dependencies=[speaker])

MAX_SAMPLES = 2000
MAX_CUES = 500
MAX_SENTENCES = 50
_SCRIPT = Field(json_schema_extra={"format": "emotion-script"})
_UNHEARD = UserEmotion("neutral", 0.0, 0.0, 0.0, 0.0)
_LANGUAGES: tuple[Lang, ...] = ("zh", "en")

Seconds = Annotated[
    float | str,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0, "maximum": MAX_S},
                {"type": "string", "pattern": r"^(\d{1,3}(\.\d{1,3})?[dhms])+$", "maxLength": 20},
            ],
            "description": "seconds, or a time like `8s`, `1m30s`, `2h`, `3d`",
        }
    ),
]
Words = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Label = Annotated[Words, Field(json_schema_extra={"enum": [*EMOTIONS, *SHORTHANDS]})]
# `script_of` checks these: it names the entry, also in a script of one line.
Share = Annotated[float, NUMBER, Field(json_schema_extra={"minimum": 0, "maximum": 1})]
Axis = Annotated[float, NUMBER, Field(json_schema_extra={"minimum": -1, "maximum": 1})]
_FIGURES = ("intensity", "confidence", "p", "a", "d", "hostility", "repair")


class ScriptEntry(BaseModel):
    """What the user says at a time (`say`), or the emotion they show, as in a script of `soulgraph simulate`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra=forms_of(form("emotion", without=["say"]), form("say", without=["emotion", *_FIGURES])),
    )

    at: Seconds
    say: Words | None = Field(None, description="the server's recogniser hears what it feels like")
    emotion: Label | None = Field(None, description="or a label like `anger`, or `insult`, `apology`, `praise`")
    intensity: Share | None = None
    confidence: Share | None = None
    p: Axis | None = None
    a: Axis | None = None
    d: Axis | None = None
    hostility: Share | None = None
    repair: Share | None = None


class Simulation(Body):
    model_config = example(
        {"mbti_types": ["INFP", "ESTJ"], "script": 'insult*4@8s, "I am so sorry."@60s', "until": "4m"},
        {"mbti_types": ["INFJ"], "entries": [{"at": "8s", "emotion": "joy", "intensity": 0.6}], "step": 1},
        one_of=[form("script", without=["entries"]), form("entries", without=["script"])],
    )

    mbti_types: list[Mbti] = Field(["INFP", "ESTJ"], min_length=1, max_length=16)
    script: Annotated[str, StringConstraints(max_length=4000), _SCRIPT] | None = Field(
        None, description="in one line: `EMOTION[:INTENSITY][*TIMES]@TIME[/EVERY]`, or a sentence in double quotes"
    )
    entries: list[ScriptEntry] | None = Field(None, max_length=MAX_CUES, json_schema_extra={"minItems": 1})
    until: Seconds | None = Field(None, description="without it three minutes after the last entry")
    step: Seconds | None = Field(None, description="without it a 600th of the whole; it changes nothing that happens")

    @model_validator(mode="after")
    def _check_script(self) -> Self:
        if (self.script is None) == (self.entries is None):
            raise ValueError("send either `script`, a line, or `entries`")
        return self


class SampleOut(BaseModel):
    at: float = Field(description="seconds since the soul was born")
    p: float
    a: float
    d: float
    boredom: float
    shock_load: float
    extreme_memory: float
    exec_probability: float
    threshold: float
    exec_mode: ExecMode
    locked: bool
    lock_remaining_s: float
    mood: Bilingual
    reason: GateReason | None = Field(description="why it would not act")
    drift: TraitsOut


class Run(BaseModel):
    mbti_type: str
    personality_vector: TraitsOut
    samples: list[SampleOut]


class CueOut(BaseModel):
    at: float
    words: str | None = Field(description="the sentence, if it was one")
    emotion: str
    heard_as: str = Field(description="the emotion, and what it is to the soul: `anger, hostile`")


class SimulationOut(BaseModel):
    runs: list[Run]
    cues: list[CueOut]


@router.post("/simulate", response_model=SimulationOut)
@raises(NO_SENSE)
async def simulate(wanted: Simulation, services: Served) -> Response:
    """Play a script to new souls of these types, with this server's dynamics and its recogniser.

    Every entry gives two samples, right before it and right after, beside those at every step. At most 2,000 samples
    of each type.
    """
    constants = services.context.constants
    types = {mbti.strip().upper(): traits_of(mbti, constants) for mbti in wanted.mbti_types}
    script = await _heard(_script(wanted), services)
    moments = _moments(script, wanted)
    async with services.simulating:
        content = await asyncio.to_thread(_play, types, script, moments, constants)
    return Response(content, media_type="application/json")


def _script(wanted: Simulation) -> Script:
    """The script, in which no sentence has been heard yet."""
    if wanted.script is not None:
        return said(wanted.script, lambda words: _UNHEARD, MAX_CUES)
    entries = [entry.model_dump(exclude_none=True) for entry in wanted.entries or []]
    places = ((f"entries.{n}", entry) for n, entry in enumerate(entries))
    return script_of(places, lambda words: _UNHEARD)


async def _heard(script: Script, services: Services) -> Script:
    """The script with what this server's recogniser makes of each sentence."""
    sentences = list(dict.fromkeys(cue.words for cue in script if cue.words is not None))
    if len(sentences) > MAX_SENTENCES:
        raise InvalidInput(f"the script has {len(sentences)} different sentences, at most {MAX_SENTENCES} are heard")
    recognise = services.context.senses.emotions.recognise
    felt = {words: (await recognise(words)).sane() for words in sentences}
    return tuple(cue if cue.words is None else Cue(cue.at, felt[cue.words], cue.words) for cue in script)


def _moments(script: Script, wanted: Simulation) -> list[TimelinePoint]:
    end = script[-1].at + AFTERMATH_S if wanted.until is None else seconds(wanted.until, "until")
    step = (end / DEFAULT_STEPS or 1.0) if wanted.step is None else seconds(wanted.step, "step")
    moments = timeline(script, end, step, MAX_SAMPLES)
    if len(moments) > MAX_SAMPLES:
        raise InvalidInput(
            f"there would be {len(moments):,} samples, at most {MAX_SAMPLES:,} are taken: "
            "make `step` longer, or the script shorter"
        )
    return moments


def _play(types: dict[str, Traits], script: Script, moments: Sequence[TimelinePoint], constants: Constants) -> bytes:
    """The answer as JSON, made here because that takes long too."""
    runs = [_run(mbti, traits, moments, constants) for mbti, traits in types.items()]
    cues = [_cue(cue) for cue in script]
    return f'{{"runs":[{",".join(runs)}],"cues":{_json(cues)}}}'.encode()


def _run(mbti: str, traits: Traits, moments: Sequence[TimelinePoint], constants: Constants) -> str:
    """JSON of one run, not of all at once: writing JSON holds the interpreter's lock, and turns would wait for it."""
    samples = [_sample(sample, constants) for sample in live(traits, moments, constants)]
    return _json({"mbti_type": mbti, "personality_vector": traits.to_dict(), "samples": samples})


def _cue(cue: Cue) -> dict[str, Any]:
    return {"at": cue.at, "words": cue.words, "emotion": cue.felt.emotion, "heard_as": heard_as(cue.felt)}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _sample(sample: Sample, constants: Constants) -> dict[str, Any]:
    state, gate = sample.state, sample.gate
    numbers = {
        "p": state.p,
        "a": state.a,
        "d": state.d,
        "boredom": state.boredom,
        "shock_load": state.shock_load,
        "extreme_memory": state.extreme_memory,
        "exec_probability": gate.exec_probability,
        "threshold": gate.threshold,
        "lock_remaining_s": gate.lock_remaining_s,
    }
    return {
        "at": sample.at,
        **{name: round(value, 6) for name, value in numbers.items()},
        "exec_mode": gate.exec_mode,
        "locked": gate.locked,
        "mood": {lang: mood_words(sample.mood, state, lang, constants) for lang in _LANGUAGES},
        "reason": gate.reason,
        "drift": {name: round(value, 9) for name, value in state.drift.to_dict().items()},
    }
