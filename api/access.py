"""Who calls, and what that lets them see: every check of people and souls is a method of `Caller`."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Self

from soulgraph.errors import Forbidden, NotFound
from soulgraph.soul.people import DEFAULT_USER, EVERYONE, NOBODY, may_know
from soulgraph.stores.records import ApiKey, Message, Preset, Scope, Session, Soul
from soulgraph.stores.stores import Transaction


class Access:
    """Whether the server asks for keys: one on loopback does not until the first key is made, and then for good."""

    def __init__(self, open_until_first_key: bool) -> None:
        self._open = open_until_first_key

    @property
    def is_closed(self) -> bool:
        """Whether that is known without asking."""
        return not self._open

    async def is_open(self, tx: Transaction) -> bool:
        """Asked for every request while it is open: a key closes the server as soon as it is made."""
        if self._open and await tx.keys.any():
            self._open = False
        return self._open


@dataclass(frozen=True, slots=True)
class Caller:
    """A key's scope, the person it is (None: nobody in particular, `*`: anybody), and its souls (empty: all).

    `person` is whose things this request is about; None means everybody's. What others own does not exist for a
    caller who is a person: it is NotFound, never Forbidden.
    """

    scope: Scope
    user_id: str | None = None
    soul_ids: tuple[str, ...] = ()
    key_id: str | None = None
    name: str = ""
    person: str | None = None

    @classmethod
    def of(cls, key: ApiKey) -> Self:
        usual = {"owner": None, "chat": key.user_id or DEFAULT_USER, "terminal": key.user_id}
        return cls(key.scope, usual[key.scope], key.soul_ids, key.key_id, key.name).acting_for(None)

    @property
    def is_owner(self) -> bool:
        return self.scope == "owner"

    @property
    def is_nobody(self) -> bool:
        """A terminal that is no person: it speaks for whoever is there, and reads nobody's things."""
        return self.scope == "terminal" and self.user_id is None

    @property
    def acts_for_anybody(self) -> bool:
        return self.user_id in (None, EVERYONE)

    def acting_for(self, user_id: str | None) -> Self:
        """This caller with the person that a request names, or without a name the usual one.

        Raises Forbidden if the caller is another person. What is nobody's (an empty name) is for owners.
        """
        if user_id is None:
            return replace(self, person=DEFAULT_USER if self.user_id == EVERYONE else self.user_id)
        if user_id == NOBODY and not self.is_owner:
            raise Forbidden("what belongs to nobody is for owners: name a person, or leave user_id out")
        if not self.acts_for_anybody and user_id != self.user_id:
            raise Forbidden(
                f"this key acts for {self.user_id!r} alone: leave out {user_id!r}, or use their key or an owner's"
            )
        return replace(self, person=user_id)

    @property
    def one_person(self) -> str:
        """Whose thing is meant, where only one person's can be."""
        return DEFAULT_USER if self.person is None else self.person

    @property
    def audience(self) -> frozenset[str] | None:
        """For recall: who is shown what is found; None for an owner who may see everything."""
        return None if self.person is None else frozenset({self.person})

    def knows(self, user_id: str, shared_with: Collection[str]) -> bool:
        """Whether the caller may know of a thing that belongs to `user_id`."""
        return self.person is None or may_know((self.person,), user_id, shared_with)

    def require_scope(self, *scopes: Scope) -> None:
        """Raise Forbidden unless the scope is `owner` or one of these."""
        if not self.is_owner and self.scope not in scopes:
            wanted = " or ".join(f"`{scope}`" for scope in ("owner", *scopes))
            raise Forbidden(f"a key with the scope `{self.scope}` may not do this: use one with {wanted}")

    def require_person(self) -> None:
        """Raise Forbidden for a caller that is nobody."""
        if self.is_nobody:
            raise Forbidden(
                "a terminal's key does not read what belongs to people: use a chat key, "
                "or make one for a person with `soulgraph key create NAME --scope terminal --user ID`"
            )

    def require_all_souls(self) -> None:
        """Raise Forbidden for a key of some souls: what all souls share is not theirs to change."""
        if self.soul_ids:
            raise Forbidden("this key is for some souls only: use an owner key for all souls")

    def sees_soul(self, soul_id: str | None) -> bool:
        return not self.soul_ids or soul_id is None or soul_id in self.soul_ids

    def check_soul(self, soul_id: str) -> None:
        """Raise NotFound for a soul that the key is not for."""
        if not self.sees_soul(soul_id):
            raise NotFound("soul", soul_id)

    async def soul(self, tx: Transaction, soul_id: str) -> Soul:
        self.check_soul(soul_id)
        return await tx.souls.get(soul_id)

    async def check_terminal(self, tx: Transaction, terminal_id: str) -> None:
        """Raise NotFound for a terminal that carries a soul the key is not for; one without a soul is anybody's."""
        terminal = await tx.terminals.find(terminal_id)
        if terminal and not self.sees_soul(terminal.soul_id):
            raise NotFound("terminal", terminal_id)

    def sees_session(self, session: Session) -> bool:
        """Whether its person takes part, and the key is for all souls that take part."""
        return self._is_for_souls_of(session) and (self.user_id is None or self.person in session.audience)

    def speaks_in(self, session: Session) -> bool:
        """The same for speaking: if a caller may act for anybody, the turn's admission says who takes part."""
        return self._is_for_souls_of(session) and (self.acts_for_anybody or self.person in session.audience)

    def _is_for_souls_of(self, session: Session) -> bool:
        return all(map(self.sees_soul, (session.soul_id, *session.souls)))

    async def session(self, tx: Transaction, session_id: str) -> Session:
        session = await tx.sessions.get(session_id)
        if not self.sees_session(session):
            raise NotFound("session", session_id)
        return session

    def heard(self, message: Message) -> bool:
        """Whether its person was there when it was said."""
        return self.person is None or message.heard_by((self.person,), message.soul_id)

    def sees_background(self, background: Preset) -> bool:
        """A background that sums up a conversation is only for those who had it."""
        origin = background.summary_of
        if not self.sees_soul(origin.get("soul_id")):
            return False
        if not origin or (self.is_owner and self.person is None):
            return True
        return not self.is_nobody and self.person in background.summary_people

    async def check_background(self, tx: Transaction, background_id: str | None) -> None:
        """Raise NotFound for a background that the caller may not see."""
        background = await tx.backgrounds.find(background_id) if background_id else None
        if background and not self.sees_background(background):
            raise NotFound("background", background.id)
