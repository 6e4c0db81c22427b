"""What of a model's answer is shown while it arrives: its narrative, without loops and copies."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage

from soulgraph.prompts.contract import PATIENCE, Carrier, NarrativeStream, narrative_of
from soulgraph.prompts.cues import cues_of
from soulgraph.prompts.layers import example_replies
from soulgraph.voices.copy_guard import CopyGuard
from soulgraph.voices.guards import LoopGuard, NameLabel

_MAX_REPLIES = 6  # of its own that a soul may not just say again
_UPDATE_END = "</state_update_json>"


@dataclass(frozen=True, slots=True)
class Forbidden:
    """What no reply may be: `secrets` not even in part, the `lines` of the talk so far not as a whole.

    `name` is the speaker's own, which a model may write before its words. `exact`: a line in almost the same words is
    better than nothing.
    """

    secrets: Sequence[str] = ()
    lines: Sequence[str] = ()
    name: str = ""
    exact: bool = False


_NOTHING = Forbidden()


def forbidden_in(messages: Sequence[BaseMessage]) -> Forbidden:
    """What a turn's reply may not copy: the soul's secrets, the user's line, our examples and its own last replies."""
    cues = cues_of(messages)
    if "secrets" not in cues:  # the offline voice has few lines, and repeats them
        return _NOTHING
    answers = [text for one in messages if isinstance(one, AIMessage) and (text := one.text)]
    lines = [cues["user_text"], *example_replies(), *map(narrative_of, answers[-_MAX_REPLIES:])]
    return Forbidden(cues["secrets"], lines, cues.get("soul_name", ""))


class ReplyStream:
    """Takes chunks of model output and returns what may be shown; `ended` when the rest is not worth reading."""

    def __init__(self, carrier: Carrier = "tags", forbidden: Forbidden = _NOTHING) -> None:
        self._narrative = NarrativeStream(PATIENCE[carrier])
        self._ends_with_narrative = carrier == "plain"
        self._label = NameLabel(forbidden.name)
        self._loops, self._raw_loops = LoopGuard(), LoopGuard()
        self._copies = CopyGuard(forbidden.secrets, forbidden.lines, forbidden.exact)
        self._tail = ""

    def feed(self, chunk: str) -> str:
        self._raw_loops.feed(chunk)
        self._tail = (self._tail + chunk)[-2 * len(_UPDATE_END) - len(chunk) :]
        return self._copies.feed(self._loops.feed(self._label.feed(self._narrative.feed(chunk))))

    def close(self) -> str:
        """The last words, now that nothing follows."""
        if self.ended and not self._narrative.closed:
            return ""
        rest = self._label.feed(self._narrative.close()) + self._label.close()
        last = self._copies.feed(self._loops.feed(rest) + self._loops.close())
        return last + self._copies.close()

    @property
    def ended(self) -> bool:
        over = self._narrative.closed and (self._ends_with_narrative or _UPDATE_END in self._tail.lower())
        return over or self._raw_loops.looping or bool(self._copies.copied)

    @property
    def complete(self) -> bool:
        """Whether the narrative has come to its end."""
        return self._narrative.closed

    @property
    def problem(self) -> str:
        """Why nothing could be shown, if nothing was."""
        if self._copies.copied:
            return f"the answer only copies a {self._copies.copied} text"
        return "the answer repeats itself" if self._loops.looping else "the answer has no words for the user"
