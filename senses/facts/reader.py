"""Reads facts in what a person says, by the frames of the grammar, without a model."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from soulgraph.senses.common_words import is_common
from soulgraph.senses.facts.admission import is_said, plays_a_role, telling_sentences, told_words
from soulgraph.senses.facts.answers import names_answered
from soulgraph.senses.facts.dates import began_at, day_of
from soulgraph.senses.facts.grammar import Frame, frames, part, words
from soulgraph.senses.facts.plain import in_chinese, in_english
from soulgraph.senses.facts.subjects import clauses, names_in, rewritten, subject_of
from soulgraph.senses.facts.wording import UNNAMED, possessive, third_person, values
from soulgraph.senses.values.numbers import in_digits
from soulgraph.soul.facts import Statement
from soulgraph.soul.language import Lang, lang_of
from soulgraph.soul.own_words import own_words

_MAX_CHARS = 2000
_MAX_AGE = 110
_BESIDE = {"employer": "{who} works at {value}.", "school": "{who} studies at {value}."}
"""What a frame may tell beside its value, each as a fact of its own."""
_PROPER = re.compile(r"(?<!^)\b[A-Z][a-z]{2,}")
_COUNTED = re.compile(r"(?:an?|the|one|two|three|four|five|six|seven|eight|nine|ten|\d+|some|several|many|their)\b")
_HEAD_END = re.compile(r"\b(?:of|from|with|for|that|who|in|at|on|near|about)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody says, when by their clock, and what is known: their name, the names of theirs, and what they said
    before, the oldest first."""

    text: str
    at: datetime
    name: str = ""
    people: Mapping[str, str] = field(default_factory=dict)
    earlier: Sequence[str] = ()


def statements_in(told: Told) -> list[Statement]:
    """The facts that a message tells, each once."""
    text = told.text[:_MAX_CHARS]
    if plays_a_role(text, told.earlier):
        return []
    text = own_words(text)
    lang = lang_of(text)
    found = {(one.subject, one.attribute, one.content): one for one in _read(text, told, lang)}
    return list(found.values())


def _read(text: str, told: Told, lang: Lang) -> Iterator[Statement]:
    joined = [*_answered(text, told, lang), *_in_whole(text, told, lang)]
    yield from joined
    people = {**told.people, **names_in([one.subject for one in joined])}
    before = told.earlier[-1] if told.earlier else ""
    context = before
    for sentence in telling_sentences(text):
        sentence = rewritten(in_digits(sentence) if lang == "en" else sentence, lang, people, context)
        context = f"{context} {sentence}"
        for clause, has_subject in clauses(sentence, lang, people, before):
            known = list(_framed(sentence, clause, has_subject, told, lang))
            yield from known
            people |= names_in([one.subject for one in known])
            yield from _plain(clause, has_subject, known, told, lang)


def _framed(sentence: str, clause: str, has_subject: bool, told: Told, lang: Lang) -> Iterator[Statement]:
    for frame in frames(lang):
        if not frame.joined and frame.admits(sentence):
            yield from _in_clause(frame, clause, has_subject, told, lang)


def _plain(clause: str, has_subject: bool, known: Sequence[Statement], told: Told, lang: Lang) -> Iterator[Statement]:
    """What the frames leave: statements kept as they stand."""
    owner = told.name or UNNAMED[lang]
    found = in_english(clause) if lang == "en" else filter(None, [in_chinese(clause, has_subject)])
    for one in found:
        if any(_covers(statement, one.piece) for statement in known) and not _names_more(one.piece, known):
            continue
        who = possessive(owner, one.relation, one.name, lang) + ("'s" if one.is_owned else "")
        content = (
            f"{who} {one.said}." if lang == "en" else f"{who}{one.said.replace('我们', owner).replace('我', owner)}。"
        )
        began = began_at(clause, told.at)
        yield Statement(subject_of(one.relation, one.name), one.attribute, one.value, content, began, one.ends)


def _names_more(piece: str, known: Sequence[Statement]) -> bool:
    """Whether a piece names somebody or something of which the frames tell nothing."""
    contents = " ".join(one.content for one in known)
    return any(name not in contents and not is_common(name.lower()) for name in _PROPER.findall(piece))


def _covers(known: Statement, piece: str) -> bool:
    """Whether a frame has told what the piece says; a name alone is not all."""
    if known.attribute == "name" or not known.value:
        return False
    return known.value.casefold() in piece.casefold()


