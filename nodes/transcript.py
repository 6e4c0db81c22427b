"""A stretch of conversation as prompts and the structured tasks of a model read it: every line says who spoke."""

from collections.abc import Mapping, Sequence
from typing import Any

from soulgraph.prompts.quotation import quoted, speaker_name
from soulgraph.soul.language import Lang, lang_of
from soulgraph.stores.records import Message

_SAID = {
    "zh": {"person": "对方说", "self": "你说", "named": "{name}说"},
    "en": {"person": "they said", "self": "you said", "named": "{name} said"},
}

Names = Mapping[str, str]
"""What people and souls are called, by id."""


def as_heard(messages: Sequence[Message], names: Names, lang: Lang, soul_id: str = "") -> list[dict[str, Any]]:
    """Messages as the soul itself remembers them: `speaker` says who spoke, `unprompted` that nobody had asked.

    `soul_id` is needed where several souls have talked.
    """
    return [_as_heard(message, speaker_of(message, names, lang, soul_id)) for message in messages]


def speaker_of(message: Message, names: Names, lang: Lang, soul_id: str = "") -> str:
    """Who said it, in words: "Lin said" if the name is known, "they said", or "you said" to the soul itself."""
    if message.role == "assistant":
        if not message.soul_id or soul_id in ("", message.soul_id):
            return _SAID[lang]["self"]
        return person_said(names.get(message.soul_id, message.soul_id), lang)
    return person_said(names.get(message.user_id), lang)


def person_said(name: str | None, lang: Lang) -> str:
    return _SAID[lang]["named"].format(name=speaker_name(name)) if name else _SAID[lang]["person"]


def _as_heard(message: Message, speaker: str) -> dict[str, Any]:
    unprompted = {"unprompted": True} if message.proactive else {}
    return {"role": message.role, "speaker": speaker, "content": message.content, **unprompted}


def as_history(messages: Sequence[Message], names: Names, soul_id: str) -> list[tuple[str, str]]:
    """Role and text of each message of a group as a prompt has them: the soul's own words, and all others by name."""
    return [
        ("assistant", message.content)
        if message.role == "assistant" and message.soul_id == soul_id
        else ("user", spoken_by(names.get(_speaker_id(message)), message.content))
        for message in messages
    ]


def spoken_by(name: str | None, text: str) -> str:
    """A line of a group: who spoke, and the words in marks that they cannot close."""
    return f"{speaker_name(name or '')}: {quoted(text)}"


def _speaker_id(message: Message) -> str:
    return message.user_id if message.role == "user" else message.soul_id


def language_of(messages: Sequence[Message]) -> Lang:
    """The language in which the user speaks; tasks are answered in it."""
    return lang_of("\n".join(message.content for message in messages if message.role == "user"))
