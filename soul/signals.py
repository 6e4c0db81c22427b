"""Finds the preferences a user states in a message.

Only the message itself is read, never recalled memories: those would count as new wishes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from soulgraph.soul.clauses import clauses_of, is_refused, wish_sentences
from soulgraph.soul.mode_words import mode_request_in
from soulgraph.soul.preference_words import KNOWN_PREFERENCES

LIKE_THIS = ("reply_style", "like_this")
"""Key and value of the wish to go on as now; the guard finds out what that means."""

_MAX_CHARS = 200


@dataclass(frozen=True, slots=True)
class Signal:
    """One statement of a preference. `explicit`: for good; `once`: for this time only; `correction`: a complaint."""

    key: str
    value: str
    evidence: str
    explicit: bool = False
    correction: bool = False
    once: bool = False


_EXPLICIT = re.compile(
    r"以后(?!的|再说|会|吧)|今后|往后|从现在(?:起|开始)|从今(?:天|往后|以后)(?:起|开始)?|从此"
    r"|(?<![你么])每[次回]都?|永远|始终|记[住着]|记得|牢记"
    r"|\bfrom (?:now|here|today) on\b|\bgoing forward\b|\bhenceforth\b|\bin (?:the )?future\b|\bfor good\b"
    r"|(?<!you )(?<!you're )(?<!are )\balways\b|\b(?:every|each) time(?! you| i)"
    r"|^\W*(?:please |and |also )*(?:remember|keep in mind)\b|^\W*(?:please )?never\b",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"这一?[次回]|今[天晚]|暂时|\bthis (?:time|once)\b|\bjust once\b|\bfor now\b|\btoday\b|\btonight\b", re.IGNORECASE
)
_CORRECTS = re.compile(
    r"(?:别|不要|不许|不准|能不能不)(?:给我|跟我|对我|你)*(?:再|老|总|一直|每次|又)|(?:别|不要)[^，,]*了\W*$"
    r"|怎么(?:又|老|总|还)|为什么(?:又|老|总)|你[^，,]{0,4}(?:老|总|又|一直|每次)"
    r"|太[^，,太]{1,5}了|太[长短多凶]\W*$|受不了|我说过|说了多少"
    r"|\b(?:stop|quit) \w+ing\b|\byou(?:'re| are)? (?:keep|always)\b|\bwhy (?:do|must) you\b|\bany ?more\b|\bno more\b"
    r"|\b(?:is|are|was|that's|you're|talk|talking|way|far) too \w+|\bagain\W*$|\benough with\b|\btold you\b"
    r"|\bi (?:hate|dislike|don't like)(?: it)? (?:when|how) you\b|\b(?:sick|tired) of\b",
    re.IGNORECASE,
)
_ABOUT_SELF = re.compile(
    r"^\W*(?:(?:以后|今后|往后|从现在(?:起|开始)|从今(?:天|以后)(?:起|开始)?|今天|昨天|其实|因为)[，,\s]*)?"
    r"(?:我(?!们|希望|想让|想要?你|要你|[更最很]?喜欢|比较喜欢|不喜欢|受不了|讨厌|觉得|需要|宁愿|说过)"
    r"|i (?!want you|need you|would|prefer|like|love|hate|dislike|don't|wish|really|told)"
    r"|i'm (?!sick|tired)|we |(?:it|this|there) (?:is|was|were) )",
    re.IGNORECASE,
)

_NAME_ZH = (
    r"(?!起|去|来|回|过|一[声下]|吃|睡|做|帮|滚|怎|干|出|先|别|不|看|听|写|等|名字|什么|醒|如何|上|下|开|关|的)"
    r"(?P<name>\w{1,10}?)(?=(?:吧|就好|就行|就可以|好了|好吗|行吗|可以吗|[了呀啊哦啦呢吗])*(?:\W|$|叫我|而不是))"
)
_NAME_EN = (
    r"(?!(?:back|later|when|if|at|on|in|an?|the|tomorrow|tonight|crazy|once|again|any\w*|names?|up|out|now|what\w*)\b)"
    r"(?!(?:by|that|this|it)\b)(?P<name_en>[\w'-]+(?: [\w'-]+){0,2}?)"
    r"(?= (?:please|from|instead|ok|okay|always|and|not|again|any ?more|all|in|every|so)\b|\W*$|[.!?])"
)
_CALLED = re.compile(
    rf"(?<!点)(?<!时候)(?<!分钟)(?:叫|喊|称呼)我[做为]?{_NAME_ZH}"
    rf"|\b(?:call|address|rather you called) me (?:as )?{_NAME_EN}",
    re.IGNORECASE,
)
_NOT_CALLED = re.compile(
    r"(?:别|不要|不许|不准|不用|怎么|为什么|你)(?:再|老|总|又|还|是|一直|每次都?|随便|你)*"
    rf"(?:叫|喊|称呼)我[做为]?{_NAME_ZH}"
    rf"|\b(?:(?:stop|quit|keep|always|be) calling|(?:don't|do not|never|not|always)(?: ever| keep)? call(?:ing)?)"
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
_LIKE_THIS = re.compile(
    r"[都就也还请你续](?:用|像|照|按)?(?:这么|这样|现在这样|这种(?:方式|语气|风格))(?:[跟和对]我)?(?:[说讲聊来回答]|\W|就|吧|$)"
    r"|\b(?:like (?:this|that)|(?:this|that) way)\b",
    re.IGNORECASE,
)
_FREE_CORRECTION = re.compile(
    r"(?:别|不要)(?:给我|跟我|对我|你)*(?:再|老|总|一直)是?(?:[对跟和]我)?用?(?:这样|这么|那样|那么|这种|那种)"
    r"|\b(?:stop|quit) (?:talking|speaking|answering|replying|acting|treating|saying)\b(?! about)",
    re.IGNORECASE,
)
_VERB_EN = (
    "(?:start|greet|ask|tell|remind|say|speak|talk|use|answer|reply|give|be|keep|don't|do not|check|begin|end|treat|let"
    "|wait|avoid|include|write|send|read|listen|warn|wake|finish|add|put|show|repeat)"
)
_FREE_WISH = re.compile(
    r"你(?:要|先|都|就|必须|只|别|不要|给|跟|对|多|少|记得|提醒|用|说|把|帮)|请|(?:提醒|告诉|问|通知|[给跟对帮替陪]|听|让)我"
    r"|记[住得].{0,2}我[^，,]{0,3}(?:喜欢|爱|讨厌|怕|习惯|过敏|不[吃喝能])"
    r"|\b(?:on|forward|future|time|always|to|never)\b[ ,]*"
    rf"(?:please |just |you (?:should|must|need to|can|have to) |i want you to )*{_VERB_EN}\b"
    rf"|^\W*(?:please |can you |could you |would you )*{_VERB_EN}\b"
    r"|\bremember (?:that )?i (?:really )?(?:like|love|hate|prefer|don't|can't|am)\b",
    re.IGNORECASE,
)
_FORETELLS = re.compile(r"你[^，,]{0,3}(?:会|可能|一定|肯定)|\b(?:will|gonna|going to)\b(?! you)", re.IGNORECASE)
_COMPLAINS = re.compile(r"怎么[又老总还]|[你他她][又老总]|一直$|\byou (?:keep|always)\b|\bwhy do you\b", re.IGNORECASE)
# Lights, songs and letters can be soft or short as well: that is no wish about the soul.
_ABOUT_A_THING = re.compile(
    r"(?:灯光?|光线?|音乐|歌|声音|音量|颜色|风|空调|窗帘|温度|水|衣服|头发|文章|作文|邮件|信|诗|故事|代码)[^，,]{0,3}$"
)


def signals_in(text: str) -> list[Signal]:
    """The preferences stated in a text, one for each key: the later of two that contradict each other."""
    found = {signal.key: signal for sentence in wish_sentences(text) for signal in _signals_in_sentence(sentence)}
    return list(found.values())


def _signals_in_sentence(sentence: str) -> list[Signal]:
    explicit = _is_explicit(sentence)
    found = [*dict.fromkeys(_named_preferences(sentence))]
    flags = {"explicit": explicit, "once": not explicit and _ONCE.search(sentence) is not None}
    if not found:
        found = [*_free_form_wish(sentence, explicit)]
    return [
        Signal(key, value, evidence[:_MAX_CHARS], correction=_CORRECTS.search(evidence) is not None, **flags)
        for key, value, evidence in found
    ]


def _is_explicit(sentence: str) -> bool:
    return any(not is_refused(sentence[: marker.start()]) for marker in _EXPLICIT.finditer(sentence))


def _named_preferences(sentence: str) -> Iterator[tuple[str, str, str]]:
    """(key, value, clause) of every preference a sentence names."""
    for clause in clauses_of(sentence):
        if not _ABOUT_SELF.search(clause):
            yield from ((key, value, clause) for key, value in _known_preferences(clause))
            yield from ((key, value, clause) for key, value in _names_and_topics(clause))
    if (request := mode_request_in(sentence)) is not None:
        yield "mode", request.mode, request.evidence


def _known_preferences(clause: str) -> Iterator[tuple[str, str]]:
    """(key, value) of the known preferences in a clause; of overlapping matches for one key the earlier counts.

    So 别用表情 is not also read as 用表情.
    """
    matches = [(match, known) for known in KNOWN_PREFERENCES for match in known.words.finditer(clause)]
    last_end: dict[str, int] = {}
    for match, known in sorted(matches, key=lambda pair: pair[0].start()):
        if match.start() >= last_end.get(known.key, 0) and _may_precede_wish(clause[: match.start()]):
            last_end[known.key] = match.end()
            yield known.key, known.value


def _may_precede_wish(before: str) -> bool:
    return not (is_refused(before) or _COMPLAINS.search(before) or _ABOUT_A_THING.search(before))


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


def _free_form_wish(sentence: str, explicit: bool) -> Iterator[tuple[str, str, str]]:
    """A wish that names no known preference: "like this", or one that is kept in the user's words."""
    if _FORETELLS.search(sentence):
        return
    words = sentence.strip(" 。.!！~")[:_MAX_CHARS]
    if explicit and _LIKE_THIS.search(sentence) and not _CORRECTS.search(sentence):
        yield *LIKE_THIS, sentence
    elif _FREE_CORRECTION.search(sentence) or (
        explicit and _FREE_WISH.search(sentence) and not _is_about_self(sentence)
    ):
        yield f"other:{words[:40]}", words, sentence


def _is_about_self(sentence: str) -> bool:
    """Whether a sentence is about the user's own plans or state."""
    return _ABOUT_SELF.search(sentence) is not None
