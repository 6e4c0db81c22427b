"""Keys of every kind, and a small house: two souls, Ann and Bob, and what each of them has with both souls."""

from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from soulgraph.runtime.ports import open_stores
from soulgraph.settings import Settings
from soulgraph.stores.factories import new_session, new_soul
from soulgraph.stores.records import NewMessage, Relation
from soulgraph.tests.live import new_soul as make_soul
from soulgraph.tests.live import serving

NOW = 1_800_000_000.0

# Of each credential: scope, person, and whether it is for the first soul only.
CREDENTIALS = {
    "chat": ("chat", None, False),
    "ann": ("chat", "ann", False),
    "ann, soul 1": ("chat", "ann", True),
    "anybody": ("chat", "*", False),
    "terminal": ("terminal", None, False),
    "ann's terminal": ("terminal", "ann", False),
    "owner": ("owner", None, False),
    "owner, soul 1": ("owner", None, True),
}


@dataclass
class House:
    keys: dict[str, str]
    souls: list[str]

    def headers(self, who):
        return {"Authorization": f"Bearer {self.keys[who]}"} if who in self.keys else {}

    def session(self, person, soul=0):
        return f"{person}-{soul}"


async def build(folder, with_keys=True):
    """A house in the database of this folder."""
    async with open_stores(Settings.load(data_dir=folder)) as stores, stores.write() as tx:
        souls = [await _soul(tx, number) for number in range(2)]
        keys = {}
        for name, (scope, person, bound) in CREDENTIALS.items() if with_keys else ():
            keys[name] = await tx.keys.create(name, scope, NOW, person, souls[:1] if bound else ())
        if with_keys:
            keys["revoked"] = await tx.keys.create("revoked", "owner", NOW)
            [lost] = [key for key in await tx.keys.all() if key.name == "revoked"]
            await tx.keys.revoke(lost.key_id, NOW)
    return House(keys, souls)


async def _soul(tx, number):
    soul = await new_soul(tx, name=f"Soul {number}", mbti_type="INFJ", user_id="default", character_id=None, now=NOW)
    await tx.souls.add(soul)
    await tx.terminals.bind(f"lamp-{number}", soul.soul_id, NOW, "bob")
    for person in ("ann", "bob"):
        await tx.relations.ensure(Relation.new(soul.soul_id, person, NOW))
        session = await new_session(
            tx,
            soul,
            session_id=f"{person}-{number}",
            user_id=person,
            title="",
            character_id=None,
            background_id=None,
            template_id="companion_v1",
            mode="hybrid",
            now=NOW,
        )
        await tx.sessions.add(session)
        said = NewMessage.said_in(session, "t", "user", f"I am {person}", NOW)
        answered = NewMessage.said_in(session, "t", "assistant", "I see.", NOW)
        await tx.messages.append(session.session_id, [said, answered])
    return soul.soul_id


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def problem(response):
    return response.status_code, response.json()["code"]


async def made(client, name, scope, **fields):
    """A new key, as headers."""
    response = await client.post("/v1/keys", json={"name": name, "scope": scope, **fields})
    assert response.status_code == 201, response.text
    return bearer(response.json()["secret"])


@asynccontextmanager
async def home(tmp_path):
    """A server with an owner's client, and clients of Ann and Bob, to whom the same soul belongs."""
    async with serving(data_dir=tmp_path) as owner:
        soul_id = await make_soul(owner)
        owner.headers.update(await made(owner, "owner", "owner"))
        ann, bob = [
            httpx.AsyncClient(
                base_url=owner.base_url,
                headers=await made(owner, name, "chat", user_id=name),
                timeout=60,
                verify=False,
            )
            for name in ("ann", "bob")
        ]
        async with ann, bob:
            yield owner, ann, bob, soul_id
