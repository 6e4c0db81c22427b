"""Facts: what people have told a soul, with evidence and history. They are theirs to see, correct, share and delete."""

from dataclasses import replace
from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from soulgraph.api.access import Caller
from soulgraph.api.auth import Reader
from soulgraph.api.edits import Body, example, form
from soulgraph.api.fields import Content, Id, SharedWith
from soulgraph.api.memory import ShortText, sharing
from soulgraph.api.messages import MessageOut
from soulgraph.api.raising import FACT_SUPERSEDED, raises
from soulgraph.api.services import Served
from soulgraph.errors import Conflict, InvalidInput, NotFound
from soulgraph.senses.tokenizer import terms_of
from soulgraph.soul.people import Visibility, visibility_of
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import Fact, FactSource
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1/souls/{soul_id}/facts", tags=["memory"])

Words = Annotated[Content, Query(max_length=200, description="only those that have one of these words")]
Superseded = Annotated[bool | None, Query(description="true: only those that hold no more; false: only those that do")]
Limit = Annotated[int, Query(ge=1, le=1000)]


class FactPatch(Body):
    model_config = example(
        {"content": "Ann lives in Cardiff."}, {"shared_with": ["bob"]}, one_of=[form("content"), form("shared_with")]
    )

    content: ShortText | None = Field(None, description="other words; the old ones are kept as superseded")
    shared_with: SharedWith | None = None


class FactOut(BaseModel):
    """`subject` is whom it is about: `self` for the person who told it, or `sister`, or `sister:Mia`.

    `message_ids` are its evidence. `valid_from` and `valid_to` are when it began and ceased to hold, as far as that was
    said; `superseded_by` is the fact that holds in its place.
    """

    fact_id: str
    user_id: str
    subject: str
    attribute: str
    content: str
    message_ids: list[int]
    said_at: str
    valid_from: str | None
    valid_to: str | None
    superseded_by: str | None
    source: FactSource
    visibility: Visibility
    shared_with: list[str]
    updated_at: str

    @classmethod
    def of(cls, fact: Fact) -> Self:
        plain = ("fact_id", "user_id", "subject", "attribute", "content", "message_ids", "superseded_by", "source")
        return cls(
            **{name: getattr(fact, name) for name in plain},
            said_at=iso(fact.said_at),
            valid_from=_iso(fact.valid_from),
            valid_to=_iso(fact.valid_to),
            visibility=visibility_of(fact.shared_with),
            shared_with=list(fact.shared_with),
            updated_at=iso(fact.updated_at),
        )


class FactDetail(FactOut):
    """`evidence` are the messages that the caller may know of, `history` what held before, the newest first."""

    evidence: list[MessageOut]
    history: list[FactOut]


def _iso(at: float | None) -> str | None:
    return None if at is None else iso(at)


@router.get("")
async def list_facts(
    soul_id: Id,
    caller: Reader,
    services: Served,
    q: Words = "",
    superseded: Superseded = None,
    limit: Limit = 200,
) -> list[FactOut]:
    """List facts, the newest first: a person's own and those shared with them.

    An owner who names nobody gets everybody's.
    """
    terms = {*terms_of(q)}
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        known = await tx.facts.known_to(soul_id, caller.audience)
    wanted = (
        fact
        for fact in reversed(known)
        if superseded in (None, not fact.holds) and (not q.strip() or _has(fact, q, terms))
    )
    return [FactOut.of(fact) for fact in wanted][:limit]


def _has(fact: Fact, q: str, terms: set[str]) -> bool:
    return q.strip().casefold() in fact.content.casefold() or bool(terms & {*terms_of(fact.content)})


@router.get("/{fact_id}")
async def read_fact(soul_id: Id, fact_id: Id, caller: Reader, services: Served) -> FactDetail:
    """Read a fact, with the messages that tell it and the facts that held before it."""
    async with services.stores.read() as tx:
        await caller.soul(tx, soul_id)
        known = await tx.facts.known_to(soul_id, caller.audience)
        fact = next((one for one in known if one.fact_id == fact_id), None)
        if fact is None:
            raise NotFound("fact", fact_id)
        messages = await tx.episodes.messages(soul_id, fact.message_ids, caller.audience)
    evidence = [MessageOut.of(messages[message_id].message) for message_id in sorted(messages)]
    history = [FactOut.of(one) for one in reversed(known) if one.superseded_by == fact_id]
    return FactDetail(**FactOut.of(fact).model_dump(), evidence=evidence, history=history)


@router.patch("/{fact_id}")
@raises(FACT_SUPERSEDED)
async def correct_fact(soul_id: Id, fact_id: Id, patch: FactPatch, caller: Reader, services: Served) -> FactOut:
    """Correct a fact, or say who may know of it. Other words make a new fact, and the old one is kept as superseded.

    It is for the person who told it, and for owners.
    """
    if patch.content is None and patch.shared_with is None:
        raise InvalidInput("send `content`, `shared_with`, or both")
    async with services.stores.write() as tx:
        fact = await _own_fact(tx, soul_id, fact_id, caller)
        now = services.now()
        if patch.shared_with is not None:
            fact = replace(fact, shared_with=sharing(fact.user_id, patch.shared_with), updated_at=now)
            await tx.facts.put(fact)
        if patch.content is not None and patch.content != fact.content:
            fact = await _corrected(tx, fact, patch.content, now)
    return FactOut.of(fact)


async def _corrected(tx: Transaction, fact: Fact, content: str, now: float) -> Fact:
    if fact.superseded_by:
        raise Conflict("changed_meanwhile", "this fact holds no more: correct the one that holds in its place")
    new = replace(fact, fact_id=new_id("fact"), content=content, value="", source="user", updated_at=now)
    await tx.facts.put(new)
    await tx.facts.put(replace(fact, superseded_by=new.fact_id, valid_to=now, updated_at=now))
    return new


@router.delete("/{fact_id}", status_code=204)
async def delete_fact(soul_id: Id, fact_id: Id, caller: Reader, services: Served) -> None:
    """Delete a fact. What it had superseded holds again, but for words that were corrected: they go with it."""
    async with services.stores.write() as tx:
        await tx.facts.delete(await _own_fact(tx, soul_id, fact_id, caller))


async def _own_fact(tx: Transaction, soul_id: str, fact_id: str, caller: Caller) -> Fact:
    """The fact if the caller's person has told it; any for owners. Raises NotFound."""
    caller.check_soul(soul_id)
    await tx.souls.lock(soul_id)
    fact = await tx.facts.get(soul_id, fact_id)
    if caller.person not in (None, fact.user_id):
        raise NotFound("fact", fact_id)
    return fact
