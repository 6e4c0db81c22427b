"""Ann and Bob, who talk to the same soul: each alone, and both together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from soulgraph.stores.database import Database
from soulgraph.stores.records import Session
from soulgraph.stores.stores import Stores
from soulgraph.tests.stores.samples import message, preference, session, soul

ANN, BOB = "ann", "bob"
ANNS, BOBS, GROUP = "sess_ann", "sess_bob", "sess_both"


def anns(**fields: Any) -> Session:
    return session(ANNS, user_id=ANN, **fields)


def bobs(**fields: Any) -> Session:
    return session(BOBS, user_id=BOB, **fields)


def group(**fields: Any) -> Session:
    """Ann's session, in which Bob takes part."""
    return session(GROUP, **({"user_id": ANN, "people": (BOB,)} | fields))


def called(user_id: str, name: str, **fields: Any) -> Any:
    """The preference that says what somebody is called."""
    return preference("address", user_id=user_id, value=name, **fields)


@asynccontextmanager
async def open_house(url: str, **fields: Any) -> AsyncIterator[Stores]:
    """`soul_1` is Mika, with a session of each and one of both."""
    async with Database.open(url) as database:
        stores = Stores(database)
        async with stores.write() as tx:
            await tx.souls.add(soul(**({"name": "Mika"} | fields)))
            for one in (anns(), bobs(), group()):
                await tx.sessions.add(one)
        yield stores


async def told(stores: Stores, session_id: str, *texts: str, **fields: Any) -> list[int]:
    """What was said there, and answered with "I see."; returns the ids of the messages."""
    async with stores.write() as tx:
        place = await tx.sessions.get(session_id)
        who = {"user_id": place.user_id, "soul_id": place.soul_id} | fields
        present = {
            "people": tuple(sorted({*place.audience} - {who["user_id"]})),
            "souls": tuple(sorted({place.soul_id, *place.souls} - {who["soul_id"]})),
        }
        both = [
            message(text, role=role, **(present | who))
            for content in texts
            for role, text in (("user", content), ("assistant", "I see."))
        ]
        return await tx.messages.append(session_id, both)
