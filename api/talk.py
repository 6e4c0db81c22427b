"""The conversation in a request of OpenAI's clients: rounds of words and answers, without what programs add."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any, NamedTuple

import yaml

from soulgraph.api.fields import MAX_TEXT
from soulgraph.api.openai_request import Message, PartKind, kinds_in, text_of
from soulgraph.soul.language import Lang, lang_of
from soulgraph.soul.validation import NUL, whole_characters
from soulgraph.stores.records import Role

_SHOWN: dict[Lang, dict[PartKind, str]] = {
    "en": {"images": "[a picture]", "audio": "[a recording]", "files": "[a file]"},
    "zh": {"images": "[图片]", "audio": "[录音]", "files": "[文件]"},
}
"""What is told of a message that has no words: that something was shown which the soul cannot see."""
_LEFT_OUT = "\n…\n"
_ENDING = MAX_TEXT // 3
"""Of what is too long so many characters are its end, where people ask what they want of it."""


class Line(NamedTuple):
    """A message of one of the two: `spoken` by the soul, or said to it."""

    spoken: bool
    text: str
    name: str | None = None


class Round(NamedTuple):
    """What was said to the soul, and what it answered as the client shows it; empty if nothing."""

    said: str
    reply: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """`rounds` is never empty; the last one is that of this request. `speaker` is whom its message names.

    `opening` is a reply before the first round: a greeting, or the last that a client shows of what was before.
    `shortened` says that the middle of what is said was left out, because it was too long.
    """

    rounds: list[Round]
    speaker: str | None = None
    opening: str = ""
    shortened: bool = False

    @property
    def said(self) -> str:
        return self.rounds[-1].said

    @property
    def earlier(self) -> list[Round]:
        return self.rounds[:-1]

    @property
    def begun(self) -> str:
        """The reply that is to go on, if the request ends with one."""
        return self.rounds[-1].reply

    @property
    def known_by(self) -> tuple[Role, str] | None:
        """A line by which its conversation can be found, as it may be stored; None of one that begins."""
        if self.earlier:
            return "user", _storable(self.earlier[-1].said)
        reply = _storable(self.opening or self.begun)
        return ("assistant", reply) if reply else None


def read_talk(messages: Sequence[Message]) -> Talk | None:
    """The conversation in these messages; None if nobody has said anything."""
    heard = [_heard(line) for line in _lines(messages)]
    spoken_as = _speaks_next(messages)
    lines = [_in_group(line, spoken_as) if spoken_as else line for line in heard if line.text]
    opening, rounds, shortened = "", list[Round](), False
    for spoken, group in groupby(lines, lambda line: line.spoken):
        text = "\n".join(line.text for line in group)
        if not spoken:
            rounds.append(Round(_shortened(text)))
            shortened = len(text) > MAX_TEXT
        elif rounds:
            rounds[-1] = Round(rounds[-1].said, text)
        else:
            opening = text
    speaker = next((line.name for line in reversed(lines) if not line.spoken), None)
    return Talk(rounds, speaker, opening, shortened) if rounds else None


def _storable(text: str) -> str:
    return whole_characters(text).replace(NUL, "")


def _shortened(text: str) -> str:
    """Its beginning and its end: always the same, as it is sent again with every later line."""
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[: MAX_TEXT - _ENDING - len(_LEFT_OUT)].rstrip()}{_LEFT_OUT}{text[-_ENDING:].lstrip()}"


def _lines(messages: Sequence[Message]) -> Iterator[Line]:
    """In the language of what was said so far: a line is the same whatever follows it."""
    lang: Lang = "en"
    for message in messages:
        text = text_of(message.content)
        if message.role == "assistant":
            yield Line(True, text.strip())
        elif message.role == "user" and not _marks("not_said", text) and not _marks("go_on", text):
            lang = "zh" if lang == "zh" else lang_of(text)
            yield _user_line(message, text, lang)


def _user_line(message: Message, text: str, lang: Lang) -> Line:
    name = message.name if isinstance(message.name, str) and message.name else None
    shown = [_SHOWN[lang][kind] for kind in sorted(kinds_in(message.content))]
    return Line(False, text if text.strip() else " ".join(shown), name)


def _heard(line: Line) -> Line:
    """The words themselves; a recogniser of voices sends them as JSON, with who has spoken."""
    if line.spoken:
        return line
    text = line.text
    for pattern in _patterns("around"):
        text = pattern.sub("", text)
    found = _json_object(text)
    if isinstance(found.get("content"), str) and "speaker" in found and len(found) <= 4:
        return Line(False, found["content"].strip(), str(found["speaker"]) or line.name)
    return Line(False, text.strip(), line.name)


def _json_object(text: str) -> dict[str, Any]:
    if not text.startswith("{"):
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _speaks_next(messages: Sequence[Message]) -> str:
    """As whom the soul is to speak in a group of characters; empty outside of one."""
    last = text_of(messages[-1].content) if messages else ""
    found = [one for pattern in _patterns("speak_next") if (one := pattern.search(last))]
    return found[0]["name"] if found else ""


def _in_group(line: Line, name: str) -> Line:
    """In a group of characters only those lines are the soul's own that have its name."""
    own = line.text.startswith((f"{name}:", f"{name}："))
    return line if not line.spoken or own else Line(False, line.text, line.name)


def _marks(kind: str, text: str) -> bool:
    return any(pattern.search(text.strip()) for pattern in _patterns(kind))


@cache
def _patterns(kind: str) -> tuple[re.Pattern[str], ...]:
    marks = yaml.load((files(__package__) / "front_ends.yaml").read_text("utf-8"), yaml.CSafeLoader)
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in marks[kind])
