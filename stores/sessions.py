"""Sessions: the conversations with a soul. Each has its own snapshot of the character and its own persona state.

Methods that change a session raise NotFound if it does not exist.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import Text, cast, delete, func, literal, or_, select

from soulgraph.errors import Conflict, NotFound
from soulgraph.soul.modes import PersonaState
from soulgraph.soul.preferences import GuardState
from soulgraph.stores import schema, schema_memory
from soulgraph.stores.facts import Facts
from soulgraph.stores.records import CharacterSnapshot, Session
from soulgraph.stores.repository import Repository, fields_of


class Conversation(NamedTuple):
    """A session between one person and one soul, as far as it is looked for."""

    session_id: str
    turn: int
    updated_at: float


class Sessions(Repository[Session]):
    table = schema.sessions
    record = Session

    async def find(self, session_id: str) -> Session | None:
        return await self._first(self._rows("session_id"), session_id=session_id)

    async def get(self, session_id: str) -> Session:
        session = await self.find(session_id)
        if session is None:
            raise NotFound("session", session_id)
        return session

    async def all(
        self, soul_id: str | None = None, limit: int | None = None, user_id: str | None = None
    ) -> list[Session]:
        """The sessions of a soul, or of all souls, the most recently used first; with `user_id` only this person's."""
        order = self.table.c.updated_at.desc(), self.table.c.session_id
        keys = {"soul_id": soul_id, "user_id": user_id}
        given = {name: value for name, value in keys.items() if value is not None}
        return await self._all(self._rows(*given).order_by(*order).limit(limit), **given)

    async def between(self, soul_id: str, user_id: str, limit: int) -> list[Conversation]:
        """The conversations of these two alone, the most recently used first."""
        row = self.table.c
        alone = row.soul_id == soul_id, row.user_id == user_id, row.people == (), cast(row.souls, Text) == "{}"
        query = select(row.session_id, row.turn, row.updated_at).where(*alone).order_by(row.updated_at.desc())
        return [Conversation(*found) for found in await self._connection.execute(query.limit(limit))]

    async def with_person(self, user_id: str, soul_id: str | None = None, limit: int | None = None) -> list[Session]:
        """Those in which this person takes part, groups included, the most recently used first."""
        row = self.table.c
        lines = literal("\n") + cast(row.people, Text) + literal("\n")
        # Not by LIKE, which takes "Ann" for "ann" on SQLite.
        takes_part = func.replace(lines, f"\n{user_id}\n", "") != lines
        query = self._rows().where(or_(row.user_id == user_id, takes_part))
        newest_first = query.order_by(row.updated_at.desc(), row.session_id)
        if soul_id is None:
            return await self._all(newest_first.limit(limit))
        with_souls = newest_first.where(or_(row.soul_id == soul_id, cast(row.souls, Text) != "{}"))
        return [one for one in await self._all(with_souls) if soul_id in (one.soul_id, *one.souls)][:limit]

    async def gather(
        self, session_id: str, people: Collection[str], souls: Mapping[str, CharacterSnapshot], now: float
    ) -> None:
        """Set who takes part beside the session's own person and soul, from its next message on."""
        members = {"people": tuple(people), "souls": dict(souls)}
        if not await self._set({"session_id": session_id}, **members, updated_at=now):
            raise NotFound("session", session_id)

    async def add(self, session: Session) -> None:
        await self._add(fields_of(session))

    async def ensure(self, session: Session) -> None:
        """Add the session unless it exists."""
        await self._put_new(**fields_of(session))

    async def retitle(self, session_id: str, title: str, now: float) -> None:
        if not await self._set({"session_id": session_id}, title=title, updated_at=now):
            raise NotFound("session", session_id)

    async def set_persona_state(self, session_id: str, persona_state: PersonaState, now: float) -> None:
        if not await self._set({"session_id": session_id}, persona_state=persona_state, updated_at=now):
            raise NotFound("session", session_id)

    async def set_guard(self, session_id: str, guard: Mapping[str, GuardState]) -> None:
        """Store what the preference guard has counted of each person, and which confirmation it waits for."""
        if not await self._set({"session_id": session_id}, guard=guard):
            raise NotFound("session", session_id)

    async def speak_by(self, session_id: str, template_id: str) -> None:
        """Change the template of the session."""
        if not await self._set({"session_id": session_id}, template_id=template_id):
            raise NotFound("session", session_id)

    async def reflected(self, session_id: str, message_id: int) -> None:
        """Record that reflection has covered all messages up to this one."""
        if not await self._set({"session_id": session_id}, reflected_to=message_id):
            raise NotFound("session", session_id)

    async def facts_drawn(self, session_id: str, message_id: int, asked: bool = False) -> None:
        """Record that facts were drawn from all messages up to this one; if `asked`, by a model."""
        mark = {"facts_asked_to" if asked else "facts_to": message_id}
        if not await self._set({"session_id": session_id}, **mark):
            raise NotFound("session", session_id)

    async def hint(self, session_id: str, reason: str) -> None:
        """Record why the session's memory should be updated."""
        if not await self._set({"session_id": session_id}, memory_hint=reason):
            raise NotFound("session", session_id)

    async def touch(self, session_id: str, now: float) -> None:
        """Update the time of last use after a message that is not a turn, such as a greeting."""
        if not await self._set({"session_id": session_id}, updated_at=now):
            raise NotFound("session", session_id)

    async def advance(
        self, session_id: str, turn: int, persona_state: PersonaState, now: float, since: int | None = None
    ) -> None:
        """Store turn number `turn`, which follows the one before it, or `since`.

        Raises Conflict if another server has stored a turn meanwhile.
        """
        known = {"session_id": session_id, "turn": turn - 1 if since is None else since}
        if not await self._set(known, turn=turn, persona_state=persona_state, updated_at=now):
            raise Conflict("turn_superseded", f"turn {turn} of this session was written by another server: retry")

    async def delete(self, session_id: str) -> None:
        """Delete the session with everything that refers to it, and the facts that were told in it alone."""
        row = schema.messages.c
        said = select(row.message_id, row.soul_id, row.souls).where(row.session_id == session_id)
        messages = (await self._connection.execute(said)).all()
        soul_ids = {soul_id for message in messages for soul_id in (message.soul_id, *message.souls)}
        await Facts(self._connection).withdraw(soul_ids, [message.message_id for message in messages])
        # These two tables have no foreign key to the session that would delete their rows.
        for table in (schema_memory.outbox, schema.turns):
            await self._connection.execute(delete(table).where(table.c.session_id == session_id))
        if not await self._remove(session_id=session_id):
            raise NotFound("session", session_id)
