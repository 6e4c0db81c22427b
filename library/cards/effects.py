"""What of a card is kept for its export alone, because nothing here is done with it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from soulgraph.library.cards.lenient import Json, number_in
from soulgraph.library.cards.spec import AND_ALL, EXCLUDING, OURS, Data, Entry
from soulgraph.library.cards.words import OBEYED, decorators_of

_FIELDS = ("creator_notes", "creator_notes_multilingual", "tags", "group_only_greetings")
_BOOK_FIELDS = ("scan_depth", "token_budget", "recursive_scanning", "scanDepth", "tokenBudget", "recursiveScanning")
_NESTED: Mapping[str, frozenset[str]] = {
    "risuai": frozenset(),
    "agnai": frozenset(),
    "chub": frozenset({"id", "full_path"}),
}
"""Extensions that hold many things, and what of them is bookkeeping."""
_SHOWN = 16


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """An entry as it is in the file, and what was read of it."""

    raw: Json
    entry: Entry

    def value(self, name: str) -> Any:
        """A field of SillyTavern's; cards have it among the extensions, some under another name."""
        if name in self.raw and not (name == "position" and name in self.entry.extensions):
            return self.raw[name]
        snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
        extensions = self.entry.extensions
        return extensions.get(name, extensions.get(snake, self.raw.get(snake)))

    def ignored_decorators(self) -> list[str]:
        _, decorators = decorators_of(self.entry.content)
        return [name for name in decorators if name not in OBEYED]


def without_effect(raw: Json, data: Data) -> list[str]:
    """Notes on what of a card has content, is kept, and changes nothing here."""
    names = [name for name in _FIELDS if _says_something(raw.get(name))]
    names += [f"extensions.{name}" for name in _extensions(data.extensions)]
    book = raw.get("character_book") or {}
    names += [f"character_book.{name}" for name in book_fields(book)]
    entries = data.character_book.entries
    read = [ReadEntry(one, entry) for one, entry in zip(book.get("entries") or [], entries, strict=True)]
    told = EntryNotes.of([one for one in read if one.entry.content.strip()])
    shown = [name[:60] for name in names[:_SHOWN]]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    listed = ", ".join([*shown, *told.ignored])
    return [*([f"kept for exports, without effect here: {listed}{more}"] if listed else []), *told.otherwise]


def book_fields(book: Json) -> list[str]:
    """The settings of a lorebook that have no effect here."""
    return [name for name in _BOOK_FIELDS if _says_something(book.get(name))]


def _extensions(extensions: Json) -> list[str]:
    """The names of extensions with content; of those that hold many things, the names of these."""
    names = []
    for name, value in extensions.items():
        if name == OURS or value in _DEFAULTS.get(name, ()) or not _says_something(_PART.get(name, _whole)(value)):
            continue
        names += [f"{name}.{key}" for key in _inner(name, value)] or [name]
    return names


def _inner(name: str, value: Any) -> list[str]:
    if name not in _NESTED or not isinstance(value, dict):
        return []
    return [key for key in value if key not in _NESTED[name] and _says_something(value[key])]


def _whole(value: Any) -> Any:
    return value


_DEFAULTS: Mapping[str, tuple[Any, ...]] = {"talkativeness": ("0.5", 0.5), "fav": ("false",)}
_PART: Mapping[str, Callable[[Any], Any]] = {
    "depth_prompt": lambda value: value.get("prompt") if isinstance(value, dict) else value
}
"""The part of an extension that says something, where the rest is there always."""


def _says_something(value: Any) -> bool:
    """Whether a value, or any value inside of it, is not empty."""
    if isinstance(value, dict):
        return any(map(_says_something, value.values()))
    if isinstance(value, list):
        return any(map(_says_something, value))
    return bool(value.strip()) if isinstance(value, str) else bool(value)


_CHANCES: tuple[str, ...] = ("probability", "activationPercent", "risu_activationPercent")
_MEANT_OTHERWISE: Mapping[str, Callable[[ReadEntry], bool]] = {
    "no keys: never told until it gets some, or becomes constant": (
        lambda read: not read.entry.constant and not any(key.strip() for key in read.entry.keys)
    ),
    "secondary keys that keep an entry out: here it is told whenever one of its keys is said": (
        lambda read: read.entry.selective and read.entry.logic in EXCLUDING and bool(read.entry.secondary_keys)
    ),
    "all secondary keys are asked for: here one of them is enough": (
        lambda read: read.entry.selective and read.entry.logic == AND_ALL and len(read.entry.secondary_keys) > 1
    ),
    "keys that keep an entry out (keyanti): here it is told whenever one of its keys is said": (
        lambda read: _says_something(read.raw.get("keyanti"))
    ),
    "a probability: here the entry is always told": (
        lambda read: read.value("useProbability") is not False and any(map(_is_chance, map(read.value, _CHANCES)))
    ),
}
# What has no effect here, and the values that say nothing.
_WITHOUT_EFFECT: Mapping[str, tuple[Any, ...]] = {
    "position": (None, 0, 1, "before_char", "after_char", ""),
    "outletName": (None, ""),
    "scanDepth": (None,),
    "caseSensitive": (None, False),
    "risu_case_sensitive": (None, False),
    "matchWholeWords": (None, True),
    "vectorized": (None, False),
    "ignoreBudget": (None, False),
    "group": (None, ""),
    "sticky": (None, 0),
    "cooldown": (None, 0),
    "delay": (None, 0),
    "delayUntilRecursion": (None, 0, False),
    "triggers": (None, []),
    "automationId": (None, ""),
    **dict.fromkeys(
        (
            "matchPersonaDescription",
            "matchCharacterDescription",
            "matchCharacterPersonality",
            "matchCharacterDepthPrompt",
            "matchScenario",
            "matchCreatorNotes",
        ),
        (None, False),
    ),
    "searchRange": (None, 1000),
    "keyRelative": (None, False),
    "nonStoryActivatable": (None, False),
}


@dataclass(frozen=True, slots=True)
class EntryNotes:
    """What of entries is not as the file says, each with how many it concerns."""

    otherwise: list[str]
    """What means something else here."""
    ignored: list[str]
    """What has no effect here: fields and decorators."""

    @classmethod
    def of(cls, entries: Sequence[ReadEntry]) -> "EntryNotes":
        otherwise = {sentence: sum(map(applies, entries)) for sentence, applies in _MEANT_OTHERWISE.items()}
        ignored = {
            name: sum(read.value(name) not in defaults for read in entries)
            for name, defaults in _WITHOUT_EFFECT.items()
        }
        ignored["characterFilter"] = sum(_is_filtered(read.value("characterFilter")) for read in entries)
        decorators = Counter(name for read in entries for name in read.ignored_decorators())
        ignored |= {f"@@{name[:40]}": n for name, n in [*decorators.items()][:_SHOWN]}
        return cls(_counted(otherwise), _counted(ignored))


def _is_chance(value: Any) -> bool:
    """Whether a value is a probability of less than a hundred percent."""
    number = number_in(value)
    return number is not None and number < 100


def _counted(counts: Mapping[str, int]) -> list[str]:
    return [f"{what} (entries: {n})" for what, n in counts.items() if n]


def _is_filtered(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("names") or value.get("tags"))
