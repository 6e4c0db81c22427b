"""Whether a note about a person is worth keeping: said by them, not known already, and not small talk.

All of it is done with words: it must hold for the smallest model, whose own judgement is what is doubted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import yaml

from soulgraph.senses.text import normalise
from soulgraph.senses.tokenizer import FUNCTION_CHARS, index_terms, terms_of, without_courtesies
from soulgraph.senses.values.numbers import in_digits

GROUNDED = 0.6
"""The share of a note's words that must have been said."""
HINTED = 0.4
"""The share from which a note points to a sentence that is then quoted itself."""
RESTATED = 0.8
"""The share from which a text says no more than another."""

_HAN = re.compile(r"[\u3400-\u9fff]+")
_LATIN = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_SENTENCE = re.compile(r"(?:[^。！？!?；;\n.]|\.(?=\S))+[。！？!?；;.]*")
_CLAUSE = re.compile(r"[^，,、：:。！？!?；;\n.]+")
_QUESTION = re.compile(r"[?？]\W*$|[吗呢]\W*$")
_THANKS = re.compile(r"谢谢[^，。！？,.!?]*|\bthank(?:s| you)\b[^,.!?]*", re.IGNORECASE)
_NAME = re.compile(
    r"(?<=[a-z,;:'\"’] )[A-Z][a-z]+|(?<=[\u3400-\u9fff])\s?[A-Za-z]{2,}|[A-Za-z]{2,40}(?=[\u3400-\u9fff])"
)
_SPEAKER = re.compile(r"\b(?:i|me|my|mine|we|us|ours?)\b", re.IGNORECASE)
_TO_LISTENER = re.compile(
    r"\W*(?:(?:can|could|would|will|do|did|are|have) you\b|you\b|please\b|你(?!.*[我咱])|请|帮我|给我)", re.IGNORECASE
)
_QUOTED = re.compile(r"[“\"「『《]([^”\"」』》]{1,300})[”\"」』》]")
_NEGATED = re.compile(
    r"\b(?:not|never|no|nobody|nothing|without|hardly|cannot)\b|n['’]t\b"
    r"|不(?!错|久|同|过|仅|但|只|管|断|知|小心|好意思)|没(?!事)|从未|无法",
    re.IGNORECASE,
)
_FEW = 3  # words; so few are in many a text that says something else
_MIN_HAN = 3  # characters that tell something of anybody: 烦 and 好烦 do not
_MAX_WHOLE = 120  # characters of a message that is quoted as a whole
_MAX_LONGER = 3  # times the words of a claim: a longer text has most of its words by chance
_MAX_SMALL_TALK = 1000  # characters; nobody says so much and nothing
_MAX_END = 200  # characters by which a question is known
_MAX_SOURCE = 8000  # characters of a text that a claim is held against
_MAX_PARTS = 24  # clauses of a claim; what has more is no note


class _Claimed(NamedTuple):
    """What is looked for in a text: English words by their forms, and Chinese characters by what they stand beside."""

    words: Sequence[frozenset[str]]
    pairs: Sequence[tuple[str, str]]


class _Said(NamedTuple):
    """What is found in a text: the forms of its English words, and its pairs of Chinese characters."""

    forms: frozenset[str]
    pairs: frozenset[str]


def grounded(claim: str, sources: Iterable[str], names: Sequence[str] = ()) -> bool:
    """Whether the sources say what is claimed, and no detail is invented. `names` are known without being said."""
    said = [one for text in sources for one in sentences_of(text[:_MAX_SOURCE]) if not is_question(one)]
    known = "\n".join([*said, *names])
    if _invents(claim, known) or _share_said(_claimed(claim), _said(known)) < GROUNDED:
        return False
    clauses = {clause: _said(clause) for sentence in said for clause in _CLAUSE.findall(sentence)}
    parts = dict.fromkeys(_CLAUSE.findall(normalise(claim)))
    return len(parts) <= _MAX_PARTS and all(_agrees(part, clauses) for part in parts)


