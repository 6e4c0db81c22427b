"""An event, and who may recall it."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from soulgraph.stores.records import Json


def audience_of(soul_id: str, people: Iterable[str]) -> str:
    """Who may recall a private event: this soul, in turns with exactly these people."""
    return "\n".join([soul_id, *sorted({*people})])


@dataclass(frozen=True, slots=True)
class Pattern:
    precondition: str
    trigger: str
    reaction: str
    impact: str


@dataclass(frozen=True, slots=True)
class Event:
    """An experience told in general words."""

    event_id: str
    summary: str
    pattern: Pattern
    impact: Json
    narrative_fragment: str
    timestamp: str

    @property
    def search_text(self) -> str:
        """The text whose vector and terms this event is found by."""
        return " ".join([self.summary, self.pattern.precondition, self.pattern.trigger])

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, document: str) -> "Event":
        fields: dict[str, Any] = json.loads(document)
        return cls(**{**fields, "pattern": Pattern(**fields["pattern"])})
