"""Whether a text tells of nobody: what all souls may read must not give away what somebody has said.

A text is abstract if it has no name, number, address or code, no longer run of words that were said, and no word that
was said and is rare. When in doubt it is not.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from operator import add
from typing import Literal, NamedTuple

from soulgraph.soul.abstraction_words import (
    ACRONYM,
    ADDRESS,
    BRAND,
    CODE,
    COUNTED,
    EMAIL,
    FUNCTION,
    GENERAL,
    HARMLESS_ACRONYMS,
    LIVES_IN,
    MODEL,
    NAMED_PLACE,
    NAMED_STREET,
    NO_NUMBER,
    NUMBER,
    QUOTED,
    SECRET,
    TITLE_CASE,
    WAYS,
)
from soulgraph.soul.name_words import (
    HAN,
    IsCommon,
    called,
    capitalised_inside,
    fold,
    introduced_in,
    likely_names_in,
    names_in,
    parts_of,
)
from soulgraph.soul.segmentation import rare_pairs, reading

Reason = Literal["name", "number", "address", "email", "code", "run", "rare"]

_MAX_RUN = 24
_WORD_WEIGHT, _HAN_WEIGHT = 4, 3  # a run of six words, or of eight characters, or of some of both
_UNIT = re.compile(rf"[{HAN}]|[^\W_{HAN}]+(?:'[^\W_{HAN}]+)?")
_LATIN = re.compile(r"[a-z][a-z']*[a-z]")
_HAN_RUN = re.compile(rf"[{HAN}]+")


class _Texts(NamedTuple):
    """What is to be judged, and what was said, in plain letters; small ones are for comparing."""

    text: str
    said: str
    small: str
    small_said: str
    names: Sequence[str]
    is_common: IsCommon

    def tells(self, word: str) -> bool:
        return _occurs(word, self.small)

    def heard(self, word: str) -> bool:
        return _occurs(word, self.small_said)


def _occurs(word: str, small: str) -> bool:
    """Whether the word is there; most are not, and a pattern is not made for those."""
    return word.lower() in small and called(word).search(small) is not None


def reveals(text: str, said: Sequence[str], names: Sequence[str], is_common: IsCommon) -> Reason | None:
    """Why the text is not abstract, None if it is.

    `said` are all the sentences that it must not give away, those of one person in their order; `names` are known ones.
    """
    plain = fold(text)
    heard = fold("\n".join(said))
    texts = _Texts(plain, heard, plain.lower(), heard.lower(), [fold(name) for name in names], is_common)
    return next((reason for reason, is_found in _CHECKS.items() if is_found(texts)), None)


def _has_email(texts: _Texts) -> bool:
    return EMAIL.search(texts.text) is not None


def _has_address(texts: _Texts) -> bool:
    if ADDRESS.search(texts.text):
        return True
    streets = (street[0] for street in NAMED_STREET.finditer(texts.small_said) if street[1] not in FUNCTION)
    places = (place[0] for place in NAMED_PLACE.finditer(texts.said) if _is_proper(place[1], place[2], place[3], texts))
    homes = (home for found in LIVES_IN.findall(texts.said) for home in rare_pairs(found, texts.is_common))
    return any(place in texts.small for place in (*streets, *places, *homes))


def _is_proper(before: str, kind: str, on: str, texts: _Texts) -> bool:
    """Whether the characters before 小区, 路… are its name; those of 我们学校 and 上学路上 are not."""
    if GENERAL.search(before) or texts.is_common(before[-1] + kind) or texts.is_common(before + kind):
        return False
    return not (kind in WAYS and on and texts.is_common(before))


def _has_code(texts: _Texts) -> bool:
    if any(not COUNTED.fullmatch(code[0]) for code in CODE.finditer(texts.text)):
        return True
    acronyms = {*ACRONYM.findall(texts.said)} - HARMLESS_ACRONYMS
    written = {*ACRONYM.findall(texts.text)} - HARMLESS_ACRONYMS
    if any(map(texts.heard, written)):
        return True
    if any(texts.tells(one) for one in acronyms if not texts.is_common(one.lower())):
        return True
    return any(_tells_secret(secret.lower(), texts) for secret in SECRET.findall(texts.said))


def _tells_secret(secret: str, texts: _Texts) -> bool:
    words = [word for word in _LATIN.findall(secret) if word not in FUNCTION]
    pairs = [run[at : at + 2] for run in _HAN_RUN.findall(secret) for at in range(len(run) - 1)]
    return any(map(texts.tells, words)) or any(
        pair in texts.small for pair in pairs if not all(map(texts.is_common, pair))
    )


def _has_number(texts: _Texts) -> bool:
    return NUMBER.search(NO_NUMBER.sub("·", texts.text)) is not None


def _has_name(texts: _Texts) -> bool:
    known = (part for name in texts.names for part in parts_of(name))
    found = (*names_in([texts.said], texts.is_common), *likely_names_in(texts.said, texts.is_common))
    if any(_is_told(name, texts) for name in (*known, *found)):
        return True
    if any(map(texts.heard, capitalised_inside(texts.text))):
        return True
    return any(_is_title_told(title, texts) for title in TITLE_CASE.findall(texts.said))


def _is_told(name: str, texts: _Texts) -> bool:
    """Whether the text says this name, and does not only use the word or the characters that it is made of."""
    if not name.isascii():
        return name in texts.text and (name in texts.said or _stands_alone(name, texts))
    word = name.lower()
    if word not in texts.small:
        return False
    found = [match[0] for match in called(name).finditer(texts.text)]
    if not texts.is_common(word):
        return bool(found)
    if any(form[:1].isupper() for form in found):
        return True
    # "Hope" is a name, and "hope" a word, unless it was said of somebody.
    return bool(found) and word not in FUNCTION and _is_person(name, texts)


def _is_person(name: str, texts: _Texts) -> bool:
    """Whether a common word was said as the name of somebody."""
    is_known = name.lower() in map(str.lower, texts.names) and texts.heard(name)
    named = (*introduced_in(texts.said), *capitalised_inside(texts.said))
    return is_known or name.lower() in map(str.lower, named)


def _is_title_told(title: str, texts: _Texts) -> bool:
    """Whether words that were written like a name, "Red Lion", are told in any case."""
    first, _, rest = title.partition(" ")
    return first.lower() not in FUNCTION and bool(rest) and texts.tells(title)


def _stands_alone(name: str, texts: _Texts) -> bool:
    """Whether the characters are a word there: 小明 is none in 从小明白."""
    if not _HAN_RUN.fullmatch(name):
        return True
    return any(_reads_as(name, run, texts.is_common) for run in _HAN_RUN.findall(texts.text) if name in run)


def _reads_as(name: str, run: str, is_common: IsCommon) -> bool:
    """Whether the run is no harder to read with the name in it than without."""
    plain = reading(run, is_common)[0]
    places = (found.start() for found in re.finditer(re.escape(name), run))
    return any(
        reading(run[:at], is_common)[0] + 1 + reading(run[at + len(name) :], is_common)[0] <= plain for at in places
    )


def _has_run(texts: _Texts) -> bool:
    said = {*_runs(_UNIT.findall(texts.small_said))}
    return any(run in said for run in _runs(_UNIT.findall(texts.small)))


def _runs(units: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The shortest runs that are too long to be shared, one for each place where one begins.

    How long a run is follows from its words alone, so one that stands in another text is among the runs of that too.
    """
    weights = [_HAN_WEIGHT if _HAN_RUN.match(unit) else _WORD_WEIGHT for unit in units]
    end = weight = 0
    for start in range(len(units)):
        while end < len(units) and weight < _MAX_RUN:
            weight += weights[end]
            end += 1
        if weight < _MAX_RUN:
            return
        yield tuple(units[start:end])
        weight -= weights[start]


