"""The preferences that are recognised by their words, and how each is described in both languages.

`preference_words.yaml` names the manners of each; here is in which frames they are a wish, and in which a complaint.
"""

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

from soulgraph.soul.language import Lang
from soulgraph.soul.patterns import lazy_pattern


class KnownPreference(NamedTuple):
    """One recognised preference; `zh` and `en` describe what the soul does for it."""

    key: str
    value: str
    zh: str
    en: str
    wishes: re.Pattern[str]
    complaints: re.Pattern[str]


_MORE = "(?:一?点儿?|一?些)"
_MANNER_ZH = "(?:方式|语气|口吻|口气|风格|态度|语调|腔调|措辞|语言|话|词|回答|回复|答案|说法|版本)"
_DEGREE_ZH = "(?:太过?|过于|过分|这么|那么|如此|老是?|总是?|一直)"
STRESS_ZH = "(?:再|又|老是?|总是?|一直|每[^，,]{1,3}都|动不动就?|一上来就?|这么|那么|这样|那样|这般|如此)"
_LINK_ZH = "(?:你|您|[给跟对和拿]我|显得|[说讲写回弄搞]得?|回[答复]得?|发|是|都|得|地|的|过)"
NOT_ZH = "(?:别|不要|不许|不准|不用|不该|不应该?|不必|没必要|用不着|少)"
_SPEECH_ZH = "(?:你|您|语气|口气|口吻|腔调|措辞|态度|[说讲回]话?|话|回答|回复)"

_ANSWERS = "(?:answers?|repl(?:y|ies)|responses?|messages?|sentences?|texts?)"
_MANNER_EN = f"(?:tone|language|style|voice|manner|way|version|words|terms|{_ANSWERS})"
_DONT = r"\b(?:don't|do not|never|please don't)(?: ever| always| keep)?"
_VERY = (
    r"(?: (?:more|less|as|a bit|a little|very|really|extra|always|brutally|completely|totally|purely|quite|so|too))*"
)
_PAPERS = (
    r"(?!(?:,? \w+){0,2} (?:e-?mails?|mails?|letters?|essays?|reports?|story|stories|poems?|notes?|posts?|walks?)\b)"
)
_YOU_ARE = (
    r"\b(?:you(?:'re| are| were|'ve been| have been| sound| seem| get| talk| act| write| come across as)"
    rf"|your (?:tone|voice|manner|{_ANSWERS})(?: is| are| was| were| sounds?| seems?| gets?)|that(?:'s| is| was))"
    r"(?: (?:being|always|just|really|getting|acting|sounding|a bit|a little|kind of|way|far|still|all|so|very|quite"
    r"|pretty|such a|coming across as|a tad))*"
)
_TOO_EN = r"(?: (?:too|overly|unnecessarily|needlessly|excessively|this|that))"
_NEED_NOT_EN = (
    r"\b(?:(?:stop|quit) (?:being|acting|sounding)|(?:shouldn't|should not|don't (?:have|need) to|do not have to"
    r"|needn't|why must you) be|(?:can|could|would) you (?:please )?not be|why (?:are you|do you sound))"
    r"(?: (?:so|too|this|that|always|all|such a))*"
)


def _any_of(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(words) or '(?!)'})"


def _wish_frames(zh: str, en: str, bothers_zh: str, bothers_en: str) -> list[str]:
    """The expressions that ask for a manner, or for the absence of one that bothers."""
    return [
        rf"{zh}(?:{_MORE}(?!的(?!{_MANNER_ZH}))|[地着]?(?:[说讲聊答写]|回[我答复]?|[跟和对]我)|的?{_MANNER_ZH}|起来|即可|就[好行])",
        rf"越{zh}越好",
        rf"(?:更|再|得|要|尽量|保持|最好|务必|一律|都|请)(?:更|再|要|尽量)?{zh}(?!的)",
        rf"(?<!would )(?<!might )(?<!could )(?<!will )\b(?:be|sound|stay|act|remain)(?: more| as| a bit| a little"
        rf"| extra| very| always| brutally| completely)* {en}\b{_PAPERS}",
        rf"\b(?:keep|make) (?:it|them|things|that|this(?: one)?|(?:your |the |every |each |all |this )*{_ANSWERS})"
        rf"{_VERY} {en}\b",
        rf"\b(?:more|bit) {en}\b{_PAPERS}|\b{en}(?:,? (?:and )?\w+)? {_MANNER_EN}\b",
        rf"\b(?:speak|talk|answer|reply|respond|explain|write|say)(?: (?:to|with) me| me| things| everything| it)*"
        rf"{_VERY} {en}\b",
        rf"{NOT_ZH}(?:{_LINK_ZH}|(?<![用必])太)*{bothers_zh}",
        rf"{_DONT} be{_VERY} {bothers_en}\b|\bless {bothers_en}\b",
    ]


