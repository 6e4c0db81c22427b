"""A stretch of conversation in the form in which the structured tasks of a model read it."""

from collections.abc import Sequence
from typing import Any

from soulgraph.soul.language import Lang, lang_of
from soulgraph.stores.records import Message, Role

_SAID = {
    "zh": {"user": "对方说", "assistant": "你说", "named": "{name}说"},
    "en": {"user": "they said", "assistant": "you said", "named": "{name} said"},
}


def as_heard(messages: Sequence[Message], user_name: str | None, lang: Lang) -> list[dict[str, Any]]:
    """Messages as the soul itself remembers them: `speaker` says who spoke, `unprompted` that nobody had asked."""
    speakers = speakers_of(user_name, lang)
    return [_as_heard(message, speakers[message.role]) for message in messages]


def speakers_of(user_name: str | None, lang: Lang) -> dict[Role, str]:
    """Who said something, in words, by role: "Lin said" if the user's name is known, and "you said"."""
    words = _SAID[lang]
    user = words["named"].format(name=user_name) if user_name else words["user"]
    return {"user": user, "assistant": words["assistant"]}


def _as_heard(message: Message, speaker: str) -> dict[str, Any]:
    unprompted = {"unprompted": True} if message.proactive else {}
    return {"role": message.role, "speaker": speaker, "content": message.content, **unprompted}


def language_of(messages: Sequence[Message]) -> Lang:
    """The language in which the user speaks; tasks are answered in it."""
    return lang_of("\n".join(message.content for message in messages if message.role == "user"))
