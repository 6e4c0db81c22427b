"""How the offline voice understands a text: patterns for names, tool requests, questions, greetings and tone."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from soulgraph.soul.own_words import own_statements
from soulgraph.soul.signals import signals_in
from soulgraph.voices.lines import load_lines

_END = r"(?=[\s，。！？；、,.!?;~～]|$)"
# 叫 also means "to tell": 我叫你… (I told you to …) is no introduction, nor is a question for a name.
_NAME_ZH = rf"(?!你|他|她|它|不|什么|啥|我)([A-Za-z\u4e00-\u9fff·]{{1,8}}?)(?:呀|啊|哦|呢|啦)?{_END}"
_INTRODUCTION = re.compile(
    rf"(?:我叫(?:做)?|我的名字(?:叫做?|是))\s*{_NAME_ZH}"
    r"|\b(?:my name is|my name's|i am called|i'm called)\s+(?!not\b|what\b)([^\W\d_][\w'’-]{0,30})",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"[?？]|吗|什么|哪|谁|怎么|为啥|多少|几[个点岁号]|记不记得|^\W*(?:what|who|where|when|why|how|which)\b",
    re.IGNORECASE,
)
_QUESTIONS_ABOUT_SELF = {
    "name": re.compile(
        r"(?:你|您)(?:的名字)?(?:叫(?:什么|啥)|是谁|是什么(?:$|[?？]))|what(?:'s| is) your name|who are you",
        re.IGNORECASE,
    ),
    "wellbeing": re.compile(
        r"(?:你|您)(?:还)?好吗|你(?:今天|最近|现在)?(?:感觉|心情|过得)?(?:怎么样|如何)"
        r"|how are you|how do you feel|how(?:'s| is) it going",
        re.IGNORECASE,
    ),
}
_GREETING = re.compile(
    rf"^\W*(?:(?:你好|您好|嗨|哈喽|早安|早上好|晚上好|晚安|在吗)[呀啊哇]?{_END}"
    r"|(?:hello|hi|hey|good (?:morning|evening|afternoon))\b)",
    re.IGNORECASE,
)
# Requests alone: not 我记住了 (I have it), 没记住 (did not keep it) or "I can't remember that".
_TOOL_REQUESTS = (
    ("recall_memory", "query", r"记得(.+?)(?:吗|么|不)\W*$"),
    ("recall_memory", "query", r"\b(?:do|can) you (?:still )?(?:remember|recall)\s+(.+?)\W*$"),
    ("remember", "fact", r"(?<![我你他她没不能])(?:请?你?要?|[帮替给]我)记[住着](?!了)[哦啊呀喔]?[，,：:\s]*(.+?)\W*$"),
    ("remember", "fact", r"(?:^|[.!?,;]\s*)(?:please\s+)?remember\s+(?:that\s+|this:?\s+)(.+?)\W*$"),
    ("remember", "fact", r"(?:^|[.!?,;]\s*)(?:please\s+)?(?:keep|bear)\s+in\s+mind\s+that\s+(.+?)\W*$"),
)
_APOLOGY = re.compile(
    r"对不起|抱歉|不好意思|原谅|道歉|(?:我|是我)(?:说|骂|做)得?(?:错|过分|重)了|收回"
    r"|\b(?:sorry|apologi[sz]e|forgive|take (?:it|that) back|didn't mean)\b",
    re.IGNORECASE,
)
# Not 别人 (others), 不要紧 (it does not matter) or "don't know".
_PROHIBITION = re.compile(
    r"^\W*(?:请|你)?(?:别(?![人的处名扭])|不要(?!紧|脸)|不许|不准)"
    r"|^\W*(?:please )?(?:stop\b|quit\b|(?:don't|do not)\b(?! (?:know|mind|worry|you (?:think|know|like|love))))",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^\W*(?:你?(?:能不能|可不可以|可以|能))?(?:请|麻烦你?|拜托你?)?(?:[帮给替陪教]我(?!的)|告诉我|提醒我)"
    r"|^\W*(?:请|麻烦|拜托|打开|关掉|关上|播放)|^\W*把.{1,12}[开关调放拿打收换停]|^\W*调[高低大小亮暗]"
    r"|^\W*(?:please|(?:can|could|would|will) you)\b"
    r"|^\W*(?:tell|give|make|show|play|turn|open|close|set|write|sing|read|help|speak|wake|remind|bring) (?!is\b)\w",
    re.IGNORECASE,
)
_CJK_RUN = re.compile(r"[\u3400-\u9fff]+")
_WORD = re.compile(r"[^\W\d_]{3,}")


class ToolRequest(NamedTuple):
    """A tool the user's words ask for, with the name and value of its one argument."""

    tool: str
    argument: str
    value: str


