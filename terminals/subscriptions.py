"""Who has subscribed to what, on the embedded broker."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Subscriber = TypeVar("Subscriber")

_MAX_SUBSCRIPTIONS = 20_000


@dataclass(slots=True)
class _Node(Generic[Subscriber]):
    """One level of the topic filters. `subscribers` are those whose filter ends here, with their QoS."""

    children: "dict[str, _Node[Subscriber]]" = field(default_factory=dict)
    subscribers: dict[Subscriber, int] = field(default_factory=dict)


class Subscriptions(Generic[Subscriber]):
    """A tree of topic filters: a message finds its subscribers without a look at all the others."""

    def __init__(self) -> None:
        self._root: _Node[Subscriber] = _Node()
        self._count = 0

    def add(self, topic_filter: str, subscriber: Subscriber, qos: int) -> bool:
        """False if there are too many subscriptions already."""
        if self._count >= _MAX_SUBSCRIPTIONS:
            return False
        node = self._root
        for level in topic_filter.split("/"):
            node = node.children.setdefault(level, _Node())
        self._count += subscriber not in node.subscribers
        node.subscribers[subscriber] = qos
        return True

    def remove(self, topic_filter: str, subscriber: Subscriber) -> None:
        """Remove a subscription that exists, and the levels that nobody else uses."""
        path = [("", self._root)]
        for level in topic_filter.split("/"):
            path.append((level, path[-1][1].children[level]))
        del path[-1][1].subscribers[subscriber]
        self._count -= 1
        while len(path) > 1:
            level, node = path.pop()
            if node.children or node.subscribers:
                return
            del path[-1][1].children[level]

    def of(self, topic: str) -> dict[Subscriber, int]:
        """Who hears a message on this topic, each with the highest QoS of their filters that match."""
        found: dict[Subscriber, int] = {}
        for node in _matching(self._root, topic.split("/"), 0):
            for subscriber, qos in node.subscribers.items():
                found[subscriber] = max(qos, found.get(subscriber, 0))
        return found


def _matching(node: _Node[Subscriber], levels: list[str], at: int) -> Iterator[_Node[Subscriber]]:
    """The nodes below this one at which a filter ends that matches the levels from `at` on."""
    if rest := node.children.get("#"):
        yield rest
    if at == len(levels):
        yield node
        return
    for level in (levels[at], "+"):
        if child := node.children.get(level):
            yield from _matching(child, levels, at + 1)
