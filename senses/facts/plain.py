"""Plain statements: clauses about the person or theirs that no frame knows, kept as they stand.

A clause is kept if its predicate belongs to a family that tells what is so, and not what is felt, planned or asked.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from soulgraph.senses.common_words import is_common
from soulgraph.senses.facts.admission import is_said
from soulgraph.senses.facts.families import Family, endings, families, plain
from soulgraph.senses.facts.grammar import part
from soulgraph.senses.facts.wording import in_third_person, third_person
from soulgraph.soul.facts import ANY, OTHER, is_single
from soulgraph.soul.language import Lang

_PIECE = re.compile(
    r"\s*[,;:—]\s*|\s+[-–]+\s+|[.!…]+\s+"
    r"|\s+(?:and|but|so|because|cos|cuz|coz|bcos|although|though|while|whereas|except|which is why)"
    r"(?=\s+(?:now |then |also )?(?:I|we|my|our|he|she|it|they|the|there|you)\b)",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-Z]\w+")
_OBJECT = re.compile(r"^\S+\s+(?P<rest>.*)$")
_HOW_OFTEN = re.compile(
    r"(?: (?:though|actually|by the way))?, (?:and |even )?"
    r"(?=(?:every|each|twice|once a|on \w+days)\b|(?:in|near|outside) [A-Z])"
)
_TRAIL = re.compile(r"(?: (?:and|but|or|so|because|though|too|as well|lol|haha))+$", re.IGNORECASE)
_MAX_PIECES = 40  # of a sentence; each is read with all that stands before it
_MOST_WORDS = 22
_MOST_CHARS = 34  # of a Chinese clause
_FEWEST_WORDS = 3
_WORD = re.compile(r"[\w'’]+")


@dataclass(frozen=True, slots=True)
class Plain:
    """A clause to keep: about whom, what it says after the subject, and what it ends."""

    relation: str
    name: str
    attribute: str
    value: str
    said: str
    piece: str
    ends: tuple[str, ...] = ()
    is_owned: bool = False


def in_english(sentence: str) -> Iterator[Plain]:
    """The statements of a sentence; a fragment that follows one is told with it."""
    last: Plain | None = None
    for piece in _pieces(sentence):
        if last and plain("en", "adds").search(piece):
            last = replace(last, said=f"{last.said}, {piece}", piece=f"{last.piece}, {piece}")
            continue
        if last:
            yield last
        last = _statement(piece)
    if last:
        yield last


def _pieces(sentence: str) -> Iterator[str]:
    """The clauses that the speaker says as true."""
    begin = 0
    sentence = _HOW_OFTEN.sub(" ", sentence)
    for cut in (*islice(_PIECE.finditer(sentence), _MAX_PIECES), None):
        end = cut.start() if cut else len(sentence)
        piece = sentence[begin:end].strip(" .!?…~")
        if piece and is_said(sentence[:begin].rpartition(",")[0] or sentence[:begin], "en"):
            yield plain("en", "lead").sub("", piece)
        begin = cut.end() if cut else end


def _statement(piece: str) -> Plain | None:
    if plain("en", "not").search(piece):
        return None
    if owned := plain("en", "owned").match(piece):
        said = f"{owned['thing']}{in_third_person(owned['rest'])}"
        return Plain("", "", OTHER, said, said, piece, is_owned=True)
    when = plain("en", "time").match(piece)
    clause = piece[when.end() :] if when else piece
    subject = part("en", "s").match(clause)
    if not subject or not clause[subject.end() :].startswith(" "):
        return None
    predicate = _TRAIL.sub("", " ".join(clause[subject.end() :].split()[:_MOST_WORDS]))
    if len(predicate.split()) < _FEWEST_WORDS - 1:
        return None
    relation, name = (subject["rel"] or "").lower(), subject["relname"] or ""
    adverbs = plain("en", "adv").match(predicate)
    lead = adverbs[0] if adverbs else ""
    said = _told(lead, predicate[len(lead) :], relation, f", {in_third_person(when['when'])}" if when else "")
    core = predicate[len(lead) :]
    if ended := _ending(core, relation, name, "en"):
        return Plain(relation, name, "past", ended[0], said, piece, ended[1])
    is_habit = bool(when) or plain("en", "habit").search(predicate) is not None
    fitting = (one for one in families("en") if _fits(one, core, is_habit) and (relation or not one.kin))
    family = next(fitting, None)
    return Plain(relation, name, _attribute(family, core), in_third_person(core), said, piece) if family else None


def _fits(family: Family, predicate: str, is_habit: bool) -> bool:
    if (family.habit and not is_habit) or not family.fits(predicate):
        return False
    if family.named and not _names_somebody(predicate) and not plain("en", "often").search(predicate):
        return False
    rest = _OBJECT.match(predicate)
    if rest and plain("en", "not_object").search(rest["rest"]):
        return False
    return not (family.thing and plain("en", "abstract").search(predicate))


def _names_somebody(predicate: str) -> bool:
    return any(not is_common(name.lower()) for name in _NAME.findall(predicate))


def _attribute(family: Family, predicate: str) -> str:
    """Only what names a place or a trade takes the place of what was said before."""
    if is_single(family.attribute) and family.attribute != "job" and not _NAME.search(predicate):
        return OTHER
    return family.attribute


def _told(adverbs: str, predicate: str, relation: str, when: str) -> str:
    verb, _, rest = predicate.partition(" ")
    if not relation:
        verb = _verb(verb, rest)
    return f"{adverbs}{verb} {in_third_person(rest)}{when}".strip()


def _verb(verb: str, rest: str) -> str:
    irregular = {"am": "is", "are": "is", "were": "was", "have": "has", "do": "does", "don't": "doesn't"}
    lowered = verb.lower()
    if lowered in irregular:
        return irregular[lowered]
    return verb if plain("en", "verbs_kept").search(lowered) else third_person(verb)


def _ending(predicate: str, relation: str, name: str, lang: Lang) -> tuple[str, tuple[str, ...]] | None:
    """The word by which known what holds no more is found, and what it ends."""
    for pattern in endings(lang):
        if found := pattern.fullmatch(predicate):
            of_kin = (name or relation) if lang == "zh" else ""
            named = of_kin or _named(found["rest"], lang) or ("" if found["rest"] else name or relation)
            if found["rest"] and not named:
                return None
            return named, (ANY,) if named else ("relationship", "partner")
    return None


def _named(rest: str, lang: Lang) -> str:
    if lang == "zh":
        return rest.strip("的那这只条辆")
    if name := _NAME.search(rest):
        return name[0]
    return next((word for word in _WORD.findall(rest) if not plain("en", "idle").search(word)), "")


def in_chinese(clause: str, has_subject: bool) -> Plain | None:
    """The statement of a clause. Without a subject the person is meant, if what is said is usually said so."""
    if plain("zh", "not").search(clause) or not 3 <= len(clause) <= _MOST_CHARS:
        return None
    when = re.match(plain("zh", "when").pattern + "(?=我)", clause)
    if not has_subject and not when:
        if not plain("zh", "alone").match(clause) and not _ending(clause, "", "", "zh"):
            return None
        return _chinese(clause, "", "", f"我{clause}")
    subject = part("zh", "s").match(clause[when.end() :] if when else clause)
    if not subject:
        return None
    rest = (when["when"] if when else "") + (clause[when.end() :] if when else clause)[subject.end() :]
    return _chinese(rest, subject["rel"] or "", subject["relname"] or "", clause)


def _chinese(rest: str, relation: str, name: str, piece: str) -> Plain | None:
    adverbs = plain("zh", "adv").match(rest)
    core = rest[adverbs.end() :] if adverbs else rest
    if ended := _ending(core, relation, name, "zh"):
        return Plain(relation, name, "past", ended[0], rest, piece, ended[1])
    for family in families("zh"):
        if family.fits(core) or family.fits(rest):
            return Plain(relation, name, family.attribute, core, rest, piece)
    return None
