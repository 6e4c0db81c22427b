"""How a fact is told: values cut to what they say, and sentences in the third person."""

import re
from collections.abc import Iterator, Mapping

from soulgraph.senses.facts.grammar import words
from soulgraph.soul.language import Lang

UNNAMED: Mapping[Lang, str] = {"en": "The user", "zh": "用户"}
_MAX_WORDS = 12
_MAX_ITEM = 4  # words of a thing in a list

_WITH_KEPT = frozenset({"likes", "dislikes", "has", "past", "event", "habit", "health"})
_LIST = re.compile(r"\s*,\s*(?:and |or )?|\s+and\s+|\s+or\s+|\s*&\s*|[、和跟及与]")
_TRAIL = re.compile(r"[\s,.!~…'\"-]+$|\s+(?:and|or|the|a|an|to|of|in|with|for|my|it|really|most|on)$", re.IGNORECASE)
_TRAIL_ZH = re.compile(r"[了啦呢呀啊哦吧哈嘛哟]+$")
_TO_THIRD = {
    "my": "their",
    "our": "their",
    "me": "them",
    "i": "they",
    "mine": "theirs",
    "myself": "themself",
    "us": "them",
}
_PRONOUNS = re.compile(r"\b(?:my|our|me|i|mine|myself|us)\b", re.IGNORECASE)
_ENDS_ES = re.compile(r"(?:s|x|z|ch|sh|o)$")


def values(value: str, attribute: str, split: bool, lang: Lang) -> Iterator[str]:
    """The value as it is kept; the parts of a list each for itself."""
    first, *others = _LIST.split(value) if split and "rock and roll" not in value.lower() else [value]
    if text := _cut(first, attribute, lang):
        yield text
    for one in others:
        text = _cut(one, attribute, lang)
        if not text or (lang == "en" and (len(text.split()) > _MAX_ITEM or words("no_item").search(one))):
            return  # the list is over, and the sentence goes on
        yield text


def _cut(value: str, attribute: str, lang: Lang) -> str:
    if lang == "zh":
        return _TRAIL_ZH.sub("", value.strip())
    value = value.strip()
    stop = words("stop").search(f" {value}")
    if stop and not (stop[0].lstrip().startswith("with ") and attribute in _WITH_KEPT):
        value = f" {value}"[: stop.start()].strip()
    shorter = " ".join(value.split()[:_MAX_WORDS])
    while (trimmed := _TRAIL.sub("", shorter)) != shorter:
        shorter = trimmed
    shorter = in_third_person(shorter)
    is_liking = attribute in ("likes", "dislikes")
    return "" if is_liking and (words("vague").search(shorter) or words("no_thing").search(shorter)) else shorter


def in_third_person(text: str) -> str:
    """English words of the person with "they" for "I"."""
    return _PRONOUNS.sub(lambda found: _TO_THIRD[found[0].lower()], text)


def third_person(verb: str) -> str:
    """An English verb as it is after "she"."""
    verb = verb.lower()
    if verb.endswith("s") and not verb.endswith("ss"):
        return verb
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if _ENDS_ES.search(verb) else f"{verb}s"


def possessive(owner: str, relation: str, name: str, lang: Lang) -> str:
    """Somebody of the person's, like "Ann's sister Mia"."""
    if not relation:
        return owner
    if lang == "zh":
        return f"{owner}的{relation}{name}"
    return f"{owner}'s {relation}{' ' if name else ''}{name}"
