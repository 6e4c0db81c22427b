"""Finds the preferences a user states in a message.

Only the message itself is read, never recalled memories: those would count as new wishes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from soulgraph.soul import signal_words as words
from soulgraph.soul.clauses import clauses_of, is_refused, wish_sentences
from soulgraph.soul.mode_words import mode_request_in
from soulgraph.soul.preference_words import KNOWN_PREFERENCES

LIKE_THIS = ("reply_style", "like_this")
"""Key and value of the wish to go on as now; the guard finds out what that means."""

_MAX_CHARS = 200
_PRONOUNS = {*"你您我他她它", "你们", "我们", "you", "me", "i", "he", "she", "it", "we", "they"}
_MAX_NAME = 40


@dataclass(frozen=True, slots=True)
class Signal:
    """One statement of a preference. `explicit`: for good; `once`: for this time only; `correction`: a complaint."""

    key: str
    value: str
    evidence: str
    explicit: bool = False
    correction: bool = False
    once: bool = False


class _Wish(NamedTuple):
    """What a sentence names: key and value, the words that do, and whether they complain."""

    key: str
    value: str
    evidence: str
    complaint: bool = False


_NAME_ZH = (
    r"(?!起|就[好行]|去|来|回|过|一[声下]|吃|睡|做|帮|滚|怎|干|出|先|别|不|看|听|写|等|名字|什么|醒|如何|听[听我]|上|下|开|关|的)"
    r"(?P<name>\w{1,10}?)(?=(?:吧|就[好行成]|就可以|好了|好吗|行吗|可以吗|听听|试试|[了呀啊哦啦呢吗])*(?:\W|$|叫我|而不是))"
)
_NAME_EN = (
    r"(?!(?:back|later|when|if|at|on|in|an?|the|tomorrow|tonight|crazy|once|again|any\w*|names?|up|out|now|what\w*)\b)"
    r"(?!(?:by|that|this|it)\b)(?P<name_en>(?:(?:dr|mr|mrs|ms|prof)\. )?[\w'-]+(?: [\w'-]+){0,2}?)"
    r"(?= (?:please|from|instead|ok|okay|always|and|not|again|any ?more|all|in|every|so)\b|\W*$|[.!?])"
)
_CALLED = re.compile(
    rf"(?<!点)(?<!时候)(?<!分钟)(?:(?:叫|喊|称呼)我[做为]?(?:一声)?|(?:^|[你您就都后起请])管我叫){_NAME_ZH}"
    rf"|\b(?:call|address|refer to|rather you called) me (?:as )?{_NAME_EN}",
    re.IGNORECASE,
)
_NOT_CALLED = re.compile(
    r"(?:(?:别|不要|不许|不准|不用|怎么|为什么)(?:再|老|总|又|还|是|一直|每次都?|随便|你)*|[你您](?:老|总|又|还|一直|每次都?)是?)"
    rf"(?:叫|喊|称呼)我[做为]?{_NAME_ZH}"
    rf"|\b(?:(?:stop|quit|keep|always|be) calling|(?:don't|do not|never|not|you always)(?: ever| keep)? call(?:ing)?)"
    rf" me (?:as )?{_NAME_EN}",
    re.IGNORECASE,
)
_NOT_MENTIONED = re.compile(
    r"(?:别|不要|不许|不准)(?:再|老|总|又|一直|跟我|和我|对我|你)*"
    r"(?:提起?到?|聊起?到?|谈起?论?|[说讲](?=[^，,]{1,10}(?:的事|话题)))(?!天|了|这|那|它|心|醒|前|高|供)"
    r"(?P<name>\w{1,12}?)(?=(?:的?事情?|的?话题|了|吧|啊|好吗|行吗)*(?:\W|$))"
    r"|\b(?:(?:don't|do not|never)(?: ever)?|stop)"
    r" (?:talk(?:ing)?(?: to me)? about|mention(?:ing)?|bring(?:ing)? up|speak(?:ing)? (?:of|about))"
    rf" (?:the )?{_NAME_EN}",
    re.IGNORECASE,
)


def signals_in(text: str) -> list[Signal]:
    """The preferences stated in a text, one for each key: the later of two that contradict each other."""
    return list(_signals_in(text))


@lru_cache(maxsize=64)
def _signals_in(text: str) -> tuple[Signal, ...]:
    """Remembered: a turn asks for them, and the work after it once more."""
    found = {signal.key: signal for sentence in wish_sentences(text) for signal in _signals_in_sentence(sentence)}
    return tuple(found.values())


def may_state_wish(text: str) -> bool:
    """Whether a text has something of a wish that the rules have not found, so that asking a model is worth it."""
    if signals_in(text):
        return False
    return any(
        words.LASTING.search(sentence) or words.CORRECTS.search(sentence) or words.SPEAKS_OF_MANNER.search(sentence)
        for sentence in wish_sentences(text)
    )


def proposed_signal(text: str, key: str, value: str, evidence: str, explicit: bool, correction: bool) -> Signal | None:
    """What a model has found in a text, if its evidence stands there word for word, and in a wish of the user's own.

    Keys and values are ours or the user's words, never the model's. A wish that the model calls lasting, without a
    word for it that we know, is asked about like a correction.
    """
    sentence = next((one for one in wish_sentences(text) if evidence and evidence in one), None)
    if sentence is None or words.ABOUT_OTHERS.search(sentence):
        return None
    is_known = any((known.key, known.value) == (key, value) for known in KNOWN_PREFERENCES)
    is_name = 0 < len(value) <= _MAX_NAME and value.casefold() not in _PRONOUNS
    is_named = key == "address" and is_name and value in evidence
    if not is_known and not is_named:
        key, value = f"other:{evidence[:40]}", evidence[:_MAX_CHARS]
    lasting = explicit and is_lasting(sentence)
    once = words.ONCE.search(sentence) is not None and not lasting
    asked_about = correction or (explicit and not once)
    return Signal(key, value, evidence[:_MAX_CHARS], explicit=lasting, correction=asked_about, once=once)


def _signals_in_sentence(sentence: str) -> list[Signal]:
    explicit = is_lasting(sentence)
    once = not explicit and words.ONCE.search(sentence) is not None
    named = [*dict.fromkeys(_named_preferences(sentence))]
    found = named or [*_free_form_wish(sentence, explicit, once)]
    corrects = words.CORRECTS.search(sentence) is not None or any(wish.complaint for wish in found)
    return [
        Signal(wish.key, wish.value, wish.evidence[:_MAX_CHARS], explicit=explicit, correction=corrects, once=once)
        for wish in found
    ]


def is_lasting(sentence: str) -> bool:
    """Whether a sentence says that it holds for good."""
    return any(not is_refused(sentence[: marker.start()]) for marker in words.LASTING.finditer(sentence))


def _named_preferences(sentence: str) -> Iterator[_Wish]:
    """Every preference that a sentence names."""
    for clause in _clauses_for_soul(sentence):
        if not words.ABOUT_OTHERS.search(clause):
            yield from _known_preferences(clause)
            yield from (_Wish(key, value, clause) for key, value in _names_and_topics(clause))
    if (request := mode_request_in(sentence)) is not None:
        yield _Wish("mode", request.mode, request.evidence)


def _clauses_for_soul(sentence: str) -> Iterator[str]:
    """The clauses that are not about the user; after a plan of theirs, only those that address the soul."""
    plans = False
    for clause in clauses_of(sentence):
        if words.ABOUT_SELF.search(clause):
            plans = plans or words.LASTING.search(clause) is not None
        elif not plans or words.ADDRESSES_SOUL.search(clause):
            yield clause


def _known_preferences(clause: str) -> Iterator[_Wish]:
    """The known preferences in a clause; of overlapping matches for one key the earlier counts, and the longer.

    So 别用表情 is not also read as 用表情.
    """
    matches = [
        (match, known, complaint)
        for known in KNOWN_PREFERENCES
        for complaint, pattern in ((True, known.complaints), (False, known.wishes))
        for match in pattern.finditer(clause)
    ]
    last_end: dict[str, int] = {}
    for match, known, complaint in sorted(matches, key=lambda found: (found[0].start(), -found[0].end())):
        if match.start() >= last_end.get(known.key, 0) and _may_precede_wish(clause[: match.start()]):
            last_end[known.key] = match.end()
            yield _Wish(known.key, known.value, clause, complaint)


def _may_precede_wish(before: str) -> bool:
    """After a word for good, 你一直 asks for a habit instead of blaming one."""
    complains = words.COMPLAINS.search(before) is not None and not is_lasting(before)
    return not (is_refused(before) or complains or words.ABOUT_A_THING.search(before))


def _names_and_topics(clause: str) -> Iterator[tuple[str, str]]:
    """How the user wants to be called, how not, and which topics to avoid."""
    refused = [(match.span(), _name(match)) for match in _NOT_CALLED.finditer(clause)]
    yield from ((f"address:{name}", "avoid") for _, name in refused)
    for match in _CALLED.finditer(clause):
        is_within_refusal = any(start <= match.start() < end for (start, end), _ in refused)
        if not is_within_refusal and not is_refused(clause[: match.start()]):
            yield "address", _name(match)
    yield from ((f"topic:{_name(match)}", "avoid") for match in _NOT_MENTIONED.finditer(clause))


def _name(match: re.Match[str]) -> str:
    return (match["name"] or match["name_en"]).strip()


def _free_form_wish(sentence: str, explicit: bool, once: bool) -> Iterator[_Wish]:
    """A wish that names no known preference: "like this", or one that is kept in the user's words."""
    if words.FORETELLS.search(sentence):
        return
    own_words = sentence.strip(" 。.!！~")[:_MAX_CHARS]
    wish = _Wish(f"other:{own_words[:40]}", own_words, sentence)
    if explicit and words.LIKE_THIS.search(sentence) and not words.CORRECTS.search(sentence):
        yield _Wish(*LIKE_THIS, sentence)
    elif words.FREE_CORRECTION.search(sentence):
        yield wish._replace(complaint=True)
    elif words.ABOUT_SELF.search(sentence) or words.ABOUT_OTHERS.search(sentence):
        return
    elif (explicit and words.FREE_WISH.search(sentence)) or (once and words.FREE_ONCE.search(sentence)):
        yield wish
