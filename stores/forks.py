"""Copies a conversation into a new session: its messages, turns and versions of the persona."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import uuid4

from soulgraph.stores.records import Message, NewMessage, Session
from soulgraph.stores.stores import Transaction

_COPIED = {*NewMessage.__dataclass_fields__} & {*Message.__dataclass_fields__}


async def copy_conversation(tx: Transaction, session: Session, fork: Session, up_to: int) -> Session:
    """Store the fork with copies of the session's messages with an id up to `up_to`; returns it as it is stored.

    Copies have the times of the originals. They are indexed like all messages, but nothing is drawn from them a second
    time: what was archived or reflected on in the session is so in the fork.
    """
    messages = [message for message in await tx.messages.page(session.session_id) if message.message_id <= up_to]
    turn_ids = {turn_id: f"turn_{uuid4().hex}" for turn_id in dict.fromkeys(message.turn_id for message in messages)}
    copied = await tx.turns.copy(session.session_id, fork.session_id, turn_ids)
    fork = replace(fork, turn=copied, reflected_to=0, facts_to=0, facts_asked_to=0, memory_hint="")
    await tx.sessions.add(fork)
    shared = await _shared(tx, messages)
    copies = [_copy(message, turn_ids[message.turn_id], shared.get(message.message_id, ())) for message in messages]
    ids = await tx.messages.append(fork.session_id, copies)
    copy_of = dict(zip([message.message_id for message in messages], ids, strict=True))
    await tx.sessions.reflected(fork.session_id, _last_up_to(copy_of, session.reflected_to))
    await tx.sessions.facts_drawn(fork.session_id, _last_up_to(copy_of, session.facts_to))
    await tx.sessions.facts_drawn(fork.session_id, _last_up_to(copy_of, session.facts_asked_to), asked=True)
    await tx.personas.copy(session.session_id, fork.session_id)
    return fork


def _last_up_to(copy_of: Mapping[int, int], message_id: int) -> int:
    """The copy of the last message up to this one; 0 if there is none."""
    return max((new for old, new in copy_of.items() if old <= message_id), default=0)


async def _shared(tx: Transaction, messages: Sequence[Message]) -> dict[int, Collection[str]]:
    """With whom the messages are shared, by id; those of which nobody else knows are left out."""
    souls = dict.fromkeys(message.soul_id for message in messages)
    stored = [one for soul_id in souls for one in await tx.episodes.shared(soul_id)]
    wanted = {message.message_id for message in messages}
    return {one.message.message_id: one.shared_with for one in stored if one.message.message_id in wanted}


def _copy(message: Message, turn_id: str, shared_with: Collection[str]) -> NewMessage:
    fields = {name: getattr(message, name) for name in NewMessage.__dataclass_fields__ if name in _COPIED}
    return NewMessage(**{**fields, "turn_id": turn_id}, shared_with=tuple(shared_with))
