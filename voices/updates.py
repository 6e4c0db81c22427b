"""The task that asks what a turn has changed in a soul: which of its beliefs no longer holds.

A belief is an item of the soul's profile. So the model sees what was expected next to what happened: only where the two
contradict each other is there a change.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import StringConstraints, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from soulgraph.soul.language import Lang
from soulgraph.soul.profile import KEYS, Item, Profile, StateUpdate, top
from soulgraph.soul.state_updates import strict_update
from soulgraph.soul.validation import DROP_NUL
from soulgraph.voices.task_outputs import TaskOutput
from soulgraph.voices.tasks import Task

_MAX_BELIEFS = 12
_PER_FIELD = 3
_PRIORITY = 7  # of what has come to hold
_LOWERED = 4  # by which a belief that no longer holds loses priority
_ABOUT_USER: dict[Lang, dict[str, str]] = {
    "en": {"entity": "user", "status": "somebody I talk with, on ordinary friendly terms"},
    "zh": {"entity": "用户", "status": "和我聊天的人，关系平常友好"},
}
_LABELS: dict[Lang, dict[str, str]] = {
    "en": {
        "emotions": "feeling",
        "physical_condition": "body",
        "short_term_goals": "plan",
        "relationships": "about",
        "learned_patterns": "experience",
    },
    "zh": {
        "emotions": "感受",
        "physical_condition": "身体",
        "short_term_goals": "打算",
        "relationships": "关系",
        "learned_patterns": "经验",
    },
}


class Belief(NamedTuple):
    """An item of a profile as an expectation; `stored` is false for one that every soul has."""

    field: str
    item: Item
    stored: bool = True

    @property
    def words(self) -> dict[str, str]:
        return {key: str(self.item[key]) for key in KEYS[self.field] if key in self.item}

    @property
    def text(self) -> str:
        return ", ".join(self.words.values())

    def line(self, lang: Lang) -> str:
        return f"{_LABELS[lang][self.field]}: {self.text}"


def beliefs_of(profile: Profile, lang: Lang) -> list[Belief]:
    """What a soul expects: its most important items of each field; without any, that people are as they usually are."""
    kept = [
        Belief(field, item) for field, items in top(profile, _PER_FIELD).items() if field in KEYS for item in items
    ][:_MAX_BELIEFS]
    return kept or [Belief("relationships", {**_ABOUT_USER[lang], "priority": _PRIORITY}, stored=False)]


class Change(TaskOutput):
    """`item` is the number of the belief that no longer holds, 0 for none; `why` lets a model think first."""

    why: Annotated[str, StringConstraints(strip_whitespace=True), DROP_NUL] = ""
    item: int

    @classmethod
    def schema_for(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Where the engine is sure of a surprise, the model is only asked which belief it concerns."""
        schema = cls.model_json_schema()
        if data["surprised"]:
            schema["properties"].pop("why")
        first = 1 if data["surprised"] else 0
        schema["properties"]["item"] = {"type": "integer", "enum": [*range(first, len(data["beliefs"]) + 1)]}
        return schema

    @model_validator(mode="after")
    def _names_a_belief(self, info: ValidationInfo) -> "Change":
        if not 0 <= self.item <= len((info.context or {}).get("beliefs", ())):
            raise PydanticCustomError("no_belief", "item: must be the number of a belief, or 0")
        return self


UPDATE_STATE = Task("update_state", Change, {"surprised": False}, max_tokens=200)


def update_of(change: Change, beliefs: Sequence[Belief], quotation: str, feeling: str) -> StateUpdate:
    """The change as an update of the profile: what was said is added, and the belief it overturned loses weight.

    It is kept in the words that were said: a model that needs this call cannot be trusted to reword them. Raises
    ContractBroken for words that no profile takes, like a feeling in numbers.
    """
    if not change.item:
        return StateUpdate()
    belief = beliefs[change.item - 1]
    words = belief.words
    main = next(key for key in KEYS[belief.field] if key not in ("entity", "reason"))
    about = {"entity": words["entity"]} if "entity" in words else {}
    now = f"{feeling} ({quotation})" if belief.field == "emotions" else quotation
    operations: dict[str, Any] = {"add": [{**about, main: now, "priority": _PRIORITY}]}
    if belief.stored:
        operations["update_priority"] = [{**words, "new_priority": max(1, belief.item["priority"] - _LOWERED)}]
    return strict_update({"dynamic_state": {belief.field: operations}}, {})
