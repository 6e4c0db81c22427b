"""The open event streams and web sockets of this server: to which souls they listen, for whom, and what they missed.

Each hears what concerns its person; one without a person, as an owner has it, hears what concerns anybody. What can be
told again is numbered and kept for a while, so that a connection that was lost goes on where it broke off.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple
from uuid import uuid4

from soulgraph.nodes.context import ListenerEvent, SessionChange
from soulgraph.soul.emotion_report import EmotionReport
from soulgraph.stores.records import Json, Session

_MAX_PENDING = 100
_MAX_KEPT = 5000
_MAX_REPLAYED = 50
"""Of one soul; who has missed more reads everything anew, which is less work for both."""
_ALWAYS = frozenset({"proactive", "state_changed"})
"""What a socket hears of a soul that it has only spoken to."""

encode_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True)
class Notice:
    """One event about a soul; with an `id` if it can be told again."""

    event: ListenerEvent
    data: dict[str, Any]
    id: str | None = field(default=None, compare=False)

    @cached_property
    def json(self) -> str:
        """The data as JSON, made once for however many listen."""
        return encode_json(self.data)


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a listener hears: of which soul, for which person (None: anybody's), and how much of it.

    `everything`, or only what the soul says and that its profile has changed; `nodes`: the steps of its graphs too,
    and for an owner what they return.
    """

    soul_id: str
    user_id: str | None = None
    everything: bool = True
    nodes: bool = False
    is_owner: bool = False

    def hears(self, event: ListenerEvent, people: Collection[str] | None) -> bool:
        """Whether an event is told that concerns these people; None: everybody."""
        concerned = people is None or self.user_id is None or self.user_id in people
        return concerned and (self.everything or event in _ALWAYS) and (self.nodes or event != "node")


class _Kept(NamedTuple):
    soul_id: str
    people: Collection[str] | None
    notice: Notice


