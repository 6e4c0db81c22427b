"""The open event streams and web sockets of this server: to which souls they listen, for whom, and what they missed.

Each hears what concerns its person; one without a person, as an owner has it, hears what concerns anybody. What is told
goes over the bus to the listeners of all servers. What can be told again is kept for a while on each of them, so that a
connection that was lost goes on where it broke off, on whichever server.
"""

import asyncio
from collections.abc import Callable, Collection, Container, Iterator
from contextlib import contextmanager, suppress

from soulgraph.nodes.context import ListenerEvent, SessionChange
from soulgraph.runtime.bus import Bus, LocalBus
from soulgraph.runtime.interest import Interest
from soulgraph.runtime.listener import Listener, listening
from soulgraph.runtime.notices import KeptNotices, Notice, Subscription
from soulgraph.soul.emotion_report import EmotionReport
from soulgraph.stores.records import Json, Session
from soulgraph.stores.terminals import MAX_TERMINALS


class Listeners:
    def __init__(self, bus: Bus | None = None) -> None:
        self._bus = bus or LocalBus()
        self.interest = Interest(self._bus)
        self._by_soul: dict[str, list[tuple[Subscription, Listener]]] = {}
        self._listeners: set[Listener] = set()
        self._count = 0
        self._kept = KeptNotices(self._event_id)
        self._skipping: dict[str, set[Listener]] = {}
        self._presence: dict[tuple[str, str], bool] = {}
        self._all_gone = asyncio.Event()
        self._closed = False
        self._bus.subscribe("notice", self._hear)
        self._bus.subscribe("node", self._hear_node)
        self._bus.subscribe("listeners_began", self._mark)
        self._bus.on_gap(self._tell_missed)
        self._bus.publish("listeners_began", {"id": self._event_id})

    @property
    def subscriptions(self) -> set[tuple[str, str | None]]:
        """Which souls have at least one listener on any server, and for whom; None for anybody."""
        here = {one for each in self._by_soul.values() for one, _ in each}
        return {(one.soul_id, one.user_id) for one in here | self.interest.subscriptions}

    @property
    def watched(self) -> set[str]:
        """The souls of which somebody on this server hears everything."""
        return {soul_id for soul_id, each in self._by_soul.items() if any(one.everything for one, _ in each)}

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
        missed = self._kept.since(subscription, after) if after is not None else []
        # While something is told again, whoever breaks off has to go on from there, not from now.
        last = after if after and missed else self._kept.last_id
        listener.push(listening(subscription.soul_id, last, missed is None))
        for notice in missed or ():
            listener.push(notice)

    def unsubscribe(self, listener: Listener, soul_id: str) -> None:
        """Tell the listener nothing more of this soul."""
        self._remove(listener, lambda one: one.soul_id == soul_id)
        listener.discard(soul_id)

    def reaches(self, soul_id: str, user_id: str) -> int:
        """How many would hear what the soul says to this person."""
        return self._hearers(soul_id, (user_id,), "proactive")

    def tell(self, soul_id: str, user_id: str, event: ListenerEvent, data: Json) -> int:
        """Send a notice to every listener of this soul and person, on any server; returns how many there are."""
        return self._tell(soul_id, (user_id,), event, data)

    def session_changed(self, session: Session, reason: SessionChange, turn_id: str | None = None) -> None:
        """Tell all who take part in the conversation, under each of its souls."""
        turn = {"turn_id": turn_id} if turn_id else {}
        for soul_id in (session.soul_id, *session.souls):
            data = {"soul_id": soul_id, "session_id": session.session_id, "reason": reason, **turn}
            self._tell(soul_id, session.audience, "session_changed", data)

    def presence_changed(self, soul_id: str, terminal_id: str, online: bool, at: str) -> None:
        """Tell everybody that a terminal of the soul has come or gone, unless another server has told it already."""
        if self._presence.get((soul_id, terminal_id)) is not online:
            data = {"soul_id": soul_id, "terminal_id": terminal_id, "online": online, "at": at}
            self._tell(soul_id, None, "presence", data)

    def hears_emotion(self, soul_id: str) -> bool:
        return self._hearers(soul_id, None, "emotion_update") > 0

    def emotion_changed(self, report: EmotionReport) -> None:
        """Tell those on other servers too, if there are any."""
        message = _message(report["soul_id"], None, "emotion_update", {**report})
        if self.interest.count(report["soul_id"], "emotion_update", None):
            self._bus.publish("notice", message)
        else:
            self._hear(message)

    def tell_emotion_here(self, report: EmotionReport) -> None:
        """Tell those of this server alone: each server finds out by itself how time changes souls."""
        self._hear(_message(report["soul_id"], None, "emotion_update", {**report}))

    def hears_nodes(self, soul_id: str) -> bool:
        return self._hearers(soul_id, None, "node") > 0

    def tell_node(self, soul_id: str, user_id: str, data: Json, update: Callable[[], Json] | None = None) -> None:
        elsewhere = [one for one, _ in self.interest.hearing(soul_id, "node", (user_id,))]
        hearing = [*self._hearing(soul_id, (user_id,), "node").values(), *elsewhere]
        # What a node returned may be the prompt or the inner monologue, which people never see.
        inside = update() if update and any(one.is_owner for one in hearing) else None
        message = {"soul_id": soul_id, "user_id": user_id, "data": data, "update": inside}
        if elsewhere:
            self._bus.publish("node", message)
        else:
            self._hear_node(message)

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
        """The id of the last notice of this server that can be told again."""
        return f"{self._bus.server_id}-{self._count}"

    def _tell(self, soul_id: str, people: Collection[str] | None, event: ListenerEvent, data: Json) -> int:
        hearers = self._hearers(soul_id, people, event)
        if not hearers and event == "proactive":
            return 0  # a soul that nobody hears has said nothing, so nobody may be told so later
        self._count += 1
        # Whose turn it is has to be asked now: when the bus brings the notice the turn may be over.
        own = {listener for listener in self._hearing(soul_id, people, event) if listener.is_own(event, data)}
        if own:
            self._skipping[self._event_id] = own
        self._bus.publish("notice", _message(soul_id, people, event, data) | {"id": self._event_id})
        return hearers

    def _hear(self, message: Json) -> None:
        """Tell the listeners of this server, whichever server it comes from."""
        soul_id, people = message["soul_id"], message["people"]
        notice = Notice(message["event"], message["data"], message.get("id"))
        if notice.event == "presence" and not self._is_new_presence(notice.data):
            return
        if notice.id:
            self._kept.add(soul_id, people, notice)
        skipping = self._skipping.pop(notice.id or "", ())
        for listener in self._hearing(soul_id, people, notice.event):
            if listener not in skipping:
                listener.push(notice)

    def _hear_node(self, message: Json) -> None:
        outside = Notice("node", message["data"])
        update = message["update"]
        inside = outside if update is None else Notice("node", {**message["data"], "update": update})
        for listener, subscription in self._hearing(message["soul_id"], (message["user_id"],), "node").items():
            listener.push(inside if subscription.is_owner else outside)

    def _is_new_presence(self, data: Json) -> bool:
        """Each server finds it out by itself, and two may do so at once: the first on the bus is heard."""
        key = data["soul_id"], data["terminal_id"]
        before = self._presence.pop(key, None)
        self._presence[key] = data["online"]
        if len(self._presence) > MAX_TERMINALS:
            del self._presence[next(iter(self._presence))]
        return before is not data["online"]

    def _mark(self, message: Json) -> None:
        """A server has begun to listen: the id that it gives its first listeners is known to all."""
        if message["id"].startswith(f"{self._bus.server_id}-"):
            self._kept.begin(message["id"])
        else:
            self._kept.mark(message["id"])

    def _tell_missed(self) -> None:
        """Notices of other servers may be lost: nobody can go on from before, and who follows a soul is told so."""
        self._count += 1
        self._kept.begin(self._event_id)
        self._presence.clear()
        for listener in self._listeners:
            for soul_id in listener.followed:
                listener.push(listening(soul_id, self._event_id, missed=True))

    def _hearers(self, soul_id: str, people: Collection[str] | None, event: ListenerEvent) -> int:
        """How many are told of such an event, on all servers."""
        return len(self._hearing(soul_id, people, event)) + self.interest.count(soul_id, event, people)

    def _hearing(
        self, soul_id: str, people: Collection[str] | None, event: ListenerEvent
    ) -> dict[Listener, Subscription]:
        """Who on this server is told of such an event, each once."""
        return {listener: one for one, listener in self._by_soul.get(soul_id, ()) if one.hears(event, people)}

    def _add(self, listener: Listener, subscription: Subscription) -> None:
        if subscription not in listener.subscriptions:
            listener.subscriptions.add(subscription)
            self._by_soul.setdefault(subscription.soul_id, []).append((subscription, listener))
            self.interest.add(subscription)

    def _remove(self, listener: Listener, unwanted: Callable[[Subscription], bool]) -> None:
        for subscription in [one for one in listener.subscriptions if unwanted(one)]:
            listener.subscriptions.remove(subscription)
            entries = self._by_soul[subscription.soul_id]
            entries.remove((subscription, listener))
            if not entries:
                del self._by_soul[subscription.soul_id]
            self.interest.remove(subscription)

    def _disconnect(self, listener: Listener) -> None:
        self._listeners.remove(listener)
        self._remove(listener, lambda one: True)
        if self._closed and not self._listeners:
            self._all_gone.set()


def _message(soul_id: str, people: Collection[str] | None, event: ListenerEvent, data: Json) -> Json:
    concerned = None if people is None else list(people)
    return {"soul_id": soul_id, "people": concerned, "event": event, "data": data}