def lines() -> dict[str, Any]:
    """The word lists, and the prepared lines of each language."""
    return {
        **load_lines("offline_words"),
        "zh": load_lines("offline_lines_zh"),
        "en": load_lines("offline_lines_en"),
    }


def introduced_name(text: str) -> str | None:
    """The name in "my name is …"; None if the user does not introduce themself."""
    found = _INTRODUCTION.search(text)
    return (found[1] or found[2]) if found else None


def is_question(text: str) -> bool:
    return bool(_QUESTION.search(text))


def is_greeting(text: str) -> bool:
    return bool(_GREETING.search(text))


def asked_about_self(text: str) -> str | None:
    """`name` or `wellbeing` if the soul is asked for it, else None."""
    return next((topic for topic, pattern in _QUESTIONS_ABOUT_SELF.items() if pattern.search(text)), None)


def is_apology(text: str) -> bool:
    return bool(_APOLOGY.search(text))


def is_wish(text: str) -> bool:
    """Whether it says how the user wants to be treated, or what the soul is not to do."""
    return bool(_PROHIBITION.search(text) or signals_in(text))


def is_request(text: str) -> bool:
    return bool(_REQUEST.search(text))


def tool_request_in(text: str) -> ToolRequest | None:
    """Of what the user says themself: a leaflet that is read to a soul asks for nothing."""
    text = own_statements(text).strip()
    for tool, argument, pattern in _TOOL_REQUESTS:
        if found := re.search(pattern, text, re.IGNORECASE):
            return ToolRequest(tool, argument, found[1].strip())
    return None


def emotion_group(emotion: str) -> str:
    """The group whose lines answer this emotion; `plain` if none does."""
    groups: dict[str, list[str]] = load_lines("offline_words")["emotion_groups"]
    return next((group for group, emotions in groups.items() if emotion in emotions), "plain")


def tone_of(texts: Sequence[str]) -> str:
    """The tone whose words occur most; `plain` when none occurs."""
    return next(iter(_most_mentioned(texts, "tone_words", r"\b{}")), "plain")


def topics_of(texts: Sequence[str]) -> list[str]:
    """The topics whose words occur, the most frequent first."""
    return _most_mentioned(texts, "topics", r"\b{}(?:s|es|ed|ing)?\b")


def _most_mentioned(texts: Sequence[str], listing: str, english: str) -> list[str]:
    """The groups of a listing by how many of their words occur; `english` is the pattern of an English one."""
    groups: dict[str, list[str]] = load_lines("offline_words")[listing]
    counts = {group: sum(_mentions(text, words, english) for text in texts) for group, words in groups.items()}
    return sorted((group for group in counts if counts[group]), key=lambda group: -counts[group])


def _mentions(text: str, words: Sequence[str], english: str) -> int:
    patterns = (english.format(word) if word.isascii() else word for word in words)
    return sum(bool(re.search(pattern, text, re.IGNORECASE)) for pattern in patterns)


def fact_asked_about(text: str, facts: Sequence[str]) -> str | None:
    """The remembered fact that a question is about, by the terms both share; None if the text asks for none."""
    if not facts or not is_question(text):
        return None
    terms = _terms(text)
    best = max(facts, key=lambda fact: _weight(terms & _terms(fact)))
    return best if terms & _terms(best) else None


def _terms(text: str) -> set[str]:
    """English words without a plural s, and character pairs of Chinese."""
    words = {word.removesuffix("s") for word in _WORD.findall(_CJK_RUN.sub(" ", text.lower()))}
    pairs = {run[i : i + 2] for run in _CJK_RUN.findall(text) for i in range(len(run) - 1)}
    return (words | pairs).difference(load_lines("offline_words")["empty_terms"])


def _weight(shared: set[str]) -> int:
    return sum(1 if term in load_lines("offline_words")["weak_terms"] else 2 for term in shared)


def quoted(text: str, limit: int) -> str:
    """A text on one line, cut to the limit, with angle brackets replaced so that it cannot contain a tag."""
    flat = " ".join(text.split()).replace("<", "‹").replace(">", "›").strip(" 。.!！")
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
