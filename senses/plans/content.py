"""What a plan is about, in the words in which it was said, without the time and the asking."""

import re
from collections.abc import Sequence

from soulgraph.senses.plans.clauses import Clause
from soulgraph.senses.plans.words import Patterns, patterns
from soulgraph.soul.language import Lang

MAX_CHARS = 200

_FUNCTION = re.compile("[到你在就那等的时候]")
_CHINESE = re.compile("[\u3400-\u9fff]")
_FEW = 8  # characters that say no more than "tell me"
_SAID: dict[Lang, Sequence[tuple[str, str]]] = {
    "en": (
        (r"\bi'm\b", "you're"),
        (r"\bi've\b", "you've"),
        (r"\bi'll\b", "you'll"),
        (r"\bi am\b", "you are"),
        (r"\b(?:i|me|we|us)\b", "you"),
        (r"\b(?:my|our)\b", "your"),
        (r"\b(?:mine|ours)\b", "yours"),
        (r"\bmyself\b", "yourself"),
    ),
    "zh": ((r"咱们|我们|我|俺", "你"),),
}


def content_of(clause: Clause, around: Sequence[Clause], words: Patterns, is_reminder: bool) -> str:
    """The clause without its time; of a reminder what comes after the asking, else what stands before or beside it."""
    spoken = _untimed(clause)
    if not is_reminder:
        return _trimmed(patterns("both")["own"].sub("", _trimmed(spoken))) or _beside(clause, around, words)
    if infinitive := next((one for one in around if one.start > clause.start and one.masked.startswith("to ")), None):
        return _trimmed(_untimed(infinitive))
    asking = words["reminds"].search(f"{spoken.lower()} §")
    if asking is None:
        asked = _unasked(spoken)
        return asked if _weight(asked) > _FEW else _beside(clause, around, words) or asked
    after = _trimmed(spoken[asking.end() :])
    before = _unasked(spoken[: asking.start()])
    waking = asking[0] if patterns("both")["waking"].search(asking[0]) else ""
    return (
        after
        or (before if len(_FUNCTION.sub("", before)) > 1 else "")
        or ", ".join(filter(None, (waking, _beside(clause, around, words))))
    )


def _weight(text: str) -> int:
    """Its length, a Chinese character being as much as two letters."""
    return len(text) + len(_CHINESE.findall(text))


def with_topic(content: str, clause: Clause, around: Sequence[Clause]) -> str:
    """A promise with what stands before it, if that is what it is about: 故事的后半段，我明晚讲给你听."""
    before = [one for one in around if one.start < clause.start and (not one.times or not clause.times)]
    if before and not clause.times:
        return f"{_trimmed(_untimed(before[-1]))}, {content}"
    topic = before[-1].text.strip() if before and patterns("both")["topic"].search(before[-1].masked) else ""
    return f"{topic}，{content}" if topic else content


def _beside(clause: Clause, around: Sequence[Clause], words: Patterns) -> str:
    """What the next clause says, or the one before, unless it only asks."""
    around = [one for one in around if not words["reminds"].search(one.masked)]
    after = [_trimmed(_untimed(one)) for one in around if one.start > clause.start]
    before = [_trimmed(_untimed(one)) for one in around if one.start < clause.start]
    return next(filter(None, (*after, *reversed(before))), "")


def to_listener(content: str, lang: Lang) -> str:
    """The person's own words as they are said to them: "my pills" are "your pills"."""
    for pattern, word in _SAID[lang]:
        content = re.sub(pattern, word, content, flags=re.IGNORECASE)
    return content


def _untimed(clause: Clause) -> str:
    text = clause.text
    for time in sorted(clause.times, key=lambda one: -one.start):
        head = re.sub(
            r"\b(?:on|at|by|in|for|from|until|till|around)\s*$", "", text[: time.start - clause.start], flags=re.I
        )
        text = f"{head} {text[time.end - clause.start :]}"
    return re.sub(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])", "", " ".join(text.split()))


def _unasked(text: str) -> str:
    """Without "could you please"."""
    return _trimmed(_without(patterns("both")["polite"], _trimmed(text)))


def _trimmed(text: str) -> str:
    both = patterns("both")
    return _without(both["tail"], _without(both["lead"], text.strip())).strip()[:MAX_CHARS]


def _without(ends: re.Pattern[str], text: str) -> str:
    """The text without all that is found at its end or beginning."""
    while (shorter := ends.sub("", text).strip()) != text:
        text = shorter
    return text
