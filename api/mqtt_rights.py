"""What a key may do over MQTT: the same as over HTTP."""

import time
from typing import Any

from pydantic_core import from_json, to_json

from soulgraph.api.access import Access, Caller
from soulgraph.api.auth import holder_of
from soulgraph.api.chat import for_caller
from soulgraph.errors import Forbidden, Unauthorized
from soulgraph.runtime.admission import TurnRequest
from soulgraph.soul.people import DEFAULT_USER
from soulgraph.stores.stores import Stores
from soulgraph.terminals.rules import Login

_SEEN_S = 2.0
"""For so long it is not asked again whether a terminal is the caller's."""
_MAX_SEEN = 1000
_WRONG_KEY = "the MQTT password must be a valid API key; `soulgraph key create NAME --scope terminal` makes one"


class KeyLogins:
    """Lets clients of the embedded broker in by their API key; on an open server everybody, as an owner."""

    def __init__(self, stores: Stores, access: Access) -> None:
        self._stores = stores
        self._access = access

    async def login(self, password: str | None) -> Login:
        try:
            caller = await holder_of(password, self._stores, self._access)
        except Unauthorized as error:
            raise Unauthorized(_WRONG_KEY) from error
        caller.require_scope("terminal")
        rights = KeyRights(caller, self._stores)
        return Login(caller.key_id or "open", caller.name or "a client of this machine", rights)


class KeyRights:
    """What a caller may do over MQTT: the same as over HTTP.

    A person listens at their own terminals and at those of nobody in particular, because others are spoken to there.
    """

    def __init__(self, caller: Caller, stores: Stores) -> None:
        self._caller = caller
        self._stores = stores
        self._seen: dict[str, tuple[bool, float]] = {}
        self.everywhere = caller.is_owner and not caller.soul_ids
        self.may_resend = caller.is_owner

    async def sees(self, terminal_id: str) -> bool:
        if not self._caller.soul_ids and self._caller.acts_for_anybody:
            return True
        seen, asked_at = self._seen.get(terminal_id, (False, 0.0))
        if time.monotonic() - asked_at > _SEEN_S:
            seen = await self._ask(terminal_id)
            if len(self._seen) >= _MAX_SEEN:
                self._seen.clear()
            self._seen[terminal_id] = seen, time.monotonic()
        return seen

    async def _ask(self, terminal_id: str) -> bool:
        async with self._stores.read() as tx:
            terminal = await tx.terminals.find(terminal_id)
        if terminal is None:
            return True
        whose = self._caller.acts_for_anybody or terminal.user_id in (self._caller.user_id, DEFAULT_USER)
        return whose and self._caller.sees_soul(terminal.soul_id)

    async def checked(self, terminal_id: str, kind: str, payload: bytes) -> bytes:
        report = _json(payload) if kind in ("input", "skills") else None
        if report is None:
            return payload
        if kind == "skills":
            await self._check_hint(report.get("soul_hint"))
            return payload
        return await self._checked_input(terminal_id, report)

    async def _check_hint(self, hint: object) -> None:
        """A terminal takes the soul that its skills name: it must be one of the key's."""
        if not self._caller.soul_ids or not isinstance(hint, str) or not hint:
            return
        async with self._stores.read() as tx:
            souls = await tx.souls.called(hint)
        if not souls or not all(self._caller.sees_soul(soul.soul_id) for soul in souls):
            raise Forbidden(f"soul_hint: this key is not for {hint[:80]!r}")

    async def _checked_input(self, terminal_id: str, report: dict[str, Any]) -> bytes:
        """The input with the person for whom the key speaks, written anew so that it is read as it was checked."""
        user_id, session_id = report.get("user_id"), report.get("session_id")
        if isinstance(user_id, str | None) and isinstance(session_id, str | None):
            request = TurnRequest("", user_id, session_id=session_id, terminal_id=terminal_id)
            person = (await for_caller(request, self._caller, self._stores)).user_id
            report |= {"user_id": person} if person else {}
        return to_json(report)


def _json(payload: bytes) -> dict[str, Any] | None:
    """The object in a payload; None if there is none, which whoever reads the topic will complain of."""
    try:
        value = from_json(payload)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
