"""Lorebook entries of cards and of other programs as our lore, within its limits."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from soulgraph.library.cards.cutting import Cutter
from soulgraph.library.cards.lenient import Json
from soulgraph.library.cards.limits import MAX_CONTENT, MAX_KEY, MAX_KEYS, MAX_PATTERNS
from soulgraph.library.cards.spec import EXCLUDING, OURS, Entry
from soulgraph.library.cards.words import decorators_of, fill_placeholders

FlawOf = Callable[[str], str]
"""Why a regular expression cannot be searched for; empty if it can."""

_SLASHED = re.compile(r"/(.+)/[dgimsuvy]*", re.DOTALL)
_COMMA = re.compile(r"[,，]")
ID = re.compile(r"[\w.:@-]{1,128}")
_DEFAULT_PRIORITY, _MAX_PRIORITY = 50, 1000
_QUOTED = 60
_MAX_REFUSED = 50
"""How many patterns of a file may be slow or broken: to find that out takes a while for each."""


def no_flaw(_: str) -> str:
    return ""


def lore_ids(entries: Sequence[Entry]) -> list[str]:
    """The ids of a card's entries: those in our extension, or made of their place in the card; each is given once."""
    ids: list[str] = []
    for n, entry in enumerate(entries):
        ours = entry.extensions.get(OURS)
        given = ours.get("id") if isinstance(ours, dict) else None
        is_usable = isinstance(given, str) and ID.fullmatch(given) is not None
        ids.append(given if is_usable and isinstance(given, str) else f"card.{n}")
    repeated = {entry_id for entry_id, n in Counter(ids).items() if n > 1}
    return [f"card.{n}" if entry_id in repeated else entry_id for n, entry_id in enumerate(ids)]


def obey_decorators(entry: Entry) -> Entry:
    """The entry as its decorators want it, and without them; see `OBEYED`."""
    text, decorators = decorators_of(entry.content)
    changes: Json = {"content": text}
    if "activate" in decorators:
        changes["constant"] = True
    elif "dont_activate" in decorators:
        changes["enabled"] = False
    more = [key.strip() for key in _COMMA.split(decorators.get("additional_keys", "")) if key.strip()]
    if more and not (entry.selective and entry.secondary_keys):
        changes |= {"selective": True, "secondary_keys": more}
    return entry.model_copy(update=changes)


def lore_entry(given: Entry, entry_id: str, char: str, place: str, cutter: Cutter, flaw_of: FlawOf) -> Json | None:
    """A lorebook entry as our lore; None when it has no content."""
    entry = obey_decorators(given)
    text = fill_placeholders(entry.content, char)
    if not text:
        return None
    regex = _has_patterns(entry)
    narrowed = entry.selective and not regex and entry.logic not in EXCLUDING
    secondary = [fill_placeholders(key, char) for key in entry.secondary_keys] if narrowed else []
    keys = _patterns(entry, place, cutter, flaw_of) if regex else [fill_placeholders(key, char) for key in entry.keys]
    return {
        "id": entry_id,
        "keys": _fitting(keys, place, "keys", cutter, patterns=regex),
        "secondary_keys": _fitting(secondary, place, "secondary_keys", cutter),
        "use_regex": regex,
        "content": cutter.text(text, MAX_CONTENT, place),
        "enabled": entry.enabled,
        "priority": _priority(entry),
        "constant": entry.constant,
    }


def _has_patterns(entry: Entry) -> bool:
    """SillyTavern marks every entry with `use_regex`, and takes only keys between slashes for patterns."""
    if entry.by_sillytavern:
        return any(_SLASHED.fullmatch(key.strip()) for key in entry.keys)
    return entry.use_regex


def _patterns(entry: Entry, place: str, cutter: Cutter, flaw_of: FlawOf) -> list[str]:
    """The patterns of an entry that can be searched for; a note tells of the others.

    To find that out takes long, so patterns behind those that are kept are not looked at: they are left out anyway.
    """
    patterns: list[str] = []
    sound = 0
    for key in filter(str.strip, entry.keys):
        pattern = _pattern(key, entry)
        is_new = sound < MAX_PATTERNS and len(pattern) <= MAX_KEY
        if is_new and cutter.refused >= _MAX_REFUSED:
            cutter.notes.append(f"{place}.keys: all are left out, because so many others cannot be searched for")
            return []
        if is_new and (flaw := flaw_of(pattern)):
            cutter.refused += 1
            cutter.notes.append(f"{place}.keys: {pattern[:_QUOTED]!r} is left out, because it {flaw}")
            continue
        sound += is_new
        patterns.append(pattern)
    return patterns


def _pattern(key: str, entry: Entry) -> str:
    """The pattern of a key; some programs write it between slashes, with flags behind."""
    match = _SLASHED.fullmatch(key.strip())
    if match:
        return match[1]
    return re.escape(key.strip()) if entry.by_sillytavern else key.strip()


def _fitting(keys: Sequence[str], place: str, field: str, cutter: Cutter, patterns: bool = False) -> list[str]:
    """The keys that are neither empty nor too long, as many as an entry may have."""
    given = [key for key in keys if key.strip()]
    short = [key for key in given if len(key) <= MAX_KEY]
    if len(short) < len(given):
        cutter.notes.append(
            f"{place}.{field}: {len(given) - len(short)} are left out: at most {MAX_KEY} characters each"
        )
    limit = MAX_PATTERNS if patterns else MAX_KEYS
    if len(short) > limit:
        what = "regular expressions" if patterns else "keys"
        left = ", ".join(repr(key[:_QUOTED]) for key in short[limit : limit + 5])
        cutter.notes.append(
            f"{place}.{field}: at most {limit} {what} are kept, {len(short) - limit} are left out: {left}"
        )
    return short[:limit]


def _priority(entry: Entry) -> int:
    wanted = entry.priority if entry.priority is not None else entry.insertion_order
    return _DEFAULT_PRIORITY if wanted is None else int(min(max(wanted, 0), _MAX_PRIORITY))
