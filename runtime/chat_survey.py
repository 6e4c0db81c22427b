"""Looks through the chats of another program without storing anything: what would come of them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import tzinfo
from itertools import chain
from typing import IO, Any

from soulgraph.library.chats.conversation import Conversation, Line, Notes, SoulText
from soulgraph.library.chats.files import ChatReader, chat_files
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import ChatImport

_SHOWN = 200  # conversations that a report lists

Known = dict[tuple[str, str], ChatImport]
"""What was imported before, by program and conversation."""


@dataclass(frozen=True, slots=True)
class ChatSource:
    """A file of chats, and how it is to be read."""

    file: IO[bytes]
    name: str
    zone: tzinfo | None
    soul_name: str

    def read(self, notes: Notes) -> Iterator["OpenedConversation | SoulText"]:
        """What is in it; conversations in which nobody says anything are left out."""
        for found in ChatReader(notes, self.zone, self.soul_name).read(chat_files(self.file, self.name)):
            if isinstance(found, SoulText):
                yield found
            elif first := next(found.lines, None):
                yield OpenedConversation(found, first, chain([first], found.lines))


@dataclass(frozen=True, slots=True)
class OpenedConversation:
    """A conversation whose first line was read."""

    conversation: Conversation
    first: Line
    lines: Iterator[Line]

    @property
    def key(self) -> tuple[str, str]:
        return self.conversation.program, self.conversation.key(self.first)


@dataclass(slots=True)
class SurveyedConversation:
    program: str
    conversation_id: str
    title: str
    since: str | None
    until: str | None
    messages: int
    known: int
    """How many of them were imported before."""


@dataclass(slots=True)
class Survey:
    """What is in a file, and what of it is new."""

    conversations: list[SurveyedConversation] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)

    @property
    def messages(self) -> int:
        return sum(one.messages for one in self.conversations)

    @property
    def new_messages(self) -> int:
        return sum(one.messages - one.known for one in self.conversations)

    def report(self) -> dict[str, Any]:
        programs = sorted({one.program for one in self.conversations})
        return {
            "programs": programs,
            "conversations": len(self.conversations),
            "messages": self.messages,
            "new_messages": self.new_messages,
            "since": min((one.since for one in self.conversations if one.since), default=None),
            "until": max((one.until for one in self.conversations if one.until), default=None),
            "files": self.files,
            "notes": self.notes.sentences(),
            "left_out": self.notes.entries(),
            "largest": [asdict(one) for one in self._largest()],
        }

    def _largest(self) -> Sequence[SurveyedConversation]:
        return sorted(self.conversations, key=lambda one: -one.messages)[:_SHOWN]


def survey(source: ChatSource, known: Known) -> Survey:
    """Read everything once, on a thread: a file of many years takes seconds. Raises InvalidInput as the reader does."""
    found = Survey()
    seen: set[tuple[str, str]] = set()
    for one in source.read(found.notes):
        if isinstance(one, SoulText):
            found.files.append(one.name)
        elif one.key not in seen:
            seen.add(one.key)
            found.conversations.append(_surveyed(one, known))
        else:
            for _ in one.lines:  # the same conversation once more: it has to be read to its end
                pass
    return found


def _surveyed(opened: OpenedConversation, known: Known) -> SurveyedConversation:
    conversation = opened.conversation
    times: list[float] = []
    count = 0
    for line in opened.lines:
        count += 1
        if line.at is not None:
            times = [min([line.at, *times]), max([line.at, *times])]
    before = known.get(opened.key)
    began = conversation.began(opened.first)
    since = times[0] if times else began
    return SurveyedConversation(
        *opened.key,
        title=conversation.titled(opened.first),
        since=None if since is None else iso(since),
        until=iso(times[-1]) if times else None,
        messages=count,
        known=min(before.lines, count) if before else 0,
    )
