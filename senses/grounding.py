"""Whether a note about a person is worth keeping: said by them, not known already, and not small talk.

All of it is done with words: it must hold for the smallest model, whose own judgement is what is doubted.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files

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
_NAME = re.compile(r"(?<=[a-z,;:'\"’] )[A-Z][a-z]+|(?<=[\u3400-\u9fff])\s?[A-Za-z]{2,}|[A-Za-z]{2,}(?=[\u3400-\u9fff])")
_SPEAKER = re.compile(r"\b(?:i|me|my|mine|we|us|ours?)\b", re.IGNORECASE)
_TO_LISTENER = re.compile(
    r"\W*(?:(?:can|could|would|will|do|did|are|have) you\b|you\b|please\b|你(?!.*[我咱])|请|帮我|给我)", re.IGNORECASE
)
_QUOTED = re.compile(r"[“\"「『《]([^”\"」』》]+)[”\"」』》]")
_NEGATED = re.compile(
    r"\b(?:not|never|no|nobody|nothing|without|hardly|cannot)\b|n['’]t\b"
    r"|不(?!错|久|同|过|仅|但|只|管|断|知|小心|好意思)|没(?!事)|从未|无法",
    re.IGNORECASE,
)
_FEW = 3  # words; so few are in many a text that says something else
_MIN_HAN = 3  # characters that tell something of anybody: 烦 and 好烦 do not
_MAX_WHOLE = 120  # characters of a message that is quoted as a whole
_MAX_LONGER = 3  # times the words of a claim: a longer text has most of its words by chance


def grounded(claim: str, sources: Iterable[str], names: Sequence[str] = ()) -> bool:
    """Whether the sources say what is claimed, and no detail is invented. `names` are known without being said."""
    said = [sentence for source in sources for sentence in sentences_of(source) if not is_question(sentence)]
    known = "\n".join([*said, *names])
    if _invents(claim, known) or _share_said(claim, known) < GROUNDED:
        return False
    clauses = [clause for sentence in said for clause in _CLAUSE.findall(sentence)]
    return all(_agrees(part, clauses) for part in _CLAUSE.findall(normalise(claim)))


def nearest_statement(claim: str, sources: Iterable[str]) -> str:
    """The sentence of the sources that says most of what is claimed; empty if none says enough of it.

    A short source without a question is told whole: its sentences may need each other to be understood.
    """
    said = {sentence: source for source in sources for sentence in sentences_of(source) if not is_question(sentence)}
    nearest = max(said, key=lambda sentence: _share_said(claim, sentence), default="")
    if _share_said(claim, nearest) < HINTED:
        return ""
    source = said[nearest].strip()
    is_short = len(source) <= _MAX_WHOLE and not any(map(is_question, sentences_of(source)))
    return " ".join(source.split()) if is_short else nearest


def details_known(claim: str, sources: Iterable[str]) -> bool:
    """Whether every number, name and quotation of the claim is in the sources."""
    return not _invents(claim, "\n".join(sources))


def restates(claim: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts, or a sentence of it, says the same in the same or almost the same words."""
    return any(_is_near(claim, part) for text in texts for part in {text, *sentences_of(text), *_CLAUSE.findall(text)})


def copied_share(text: str, sources: Iterable[str]) -> float:
    """How much of a text is clauses of the sources, be it with another number or denied: from 0 to 1."""
    clauses = [_content_terms(clause) for source in sources for clause in _CLAUSE.findall(source)]
    parts = [(len(fold(part)), _content_terms(part)) for part in _CLAUSE.findall(text)]
    total = sum(length for length, _ in parts)
    copied = sum(length for length, terms in parts if any(_share(terms, clause) >= RESTATED for clause in clauses))
    return copied / total if total else 0.0


def _share(terms: set[str], others: set[str]) -> float:
    if len(terms) < _FEW:
        return float(terms == others != set())
    return len(terms & others) / len(terms)


def is_small_talk(claim: str) -> bool:
    """Whether it tells nothing about anybody: a question, or greetings, thanks and bare feelings."""
    return is_question(claim) or says_nothing(claim)