def _has_rare_word(texts: _Texts) -> bool:
    said = {_base(word) for word in _LATIN.findall(texts.small_said)}
    latin = (word for word in _LATIN.findall(texts.small) if not texts.is_common(word))
    if any(_base(word) in said for word in latin):
        return True
    pairs = {*map(add, texts.said, texts.said[1:])}
    if any(pair in pairs for run in _HAN_RUN.findall(texts.text) for pair in rare_pairs(run, texts.is_common)):
        return True
    quoted = ("".join(found).lower() for found in QUOTED.findall(texts.said))
    makes = (*MODEL.findall(texts.said), *BRAND.findall(texts.said))
    return any(make in texts.text for make in makes) or any(
        title in texts.small for title in quoted if len(title) > 2 and not texts.is_common(title)
    )


def _base(word: str) -> str:
    """The word without its ending, near enough to find "axolotl" in "axolotls"."""
    word = word.removesuffix("'s").replace("'", "")
    return re.sub(r"(?:ies|es|s|ed|ing|ly|y|e)$", "", word) if len(word) > 4 else word


_CHECKS: dict[Reason, Callable[[_Texts], bool]] = {
    "email": _has_email,
    "address": _has_address,
    "code": _has_code,
    "number": _has_number,
    "name": _has_name,
    "run": _has_run,
    "rare": _has_rare_word,
}
