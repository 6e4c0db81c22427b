"""What a client means that sends the whole conversation every time: something new, the last thing again, or otherwise.

The lines it sends are laid beside those that are stored. Pure: what is stored is read elsewhere.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from soulgraph.api.talk import Round, Talk
from soulgraph.stores.records import Message

_WRAPPED = 200
"""From so many characters on, a stored line may be what a client has wrapped in instructions of its own."""
_SIMILAR = 0.8
_LONG = 400
"""So long texts are only compared at both ends: to find out what they share everywhere would take seconds."""
_ENDING = re.compile(r"(?:\s*(?:\.{3}|…))+$")
_SPACE = re.compile(r"\s+")

Meaning = Literal["new", "again", "edited", "continued"]


class Stored(NamedTuple):
    """A round as it is stored: the person's message, and the soul's last one after it."""

    said: Message
    reply: Message | None = None


@dataclass(frozen=True, slots=True)
class Understood:
    """`replaces` is the message that is said again or otherwise, `begun` the reply that goes on.

    `corrections` are replies that the client shows otherwise than they are stored: cut short, or another of several
    that it was given. `common` counts the lines by which the conversation was recognised.
    """

    meaning: Meaning
    replaces: int | None = None
    begun: str = ""
    corrections: list[tuple[Message, str]] = field(default_factory=list)
    common: int = 0


NEW = Understood("new")


def rounds_of(messages: Sequence[Message], soul_id: str, user_id: str) -> list[Stored]:
    """The stored rounds between the two, the oldest first; what the soul says unasked belongs to the round before."""
    rounds: list[Stored] = []
    for message in messages:
        if message.role == "user" and message.user_id == user_id:
            rounds.append(Stored(message))
        elif message.role == "assistant" and message.soul_id == soul_id and rounds and not message.proactive:
            rounds[-1] = Stored(rounds[-1].said, message)
    return rounds


def understand(talk: Talk, stored: Sequence[Stored], resends: bool) -> Understood:
    """`resends` says that the client is known to send the whole conversation, and not only what is new."""
    place = _place_of(talk, stored)
    if place is None:
        return _first_line(talk, stored, resends)
    known, common = place
    corrections = _corrections(talk.earlier, stored[:known])
    if known == len(stored):
        return Understood("new", corrections=corrections, common=common)
    target = stored[known]
    if not same_line(talk.said, target.said.content):
        return Understood("edited", target.said.message_id, corrections=corrections, common=common)
    if talk.begun:
        return _continued(talk, target, common + 1)
    return Understood("again", target.said.message_id, corrections=corrections, common=common + 1)


def same_line(one: str, other: str) -> bool:
    """Whether both are the same words; one of them may stand within instructions of the client."""
    return _same(folded(one), folded(other))


def _same(one: str, other: str) -> bool:
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(long) >= _WRAPPED and len(short) >= 2 and (long.endswith(short) or f"\n{short}\n" in long)


def similar(one: str, other: str) -> bool:
    """Whether one may be the other, edited."""
    one, other = folded(one), folded(other)
    longer = max(len(one), len(other))
    if longer <= _LONG:
        return SequenceMatcher(None, one, other, autojunk=False).ratio() >= _SIMILAR
    begins = _beginning_shared(one, other)
    ends = _beginning_shared(one[begins:][::-1], other[begins:][::-1])
    return begins + ends >= _SIMILAR * longer


def _beginning_shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (here, there) in pairs if here != there), min(len(one), len(other)))


def folded(text: str) -> str:
    """The words as they are compared: white space and composed characters make no difference."""
    return "\n".join(
        line for part in unicodedata.normalize("NFC", text).splitlines() if (line := _SPACE.sub(" ", part).strip())
    )


def _place_of(talk: Talk, stored: Sequence[Stored]) -> tuple[int, int] | None:
    """How many stored rounds come before what is said now, and by how many lines that is known."""
    earlier = talk.earlier
    if not earlier:
        return _behind(talk.opening, stored)
    found: list[tuple[int, int, int]] = []
    # Each is folded once: people say the same again and again, and every line is then held against every other.
    shown = [Round(folded(one.said), folded(one.reply)) for one in reversed(earlier)]
    kept = [Round(folded(one.said.content), _folded_reply(one)) for one in stored]
    ends = [known for known, one in enumerate(kept, 1) if _same(shown[0].said, one.said)]
    for known in ends:
        pairs = list(zip(shown, reversed(kept[:known]), strict=False))
        same = [_same(sent.said, one.said) for sent, one in pairs]
        replies = [bool(one.reply) and sent.reply == one.reply for sent, one in pairs]
        # Nothing is taken back unless every line is known; to go on, the last round is enough.
        if all(same) or (known == len(stored) and replies[0]):
            found.append((sum(same) + sum(replies), known, sum(same)))
    if not found:
        return None
    _, known, common = max(found)
    return known, common


def _behind(opening: str, stored: Sequence[Stored]) -> tuple[int, int] | None:
    """The same for a line without any before it, by the reply that it follows."""
    if not stored:
        return 0, 0
    known = (n for n, one in enumerate(stored, 1) if opening and _same_reply(opening, one))
    place = max(known, default=0)
    return (place, 1) if place else None


def _first_line(talk: Talk, stored: Sequence[Stored], resends: bool) -> Understood:
    """Of a request without anything before it, or with what was never said here: one is much like another."""
    if talk.earlier or not stored:
        return NEW
    first = stored[0].said
    if not resends and len(stored) > 1:
        return NEW
    if same_line(talk.said, first.content):
        if talk.begun:
            return _continued(talk, stored[0], int(_same_reply(talk.begun, stored[0])))
        return Understood("again", first.message_id)
    return Understood("edited", first.message_id) if resends else NEW


def _continued(talk: Talk, target: Stored, common: int) -> Understood:
    return Understood("continued", target.said.message_id, talk.begun, common=common)


def _folded_reply(stored: Stored) -> str:
    return folded(stored.reply.content) if stored.reply else ""


def _same_reply(sent: str, stored: Stored) -> bool:
    return stored.reply is not None and folded(sent) == folded(stored.reply.content)


def _corrections(earlier: Sequence[Round], stored: Sequence[Stored]) -> list[tuple[Message, str]]:
    """The last reply, if the client shows another: earlier ones were corrected when they were the last."""
    if not earlier or not stored:
        return []
    sent, reply = earlier[-1].reply, stored[-1].reply
    if reply is None or not sent or folded(sent) == folded(reply.content):
        return []
    shown = _ENDING.sub("", sent)
    cut_short = reply.content.startswith(shown)
    return [(reply, shown if cut_short and shown else sent)]