def says_nothing(claim: str) -> bool:
    """Whether nothing, or at most two Chinese characters, is left of it without greetings, thanks and feelings."""
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
    return _QUESTION.search(sentence) is not None


def _is_near(claim: str, text: str) -> bool:
    folded, other = fold(claim), fold(text)
    if not folded or not other:
        return False
    if folded == other:
        return True
    if _is_negated(claim) != _is_negated(text) or not _numbers(claim) <= _numbers(text):
        return False
    terms, others = _content_terms(claim), _content_terms(text)
    return len(others) <= _MAX_LONGER * len(terms) and _share(terms, others) >= RESTATED


def _content_terms(text: str) -> set[str]:
    terms = {term for term in terms_of(_without(normalise(text), _words()["meta_zh"])) if _tells(term)}
    return terms - _stems("meta_en") or set(terms_of(text))


def _invents(claim: str, known: str) -> bool:
    """Whether a number, a name or a quotation of the claim is not among what is known."""
    if not _numbers(claim) <= _numbers(known):
        return True
    said = set(_latin_terms(known))
    if any(not set(terms_of(name)) <= said for name in _NAME.findall(claim) if terms_of(name)):
        return True
    return any(fold(quoted) not in fold(known) for quoted in _QUOTED.findall(claim))


def _share_said(claim: str, known: str) -> float:
    """The share of the claim's words that are known; a Chinese character counts for half a word."""
    claim, known = in_digits(claim), in_digits(known)  # numbers are compared apart
    english, said_english = _latin_found(claim, known)
    han, said_han = _han_found(claim, known)
    total = english + han / 2
    return (said_english + said_han / 2) / total if total else 0.0


def _latin_found(claim: str, known: str) -> tuple[int, int]:
    said = {form for word in _LATIN.findall(known) for form in _forms(word)}
    words = {word: _forms(word) for word in _LATIN.findall(claim) if _tells(word)}
    told = [terms for terms in words.values() if not terms & _stems("meta_en")]
    return len(told), sum(bool(terms & said) for terms in told)


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


def _han_found(claim: str, known: str) -> tuple[int, int]:
    """How many characters the claim has, and how many stand beside the same neighbour in what is known."""
    pairs = {run[at : at + 2] for run in _HAN.findall(normalise(known)) for at in range(len(run))}
    total = found = 0
    for run in _HAN.findall(_without(normalise(claim), _words()["meta_zh"])):
        for at, char in enumerate(run):
            if char not in FUNCTION_CHARS:
                total += 1
                found += run[max(at - 1, 0) : at + 1] in pairs or run[at : at + 2] in pairs
    return total, found


def _agrees(part: str, clauses: Sequence[str]) -> bool:
    """Whether the clause that is nearest to this part is affirmed or denied as the part is."""
    nearest = max(clauses, key=lambda clause: _share_said(part, clause), default="")
    return _share_said(part, nearest) < GROUNDED or _is_negated(part) == _is_negated(nearest)


def _numbers(text: str) -> set[str]:
    """The numbers of a text; one is also an article, and no detail."""
    return set(re.findall(r"\d+", in_digits(text))) - {"1"}


def _is_negated(text: str) -> bool:
    return _NEGATED.search(text) is not None


def _latin_terms(text: str) -> Iterator[str]:
    return (term for word in _LATIN.findall(normalise(text)) for term in terms_of(word))


def _without(text: str, words: frozenset[str]) -> str:
    return re.sub("|".join(sorted(map(re.escape, words), key=len, reverse=True)), " ", text)


@cache
def _stems(name: str) -> frozenset[str]:
    return frozenset(term for word in _words()[name] for term in terms_of(word))


@cache
def _words() -> dict[str, frozenset[str]]:
    lists: dict[str, str] = yaml.safe_load((files(__package__) / "grounding_words.yaml").read_text("utf-8"))
    return {name: frozenset(words.split()) for name, words in lists.items()}
