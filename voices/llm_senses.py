"""Senses that ask the chat model: the user's emotion, and which of several likely intents the user means."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

from langchain_core.language_models import BaseChatModel
from pydantic import AfterValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from soulgraph.errors import ModelError, SenseUnavailable
from soulgraph.senses.emotion.scales import Axis, Label, Share
from soulgraph.senses.intents.catalog import Intent
from soulgraph.soul.emotions import PROTOTYPES, Appraisal, UserEmotion
from soulgraph.soul.language import lang_of
from soulgraph.voices.task_outputs import TaskOutput
from soulgraph.voices.tasks import Task, run_task

DEFAULT_INTENSITY = 0.5
MAX_EXAMPLES = 4


class Feeling(TaskOutput):
    """The model's answer: a label at least.

    Missing axes are those of the label's prototype; without all three of toward, hostility and repair there is no
    appraisal.
    """

    emotion: Label
    p: Axis | None = None
    a: Axis | None = None
    d: Axis | None = None
    intensity: Share = DEFAULT_INTENSITY
    confidence: Share | None = None
    toward: Share | None = None
    hostility: Share | None = None
    repair: Share | None = None

    @property
    def appraisal(self) -> Appraisal | None:
        if self.toward is None or self.hostility is None or self.repair is None:
            return None
        return Appraisal(self.toward, self.hostility, self.repair)

    def to_user_emotion(self) -> UserEmotion:
        axes = zip((self.p, self.a, self.d), PROTOTYPES[self.emotion], strict=True)
        p, a, d = (default if given is None else given for given, default in axes)
        return UserEmotion(self.emotion, p, a, d, self.intensity, self.confidence, self.appraisal)


def _candidate_id(intent_id: str, info: ValidationInfo) -> str:
    """Refuse an id that the model was not offered; the candidates are the task's data."""
    candidates = (info.context or {}).get("candidates", ())
    if intent_id not in {candidate["id"] for candidate in candidates}:
        raise PydanticCustomError("unknown_intent", "must be the id of one of the candidates")
    return intent_id


class Choice(TaskOutput):
    intents: list[Annotated[str, AfterValidator(_candidate_id)]]

    @classmethod
    def schema_for(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        ids = [candidate["id"] for candidate in data["candidates"]]
        items = {"type": "array", "items": {"type": "string", "enum": ids}, "maxItems": len(ids)}
        return super().schema_for(data) | {"properties": {"intents": items}}


FEEL = Task("feel", Feeling, {"prototypes": PROTOTYPES}, max_tokens=200)
CHOOSE_INTENTS = Task("choose_intents", Choice, max_tokens=200)


class LlmRecogniser:
    """The chat model as an emotion recogniser."""

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model

    async def recognise(self, text: str) -> UserEmotion:
        with _as_sense_errors("tell the feeling"):
            feeling = await run_task(self._model, FEEL, lang_of(text), text=text)
        return feeling.to_user_emotion()


class LlmArbiter:
    """The chat model as the judge of intents that similarity alone cannot decide between."""

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model

    async def decide(self, text: str, candidates: Sequence[Intent]) -> set[str]:
        """The ids of the candidates that the user asks for; empty if none."""
        if not candidates:
            return set()
        offered = [_describe(intent) for intent in candidates]
        with _as_sense_errors("choose between intents"):
            choice = await run_task(self._model, CHOOSE_INTENTS, lang_of(text), text=text, candidates=offered)
        return set(choice.intents)


def _describe(intent: Intent) -> dict[str, Any]:
    examples = [*intent.match.examples, *intent.match.keywords_any][:MAX_EXAMPLES]
    return {"id": intent.id, "name": intent.name, "said_as": examples}


@contextmanager
def _as_sense_errors(action: str) -> Iterator[None]:
    """Raise a ModelError as SenseUnavailable: a turn goes on without a sense, but not without the voice."""
    try:
        yield
    except ModelError as error:
        raise SenseUnavailable(f"the model could not {action}: {error.detail}") from error
