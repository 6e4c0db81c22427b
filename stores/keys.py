"""API keys. Only a hash of the secret is stored."""

import hashlib
import secrets
from collections.abc import Collection

from sqlalchemy import exists, select

from soulgraph.errors import NotFound
from soulgraph.stores import schema
from soulgraph.stores.records import ApiKey, Scope
from soulgraph.stores.repository import Repository, fields_of


class Keys(Repository[ApiKey]):
    table = schema.api_keys
    record = ApiKey

    async def create(
        self, name: str, scope: Scope, now: float, user_id: str | None = None, soul_ids: Collection[str] = ()
    ) -> str:
        """Store a new key and return its secret, which cannot be read again."""
        secret = f"sg-{secrets.token_urlsafe(32)}"
        key = ApiKey(secrets.token_hex(4), name, scope, now, None, user_id, tuple(soul_ids))
        await self._add(fields_of(key) | {"hash": _hash(secret)})
        return secret

    async def find(self, secret: str) -> ApiKey | None:
        """The key with this secret; None if it is unknown or revoked."""
        key = await self._first(self._rows("hash"), hash=_hash(secret))
        return key if key and key.revoked_at is None else None

    async def any(self) -> bool:
        """Whether a key was ever made; revoked ones count, so that revoking the last does not open the server."""
        return bool((await self._connection.execute(select(exists().select_from(self.table)))).scalar())

    async def all(self) -> list[ApiKey]:
        return await self._all(self._rows().order_by(self.table.c.created_at))

    async def revoke(self, key_id: str, now: float) -> None:
        """Raises NotFound if the key is unknown or revoked already."""
        key = await self._first(self._rows("key_id"), key_id=key_id)
        if key is None or key.revoked_at is not None:
            raise NotFound("key", key_id)
        await self._set({"key_id": key_id}, revoked_at=now)


def _hash(secret: str) -> str:
    """A plain digest is enough, without salt or stretching: the secret has 256 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()
