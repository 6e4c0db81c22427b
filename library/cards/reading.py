"""Converts a card to a character of the library."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from soulgraph.library.cards.headings import HEADINGS
from soulgraph.library.cards.spec import EXCLUDING, OURS, Data, Entry, Json, validate_card
from soulgraph.library.cards.words import fill_placeholders, split_decorators
from soulgraph.soul.language import lang_of

OWN_FIELDS = ("description", "avatar", "initial_profile", "inner_state", "mbti_type", "extensions")
"""Fields of a character for which a card has none; they are exported in our extension."""

_START = re.compile(r"<START>", re.IGNORECASE)
_SLASHED = re.compile(r"/(.+)/[a-z]*", re.DOTALL)
_KEPT_URIS = ("http://", "https://", "ccdefault:")
_MAX_BLURB = 300
_DEFAULT_PRIORITY, _MAX_PRIORITY = 50, 1000


@dataclass(frozen=True, slots=True)
class Reading:
    """A character read from a card.

    `places` maps its fields to paths in the card, for error messages; `notes` tell what was not kept.
    """

    character: Json
    places: Mapping[str, str]
    notes: tuple[str, ...] = ()


def character_of(card: Json) -> Reading:
    """The character of a card, without our extension."""
    data = validate_card(card)
    char = data.nickname.strip() or data.name.strip()
    greetings = _greetings(data, char)
    lore = {
        f"data.character_book.entries.{n}": entry
        for n, given in enumerate(data.character_book.entries)
        if (entry := lore_entry(given, n, char))
    }
    character = {
        "name": data.name.strip(),
        "description": fill_placeholders(data.description, char).partition("\n\n")[0][:_MAX_BLURB],
        "base_persona": _base_persona(data, char),
        "greetings": list(greetings.values()),
        "style_examples": [fill_placeholders(text, char) for text in _START.split(data.mes_example) if text.strip()],
        "lore": list(lore.values()),
    }
    return Reading(character, _source_paths(list(greetings), list(lore)))


def taken_in(card: Json) -> Reading:
    """The character to store: with the fields of our extension, and with the card itself for a later export."""
    data = validate_card(card)
    kept, notes = _card_to_keep(card, data)
    derived = character_of(kept)
    ours = data.extensions.get(OURS)
    own = {name: ours[name] for name in OWN_FIELDS if name in ours} if isinstance(ours, dict) else {}
    others = own.pop("extensions", {})
    extensions = {**(others if isinstance(others, dict) else {}), "card": kept}
    return Reading({**derived.character, **own, "extensions": extensions}, derived.places, notes)


def lore_id(entry: Entry, n: int) -> str:
    """The id of a lorebook entry: the one in our extension, or one made of its place in the card."""
    ours = entry.extensions.get(OURS)
    given = ours.get("id") if isinstance(ours, dict) else None
    return given if isinstance(given, str) else f"card.{n}"


def _card_to_keep(card: Json, data: Data) -> tuple[Json, tuple[str, ...]]:
    """The card without our extension and without embedded files, and notes on those files."""
    fields = dict(card["data"])
    if OURS in data.extensions:
        fields["extensions"] = {name: value for name, value in data.extensions.items() if name != OURS}
    dropped = [n for n, asset in enumerate(data.assets) if not asset.uri.startswith(_KEPT_URIS)]
    if dropped:
        fields["assets"] = [asset for n, asset in enumerate(card["data"]["assets"]) if n not in dropped]
    notes = tuple(f"data.assets.{n}: files inside of a card are not kept" for n in dropped)
    return {**card, "data": fields}, notes


def _base_persona(data: Data, char: str) -> str:
    """Description, personality, scenario and prompts of a card as one text with headings."""
    guidance = "\n".join(
        filter(
            None, (fill_placeholders(data.system_prompt, char), fill_placeholders(data.post_history_instructions, char))
        )
    )
    parts = {
        "personality": fill_placeholders(data.personality, char),
        "scenario": fill_placeholders(data.scenario, char),
        "guidance": guidance,
    }
    description = fill_placeholders(data.description, char)
    headings = HEADINGS[lang_of(description + "".join(parts.values()))]
    sections = [f"{headings[name]}: {text}" for name, text in parts.items() if text]
    return "\n\n".join(filter(None, (description, *sections)))


def _greetings(data: Data, char: str) -> dict[str, str]:
    """The greetings that are not empty, by their path in the card."""
    others = {f"data.alternate_greetings.{n}": text for n, text in enumerate(data.alternate_greetings)}
    given = {"data.first_mes": data.first_mes, **others}
    greetings = {place: fill_placeholders(text, char) for place, text in given.items()}
    return {place: text for place, text in greetings.items() if text}


def lore_entry(entry: Entry, n: int, char: str) -> Json | None:
    """A lorebook entry as our lore; None when it has no content."""
    content, decorators = split_decorators(entry.content)
    text = fill_placeholders(content, char)
    if not text:
        return None
    regex = _has_patterns(entry)
    keys = [_pattern(key, entry) if regex else fill_placeholders(key, char) for key in entry.keys]
    narrowed = entry.selective and not regex and entry.logic not in EXCLUDING
    secondary = [fill_placeholders(key, char) for key in entry.secondary_keys] if narrowed else []
    return {
        "id": lore_id(entry, n),
        "keys": [key for key in keys if key],
        "secondary_keys": [key for key in secondary if key],
        "use_regex": regex,
        "content": text,
        "enabled": entry.enabled and ("dont_activate" not in decorators or "activate" in decorators),
        "priority": _priority(entry),
        "constant": entry.constant or "activate" in decorators,
    }


def _has_patterns(entry: Entry) -> bool:
    """SillyTavern marks every entry with `use_regex`, and takes only keys between slashes for patterns."""
    if entry.by_sillytavern:
        return any(_SLASHED.fullmatch(key.strip()) for key in entry.keys)
    return entry.use_regex


def _pattern(key: str, entry: Entry) -> str:
    """The pattern of a key; some programs write it between slashes, with flags behind."""
    match = _SLASHED.fullmatch(key.strip())
    if match:
        return match[1]
    return re.escape(key.strip()) if entry.by_sillytavern else key.strip()


def _priority(entry: Entry) -> int:
    wanted = entry.priority if entry.priority is not None else entry.insertion_order
    return _DEFAULT_PRIORITY if wanted is None else int(min(max(wanted, 0), _MAX_PRIORITY))


def _source_paths(greetings: list[str], lore: list[str]) -> dict[str, str]:
    fields = {
        "name": "data.name",
        "base_persona": "data.description, personality, scenario and prompts together",
        "greetings": "data.alternate_greetings",
        "style_examples": "data.mes_example",
        "lore": "data.character_book.entries",
    }
    greeting_paths = {f"greetings.{n}": place for n, place in enumerate(greetings)}
    lore_paths = {f"lore.{n}": place for n, place in enumerate(lore)}
    return {**fields, **greeting_paths, **lore_paths, **{name: f"data.extensions.{OURS}.{name}" for name in OWN_FIELDS}}
