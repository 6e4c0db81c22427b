"""The second layer of a session's persona: what experience made of it, with every state it was in."""

from sqlalchemy import func, select, update

from soulgraph.errors import NotFound
from soulgraph.stores import schema
from soulgraph.stores.records import CharacterSnapshot, PersonaVersion
from soulgraph.stores.repository import Repository, fields_of
from soulgraph.stores.sessions import Sessions


class PersonaVersions(Repository[PersonaVersion]):
    table = schema.persona_versions
    record = PersonaVersion

    async def all(self, session_id: str) -> list[PersonaVersion]:
        """The newest first."""
        return await self._all(self._rows("session_id").order_by(self.table.c.n.desc()), session_id=session_id)

    async def get(self, session_id: str, n: int) -> PersonaVersion:
        version = await self._first(self._rows("session_id", "n"), session_id=session_id, n=n)
        if version is None:
            raise NotFound("persona version", str(n))
        return version

    async def evolve(self, session_id: str, evolved_persona: str, source: str, now: float) -> PersonaVersion:
        """Keep a new version, the first one numbered 1, and let the session speak as it from now on."""
        session = await Sessions(self._connection).get(session_id)
        snapshot: CharacterSnapshot = {**session.character_snapshot, "evolved_persona": evolved_persona}
        sessions = schema.sessions
        changed = update(sessions).where(sessions.c.session_id == session_id)
        # First this row, so that two who evolve one session at once take turns and number after each other.
        await self._connection.execute(changed.values(character_snapshot=snapshot, updated_at=now))
        version = PersonaVersion(session_id, await self._last(session_id) + 1, evolved_persona, source, now)
        await self._add(fields_of(version))
        return version

    async def restore(self, session_id: str, n: int, now: float) -> PersonaVersion:
        """Be again as in version n; that is a new version, and none is lost."""
        earlier = await self.get(session_id, n)
        return await self.evolve(session_id, earlier.evolved_persona, f"restored:{n}", now)

    async def _last(self, session_id: str) -> int:
        last = select(func.max(self.table.c.n)).where(self.table.c.session_id == session_id)
        return (await self._connection.execute(last)).scalar() or 0