def _answered(text: str, told: Told, lang: Lang) -> Iterator[Statement]:
    """Names that are given to those of whom the message before spoke."""
    owner = told.name or UNNAMED[lang]
    called = "{whose}叫{name}。" if lang == "zh" else "{whose} is called {name}."
    for relation, name in names_answered(text, told.earlier[-1] if told.earlier else "", lang):
        if name not in told.people:
            content = called.format(whose=possessive(owner, relation, "", lang), name=name)
            yield Statement(subject_of(relation, name), "name", name, content)


def _in_whole(text: str, told: Told, lang: Lang) -> Iterator[Statement]:
    whole = rewritten(told_words(text), lang, told.people)
    for frame in frames(lang):
        if frame.joined and frame.admits(whole):
            for match in frame.pattern.finditer(whole):
                if is_said(whole[: match.start()].rpartition(".")[2], lang):
                    yield from _statements(frame, match, told, lang)


def _in_clause(frame: Frame, clause: str, has_subject: bool, told: Told, lang: Lang) -> Iterator[Statement]:
    """A Chinese clause is read from its beginning, an English one from wherever the subject stands."""
    if lang == "en":
        found = [one for one in frame.pattern.finditer(clause) if is_said(clause[: one.start()], lang)]
    else:
        alone = f"我{clause}" if frame.alone and not has_subject else clause
        found = [one for one in (frame.pattern.match(text) for text in dict.fromkeys((clause, alone))) if one][:1]
    for match in found:
        yield from _statements(frame, match, told, lang)


def _statements(frame: Frame, match: re.Match[str], told: Told, lang: Lang) -> Iterator[Statement]:
    groups = {name: text or "" for name, text in match.groupdict().items()}
    relation, name = groups.get("rel", "").lower(), groups.get("relname", "")
    if (frame.kin and not relation) or (frame.rare and is_common(name)) or _is_no_name(name):
        return
    if frame.attribute == "name" and name in told.people:
        return
    owner = told.name or UNNAMED[lang]
    subject = subject_of(relation, name)
    wording = {
        **groups,
        "owner": owner,
        "who": possessive(owner, relation, name, lang),
        "relation": relation,
        "name": name,
        "verb_s": third_person(groups["verb"]) if groups.get("verb") else "",
        "to_whom": f" to {groups['whom']}" if groups.get("whom") else "",
        "whom_or_partner": groups.get("whom") or "their partner",
    }
    for value in _values(frame, groups, match, told, lang):
        content = frame.told.format_map({**wording, "value": value, "date": value})
        if frame.first_person:
            content = content.replace("我", owner)
        key = value or name or relation
        attribute = f"favourite:{groups['kind']}" if frame.attribute == "favourite" else frame.attribute
        yield Statement(subject, attribute, key, content, began_at(match.string, told.at), frame.ends)
    for attribute, told_as in _BESIDE.items():
        if value := groups.get(attribute, "").strip():
            yield Statement(subject, attribute, value, told_as.format(who=wording["who"], value=value))


def _is_no_name(name: str) -> bool:
    """Words that begin with a capital letter, or stand where a name may, and are none."""
    return words("no_name").search(name) is not None or part("en", "lang").fullmatch(name) is not None


def _values(frame: Frame, groups: Mapping[str, str], match: re.Match[str], told: Told, lang: Lang) -> Iterator[str]:
    if frame.dated:
        day = day_of(match.string, told, lang)
        if day:
            yield day
        return
    given = groups.get("value", "")
    if not given:
        yield ""
        return
    yield from (one for one in values(given, frame.attribute, frame.split, lang) if _fits(frame, one, told))


def _fits(frame: Frame, value: str, told: Told) -> bool:
    if frame.things and not frame.things.search(_HEAD_END.split(value)[0]):
        return False
    if frame.attribute in ("plays", "likes", "favourite") and value.lower().startswith(("is ", "are ", "was ", "not ")):
        return False
    if frame.attribute == "home" and words("no_name").search(value):
        return False
    if frame.attribute == "has" and value.isascii():
        return _COUNTED.match(value) is not None
    if frame.attribute == "name":
        return value != told.name
    return frame.attribute != "age" or 0 < int(re.sub(r"\D", "", in_digits(value)) or 0) <= _MAX_AGE
