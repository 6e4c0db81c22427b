"""The guard before long-term preferences. Three doors lead in: said for good, said thrice, corrected and confirmed.

Everything else holds for the session. Every signal gets a decision with its reason, so that a "no" can be read as well.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import TypedDict

from soulgraph.soul.language import Lang
from soulgraph.soul.modes import Mode
from soulgraph.soul.preference_words import in_words
from soulgraph.soul.signals import LIKE_THIS, Signal

ENOUGH = 3  # times in a row
_FRESH = 3  # turns in which "like this" still points at what was asked for
_MAX_HINTS = 30

Verdict = Literal["persist", "session", "ask", "rejected"]
Reason = Literal["explicit", "repeated", "confirmed", "hint", "once", "correction", "denied", "unanswered"]

_CONFIDENCE: dict[Reason, float] = {
    "explicit": 0.9,
    "repeated": 0.8,
    "confirmed": 0.95,
    "hint": 0.3,
    "once": 0.1,
    "correction": 0.5,
    "denied": 0.0,
    "unanswered": 0.2,
}
_VERDICT: dict[Reason, Verdict] = {
    "explicit": "persist",
    "repeated": "persist",
    "confirmed": "persist",
    "hint": "session",
    "once": "session",
    "correction": "ask",
    "denied": "rejected",
    "unanswered": "rejected",
}


class Hint(TypedDict):
    """A preference as it was last signalled: how often in a row, in which words, how many turns ago."""

    value: str
    count: int
    evidence: list[str]
    age: int


class Pending(TypedDict):
    """What the user was asked about in the last turn."""

    key: str
    value: str
    evidence: list[str]


class GuardState(TypedDict):
    """JSON-able; belongs to one session."""

    hints: dict[str, Hint]
    pending: Pending | None


@dataclass(frozen=True, slots=True)
class Decision:
    key: str
    value: str
    reason: Reason
    evidence: list[str]

    @property
    def verdict(self) -> Verdict:
        return _VERDICT[self.reason]

    @property
    def confidence(self) -> float:
        return _CONFIDENCE[self.reason]

    def to_dict(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "value": self.value,
            "verdict": self.verdict,
            "reason": self.reason,
            "evidence": self.evidence,
            "confidence": self.confidence,
        }


def new_guard() -> GuardState:
    return {"hints": {}, "pending": None}


def decide(state: GuardState, text: str, signals: Iterable[Signal], mode: Mode) -> tuple[GuardState, list[Decision]]:
    """The guard after a user's message, and what becomes of the open question and of each signal in the message.

    `signals` are those of `text`; `mode` is the one in force: what "like this" means if nothing was asked for lately.
    """
    hints = {key: Hint(**{**hint, "age": hint["age"] + 1}) for key, hint in state["hints"].items()}
    wanted = [meant for signal in signals for meant in _resolved(signal, hints, mode)]
    decisions, pending = _answered(state["pending"], text, wanted), None
    settled = {(decision.key, decision.value) for decision in decisions if decision.verdict == "persist"}
    for signal in wanted:
        if (signal.key, signal.value) not in settled:
            decision = _judge(signal, hints, may_ask=pending is None)
            decisions.append(decision)
            pending = _asked(decision) or pending
    kept = hints.keys() - {decision.key for decision in decisions if decision.verdict in ("persist", "rejected")}
    recent = [(key, hint) for key, hint in hints.items() if key in kept][-_MAX_HINTS:]
    return {"hints": dict(recent), "pending": pending}, decisions


def question(key: str, value: str, lang: Lang) -> str:
    """What to ask before a correction is kept for good."""
    wish = in_words(key, value, lang)
    return f"明白了。以后我都{wish}，好吗？" if lang == "zh" else f"Understood. Shall I {wish} from now on?"


def _asked(decision: Decision) -> Pending | None:
    if decision.verdict != "ask":
        return None
    return {"key": decision.key, "value": decision.value, "evidence": decision.evidence}


def _judge(signal: Signal, hints: dict[str, Hint], may_ask: bool) -> Decision:
    """Counts the signal, then finds its door."""
    if signal.once and not signal.correction:
        return Decision(signal.key, signal.value, "once", [signal.evidence])
    hint = _counted(hints.pop(signal.key, None), signal)
    hints[signal.key] = hint
    if signal.explicit:
        return Decision(signal.key, signal.value, "explicit", hint["evidence"])
    reason: Reason = "correction" if signal.correction and may_ask else "hint"
    return Decision(signal.key, signal.value, "repeated" if hint["count"] >= ENOUGH else reason, hint["evidence"])


def _counted(before: Hint | None, signal: Signal) -> Hint:
    """A contrary value begins anew."""
    if before is None or before["value"] != signal.value:
        return {"value": signal.value, "count": 1, "evidence": [signal.evidence], "age": 0}
    evidence = [*before["evidence"], signal.evidence][-ENOUGH:]
    return {"value": signal.value, "count": before["count"] + 1, "evidence": evidence, "age": 0}


def _resolved(signal: Signal, hints: dict[str, Hint], mode: Mode) -> list[Signal]:
    """What "like this" points at: the preferences voiced last, while they are fresh, else the mode in force."""
    if (signal.key, signal.value) != LIKE_THIS:
        return [signal]
    latest = min((hint["age"] for hint in hints.values()), default=_FRESH + 1)
    if latest > _FRESH:
        return [Signal("mode", mode, signal.evidence, explicit=True)]
    return [
        Signal(key, hint["value"], signal.evidence, explicit=True)
        for key, hint in hints.items()
        if hint["age"] == latest
    ]


_YES_ZH = (
    r"(?:是的|[是对好][啊呀吧哒嘞]|对的|好的|没错|嗯+|恩|当然|必须的?|就这样|就这么[办定]|拜托了?|麻烦了?|没问题"
    r"|可以的|行吧)[呢啦哦喔嘛呀啊了]*(?=\W|$|以后|今后|就|请|别|不要|谢|麻烦|拜托|记)|[是对好行恩](?=\W|$)"
    r"|可以(?=\W|$)|(?:(?:别|不要)再|(?:以后|今后)(?:都|就|请)?(?:别|不要)?再?)(?:这样|这么|那样|那么|了)"
)
_YES_EN = (
    r"(?:yes|yeah|yep|yup|yea|exactly|of course|definitely|absolutely|certainly|correct|that's right|indeed|go ahead"
    r"|please do)\b|(?:sure|right|ok|okay|please|do that|do so|i do|i would|fine|totally"
    r"|stop)(?: (?:please|thanks|thank you|then|from now on|do|that would be great|stop|it|that|thing))*(?=[,.!;]"
    r"|\s*$)"
)
_YES = re.compile(rf"\W*+(?:{_YES_ZH}|{_YES_EN})", re.IGNORECASE)
_BUT = re.compile(
    r"不用|不必|算了|不过|但是?|可是|开玩笑|没必要|\bbut\b|\bnever ?mind\b|\bno need\b|\bkidding\b|\bactually no\b",
    re.IGNORECASE,
)
_NO = re.compile(
    r"[\W嗯]*+(?:不(?!要再|准再)|没(?!错|问题)|算了|别(?!再)|无所谓|随便|开玩笑"
    r"|(?:no|nope|nah|not|don't|do not|never ?mind|it's fine|leave it|whatever)\b)",
    re.IGNORECASE,
)


def answer_in(text: str) -> bool | None:
    """Whether a message says yes or no to a question; None when it does neither."""
    first = re.split(r"(?<=[。！？!?\n])", text.strip(), maxsplit=1)[0]
    if _NO.match(text):
        return False
    if not _YES.match(text) or first.endswith(("?", "？")):
        return None
    return _BUT.search(text) is None


def _answered(pending: Pending | None, text: str, signals: list[Signal]) -> list[Decision]:
    """An open question is settled by the next message, whatever it says. Who insists has confirmed."""
    if pending is None:
        return []
    insists = any((signal.key, signal.value) == (pending["key"], pending["value"]) for signal in signals)
    answer = True if insists else answer_in(text)
    reason: Reason = "unanswered" if answer is None else "confirmed" if answer else "denied"
    return [Decision(pending["key"], pending["value"], reason, [*pending["evidence"], text[:200]])]
