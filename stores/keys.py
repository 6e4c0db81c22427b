"""API keys. Only a hash of the secret is stored."""

import hashlib
import secrets

from sqlalchemy import func, select

from soulgraph.errors import NotFound
from soulgraph.stores import schema
from soulgraph.stores.records import ApiKey, Scope
from soulgraph.stores.repository import Repository


class Keys(Repository[ApiKey]):
    table = schema.api_keys
    record = ApiKey

    async def create(self, name: str, scope: Scope, now: float) -> str:
        """Store a new key and return its secret, which cannot be read again."""
        secret = f"sg-{secrets.token_urlsafe(32)}"
        key_id = secrets.token_hex(4)
        await self._add({"key_id": key_id, "name": name, "scope": scope, "hash": _hash(secret), "created_at": now})
        return secret

    async def find(self, secret: str) -> ApiKey | None:
        """The key with this secret; None if it is unknown or revoked."""
        key = await self._first(self._rows("hash"), hash=_hash(secret))
        return key if key and key.revoked_at is None else None

    async def exist(self) -> bool:
        """Whether there is any key that is not revoked."""
        query = select(func.count()).select_from(self.table).where(self.table.c.revoked_at.is_(None))
        return bool((await self._connection.execute(query)).scalar())

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
