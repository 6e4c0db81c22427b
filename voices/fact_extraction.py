"""The task that draws facts from what people have said to a soul."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from soulgraph.soul.validation import DROP_NUL
from soulgraph.voices.task_outputs import TaskOutput, Text
from soulgraph.voices.tasks import Task

MAX_FACTS = 6
"""Facts that a model is asked for at a time."""

FactKind = Literal[
    "name", "age", "birthday", "home", "hometown", "job", "employer", "school", "studies", "relationship", "has",
    "likes", "dislikes", "health", "allergic", "diet", "faith", "speaks", "plays", "hobby", "habit", "event", "other",
]  # fmt: skip
_Short = Annotated[str, StringConstraints(strip_whitespace=True, max_length=80), DROP_NUL]


class ExtractedFact(BaseModel):
    """One fact as a model has found it, and the number of the message that says it.

    `about` is `self` for the one who said it, or somebody of theirs, like `sister Mia`. Nothing of it counts before
    its words were found in what the person has said.
    """

    message: int = Field(ge=1)
    about: _Short = "self"
    kind: FactKind = "other"
    value: _Short = ""
    fact: Annotated[Text, StringConstraints(max_length=300)]
    ended: bool = False


class ExtractedFacts(TaskOutput):
    facts: Annotated[list[ExtractedFact], Field(json_schema_extra={"maxItems": MAX_FACTS})]

    @classmethod
    def schema_for(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """A message can only be one of those that are shown."""
        schema = super().schema_for(data)
        schema["$defs"]["ExtractedFact"]["properties"]["message"]["maximum"] = len(data["messages"])
        return schema


EXTRACT_FACTS = Task("extract_facts", ExtractedFacts, {"known": []}, max_tokens=600)
