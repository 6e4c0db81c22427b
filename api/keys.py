"""API keys over HTTP, for owners; and `GET /v1/me`, which tells any caller who it is."""

from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, model_validator

from soulgraph.api.auth import Identified, server_owner
from soulgraph.api.edits import Body, example, form
from soulgraph.api.fields import Id, Name, UserIdOrEveryone
from soulgraph.api.raising import LAST_OWNER_KEY, not_found, raises
from soulgraph.api.services import Served
from soulgraph.errors import Conflict, NotFound
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import ApiKey, Scope
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1", tags=["keys"])


class Me(BaseModel):
    open: bool = Field(description="whether the server asks nobody for a key")
    scope: Scope
    user_id: str | None = Field(description="the person the key is; `*`: anybody; null: nobody in particular")
    souls: list[str] | None = Field(description="the souls the key is for; null: all")
    key_id: str | None
    name: str


class NewKey(Body):
    model_config = example(
        {"name": "Ann's phone", "scope": "chat", "user_id": "ann"},
        one_of=[form(without=["user_id"]), {"properties": {"scope": {"enum": ["chat", "terminal"]}}}],
    )

    name: Name
    scope: Scope
    user_id: UserIdOrEveryone | None = Field(None, description="the person it is; `*`: it acts for anybody")
    soul_ids: list[Id] = Field([], max_length=100, description="the souls it is for; empty: all")

    @model_validator(mode="after")
    def _check_owner(self) -> Self:
        if self.scope == "owner" and self.user_id is not None:
            raise ValueError("an owner key acts for anybody: leave user_id out, or choose the scope `chat`")
        return self


class KeyOut(BaseModel):
    key_id: str
    name: str
    scope: Scope
    user_id: str | None
    soul_ids: list[str]
    created_at: str
    revoked_at: str | None

    @classmethod
    def of(cls, key: ApiKey, **more: str) -> Self:
        fields = {name: getattr(key, name) for name in ("key_id", "name", "scope", "user_id", "soul_ids")}
        revoked_at = None if key.revoked_at is None else iso(key.revoked_at)
        return cls(**fields, created_at=iso(key.created_at), revoked_at=revoked_at, **more)


class MadeKey(KeyOut):
    secret: str = Field(description="the key itself, which cannot be shown again")


@router.get("/me")
async def read_me(caller: Identified) -> Me:
    """Who the server takes you for."""
    return Me(
        open=caller.key_id is None,
        scope=caller.scope,
        user_id=caller.user_id,
        souls=list(caller.soul_ids) or None,
        key_id=caller.key_id,
        name=caller.name,
    )


@router.get("/keys", dependencies=[server_owner])
async def list_keys(services: Served) -> list[KeyOut]:
    """List all keys without their secrets, the oldest first; revoked ones too."""
    async with services.stores.read() as tx:
        return [KeyOut.of(key) for key in await tx.keys.all()]


@router.post("/keys", status_code=201, dependencies=[server_owner])
@raises(*not_found("soul"))
async def create_key(wanted: NewKey, services: Served) -> MadeKey:
    """Make a key. Its `secret` is in this answer and nowhere else. The first key closes an open server at once."""
    async with services.stores.write() as tx:
        for soul_id in wanted.soul_ids:
            await tx.souls.get(soul_id)
        binding = wanted.user_id, dict.fromkeys(wanted.soul_ids)
        secret = await tx.keys.create(wanted.name, wanted.scope, services.now(), *binding)
        key = await tx.keys.find(secret)
    assert key is not None  # it has just been made
    return MadeKey.of(key, secret=secret)


@router.get("/keys/{key_id}", dependencies=[server_owner])
async def read_key(key_id: Id, services: Served) -> KeyOut:
    async with services.stores.read() as tx:
        return KeyOut.of(await _key(tx, key_id))


@router.delete("/keys/{key_id}", status_code=204, dependencies=[server_owner])
@raises(LAST_OWNER_KEY)
async def revoke_key(
    key_id: Id,
    services: Served,
    force: Annotated[bool, Query(description="also if no owner key is left then")] = False,
) -> None:
    """Revoke a key at once and for good, perhaps your own. 409 if no owner key would be left, unless forced."""
    async with services.stores.write() as tx:
        key = await _key(tx, key_id)
        others = [one for one in await tx.keys.all() if one.key_id != key_id]
        if not force and _may_make_keys(key) and not any(map(_may_make_keys, others)):
            raise Conflict(
                "last_owner_key",
                "no owner key would be left, and only `soulgraph key create` could make one then: "
                "make another first, or add ?force=true",
            )
        await tx.keys.revoke(key_id, services.now())


def _may_make_keys(key: ApiKey) -> bool:
    return key.scope == "owner" and not key.soul_ids and key.revoked_at is None


async def _key(tx: Transaction, key_id: str) -> ApiKey:
    found = next((key for key in await tx.keys.all() if key.key_id == key_id), None)
    if found is None:
        raise NotFound("key", key_id)
    return found
