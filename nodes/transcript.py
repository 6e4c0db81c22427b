"""A stretch of conversation, as the tasks of a model read it."""

from collections.abc import Sequence

from soulgraph.soul.language import Lang, lang_of
from soulgraph.stores.records import Message


def spoken(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def language_of(messages: Sequence[Message]) -> Lang:
    """The language of the user, who decides in which the soul thinks of it."""
    return lang_of("\n".join(message.content for message in messages if message.role == "user"))
