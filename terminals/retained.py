"""What the embedded broker retains: the newest reports of terminals, and nothing else."""

from collections.abc import Iterator

from soulgraph.stores.terminals import MAX_TERMINALS
from soulgraph.terminals import topics
from soulgraph.terminals.client_queue import Message

_MAX_MESSAGES = len(topics.KEPT) * MAX_TERMINALS
_MAX_BYTES = 64 * 1024 * 1024


class RetainedMessages:
    """By terminal, bounded in number and bytes."""

    def __init__(self, max_messages: int = _MAX_MESSAGES, max_bytes: int = _MAX_BYTES) -> None:
        self._max_messages = max_messages
        self._max_bytes = max_bytes
        self._by_terminal: dict[str, dict[str, Message]] = {}
        self._messages = self._bytes = 0

    def keep(self, message: Message) -> bool:
        """Retain a message in the place of the one before; one without a payload only clears that.

        False if it is not retained, because it is nothing that is kept or because too much is retained already.
        """
        terminal_id, kind = topics.parse(message.topic)
        if kind not in topics.KEPT:
            return False
        self._clear(terminal_id, message.topic)
        if not message.payload:
            return True
        if self._messages >= self._max_messages or self._bytes + message.size > self._max_bytes:
            return False
        self._by_terminal.setdefault(terminal_id, {})[message.topic] = message
        self._messages += 1
        self._bytes += message.size
        return True

    def _clear(self, terminal_id: str, topic: str) -> None:
        """Also of what cannot be replaced: an old report is worse than none."""
        messages = self._by_terminal.get(terminal_id, {})
        if old := messages.pop(topic, None):
            self._messages -= 1
            self._bytes -= old.size
        if not messages:
            self._by_terminal.pop(terminal_id, None)

    def matching(self, topic_filter: str) -> Iterator[list[Message]]:
        """What a new subscriber is told, terminal by terminal: many have nothing that matches."""
        terminal_id = topics.terminal_of_filter(topic_filter)
        for one in list(self._by_terminal) if terminal_id is None else [terminal_id]:
            kept = self._by_terminal.get(one, {})
            yield [message for topic, message in kept.items() if topics.matches(topic_filter, topic)]
