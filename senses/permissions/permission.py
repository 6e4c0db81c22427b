"""What a message says about who may know: that something is to be passed on, or that it is a secret.

To give away what was not permitted is far worse than to miss a permission. So whatever is asked, reported, supposed or
put off permits nothing, and a secret is heard sooner than a permission.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from soulgraph.senses.permissions.grammar import Grammar, grammar
from soulgraph.senses.permissions.people import is_anybody_else
from soulgraph.senses.permissions.reader import Act, Kind, Reader
from soulgraph.senses.text import normalise
from soulgraph.soul.clauses import clauses_of, own_sentences
from soulgraph.soul.people import EVERYONE

_HAN = re.compile(r"[\u3400-\u9fff]")
_MIN_CHARS = 5  # of a Chinese clause that tells something
_MIN_WORDS = 3


@dataclass(frozen=True, slots=True)
class Permission:
    """`share`: `people` may know, as they are named, or `EVERYONE`. `private`: nobody may, or no longer.

    `own_content`: the message itself holds what it is about; else that was said just before.
    """

    kind: Kind
    people: tuple[str, ...]
    own_content: bool


def permission_in(text: str) -> Permission | None:
    """The permission that a message gives, refuses or takes back; None if it says nothing of the kind."""
    rules = grammar()
    readers = _read(" ".join(sentence.split()) for sentence in own_sentences(normalise(text)))
    acts = [act for reader in readers for act in reader.acts]
    taken_back = _takes_back(readers, rules)
    if not acts and not taken_back:
        return None
    people = () if taken_back else _allowed(acts)
    return Permission("share" if people else "private", people, not taken_back and _holds_content(readers, rules))


def _read(sentences: Iterable[str]) -> list[Reader]:
    readers: list[Reader] = []
    for sentence in sentences:
        reader = Reader(grammar(), sentence, readers[-1].named if readers else ())
        reader.read()
        readers.append(reader)
    return readers


def _allowed(acts: Sequence[Act]) -> tuple[str, ...]:
    """Who may know after all acts, the later over the earlier; nobody if it is all but some."""
    allowed: list[str] = []
    refused: set[str] = set()
    for act in acts:
        if act.kind == "share":
            allowed += act.people
            refused.difference_update(map(str.casefold, act.people))
        elif act.people and EVERYONE not in act.people:
            refused.update(map(str.casefold, act.people))
        elif not is_anybody_else(act.words):
            allowed = []
    if EVERYONE in allowed:
        return () if refused else (EVERYONE,)
    return tuple(dict.fromkeys(person for person in allowed if person.casefold() not in refused))


def _takes_back(readers: Sequence[Reader], rules: Grammar) -> bool:
    """Whether a permission is spoken of, and words take it back, after which none is given."""
    text = ",".join(reader.sentence for reader in readers)
    if not rules.signs["retracts"].search(text) or not rules.signs["allowances"].search(text):
        return False
    return not any(act.kind == "share" for act in readers[-1].acts)


def _holds_content(readers: Sequence[Reader], rules: Grammar) -> bool:
    """Whether an act is followed by what is to be known, or it is said beside the acts."""
    if any(_tells(reader.sentence, act, rules) for reader in readers for act in reader.acts):
        return True
    return any(_states(clause, rules) for reader in readers for clause in clauses_of(reader.aside()))


def _tells(sentence: str, act: Act, rules: Grammar) -> bool:
    """Whether an act is followed by what is to be known."""
    if act.group == "greets":
        return True
    rest = sentence[act.end :]
    if rest.lstrip()[:1] in (":", "-", "—"):
        return True
    if rest.startswith(",") and (act.group != "tells" or act.kind == "private" or not _HAN.search(sentence)):
        return False
    if rules.signs["points_back"].search(sentence, act.start, act.end):
        return False
    complement = rest.lstrip(" ,") if rest.startswith(",") else rest.partition(",")[0]
    return rules.signs["points"].fullmatch(complement.strip(" .!?。！？~")) is None


def _states(clause: str, rules: Grammar) -> bool:
    """Whether a clause says something that may be passed on, and does not only speak about telling."""
    is_short = len(_HAN.findall(clause)) < _MIN_CHARS and len(clause.split()) < _MIN_WORDS
    return not is_short and not any(rules.signs[name].search(clause) for name in ("talk", "asides", "asks"))
