"""Heeds what a person says about who may know: what they told may be passed on, or is to stay with the soul."""

from collections.abc import Collection
from typing import NamedTuple

from soulgraph.nodes.state import TurnState
from soulgraph.senses.permissions.permission import permission_in
from soulgraph.senses.permissions.resolve import people_meant
from soulgraph.soul.people import others
from soulgraph.stores.records import Message
from soulgraph.stores.stores import Transaction

_MAX_TEXT = 500  # characters that are looked at: who gives a permission does not write a page before it
_LAST = 12  # messages of the session among which the one is looked for that was said just before


class Sharing(NamedTuple):
    """With whom the turn's own message is shared, and whether what was said before is shared otherwise now."""

    shared_with: tuple[str, ...] = ()
    changed: bool = False


async def heed_permission(tx: Transaction, state: TurnState) -> Sharing:
    """To be called before the turn's messages are stored: those before it are looked at.

    Only what the speaker has said is ever shared or taken back. Those who were present know it anyway.
    """
    utterance = state["utterance"]
    permission = permission_in(utterance["text"][:_MAX_TEXT])
    if permission is None:
        return Sharing()
    if permission.kind == "private":
        return Sharing((), await _share_last(tx, state, None))
    people = await _resolved(tx, state, permission.people)
    if permission.own_content:
        return Sharing(people)
    return Sharing((), bool(people) and await _share_last(tx, state, people))


async def _resolved(tx: Transaction, state: TurnState, names: Collection[str]) -> tuple[str, ...]:
    """The people whom these names mean, among those whom the soul knows."""
    utterance = state["utterance"]
    called = await tx.preferences.addresses(utterance["soul_id"])
    met = [relation.user_id for relation in await tx.relations.all(utterance["soul_id"])]
    known = {user_id: called.get(user_id) for user_id in (*met, *called)}
    return people_meant(tuple(names), known, utterance["user_id"])


async def _share_last(tx: Transaction, state: TurnState, people: Collection[str] | None) -> bool:
    """Share what the speaker said last with more people, or with nobody beside those present if there are none."""
    utterance = state["utterance"]
    soul_id, user_id = utterance["soul_id"], utterance["user_id"]
    last = await _last_said(tx, utterance["session_id"], user_id)
    stored = (await tx.episodes.messages(soul_id, [last.message_id])).get(last.message_id) if last else None
    if last is None or stored is None:
        return False
    shared_with = others(user_id, last.people if people is None else (*stored.shared_with, *people))
    return shared_with != stored.shared_with and await tx.episodes.share(soul_id, last.message_id, user_id, shared_with)


async def _last_said(tx: Transaction, session_id: str, user_id: str) -> Message | None:
    messages = reversed(await tx.messages.last(session_id, _LAST))
    return next((one for one in messages if one.role == "user" and one.user_id == user_id), None)