def _complaint_frames(faults_zh: str, faults_en: str, bothers_zh: str, bothers_en: str) -> list[str]:
    """The expressions that blame a manner: a fault in any degree, what else bothers if there is too much of it."""
    return [
        rf"{NOT_ZH}{_LINK_ZH}*(?:{STRESS_ZH}{_LINK_ZH}*)+{bothers_zh}",
        rf"{_SPEECH_ZH}[^，,]{{0,6}}{_DEGREE_ZH}(?:爱|喜欢|在)?{bothers_zh}|^太{bothers_zh}|怎么(?:又|老|总|还|这么|那么)是?{bothers_zh}",
        rf"{_SPEECH_ZH}[^，,]{{0,5}}(?:好|真|很|有点儿?|有些|挺|够|特别|非常|怪){faults_zh}",
        rf"你[^，,]{{0,4}}(?:语气|口气|口吻|腔调|态度){faults_zh}的\W*$",
        rf"{_YOU_ARE} {faults_en}\b|{_YOU_ARE}{_TOO_EN} {bothers_en}\b",
        rf"{_NEED_NOT_EN} {bothers_en}\b|{_DONT} be (?:so|that|this) {bothers_en}\b",
    ]


def _known_preference(entry: Mapping[str, Any]) -> KnownPreference:
    def words(kind: str, lang: Lang) -> list[str]:
        return list(entry.get(kind, {}).get(lang, ()))

    faults = _any_of(words("fault", "zh")), _any_of(words("fault", "en"))
    bothers = (
        _any_of(words("fault", "zh") + words("excess", "zh")),
        _any_of(words("fault", "en") + words("excess", "en")),
    )
    wishes = _wish_frames(_any_of(words("wish", "zh")), _any_of(words("wish", "en")), *bothers)
    complaints = _complaint_frames(*faults, *bothers)
    return KnownPreference(
        key=entry["key"],
        value=entry["value"],
        zh=entry["zh"],
        en=entry["en"],
        wishes=_compiled(wishes + [_filled(words) for words in entry.get("wishes", ())]),
        complaints=_compiled(complaints + [_filled(words) for words in entry.get("complaints", ())]),
    )


def _filled(words: str) -> str:
    """An expression of the file with its place-holders filled; not by `format`, because of the braces of counts."""
    expressions = {"{more}": _MORE, "{not}": NOT_ZH, "{answers}": _ANSWERS, "{dont}": _DONT}
    for name, expression in expressions.items():
        words = words.replace(name, expression)
    return words


def _compiled(expressions: Iterable[str]) -> re.Pattern[str]:
    return lazy_pattern("|".join(expressions), re.IGNORECASE)


_FILE = files(__package__) / "preference_words.yaml"
KNOWN_PREFERENCES = tuple(map(_known_preference, yaml.load(_FILE.read_text("utf-8"), yaml.CSafeLoader)))
PREFERENCE_KEYS = frozenset({"address", "mode", *(known.key for known in KNOWN_PREFERENCES)})
"""The keys that are ours. All others are made of the user's words."""

_NAMED_PHRASES: dict[str, tuple[str, str]] = {
    "address": ("叫你{}", "call you {}"),
    "address:": ("不再叫你{}", "stop calling you {}"),
    "topic:": ("不提{}", "avoid talking about {}"),
}
_MODES = {"rational": "理性", "idol": "偶像", "hybrid": "混合", "strict": "严格", "default": "默认"}
_PHRASES = {(known.key, known.value): (known.zh, known.en) for known in KNOWN_PREFERENCES} | {
    ("mode", mode): (f"用{zh}模式说话", f"stay in {mode} mode") for mode, zh in _MODES.items()
}


def describe_preference(key: str, value: str, lang: Lang) -> str:
    """What the soul does for a preference, phrased to follow "from now on I will"."""
    kind, named, subject = key.partition(":")
    if (phrases := _NAMED_PHRASES.get(kind + named)) is not None:
        return phrases[lang == "en"].format(subject or value)
    unknown = (f"照你说的做（{value}）", f"do as you said ({value})")
    return _PHRASES.get((key, value), unknown)[lang == "en"]
