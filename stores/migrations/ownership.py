"""What revision 0007 does with the rows: all that souls have kept goes to the person it came from, or back to all.

What cannot be told apart is nobody's: it stays where an owner can see it, and no turn is built from it.
"""

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection

from soulgraph.soul.people import NOBODY
from soulgraph.soul.profile import Item, Profile, item_id
from soulgraph.soul.timestamps import epoch
from soulgraph.stores.columns import Json
from soulgraph.stores.migrations.sayings import Sayings

_SLOTS = range(100)
_RESTORED = re.compile(r"restored:(\d+)")


def _table(name: str, *columns: str, json: str = "") -> sa.TableClause:
    return sa.table(name, *map(sa.column, columns), *([sa.column(json, Json)] if json else []))


_souls = _table(
    "souls", "soul_id", "user_id", "inner_state", "scratch_area", "created_at", "updated_at", json="dynamic_profile"
)
_sessions = _table("sessions", "session_id", "soul_id", "user_id", "created_at", "updated_at", json="guard")
_messages = _table("messages", "message_id", "session_id", "role", "content", "user_id", "soul_id")
_slots = _table("slots", "soul_id", "user_id", "n", "content", "updated_at")
_preferences = _table("preferences", "soul_id", "user_id", "key", "source", json="evidence")
_versions = _table("inner_versions", "soul_id", "user_id", "n", "inner_state", "source", "created_at")
_lives = _table("lives", "soul_id", "user_id")
_backgrounds = _table("backgrounds", "id", json="data")
_relations = _table("relations", "soul_id", "user_id", "bond", "inner_state", "scratch_area", "since", "updated_at")


class _Met(NamedTuple):
    """Since when and until when a soul has talked with a person."""

    since: float
    until: float


def give_to_people(connection: Connection) -> None:
    _own_messages(connection)
    people = _people(connection)
    for soul in connection.execute(sa.select(_souls)).all():
        _Giver(connection, soul, people.get(soul.soul_id, {})).give()
    _own_guards(connection)
    _own_summaries(connection)


def _own_messages(connection: Connection) -> None:
    """Messages are the person's whose session they are in."""
    session = "(SELECT {} FROM sessions WHERE sessions.session_id = messages.session_id)"
    owners = f"user_id = {session.format('user_id')}, soul_id = {session.format('soul_id')}"
    connection.execute(sa.text(f"UPDATE messages SET {owners}"))
    owner = "(SELECT user_id FROM messages WHERE messages.message_id = episodes.message_id)"
    connection.execute(sa.text(f"UPDATE episodes SET user_id = {owner}"))


def _people(connection: Connection) -> dict[str, dict[str, _Met]]:
    """The people whom each soul has met."""
    row = _sessions.c
    query = sa.select(row.soul_id, row.user_id, sa.func.min(row.created_at), sa.func.max(row.updated_at))
    people: dict[str, dict[str, _Met]] = defaultdict(dict)
    for soul_id, user_id, since, until in connection.execute(query.group_by(row.soul_id, row.user_id)):
        people[soul_id][user_id] = _Met(since, until)
    return people


