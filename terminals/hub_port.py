"""The hub as those see it who send messages to terminals."""

from typing import Protocol

from soulgraph.terminals.broker import Broker
from soulgraph.terminals.compact_emotion import Feeling
from soulgraph.terminals.payloads import EmotionUpdate, IntentAction, Invoke, Proactive, Reply, Status
from soulgraph.terminals.reports import SkillResult


class Hub(Protocol):
    @property
    def broker(self) -> Broker: ...

    @property
    def addresses(self) -> dict[str, str]:
        """The URLs under which terminals reach the broker, by protocol."""
        ...

    def emotion_update(self, update: EmotionUpdate) -> None:
        """Queue an update. While the broker is down, a newer update of the terminal may replace it."""
        ...

    def compact_emotion(self, terminal_id: str, feeling: Feeling, previous_at: float | None = None) -> None:
        """Queue the small form of an update, retained, if it is news to the terminal: see `ToldEmotions.is_news`."""
        ...

    def clear_emotion(self, terminal_id: str) -> None:
        """Queue the clearing of what is retained of a soul that is no more."""
        ...

    async def intent_action(self, action: IntentAction) -> bool:
        """Send an action; returns whether the broker acknowledged it within a second. No retry, and never raises."""
        ...

    async def invoke(self, terminal_id: str, invoke: Invoke) -> SkillResult:
        """Call a skill and wait up to 8 s for its result. A terminal that cannot answer is a result with `ok` false."""
        ...

    async def proactive(self, terminal_id: str, payload: Proactive) -> bool:
        """Send a message; returns whether the broker acknowledged it, as with an action."""
        ...

    async def forget(self, terminal_id: str) -> bool:
        """Clear what the broker retains of a terminal; returns whether it acknowledged that, as with an action."""
        ...

    def reply(self, reply: Reply) -> None:
        """Queue a reply. Each is sent, if need be when the broker is back."""
        ...

    def status(self, status: Status) -> None:
        """Queue a status. While the broker is down, a newer status of the terminal may replace it."""
        ...
