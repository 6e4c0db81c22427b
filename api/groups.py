"""Who takes part in a session beside its own person and soul, and who may change that."""

from collections.abc import Collection, Iterable
from typing import Annotated, Protocol

from pydantic import Field

from soulgraph.api.access import Caller
from soulgraph.api.fields import Id, UserId
from soulgraph.errors import Conflict, Forbidden
from soulgraph.soul.people import others
from soulgraph.stores.factories import is_known_to, snapshots_of
from soulgraph.stores.records import Session, Soul
from soulgraph.stores.stores import Transaction

MAX_PEOPLE = 20

People = Annotated[
    list[UserId], Field(max_length=MAX_PEOPLE, description="who takes part beside the session's own person")
]
Souls = Annotated[list[Id], Field(max_length=10, description="which souls take part beside the session's own")]


class Members(Protocol):
    """Those who shall take part; None leaves them as they are."""

    @property
    def people(self) -> list[str] | None: ...

    @property
    def souls(self) -> list[str] | None: ...


def changes_members(session: Session, wanted: Members) -> bool:
    return _people(session, wanted) != session.people or _souls(session, wanted) != tuple(sorted(session.souls))


async def change_members(tx: Transaction, session: Session, wanted: Members, caller: Caller, now: float) -> None:
    """Let others take part from the session's next message on; raises Forbidden if that is not the caller's to say."""
    people, souls = _people(session, wanted), _souls(session, wanted)
    _check_people(session, people, caller)
    _check_souls(session, souls, caller)
    if {*people} - {*session.people}:
        await _check_past(tx, session, (session.user_id, *people))
        await tx.sessions.retitle(session.session_id, "", now)  # the title is made of somebody's first words
    joining = [soul_id for soul_id in souls if soul_id not in session.souls]
    snapshots = session.souls | await snapshots_of(tx, await allowed_souls(tx, joining, caller), now)
    await tx.sessions.gather(session.session_id, people, {soul_id: snapshots[soul_id] for soul_id in souls}, now)


async def _check_past(tx: Transaction, session: Session, audience: Collection[str]) -> None:
    """Raise Conflict if what the session is built on tells of a conversation that not all of them had."""
    background = await tx.backgrounds.find(session.background_id) if session.background_id else None
    has_grown = bool(session.character_snapshot["evolved_persona"])
    if has_grown or (background and not is_known_to(background, audience)):
        raise Conflict(
            "session_mismatch", "this session has grown from a conversation that not all of them had: begin another"
        )


def refuse_to_gather(caller: Caller) -> None:
    """Raise Forbidden for a caller who is a person: what is said in a group reaches all of it."""
    if not caller.acts_for_anybody:
        raise Forbidden("only an owner, or a key made with `--user '*'`, may bring people together")


async def allowed_souls(tx: Transaction, soul_ids: Iterable[str], caller: Caller) -> list[Soul]:
    return [await caller.soul(tx, soul_id) for soul_id in dict.fromkeys(soul_ids)]


def _check_people(session: Session, people: Collection[str], caller: Caller) -> None:
    """People are added by those who act for anybody; the session's person removes others, and everybody may leave."""
    before = {*session.people}
    if {*people} - before:
        refuse_to_gather(caller)
    removed = before - {*people}
    if not caller.acts_for_anybody and caller.person != session.user_id and removed - {caller.person}:
        raise Forbidden("you may leave this session; only its own person or an owner may remove others")


def _check_souls(session: Session, souls: Collection[str], caller: Caller) -> None:
    chooses = caller.acts_for_anybody or caller.person == session.user_id
    if {*souls} != {*session.souls} and not chooses:
        raise Forbidden("only the session's own person or an owner may choose its souls")


def _people(session: Session, wanted: Members) -> tuple[str, ...]:
    return session.people if wanted.people is None else others(session.user_id, wanted.people)


def _souls(session: Session, wanted: Members) -> tuple[str, ...]:
    return others(session.soul_id, session.souls if wanted.souls is None else wanted.souls)
