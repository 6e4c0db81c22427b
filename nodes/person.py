"""Whom a soul talks to: what it knows of the person, and what it may show of that before everybody who listens."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from soulgraph.errors import Conflict
from soulgraph.prompts.quotation import speaker_name
from soulgraph.soul.people import EVERYONE
from soulgraph.stores.memory import ADDRESS, user_name
from soulgraph.stores.records import Message, Preference, Relation, Session, Slot
from soulgraph.stores.stores import Transaction

_LANGUAGE = "language"
"""The preference that is heeded in a group too: it says nothing of anybody."""


@dataclass(frozen=True, slots=True)
class Person:
    """`names` are what those who take part are called, people and other souls, by id.

    `relation` is None before the two have met, and before other people: what a soul feels about one is not for them.
    """

    user_id: str
    preferences: dict[str, str]
    names: dict[str, str] = field(default_factory=dict)
    relation: Relation | None = None

    @property
    def name(self) -> str | None:
        return self.names.get(self.user_id)


async def read_person(
    tx: Transaction, session: Session, soul_id: str, user_id: str, absent: Iterable[str] = ()
) -> Person:
    """The person who speaks in this session, as far as all who hear the answer may know them.

    Those who are `absent` have their names too. Raises Conflict if the session is not theirs.
    """
    if user_id not in session.audience:
        raise Conflict("session_mismatch", f"{user_id!r} does not take part in this session: start another for them")
    known = await tx.preferences.known_to(soul_id, session.audience, user_id)
    if session.people:
        known += [one for one in await tx.preferences.of(soul_id, user_id) if one.key == _LANGUAGE]
    relation = None if session.people else await tx.relations.find(soul_id, user_id)
    names = await _names(tx, session, soul_id) if session.is_group else _name(known, user_id)
    return Person(
        user_id, _effective(known, user_id), await with_absent(tx, soul_id, session.audience, names, absent), relation
    )


def _name(preferences: Iterable[Preference], user_id: str) -> dict[str, str]:
    name = user_name(preferences, user_id)
    return {user_id: name} if name else {}


def _effective(preferences: Iterable[Preference], user_id: str) -> dict[str, str]:
    """The person's own go before those that are meant for everybody; what another is called is never theirs.

    What another wants, and has only said before them, is no wish of theirs.
    """
    usable = [one for one in preferences if one.user_id == user_id or _is_for_everybody(one)]
    by_owner = sorted(usable, key=lambda one: one.user_id == user_id)
    return {one.key: one.value for one in by_owner}


def _is_for_everybody(preference: Preference) -> bool:
    return EVERYONE in preference.shared_with and preference.key != ADDRESS


async def _names(tx: Transaction, session: Session, soul_id: str) -> dict[str, str]:
    called = await tx.preferences.addresses(soul_id, session.audience)
    people = {user_id: called.get(user_id) or user_id for user_id in session.audience}
    souls = [await tx.souls.get(other) for other in {session.soul_id, *session.souls} - {soul_id}]
    return distinct({**people, **{soul.soul_id: soul.name for soul in souls}})


def distinct(names: Mapping[str, str]) -> dict[str, str]:
    """The names with the id behind each that several bear: nobody can pass for somebody else.

    What counts is how they are shown.
    """
    shown = {key: speaker_name(name).casefold() for key, name in names.items()}
    borne = [*shown.values()]
    return {key: name if borne.count(shown[key]) == 1 else f"{name} ({key})" for key, name in names.items()}


async def with_absent(
    tx: Transaction, soul_id: str, audience: Collection[str], names: Mapping[str, str], people: Iterable[str]
) -> dict[str, str]:
    """The names of those who take part, and of these who do not: what they have said or shared is theirs.

    What somebody wants to be called is only said to those who may know it; else they are called by their id.
    """
    absent = {*people} - names.keys()
    if not absent:
        return dict(names)
    called = await tx.preferences.addresses(soul_id, audience)
    return distinct({user_id: called.get(user_id) or user_id for user_id in absent} | {**names})


def speakers_in(messages: Iterable[Message], soul_id: str, user_id: str) -> set[str]:
    """Who spoke beside these two: more may have taken part than do now."""
    speakers = {message.user_id if message.role == "user" else message.soul_id for message in messages}
    return speakers - {soul_id, user_id}


def fact_of(slot: Slot, user_id: str, names: Mapping[str, str]) -> str:
    """What a slot holds; of one that another person has shared it is said whose it is."""
    return slot.content if slot.user_id == user_id else f"{speaker_name(names[slot.user_id])}: {slot.content}"


def witnessed(messages: Iterable[Message], session: Session, soul_id: str) -> list[Message]:
    """The messages that this soul and all who listen now have heard."""
    if not session.is_group:
        return list(messages)
    return [message for message in messages if message.heard_by(session.audience, soul_id)]