def nearest_statement(claim: str, sources: Iterable[str]) -> str:
    """The sentence of the sources that says most of what is claimed; empty if none says enough of it.

    A short source without a question is told whole: its sentences may need each other to be understood.
    """
    said = {one: text for text in sources for one in sentences_of(text[:_MAX_SOURCE]) if not is_question(one)}
    claimed = _claimed(claim)
    shares = {sentence: _share_said(claimed, _said(sentence)) for sentence in said}
    nearest = max(shares, key=shares.__getitem__, default="")
    if not nearest or shares[nearest] < HINTED:
        return ""
    source = said[nearest].strip()
    is_short = len(source) <= _MAX_WHOLE and not any(map(is_question, sentences_of(source)))
    return " ".join(source.split()) if is_short else nearest


def details_known(claim: str, sources: Iterable[str]) -> bool:
    """Whether every number, name and quotation of the claim is in the sources."""
    return not _invents(claim, "\n".join(sources))


def restates(claim: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts, or a sentence of it, says the same in the same or almost the same words."""
    likeness = _likeness(claim)
    texts = (text[:_MAX_SOURCE] for text in texts)
    parts = (part for text in texts for part in {text, *sentences_of(text), *_CLAUSE.findall(text)})
    return bool(likeness.folded) and any(_is_near(likeness, part) for part in parts)


def copied_share(text: str, sources: Iterable[str]) -> float:
    """How much of a text is clauses of the sources, be it with another number or denied: from 0 to 1."""
    clauses = {_content_terms(clause) for source in sources for clause in _CLAUSE.findall(source[:_MAX_SOURCE])}
    parts = [(len(fold(part)), _content_terms(part)) for part in _CLAUSE.findall(text[:_MAX_SOURCE])]
    total = sum(length for length, _ in parts)
    taken = {terms: _is_taken(terms, clauses) for _, terms in parts}
    copied = sum(length for length, terms in parts if taken[terms])
    return copied / total if total else 0.0


def _is_taken(terms: frozenset[str], clauses: set[frozenset[str]]) -> bool:
    if len(terms) < _FEW:
        return bool(terms) and terms in clauses
    return any(_share(terms, clause) >= RESTATED for clause in clauses)


def _share(terms: frozenset[str], others: frozenset[str]) -> float:
    if len(terms) < _FEW:
        return float(terms == others != set())
    return len(terms & others) / len(terms)


def is_small_talk(claim: str) -> bool:
    """Whether it tells nothing about anybody: a question, or greetings, thanks and bare feelings."""
    return is_question(claim) or says_nothing(claim)


@lru_cache(maxsize=1024)
def says_nothing(claim: str) -> bool:
    """Whether nothing, or at most two Chinese characters, is left of it without greetings, thanks and feelings.

    Remembered: it is asked of all that is recalled, which is much the same from turn to turn.
    """
    if len(claim) > _MAX_SMALL_TALK:
        return False
    text = _without(without_courtesies(_THANKS.sub(" ", claim)), _words()["feelings_zh"] | _words()["meta_zh"])
    empty = _stems("meta_en") | _stems("feelings_en")
    return not _tells_in_han("".join(_HAN.findall(text))) and all(term in empty for term in _latin_terms(text))


def _tells_in_han(said: str) -> bool:
    return len(said) >= _MIN_HAN and any(char not in FUNCTION_CHARS for char in said)


def tells_of_somebody(statement: str) -> bool:
    """Whether it speaks of the speaker or names somebody; Chinese leaves out who is meant.

    A request, and what is said about the listener, does not.
    """
    tells = any(pattern.search(statement) for pattern in (_HAN, _SPEAKER, _NAME))
    return tells and not _TO_LISTENER.match(statement)


def sentences_of(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE.findall(text) if sentence.strip()]


def fold(text: str) -> str:
    """The letters and digits of a text, in lower case."""
    return "".join(char for char in normalise(text).lower() if char.isalnum())


def is_question(sentence: str) -> bool:
    """By how it ends."""
    return _QUESTION.search(sentence[-_MAX_END:]) is not None


class _Likeness(NamedTuple):
    """By what a text is compared with others."""

    folded: str
    negated: bool
    numbers: set[str]
    terms: frozenset[str]


def _likeness(text: str) -> _Likeness:
    return _Likeness(fold(text), _is_negated(text), _numbers(text), _content_terms(text))


def _is_near(claim: _Likeness, text: str) -> bool:
    other = fold(text)
    if not other or claim.folded == other:
        return bool(other)
    if claim.negated != _is_negated(text) or not claim.numbers <= _numbers(text):
        return False
    others = _content_terms(text)
    return len(others) <= _MAX_LONGER * len(claim.terms) and _share(claim.terms, others) >= RESTATED


def _content_terms(text: str) -> frozenset[str]:
    terms = {term for term in terms_of(_without(normalise(text), _words()["meta_zh"])) if _tells(term)}
    return frozenset(terms - _stems("meta_en") or terms_of(text))


def _invents(claim: str, known: str) -> bool:
    """Whether a number, a name or a quotation of the claim is not among what is known."""
    if not _numbers(claim) <= _numbers(known):
        return True
    said = set(_latin_terms(known))
    if any(not set(terms_of(name)) <= said for name in _NAME.findall(claim) if terms_of(name)):
        return True
    quotations = [*map(fold, _QUOTED.findall(claim))]
    folded = fold(known) if quotations else ""
    return any(quoted not in folded for quoted in quotations)


def _share_said(claim: _Claimed, known: _Said) -> float:
    """The share of the claim's words that are known; a Chinese character counts for half a word."""
    total = len(claim.words) + len(claim.pairs) / 2
    english = sum(not known.forms.isdisjoint(forms) for forms in claim.words)
    chinese = sum(before in known.pairs or behind in known.pairs for before, behind in claim.pairs)
    return (english + chinese / 2) / total if total else 0.0


def _claimed(text: str) -> _Claimed:
    plain = in_digits(text)  # numbers are compared apart
    words = {word: _forms(word) for word in _LATIN.findall(plain) if _tells(word)}
    runs = _HAN.findall(_without(normalise(plain), _words()["meta_zh"]))
    return _Claimed(
        [forms for forms in words.values() if not forms & _stems("meta_en")],
        [(run[max(at - 1, 0) : at + 1], run[at : at + 2]) for run in runs for at in _telling_places(run)],
    )


def _telling_places(run: str) -> list[int]:
    return [at for at, char in enumerate(run) if char not in FUNCTION_CHARS]


def _said(text: str) -> _Said:
    plain = in_digits(text)
    runs = _HAN.findall(normalise(plain))
    return _Said(
        frozenset(form for word in _LATIN.findall(plain) for form in _forms(word)),
        frozenset(run[at : at + 2] for run in runs for at in range(len(run))),
    )


def _tells(word: str) -> bool:
    """Whether a word is no stop word; "likes" is none to the tokenizer, but its stem is one."""
    return any(terms_of(term) for term in terms_of(word))


@lru_cache(maxsize=4096)
def _forms(word: str) -> frozenset[str]:
    """The terms and concepts of a word, those of its infinitive among them."""
    infinitive = _infinitives().get(word.lower(), "")
    return frozenset([*index_terms(word), *index_terms(infinitive)])


@cache
def _infinitives() -> dict[str, str]:
    """The infinitive of irregular forms, by form; the stemmer knows regular ones only."""
    verbs = [group.split("-") for group in _words()["irregular_en"]]
    return {form: infinitive for infinitive, *forms in verbs for form in forms}


def _agrees(part: str, clauses: Mapping[str, _Said]) -> bool:
    """Whether the clause that is nearest to this part is affirmed or denied as the part is."""
    claimed = _claimed(part)
    nearest, share = max(
        ((clause, _share_said(claimed, said)) for clause, said in clauses.items()),
        key=lambda one: one[1],
        default=("", 0.0),
    )
    return share < GROUNDED or _is_negated(part) == _is_negated(nearest)


def _numbers(text: str) -> set[str]:
    """The numbers of a text; one is also an article, and no detail."""
    return set(re.findall(r"\d+", in_digits(text))) - {"1"}


def _is_negated(text: str) -> bool:
    return _NEGATED.search(text) is not None


def _latin_terms(text: str) -> Iterator[str]:
    return (term for word in _LATIN.findall(normalise(text)) for term in terms_of(word))


def _without(text: str, words: frozenset[str]) -> str:
    return _any_of(words).sub(" ", text)


@cache
def _any_of(words: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True)))


@cache
def _stems(name: str) -> frozenset[str]:
    return frozenset(term for word in _words()[name] for term in terms_of(word))


@cache
def _words() -> dict[str, frozenset[str]]:
    lists: dict[str, str] = yaml.load(
        (files(__package__) / "grounding_words.yaml").read_text("utf-8"), yaml.CSafeLoader
    )
    return {name: frozenset(words.split()) for name, words in lists.items()}