class _Giver:
    """Gives what one soul has kept to the people whom it has met; a soul that has met nobody is its user's alone."""

    def __init__(self, connection: Connection, soul: Any, met: dict[str, _Met]) -> None:
        self._connection = connection
        self._soul = soul
        self._met = met
        self._alone = next(iter(met), soul.user_id) if len(met) < 2 else None
        self._sayings: Sayings | None = None

    def give(self) -> None:
        if self._alone is None:
            self._own_slots()
            self._own_preferences()
        else:
            for table in (_slots, _preferences):
                self._own(table, self._alone)
        latest = max(self._met, key=lambda user_id: self._met[user_id].until, default=self._soul.user_id)
        self._own(_lives, latest)
        thought = self._own_monologue()
        self._meet(thought, self._own_notes())
        self._own_profile()

    def _own_slots(self) -> None:
        for slot in self._rows(_slots):
            self._own(_slots, self._said().speaker(slot.content), n=slot.n)

    def _own_preferences(self) -> None:
        """One that was written by hand is the user's whose soul it is, others are those of who said the evidence."""
        for kept in self._rows(_preferences):
            by_hand = kept.source in ("given", "edited")
            owner = self._soul.user_id if by_hand else self._said().speaker(*kept.evidence)
            self._own(_preferences, owner, key=kept.key)

    def _own_monologue(self) -> str:
        """Give the soul back the last monologue that no conversation has made; returns the one that was there.

        All versions are kept. Those from conversations go along if there is one person; else they stay, and what is
        given back becomes the newest version. One that an owner has written stays: it is meant for everybody.
        """
        versions = sorted(self._rows(_versions), key=lambda version: version.n)
        learned = _from_conversations(versions)
        if not learned:
            return ""
        own = [version for version in versions if version.n not in learned]
        text = own[-1].inner_state if own else ""
        if self._alone is not None:
            for n in learned:
                self._own(_versions, self._alone, n=n)
        if versions[-1].n not in learned:
            return ""
        if self._alone is None:
            self._add_version(versions[-1].n + 1, text, f"restored:{own[-1].n}" if own else "edited")
        self._set_soul(inner_state=text)
        return str(self._soul.inner_state)

    def _add_version(self, n: int, text: str, source: str) -> None:
        version = {"n": n, "inner_state": text, "source": source, "created_at": time.time()}
        self._connection.execute(_versions.insert().values(soul_id=self._soul.soul_id, user_id=NOBODY, **version))

    def _own_notes(self) -> dict[str, str]:
        """The soul's working notes by person: turns with everybody read those that stay with the soul, so none do."""
        lines = [line for line in self._soul.scratch_area.splitlines() if line.strip()]
        notes: dict[str, list[str]] = defaultdict(list)
        for line in lines:
            notes[self._said().speaker(line) if self._alone is None else self._alone].append(line)
        if lines:
            self._set_soul(scratch_area="")
        if nobodys := notes.pop(NOBODY, None):
            self._set_aside("\n".join(nobodys))
        return {user_id: "\n".join(own) for user_id, own in notes.items()}

    def _set_aside(self, text: str) -> None:
        """Keep a text in a slot that is nobody's, with a number that nobody has."""
        taken = {slot.n for slot in self._rows(_slots)}
        n = next(n for n in (*reversed(_SLOTS), len(_SLOTS)) if n not in taken)
        slot = {"n": n, "content": text, "updated_at": self._soul.updated_at}
        self._connection.execute(_slots.insert().values(soul_id=self._soul.soul_id, user_id=NOBODY, **slot))

    def _meet(self, thought: str, notes: dict[str, str]) -> None:
        """A relation with everybody; what the soul thought goes to the only person."""
        met = dict(self._met)
        if self._alone is not None and (thought or notes):
            met.setdefault(self._alone, _Met(self._soul.created_at, self._soul.updated_at))
        for user_id, (since, until) in met.items():
            about = {"inner_state": thought if user_id == self._alone else "", "scratch_area": notes.get(user_id, "")}
            dates = {"since": since, "updated_at": until}
            row = {"soul_id": self._soul.soul_id, "user_id": user_id, "bond": "", **about, **dates}
            self._connection.execute(_relations.insert().values(row))

    def _own_profile(self) -> None:
        """What the soul was born with is its own; what came later is from a person."""

        def owned(item: Item) -> Item:
            owner = NOBODY if self._alone is None else self._alone
            return {**item, "user_id": owner} if _dated(item) > self._soul.created_at else item

        profile = _with_items(self._soul.dynamic_profile, owned)
        if profile != self._soul.dynamic_profile:
            self._set_soul(dynamic_profile=profile)

    def _said(self) -> Sayings:
        """Read when it is needed first: most souls know one person."""
        if self._sayings is None:
            mine = _messages.c.soul_id == self._soul.soul_id, _messages.c.role == "user"
            query = sa.select(_messages.c.user_id, _messages.c.content).where(*mine)
            self._sayings = Sayings(tuple(row) for row in self._connection.execute(query))
        return self._sayings

    def _rows(self, table: sa.TableClause) -> Sequence[Any]:
        return self._connection.execute(sa.select(table).where(table.c.soul_id == self._soul.soul_id)).all()

    def _own(self, table: sa.TableClause, user_id: str, **keys: Any) -> None:
        row = [table.c[name] == value for name, value in keys.items()]
        mine = table.c.soul_id == self._soul.soul_id
        self._connection.execute(table.update().where(mine, *row).values(user_id=user_id))

    def _set_soul(self, **values: Any) -> None:
        mine = _souls.c.soul_id == self._soul.soul_id
        self._connection.execute(_souls.update().where(mine).values(values))


