"""The chat model as a sense: what the user feels, and which of several likely intents they mean."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

from langchain_core.language_models import BaseChatModel
from pydantic import AfterValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from soulgraph.errors import ModelError, SenseUnavailable
from soulgraph.senses.emotion.scales import Axis, Label, Share
from soulgraph.senses.intents.catalog import Intent
from soulgraph.soul.emotions import PROTOTYPES, UserEmotion
from soulgraph.soul.language import lang_of
from soulgraph.voices.tasks import Task, TaskOutput, run_task

MODERATE = 0.5
FEW = 4


class Feeling(TaskOutput):
    """A label at the least: an axis left out is the label's own, a strength left out is a moderate one."""

    emotion: Label
    p: Axis | None = None
    a: Axis | None = None
    d: Axis | None = None
    intensity: Share = MODERATE
    confidence: Share | None = None

    def heard(self) -> UserEmotion:
        axes = zip((self.p, self.a, self.d), PROTOTYPES[self.emotion], strict=True)
        p, a, d = (own if given is None else given for given, own in axes)
        return UserEmotion(self.emotion, p, a, d, self.intensity, self.confidence)


def _offered(intent_id: str, info: ValidationInfo) -> str:
    candidates = (info.context or {}).get("candidates", ())
    if intent_id not in {candidate["id"] for candidate in candidates}:
        raise PydanticCustomError("unknown_intent", "must be the id of one of the candidates")
    return intent_id


class Choice(TaskOutput):
    intents: list[Annotated[str, AfterValidator(_offered)]]


FEEL = Task("feel", Feeling, {"prototypes": PROTOTYPES})
CHOOSE_INTENTS = Task("choose_intents", Choice)


class LlmRecogniser:
    """The chat model as an emotion recogniser."""

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model

    async def recognise(self, text: str) -> UserEmotion:
        with _as_sense_errors("tell the feeling"):
            feeling = await run_task(self._model, FEEL, lang_of(text), text=text)
        return feeling.heard()


class LlmArbiter:
    """The chat model as the judge of intents that similarity alone leaves open."""

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model

    async def decide(self, text: str, candidates: Sequence[Intent]) -> set[str]:
        """The ids of the candidates that the user really asks for."""
        if not candidates:
            return set()
        offered = [_described(intent) for intent in candidates]
        with _as_sense_errors("choose between intents"):
            choice = await run_task(self._model, CHOOSE_INTENTS, lang_of(text), text=text, candidates=offered)
        return set(choice.intents)


def _described(intent: Intent) -> dict[str, Any]:
    said = [*intent.match.examples, *intent.match.keywords_any][:FEW]
    return {"id": intent.id, "name": intent.name, "said_as": said}


@contextmanager
def _as_sense_errors(duty: str) -> Iterator[None]:
    """Here the model is a sense, and the turn goes on without it."""
    try:
        yield
    except ModelError as error:
        raise SenseUnavailable(f"the model could not {duty}: {error.detail}") from error
