"""The task that finds the user's wishes in a message where the rules have found none."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints, WithJsonSchema

from soulgraph.soul.preference_words import KNOWN_PREFERENCES
from soulgraph.soul.validation import DROP_NUL
from soulgraph.voices.task_outputs import TaskOutput, Text
from soulgraph.voices.tasks import Task

_KNOWN: dict[str, list[str]] = {}
for _known in KNOWN_PREFERENCES:
    _KNOWN.setdefault(_known.key, []).append(_known.value)
_KEYS = [*_KNOWN, "address", "other"]


class Proposal(BaseModel):
    """One wish as a model has found it. Nothing of it counts before the preference guard has judged it."""

    key: Annotated[Text, WithJsonSchema({"type": "string", "enum": _KEYS})]
    value: Annotated[str, StringConstraints(strip_whitespace=True), DROP_NUL] = ""
    evidence: Text
    explicit: bool = False
    correction: bool = False


class Proposals(TaskOutput):
    wishes: Annotated[list[Proposal], Field(max_length=5)]


PROPOSE_WISHES = Task("propose_wishes", Proposals, {"known": _KNOWN}, max_tokens=400)
