"""What people have shared of what a soul knows from them: a list across all kinds of memory."""

from collections.abc import Iterable
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from soulgraph.api.auth import Reader
from soulgraph.api.fields import Id
from soulgraph.api.services import Served
from soulgraph.soul.profile import BOOKKEEPING_KEYS, Profile, item_id
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Fact, Preference, Slot
from soulgraph.stores.stores import Transaction

Kind = Literal["episode", "slot", "preference", "fact", "profile"]

router = APIRouter(prefix="/v1/souls/{soul_id}/shared", tags=["memory"])


class SharedThing(BaseModel):
    """`id` is that of the message, the fact or the profile's item, the slot's number, or the preference's key.

    `session_id` is the conversation of a message, through which its sharing is changed; null for the others.
    """

    kind: Kind
    id: str
    user_id: str
    text: str
    shared_with: list[str]
    at: str
    session_id: str | None = None


@router.get("")
async def list_shared(soul_id: Id, caller: Reader, services: Served) -> list[SharedThing]:
    """List what is shared: for a person what is theirs and what is shared with them, for an owner everything."""
    async with services.stores.read() as tx:
        soul = await caller.soul(tx, soul_id)
        found = [*await _episodes(tx, soul_id), *await _kept(tx, soul_id), *_items(soul.dynamic_profile)]
    return [one for one in found if one.shared_with and caller.knows(one.user_id, one.shared_with)]


async def _episodes(tx: Transaction, soul_id: str) -> list[SharedThing]:
    return [
        SharedThing(
            kind="episode",
            id=str(one.message.message_id),
            user_id=one.message.user_id,
            text=one.message.content,
            shared_with=list(one.shared_with),
            at=iso(one.message.created_at),
            session_id=one.message.session_id,
        )
        for one in await tx.episodes.shared(soul_id)
    ]


async def _kept(tx: Transaction, soul_id: str) -> list[SharedThing]:
    slots = [_thing("slot", str(one.n), one.content, one) for one in await tx.slots.all(soul_id)]
    preferences = await tx.preferences.all(soul_id)
    facts = [_thing("fact", one.fact_id, one.content, one) for one in await tx.facts.all(soul_id)]
    return [*slots, *(_thing("preference", one.key, f"{one.key}: {one.value}", one) for one in preferences), *facts]


def _thing(kind: Kind, key: str, text: str, one: Slot | Preference | Fact) -> SharedThing:
    shared_with = list(one.shared_with)
    at = iso(one.updated_at)
    return SharedThing(kind=kind, id=key, user_id=one.user_id, text=text, shared_with=shared_with, at=at)


def _items(profile: Profile) -> Iterable[SharedThing]:
    for field, value in profile.get("dynamic_state", {}).items():
        for item in value["items"]:
            words = [str(text) for key, text in item.items() if key not in BOOKKEEPING_KEYS]
            yield SharedThing(
                kind="profile",
                id=item_id(field, item),
                user_id=item.get("user_id", ""),
                text=", ".join(words),
                shared_with=item.get("shared_with", []) if "user_id" in item else [],
                at=item.get("timestamp", ""),
            )
