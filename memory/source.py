"""What a memory offers to recall. To add one, write it and pass it where `Recall` is opened."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from soulgraph.memory.ranking import Floats
from soulgraph.stores.stores import Transaction

Audience = frozenset[str] | None
"""The people who hear what is recalled; None for an owner, who may see everything."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for, and for whom."""

    soul_id: str
    text: str
    terms: Sequence[int]
    """The fingerprints of its terms, as `query_terms` gives them."""
    vector: Floats | None
    """None if it could not be computed in time: then only the terms speak."""
    now: float
    k: int
    audience: Audience = None
    exclude: Collection[int] = ()
    """Messages that must not be found."""


class Hit(Protocol):
    """Something that was found."""

    @property
    def source_id(self) -> str: ...

    @property
    def score(self) -> float: ...


class Source(Protocol):
    """Every call raises StoreUnavailable or SenseUnavailable when what it needs does not answer."""

    @property
    def kind(self) -> str:
        """What its hits are called in the sources of an answer, which are written `kind:id`."""
        ...

    async def search(self, query: Query) -> Sequence[Hit]:
        """The k best that all of the audience may know, the best first; empty if nothing is relevant."""
        ...

    async def texts(self, soul_id: str, ids: Collection[str]) -> Mapping[str, str]:
        """What these say, by id; those that are gone or another soul's are left out."""
        ...

    async def note_use(self, tx: Transaction, recalled: Collection[str], useful: Collection[str], now: float) -> None:
        """Count what was recalled and what a reply drew on; an id that occurs twice counts twice."""
        ...
