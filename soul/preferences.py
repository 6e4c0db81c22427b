"""The preference guard: decides which of a user's wishes become long-term preferences.

A wish is kept when it is explicit ("from now on"), repeated three times in a row, or a correction that the user
confirms. Every other wish holds for the session. Each signal gets a decision with its reason, also when it is rejected.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from soulgraph.soul.language import Lang
from soulgraph.soul.modes import Mode
from soulgraph.soul.preference_words import describe_preference
from soulgraph.soul.signals import LIKE_THIS, Signal

MIN_REPEATS = 3  # in a row, with the same value
_MAX_LIKE_THIS_AGE = 3  # turns for which "like this" still means the last wish
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
    """The last signals of one preference: how often in a row, in which words, how many turns ago."""

    value: str
    count: int
    evidence: list[str]
    age: int


class Pending(TypedDict):
    """The preference the user was asked to confirm in the last turn."""

    key: str
    value: str
    evidence: list[str]


class GuardState(TypedDict):
    """What the guard remembers of one session; JSON-serialisable."""

    hints: dict[str, Hint]
    pending: Pending | None
    to_ask: NotRequired[Pending | None]
    """What a model has found after the last turn, to be asked about in the next one."""
    proposed_to: NotRequired[int]
    """The last message that a model was asked about."""


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
    """The guard's next state, and a decision on the pending question and on each signal of a user's message.

    `signals` are those found in `text`; `mode` is the current one, which "like this" means without a recent wish.
    """
    hints = {key: Hint(**{**hint, "age": hint["age"] + 1}) for key, hint in state["hints"].items()}
    resolved = [each for signal in signals for each in _resolve_like_this(signal, hints, mode)]
    decisions = _settle_pending(state["pending"], text, resolved)
    settled = {(decision.key, decision.value) for decision in decisions if decision.verdict == "persist"}
    unsettled = [signal for signal in resolved if (signal.key, signal.value) not in settled]
    decisions += _judge_signals(unsettled, hints, may_ask=True)
    waiting = state.get("to_ask")
    if waiting and not any(decision.key == waiting["key"] or decision.verdict == "ask" for decision in decisions):
        decisions.append(Decision(waiting["key"], waiting["value"], "correction", waiting["evidence"]))
    after: GuardState = {"hints": _still_counted(hints, decisions), "pending": _asked(decisions)}
    if "proposed_to" in state:
        after["proposed_to"] = state["proposed_to"]
    return after, decisions


def decide_later(state: GuardState, signals: Iterable[Signal], message_id: int) -> tuple[GuardState, list[Decision]]:
    """The same for signals that a model has found in a message after it was answered.

    The message has settled its pending question already. What is to be asked waits for the next turn.
    """
    hints = dict(state["hints"])
    waiting = state.get("to_ask")
    decisions = _judge_signals(signals, hints, may_ask=state["pending"] is None and waiting is None)
    after: GuardState = {
        "hints": _still_counted(hints, decisions),
        "pending": state["pending"],
        "to_ask": waiting or _asked(decisions),
        "proposed_to": message_id,
    }
    return after, decisions


def question(key: str, value: str, lang: Lang) -> str:
    """The question to ask before a correction becomes a long-term preference."""
    wish = describe_preference(key, value, lang)
    return f"明白了。以后我都{wish}，好吗？" if lang == "zh" else f"Understood. Shall I {wish} from now on?"


def _asked(decisions: Iterable[Decision]) -> Pending | None:
    """What the user is to be asked about."""
    asked = next((decision for decision in decisions if decision.verdict == "ask"), None)
    return {"key": asked.key, "value": asked.value, "evidence": asked.evidence} if asked else None


def _still_counted(hints: dict[str, Hint], decisions: Iterable[Decision]) -> dict[str, Hint]:
    """The hints without those that were decided for good, the most recent ones."""
    closed = {decision.key for decision in decisions if decision.verdict in ("persist", "rejected")}
    return dict([(key, hint) for key, hint in hints.items() if key not in closed][-_MAX_HINTS:])


def _judge_signals(signals: Iterable[Signal], hints: dict[str, Hint], may_ask: bool) -> list[Decision]:
    decisions: list[Decision] = []
    for signal in signals:
        decision = _judge_signal(signal, hints, may_ask)
        may_ask = may_ask and decision.verdict != "ask"
        decisions.append(decision)
    return decisions


def _judge_signal(signal: Signal, hints: dict[str, Hint], may_ask: bool) -> Decision:
    """Counts the signal in `hints` and decides on it; only one correction per turn may be asked about."""
    if signal.once and not signal.correction:
        return Decision(signal.key, signal.value, "once", [signal.evidence])
    hint = _count_signal(hints.pop(signal.key, None), signal)
    hints[signal.key] = hint
    if signal.explicit:
        return Decision(signal.key, signal.value, "explicit", hint["evidence"])
    reason: Reason = "correction" if signal.correction and may_ask else "hint"
    return Decision(signal.key, signal.value, "repeated" if hint["count"] >= MIN_REPEATS else reason, hint["evidence"])


def _count_signal(before: Hint | None, signal: Signal) -> Hint:
    """The hint with this signal added; a different value starts the count again."""
    if before is None or before["value"] != signal.value:
        return {"value": signal.value, "count": 1, "evidence": [signal.evidence], "age": 0}
    evidence = [*before["evidence"], signal.evidence][-MIN_REPEATS:]
    return {"value": signal.value, "count": before["count"] + 1, "evidence": evidence, "age": 0}


def _resolve_like_this(signal: Signal, hints: dict[str, Hint], mode: Mode) -> list[Signal]:
    """The preferences "like this" refers to: the most recent ones if they are recent enough, else the current mode."""
    if (signal.key, signal.value) != LIKE_THIS:
        return [signal]
    latest = min((hint["age"] for hint in hints.values()), default=_MAX_LIKE_THIS_AGE + 1)
    if latest > _MAX_LIKE_THIS_AGE:
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
    first_sentence = re.split(r"(?<=[。！？!?\n])", text.strip(), maxsplit=1)[0]
    if _NO.match(text):
        return False
    if not _YES.match(text) or first_sentence.endswith(("?", "？")):
        return None
    return _BUT.search(text) is None


def _settle_pending(pending: Pending | None, text: str, signals: list[Signal]) -> list[Decision]:
    """The decision on the pending question, which the next message always settles; repeating the wish confirms it."""
    if pending is None:
        return []
    insists = any((signal.key, signal.value) == (pending["key"], pending["value"]) for signal in signals)
    answer = True if insists else answer_in(text)
    reason: Reason = "unanswered" if answer is None else "confirmed" if answer else "denied"
    return [Decision(pending["key"], pending["value"], reason, [*pending["evidence"], text[:200]])]