def _from_conversations(versions: Iterable[Any]) -> set[int]:
    """The numbers of the monologues that reflections have written, and of those restored from them."""
    found: set[int] = set()
    for version in versions:
        restored = _RESTORED.fullmatch(version.source)
        if version.source.startswith("reflection") or (restored and int(restored[1]) in found):
            found.add(version.n)
    return found


def _dated(item: Item) -> float:
    try:
        return epoch(item["timestamp"])
    except (KeyError, TypeError, ValueError):
        return 0.0


def _with_items(profile: Profile, change: Any) -> Profile:
    """The profile with every item changed; the id of a retired one goes with its item."""

    def retired(entry: Item) -> Item:
        item = change(entry["item"])
        return entry if item == entry["item"] else {**entry, "id": item_id(entry["field"], item), "item": item}

    changed = dict(profile)
    if fields := profile.get("dynamic_state"):
        state = {name: {**field, "items": [change(item) for item in field["items"]]} for name, field in fields.items()}
        changed["dynamic_state"] = state
    if entries := profile.get("retired"):
        changed["retired"] = [retired(entry) for entry in entries]
    return changed


def _own_guards(connection: Connection) -> None:
    """The guard of a session is its person's."""
    for session in connection.execute(sa.select(_sessions)).all():
        if session.guard:
            mine = _sessions.c.session_id == session.session_id
            connection.execute(_sessions.update().where(mine).values(guard={session.user_id: session.guard}))


def _own_summaries(connection: Connection) -> None:
    """A background that sums up a conversation is its person's; nobody's if the conversation was deleted."""
    owners = dict(connection.execute(sa.select(_sessions.c.session_id, _sessions.c.user_id)).all())
    for background in connection.execute(sa.select(_backgrounds)).all():
        extensions = background.data.get("extensions")
        origin = extensions.get("summary_of") if isinstance(extensions, dict) else None
        if isinstance(origin, dict):
            owned = {**origin, "user_id": owners.get(origin.get("session_id"), NOBODY)}
            data = {**background.data, "extensions": {**extensions, "summary_of": owned}}
            connection.execute(_backgrounds.update().where(_backgrounds.c.id == background.id).values(data=data))


def take_from_people(connection: Connection) -> None:
    """The opposite: of several rows that would have one key, that of the first person is kept, NOBODY's before all."""
    for session in connection.execute(sa.select(_sessions)).all():
        mine = _sessions.c.session_id == session.session_id
        connection.execute(_sessions.update().where(mine).values(guard=session.guard.get(session.user_id, {})))
    spoken_to = "SELECT s.soul_id FROM sessions s JOIN messages m ON m.session_id = s.session_id"
    for table in ("episode_vectors", "episodes"):
        # What other souls have heard in a group stays with the session's own.
        own = f"{spoken_to} WHERE m.message_id = {table}.message_id"
        connection.execute(sa.text(f"DELETE FROM {table} WHERE soul_id <> ({own})"))
    for table, key in {"lives": "", "inner_versions": "n", "preferences": "key", "slots": "n"}.items():
        same = f"other.soul_id = {table}.soul_id" + (f" AND other.{key} = {table}.{key}" if key else "")
        earlier = f"SELECT 1 FROM {table} other WHERE {same} AND other.user_id < {table}.user_id"
        connection.execute(sa.text(f"DELETE FROM {table} WHERE EXISTS ({earlier})"))
    for soul in connection.execute(sa.select(_souls)).all():
        _take_back(connection, soul)


def _take_back(connection: Connection, soul: Any) -> None:
    """The soul's notes are again those about all, and its monologue is the last one if it is about one person."""
    mine = _relations.c.soul_id == soul.soul_id
    relations = connection.execute(sa.select(_relations).where(mine).order_by(_relations.c.since)).all()
    notes = "\n".join(filter(None, [soul.scratch_area, *(relation.scratch_area for relation in relations)]))
    thought = relations[0].inner_state if len(relations) == 1 else ""
    profile = _with_items(soul.dynamic_profile, _disowned)
    values = {"scratch_area": notes, "inner_state": thought or soul.inner_state, "dynamic_profile": profile}
    connection.execute(_souls.update().where(_souls.c.soul_id == soul.soul_id).values(values))


def _disowned(item: Item) -> Item:
    return {key: value for key, value in item.items() if key not in ("user_id", "shared_with")}
