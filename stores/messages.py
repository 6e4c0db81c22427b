"""Messages: the transcripts of sessions. An archived message is left out of prompts but stays in the transcript."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, tzinfo
from functools import cache
from itertools import islice
from typing import Any

from sqlalchemy import Select, bindparam, delete, exists, select, update

from soulgraph.errors import NotFound
from soulgraph.stores import schema
from soulgraph.stores.database import Connection
from soulgraph.stores.episodes import Episodes
from soulgraph.stores.facts import Facts
from soulgraph.stores.records import Message, NewMessage, Role
from soulgraph.stores.repository import Repository, fields_of
from soulgraph.stores.vectors import EpisodeVectors

MAX_ID = 2**63 - 1
"""The largest id that a database can compare: no message has it."""

_ALWAYS_RECENT = 4
"""The number of last messages that stay in the prompt even when they are archived: two rounds."""
_AT_ONCE = 500


class Messages(Repository[Message]):
    table = schema.messages
    record = Message

    def __init__(self, connection: Connection, zone: tzinfo | None = UTC) -> None:
        super().__init__(connection)
        self._episodes = Episodes(connection, zone)

    async def append(self, session_id: str, messages: Iterable[NewMessage]) -> list[int]:
        """Add messages in order and index them for recall; returns their ids.

        Only one writer at a time may append to a session (a turn holds its lock), because the new ids are read back
        as the last ones of the session.
        """
        ids: list[int] = []
        remaining = iter(messages)
        while batch := list(islice(remaining, _AT_ONCE)):
            if ids:
                await asyncio.sleep(0)  # an import may have a hundred thousand, and others want to be served too
            ids += await self._append(session_id, batch)
        return ids

    async def _append(self, session_id: str, messages: Sequence[NewMessage]) -> list[int]:
        await self._add(*({"session_id": session_id, **_columns(message)} for message in messages))
        ids = await self._last_ids(session_id, len(messages) + 1)
        previous_id = ids.pop(0) if len(ids) > len(messages) else None
        await self._episodes.add(previous_id, list(zip(ids, messages, strict=True)))
        return ids

    async def _last_ids(self, session_id: str, limit: int) -> list[int]:
        """The ids of the session's last messages, oldest first."""
        values = {"session_id": session_id, "limit": limit}
        newest_first = (await self._connection.execute(self._newest_ids(), values)).scalars()
        return list(reversed(newest_first))

    @classmethod
    @cache
    def _newest_ids(cls) -> Select[Any]:
        message = cls.table.c
        in_session = select(message.message_id).where(message.session_id == bindparam("session_id"))
        return in_session.order_by(message.message_id.desc()).limit(bindparam("limit"))

    async def recent(self, session_id: str, limit: int, before: int = MAX_ID) -> list[Message]:
        """The last unarchived messages, oldest first. The last two rounds are included even if they are archived.

        Without them the prompt would lose what was just said whenever an event was made from it. Only those with an id
        below `before` count.
        """
        newest = await self.last(session_id, limit, before)
        last = newest[-min(limit, _ALWAYS_RECENT) :]
        if len(newest) < limit or not any(message.archived for message in newest):
            older = [message for message in newest if not message.archived]  # there are no others
        else:
            values = {"session_id": session_id, "limit": limit, "before": before}
            older = await self._all(self._newest(archived=False), **values)
        return sorted({*older, *last}, key=lambda message: message.message_id)[-limit:]

    @classmethod
    @cache
    def _newest(cls, archived: bool = True) -> Select[Any]:
        """The newest first; without the archived ones if `archived` is false."""
        rows = cls._rows("session_id") if archived else cls._unarchived()
        in_session = rows.where(cls.table.c.message_id < bindparam("before"))
        return in_session.order_by(cls.table.c.message_id.desc()).limit(bindparam("limit"))

    @classmethod
    @cache
    def _unarchived(cls) -> Select[Any]:
        # Not by a parameter: then neither database would use the index of those messages alone.
        return cls._rows("session_id").where(~cls.table.c.archived)

    async def last(self, session_id: str, limit: int, before: int = MAX_ID) -> list[Message]:
        """The last messages with an id below `before`, archived or not, oldest first."""
        return (await self._all(self._newest(), session_id=session_id, limit=limit, before=before))[::-1]

    async def find(self, session_id: str, message_id: int) -> Message | None:
        values = {"session_id": session_id, "message_id": message_id}
        return await self._first(self._rows("session_id", "message_id"), **values)

    async def get(self, session_id: str, message_id: int) -> Message:
        message = await self.find(session_id, message_id)
        if message is None:
            raise NotFound("message", str(message_id))
        return message

    async def said_in(self, session_ids: Sequence[str], role: Role, text: str) -> set[str]:
        """Those of these sessions in which somebody of this role has said just this."""
        row = self.table.c
        said = row.session_id.in_(session_ids), row.role == role, row.content == text
        return set((await self._connection.execute(select(row.session_id).where(*said))).scalars())

    async def by_input(self, session_id: str, input_id: str) -> Message | None:
        """What was said with this input, if its turn was stored."""
        return await self._first(self._rows("session_id", "input_id"), session_id=session_id, input_id=input_id)

    async def by_turn(self, session_id: str, turn_id: str) -> Message | None:
        """What the soul said under this id, which is that of a turn or of a proactive message."""
        values = {"session_id": session_id, "turn_id": turn_id, "role": "assistant"}
        query = self._rows(*values).order_by(self.table.c.message_id.desc()).limit(1)
        return await self._first(query, **values)

    async def unarchived(self, session_id: str, up_to: int) -> list[Message]:
        """All unarchived messages with an id up to `up_to`, oldest first."""
        return await self._all(self._unarchived_up_to(), session_id=session_id, up_to=up_to)

    @classmethod
    @cache
    def _unarchived_up_to(cls) -> Select[Any]:
        query = cls._unarchived().where(cls.table.c.message_id <= bindparam("up_to"))
        return query.order_by(cls.table.c.message_id)

    async def archive(self, message_ids: Sequence[int]) -> None:
        """Mark these messages as archived: an event was made from them."""
        statement = update(self.table).where(self.table.c.message_id.in_(message_ids))
        await self._connection.execute(statement.values(archived=True))

    async def page(self, session_id: str, after: int = 0, limit: int | None = None) -> list[Message]:
        """Messages with an id above `after`, oldest first; all of them if `limit` is None."""
        values = {"session_id": session_id, "after": after} | ({} if limit is None else {"limit": limit})
        return await self._all(self._following(limited=limit is not None), **values)

    @classmethod
    @cache
    def _following(cls, limited: bool) -> Select[Any]:
        later = cls._rows("session_id").where(cls.table.c.message_id > bindparam("after"))
        return later.order_by(cls.table.c.message_id).limit(bindparam("limit") if limited else None)

    async def ids_from(self, session_id: str, message_id: int) -> list[int]:
        """The ids of this message and of all after it in its session."""
        row = self.table.c
        query = select(row.message_id).where(row.session_id == session_id, row.message_id >= message_id)
        return list((await self._connection.execute(query)).scalars())

    async def spoken_by_others(self, session_id: str, since: int, user_id: str) -> bool:
        """Whether people beside this one have said something after this message."""
        row = self.table.c
        others = row.role == "user", row.user_id.not_in(["", user_id])
        later = exists().where(row.session_id == session_id, row.message_id > since, *others)
        return bool((await self._connection.execute(select(later))).scalar())

    # What finds a message again (episodes, vectors, counts of use) goes with its row, and is changed with it; so do the
    # facts that were drawn from it alone.

    async def take_back(self, session_id: str, message_id: int) -> list[Message]:
        """Delete this message and all after it in its session; returns them, oldest first."""
        taken = await self.page(session_id, message_id - 1)
        await self._withdraw_facts(taken)
        row = self.table.c
        later = delete(self.table).where(row.session_id == session_id, row.message_id >= message_id)
        await self._connection.execute(later)
        return taken

    async def correct(self, message: Message, content: str) -> None:
        """Give a message other words. Its vector is deleted, and `Recall.index` makes a new one."""
        await self._withdraw_facts([message])
        await self._set({"message_id": message.message_id}, content=content)
        await self._episodes.correct(message, content)
        await EpisodeVectors(self._connection).delete(message.message_id)

    async def delete(self, message: Message) -> None:
        """Delete a message; the one after it then follows the one before it."""
        await self._withdraw_facts([message])
        following = await self.page(message.session_id, message.message_id, limit=1)
        before = await self.last(message.session_id, 1, message.message_id)
        for later in following:
            previous_id = before[0].message_id if before else None
            await self._episodes.follow(later.message_id, previous_id)
        await self._remove(message_id=message.message_id)

    async def _withdraw_facts(self, messages: Sequence[Message]) -> None:
        """What souls know from these messages alone they know no more."""
        soul_ids = {soul_id for message in messages for soul_id in message.witnesses}
        await Facts(self._connection).withdraw(soul_ids, [message.message_id for message in messages])


def _columns(message: NewMessage) -> dict[str, Any]:
    """With whom it is shared and what it is found by is the episode's: it may change later, who was present may not."""
    return {name: value for name, value in fields_of(message).items() if name not in ("shared_with", "indexed")}