class Listener:
    """One open connection with a bounded queue of notices.

    The soul never waits for a slow listener: when the queue is full, the oldest notice is dropped, and if it was one
    that can be told again, a listener that follows the soul is told that it has missed something. Notices about the
    turns in `own_turns` are not queued, because the connection already receives their events; only their nodes are.
    """

    def __init__(self, own_turns: Container[str] = ()) -> None:
        self.subscriptions: set[Subscription] = set()
        self._own_turns = own_turns
        self._pending: deque[Notice] = deque()
        self._missed: dict[str, str] = {}
        self._woken = asyncio.Event()
        self._closed = False

    def push(self, notice: Notice) -> None:
        if notice.event != "node" and notice.data.get("turn_id") in self._own_turns:
            return
        if len(self._pending) >= _MAX_PENDING:
            self._drop_oldest()
        self._pending.append(notice)
        self._woken.set()

    def discard(self, soul_id: str) -> None:
        """Forget what is still to be sent about this soul."""
        self._pending = deque(notice for notice in self._pending if notice.data.get("soul_id") != soul_id)
        self._missed.pop(soul_id, None)

    def _drop_oldest(self) -> None:
        dropped = self._pending.popleft()
        followed = {one.soul_id for one in self.subscriptions if one.everything}
        if dropped.id is not None and (soul_id := dropped.data.get("soul_id")) in followed:
            self._missed[soul_id] = dropped.id

    def close(self) -> None:
        self._closed = True
        self._woken.set()

    async def events(self, timeout_s: float) -> AsyncIterator[Notice | None]:
        """Yield notices as they come, and None whenever none has come for `timeout_s`.

        Ends when the listener is closed and its queue is empty.
        """
        while self._pending or not self._closed:
            if self._missed:
                yield _listening(*self._missed.popitem(), missed=True)
            elif self._pending:
                yield self._pending.popleft()
            else:
                # No notice can be lost here: there is no await between finding the queue empty and the wait.
                self._woken.clear()
                if not await self._wait(timeout_s):
                    yield None

    async def _wait(self, timeout_s: float) -> bool:
        """Wait for a notice or for `close`; False after `timeout_s`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                return await self._woken.wait()
        return False


class Listeners:
    def __init__(self) -> None:
        self._by_soul: dict[str, list[tuple[Subscription, Listener]]] = {}
        self._listeners: set[Listener] = set()
        self._kept: deque[_Kept] = deque(maxlen=_MAX_KEPT)
        self._process = uuid4().hex[:8]
        self._count = 0
        self._all_gone = asyncio.Event()
        self._closed = False

    @property
    def subscriptions(self) -> set[tuple[str, str | None]]:
        """Which souls have at least one listener, and for whom; None for anybody."""
        return {(one.soul_id, one.user_id) for each in self._by_soul.values() for one, _ in each}

    @property
    def watched(self) -> set[str]:
        """The souls of which somebody hears everything."""
        return {soul_id for soul_id in self._by_soul if self.hears_emotion(soul_id)}

    @contextmanager
    def listen(self, soul_id: str, user_id: str | None = None) -> Iterator[Listener]:
        """A listener that is subscribed to this soul for as long as the block lasts."""
        with self.connect() as listener:
            self.subscribe(listener, soul_id, user_id)
            yield listener

    @contextmanager
    def connect(self, own_turns: Container[str] = ()) -> Iterator[Listener]:
        """A listener without subscriptions; `subscribe` and `follow` add them, and they end with the block."""
        listener = Listener(own_turns)
        if self._closed:
            listener.close()
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._disconnect(listener)

    def subscribe(self, listener: Listener, soul_id: str, user_id: str | None = None) -> None:
        """Tell the listener what the soul says to this person and how it changes; twice has no effect."""
        self._add(listener, Subscription(soul_id, user_id, everything=False))

    def follow(self, listener: Listener, subscription: Subscription, after: str | None = None) -> None:
        """Tell the listener everything of a soul, in place of what it followed of that soul before.

        It is told `listening` first, then what it has missed since the event with the id `after`.
        """
        self._remove(listener, lambda one: one.everything and one.soul_id == subscription.soul_id)
        self._add(listener, subscription)
        if after is not None:
            listener.discard(subscription.soul_id)  # it is told again
        missed = self._since(subscription, after) if after is not None else []
        # While something is told again, whoever breaks off has to go on from there, not from now.
        last = after if after and missed else self._event_id
        listener.push(_listening(subscription.soul_id, last, missed is None))
        for notice in missed or ():
            listener.push(notice)

    def unsubscribe(self, listener: Listener, soul_id: str) -> None:
        """Tell the listener nothing more of this soul."""
        self._remove(listener, lambda one: one.soul_id == soul_id)
        listener.discard(soul_id)

    def tell(self, soul_id: str, user_id: str, event: ListenerEvent, data: Json) -> int:
        """Send a notice to every listener of this soul and person; returns how many there are."""
        return self._tell(soul_id, (user_id,), event, data)

    def session_changed(self, session: Session, reason: SessionChange, turn_id: str | None = None) -> None:
        """Tell all who take part in the conversation, under each of its souls."""
        turn = {"turn_id": turn_id} if turn_id else {}
        for soul_id in (session.soul_id, *session.souls):
            data = {"soul_id": soul_id, "session_id": session.session_id, "reason": reason, **turn}
            self._tell(soul_id, session.audience, "session_changed", data)

    def presence_changed(self, soul_id: str, terminal_id: str, online: bool, at: str) -> None:
        """Tell everybody that a terminal of the soul has come or gone."""
        data = {"soul_id": soul_id, "terminal_id": terminal_id, "online": online, "at": at}
        self._tell(soul_id, None, "presence", data)

    def hears_emotion(self, soul_id: str) -> bool:
        return any(one.everything for one, _ in self._by_soul.get(soul_id, ()))

    def emotion_changed(self, report: EmotionReport) -> None:
        notice = Notice("emotion_update", {**report})
        for listener in self._hearing(report["soul_id"], None, "emotion_update"):
            listener.push(notice)

    def hears_nodes(self, soul_id: str) -> bool:
        return any(one.nodes for one, _ in self._by_soul.get(soul_id, ()))

    def tell_node(self, soul_id: str, user_id: str, data: Json, update: Callable[[], Json] | None = None) -> None:
        hearing = self._hearing(soul_id, (user_id,), "node")
        outside = Notice("node", data)
        # What a node returned may be the prompt or the inner monologue, which people never see.
        owners = update is not None and any(one.is_owner for one in hearing.values())
        inside = Notice("node", {**data, "update": update()}) if update and owners else outside
        for listener, subscription in hearing.items():
            listener.push(inside if subscription.is_owner else outside)

    async def close(self, timeout_s: float) -> None:
        """Close every listener, those that connect later too, and wait up to `timeout_s` until all have left."""
        self._closed = True
        for listener in self._listeners:
            listener.close()
        if self._listeners:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._all_gone.wait()

    @property
    def _event_id(self) -> str:
        """The id of the last notice that can be told again."""
        return f"{self._process}-{self._count}"

    def _tell(self, soul_id: str, people: Collection[str] | None, event: ListenerEvent, data: Json) -> int:
        hearing = self._hearing(soul_id, people, event)
        if not hearing and event == "proactive":
            return 0  # a soul that nobody hears has said nothing, so nobody may be told so later
        self._count += 1
        notice = Notice(event, data, self._event_id)
        self._kept.append(_Kept(soul_id, people, notice))
        for listener in hearing:
            listener.push(notice)
        return len(hearing)

    def _hearing(
        self, soul_id: str, people: Collection[str] | None, event: ListenerEvent
    ) -> dict[Listener, Subscription]:
        """Who is told of such an event, each once."""
        return {listener: one for one, listener in self._by_soul.get(soul_id, ()) if one.hears(event, people)}

    def _since(self, subscription: Subscription, event_id: str) -> list[Notice] | None:
        """What was told under this subscription after that event; None if it cannot be told again."""
        process, _, number = event_id.rpartition("-")
        gone = self._count - len(self._kept)
        if process != self._process or not number.isdecimal() or not gone <= int(number) <= self._count:
            return None
        told = [
            one.notice
            for one in islice(self._kept, int(number) - gone, None)
            if one.soul_id == subscription.soul_id and subscription.hears(one.notice.event, one.people)
        ]
        return told if len(told) <= _MAX_REPLAYED else None

    def _add(self, listener: Listener, subscription: Subscription) -> None:
        if subscription not in listener.subscriptions:
            listener.subscriptions.add(subscription)
            self._by_soul.setdefault(subscription.soul_id, []).append((subscription, listener))

    def _remove(self, listener: Listener, unwanted: Callable[[Subscription], bool]) -> None:
        for subscription in [one for one in listener.subscriptions if unwanted(one)]:
            listener.subscriptions.remove(subscription)
            entries = self._by_soul[subscription.soul_id]
            entries.remove((subscription, listener))
            if not entries:
                del self._by_soul[subscription.soul_id]

    def _disconnect(self, listener: Listener) -> None:
        self._listeners.remove(listener)
        self._remove(listener, lambda one: True)
        if self._closed and not self._listeners:
            self._all_gone.set()


def _listening(soul_id: str, last_event_id: str, missed: bool) -> Notice:
    data = {"soul_id": soul_id, "last_event_id": last_event_id, "missed": missed}
    return Notice("listening", data, last_event_id)
