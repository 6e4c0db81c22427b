"""A stretch of conversation in the form in which the structured tasks of a model read it."""

from collections.abc import Sequence

from soulgraph.soul.language import Lang, lang_of
from soulgraph.stores.records import Message


def as_transcript(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def language_of(messages: Sequence[Message]) -> Lang:
    """The language in which the user speaks; tasks are answered in it."""
    return lang_of("\n".join(message.content for message in messages if message.role == "user"))
