"""The events of a turn, kept while it runs, for any number of readers: each goes on where it broke off.

Words and other events are kept apart: what was said so far is one text, and each other event stands at a place in it.
How far somebody has read is therefore how many of the others they had, and how many characters. That holds however the
words were cut into tokens, on whichever server, and also for the stored reply: what people have read is the reply.
"""

import json
import re
import time
from collections.abc import AsyncGenerator, Callable
from io import StringIO
from json.encoder import encode_basestring
from typing import Any, Literal, NamedTuple, Self
from zlib import crc32

from soulgraph.errors import InvalidInput
from soulgraph.nodes.answer import Answer
from soulgraph.nodes.state import TurnEvent, TurnEventKind
from soulgraph.runtime.silence import WAIT_INTERVALS, Silence, WaitIntervals
from soulgraph.stores.records import Json

_LAST = ("done", "error")
_ID = re.compile(r"([\w.:@-]{1,128})\.(\d{1,6})\.(\d{1,9})\.([0-9a-f]{8})", re.ASCII)
_RESTARTED = {
    "lost": "what was read has not been stored, because its turn or its server ended early: the reply begins anew",
    "changed": "what was read is not how the stored reply begins: here it is from its beginning",
}
StreamedKind = TurnEventKind | Literal["restart"]


class Place(NamedTuple):
    """How far a turn was read: so many events that are no words, so many characters, and their checksum.

    The checksum tells a reply from another to the same input, as there is one after a crash, a failure or an edit.
    """

    events: int = 0
    characters: int = 0
    checksum: int = 0

    def after_words(self, text: str) -> "Place":
        checksum = crc32(text.encode(errors="surrogatepass"), self.checksum)
        return Place(self.events, self.characters + len(text), checksum)

    def after_event(self) -> "Place":
        return Place(self.events + 1, self.characters, self.checksum)


START = Place()


class EventId(NamedTuple):
    """The `id` of an event: of which turn it is, and how far it was read with it."""

    turn_id: str
    place: Place = START

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises InvalidInput for a text that no event of a turn has as its id."""
        if not (found := _ID.fullmatch(text)):
            raise InvalidInput(
                "this is not the `id` of a turn's event: send the last one that was heard as it came, or none to hear "
                "everything"
            )
        turn_id, events, characters, checksum = found.groups()
        return cls(turn_id, Place(int(events), int(characters), int(checksum, 16)))

    def __str__(self) -> str:
        events, characters, checksum = self.place
        return f"{self.turn_id}.{events}.{characters}.{checksum:08x}"


class StreamedEvent(NamedTuple):
    """An event of a turn as one reader hears it: words that came together are one token."""

    event: StreamedKind
    data: Any
    id: str

    @property
    def is_last(self) -> bool:
        return self.event in _LAST

    @property
    def json(self) -> str:
        """The data as JSON; of a token by hand, because there are so many."""
        if self.event == "token":
            return f'{{"text": {encode_basestring(self.data["text"])}}}'
        return json.dumps(self.data, ensure_ascii=False)


class _Entry(NamedTuple):
    event: TurnEventKind
    data: Any
    characters: int


class TurnLog:
    """What a turn has told so far. `is_stored` if it is the answer of an earlier turn, of which only that is known."""

    def __init__(self, turn_id: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.turn_id = turn_id
        self.is_stored = False
        self._clock = clock
        self._began = clock()
        self._words = StringIO()
        self._characters = 0
        self._others: list[_Entry] = []
        self._readers: set[Silence] = set()

    @classmethod
    def of(cls, answer: Answer) -> Self:
        log = cls(answer["turn_id"])
        log.add_stored(answer)
        return log

    @property
    def has_begun(self) -> bool:
        return bool(self._characters or self._others)

    @property
    def has_ended(self) -> bool:
        return bool(self._others) and self._others[-1].event in _LAST

    def add(self, event: TurnEvent) -> None:
        if event.event == "token":
            text: str = event.data["text"]
            self._words.seek(self._characters)
            self._words.write(text)
            self._characters += len(text)
        else:
            self._others.append(_Entry(event.event, event.data, self._characters))
        for reader in self._readers:
            reader.wake()

    def add_stored(self, answer: Answer) -> None:
        """The answer that an earlier turn has given to the same input, as if it had been given now."""
        self.turn_id = answer["turn_id"]
        self.is_stored = True
        self.add(TurnEvent("token", {"text": answer["reply"]}))
        self.add(TurnEvent("done", answer))

    async def read(
        self, after: EventId | None = None, intervals: WaitIntervals = WAIT_INTERVALS
    ) -> AsyncGenerator[StreamedEvent, None]:
        """What came after that event, then what comes, to the last; `waiting` while nothing does.

        A `restart` comes first, and then everything, if what was read is not how this turn begins.
        """
        silence = Silence(intervals)
        self._readers.add(silence)
        try:
            async for event in self._opening(after, silence):
                yield event
            place = self._resumed(after)
            if place is None:
                place = START
                yield self._restart()
            while True:
                if found := self._next(place):
                    event, place = found
                    yield event
                    if event.is_last:
                        return
                elif not await silence.wait():
                    yield self._waiting(EventId(self.turn_id, place))
        finally:
            self._readers.discard(silence)
            silence.close()

    async def _opening(self, after: EventId | None, silence: Silence) -> AsyncGenerator[StreamedEvent, None]:
        """Only when there is something can it be said whether it goes on with what was read."""
        while not self.has_begun and after is not None:
            if not await silence.wait():
                yield self._waiting(after)

    def _resumed(self, after: EventId | None) -> Place | None:
        """Where to go on; None if what was read is not how this begins."""
        place = after.place if after else START
        read = START.after_words(self._text(0, place.characters))
        if (read.characters, read.checksum) != (place.characters, place.checksum):
            return None
        if self.is_stored:
            return read
        if place.events > len(self._others):
            return None
        # Whoever has heard the last event already hears it again.
        return Place(min(place.events, len(self._others) - self.has_ended), *place[1:])

    def _next(self, place: Place) -> tuple[StreamedEvent, Place] | None:
        is_next = place.events < len(self._others)
        until = self._others[place.events].characters if is_next else self._characters
        if place.characters < until:
            text = self._text(place.characters, until)
            place = place.after_words(text)
            return StreamedEvent("token", {"text": text}, str(EventId(self.turn_id, place))), place
        if is_next:
            entry = self._others[place.events]
            place = place.after_event()
            return StreamedEvent(entry.event, entry.data, str(EventId(self.turn_id, place))), place
        return None

    def _text(self, begin: int, end: int) -> str:
        self._words.seek(begin)
        return self._words.read(end - begin)

    def _waiting(self, place: EventId) -> StreamedEvent:
        awaited = "model" if self.has_begun else "turn"
        data = {"seconds": round(self._clock() - self._began), "for": awaited}
        return StreamedEvent("waiting", data, str(place))

    def _restart(self) -> StreamedEvent:
        reason = "changed" if self.is_stored else "lost"
        data: Json = {"turn_id": self.turn_id, "reason": reason, "detail": _RESTARTED[reason]}
        return StreamedEvent("restart", data, str(EventId(self.turn_id)))
