"""All versions of a session's evolved persona: the text about how the conversation has changed the character."""

from dataclasses import replace
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, select, update

from soulgraph.errors import NotFound
from soulgraph.soul.growth import Dimensions, persona_text
from soulgraph.stores import schema
from soulgraph.stores.records import CharacterSnapshot, PersonaVersion
from soulgraph.stores.repository import Repository, fields_of
from soulgraph.stores.sessions import Sessions


class PersonaVersions(Repository[PersonaVersion]):
    table = schema.persona_versions
    record = PersonaVersion

    async def all(self, session_id: str) -> list[PersonaVersion]:
        """All versions of the session, the newest first."""
        return await self._all(self._rows("session_id").order_by(self.table.c.n.desc()), session_id=session_id)

    async def get(self, session_id: str, n: int) -> PersonaVersion:
        version = await self._first(self._rows("session_id", "n"), session_id=session_id, n=n)
        if version is None:
            raise NotFound("persona version", str(n))
        return version

    async def latest(self, session_id: str) -> PersonaVersion | None:
        newest_first = self._rows("session_id").order_by(self.table.c.n.desc())
        return await self._first(newest_first.limit(1), session_id=session_id)

    async def grow(self, session_id: str, dimensions: Dimensions, source: str, now: float) -> PersonaVersion:
        """Store a new version that is given in dimensions."""
        return await self.evolve(session_id, persona_text(dimensions), source, now, dimensions)

    async def evolve(
        self, session_id: str, evolved_persona: str, source: str, now: float, dimensions: Dimensions | None = None
    ) -> PersonaVersion:
        """Store a new version, numbered from 1, and use it in the session from now on."""
        session = await Sessions(self._connection).get(session_id)
        snapshot: CharacterSnapshot = {**session.character_snapshot, "evolved_persona": evolved_persona}
        sessions = schema.sessions
        statement = update(sessions).where(sessions.c.session_id == session_id)
        # The session's row first: it locks out concurrent writers, so that they number their versions in turn.
        await self._connection.execute(statement.values(character_snapshot=snapshot, memory_hint="", updated_at=now))
        number = await self.last_number(session_id) + 1
        version = PersonaVersion(session_id, number, evolved_persona, source, now, dimensions)
        await self._add(fields_of(version))
        return version

    async def copy(self, session_id: str, to_session: str) -> None:
        """Give another session, which has grown the same persona, the same versions."""
        versions = await self.all(session_id)
        if versions:
            await self._add(*(fields_of(replace(version, session_id=to_session)) for version in versions))

    async def restore(self, session_id: str, n: int, now: float) -> PersonaVersion:
        """Store the persona of version n again, as a new version."""
        earlier = await self.get(session_id, n)
        return await self.evolve(session_id, earlier.evolved_persona, f"restored:{n}", now, earlier.dimensions)

    async def last_number(self, session_id: str) -> int:
        """0 if there is no version yet."""
        return (await self._connection.execute(self._last_number(), {"session_id": session_id})).scalar() or 0

    @classmethod
    @cache
    def _last_number(cls) -> Select[Any]:
        return select(func.max(cls.table.c.n)).where(cls.table.c.session_id == bindparam("session_id"))
