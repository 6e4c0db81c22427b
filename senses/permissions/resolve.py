"""Whom of the people that a soul knows a message means."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from soulgraph.senses.text import normalise
from soulgraph.soul.people import EVERYONE

_OWN = re.compile(r"(?:my|our|the)\s+|(?:我|咱)们?家?的?(?=.)")
_TITLE_EN = re.compile(r"(mr|mrs|ms|miss|dr|doctor|prof|professor|sir|madam|aunt|auntie|aunty|uncle)\b\.?\s*(?=\w)")
# A title of one character may be part of a word: 大哥 and 表姐 are no names with a title.
_TITLE_ZH = re.compile(
    r"(?<=.)(先生|太太|女士|小姐|老师|医生|大夫|教授|经理|主任|师傅|同学|护士|老板|叔叔|阿姨|哥哥|姐姐|大[爷妈哥姐叔婶])$|(?<=..)[哥姐叔姨总]$"
)
_IGNORED = re.compile(r"[\s.·・]+")


class _Name(NamedTuple):
    title: str
    bare: str


def people_meant(names: Sequence[str], known: Mapping[str, str | None], speaker: str) -> tuple[str, ...]:
    """The user ids of those who are named, each once; `known` tells what each person is called.

    Nobody is guessed: a name that fits nobody or several people means none. The speaker is left out.
    """
    meant = [person for name in names for person in ([name] if name == EVERYONE else _fitting(name, known))]
    return tuple(dict.fromkeys(person for person in meant if person != speaker))


def _fitting(name: str, known: Mapping[str, str | None]) -> Iterator[str]:
    """The one person whose id is the name, else the one who is called so."""
    said = _split(name)
    by_id = [user_id for user_id in known if _is_same(said, _split(user_id))]
    found = by_id or [user_id for user_id, called in known.items() if called and _is_same(said, _split(called))]
    if len(found) == 1:
        yield found[0]


def _is_same(one: _Name, other: _Name) -> bool:
    """Mr Lee is Lee, but not Mrs Lee."""
    return one.bare == other.bare != "" and (one.title == other.title or "" in (one.title, other.title))


def _split(name: str) -> _Name:
    plain = normalise(name).casefold().strip()
    plain = _OWN.sub("", plain, count=1) if _OWN.match(plain) else plain
    title = _TITLE_EN.match(plain) or _TITLE_ZH.search(plain)
    bare = plain.replace(title.group(), "", 1) if title else plain
    return _Name(_IGNORED.sub("", title.group()) if title else "", _IGNORED.sub("", bare))
