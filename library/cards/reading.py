"""A card as a character of the library: who it is, how it greets and speaks, and what it knows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from soulgraph.library.cards.spec import OURS, Data, Entry, Json, checked
from soulgraph.library.cards.words import filled, undecorated
from soulgraph.soul.language import lang_of

OWN = ("description", "initial_profile", "inner_state", "mbti_type", "extensions")
"""What a character has and a card has no field for."""

_START = re.compile(r"<START>", re.IGNORECASE)
_DELIMITED = re.compile(r"/(.+)/[a-z]*", re.DOTALL)
_HEADINGS = {
    "zh": {"personality": "性格", "scenario": "场景", "guidance": "卡片作者的要求"},
    "en": {"personality": "Personality", "scenario": "Scenario", "guidance": "What the card's author asks for"},
}
_KEPT_URIS = ("http://", "https://", "ccdefault:")
_BLURB = 300
_PRIORITY, _MAX_PRIORITY = 50, 1000


@dataclass(frozen=True, slots=True)
class Reading:
    """`places` tells where in the card each part of the character stands; `notes`, what of it is not kept."""

    character: Json
    places: Mapping[str, str]
    notes: tuple[str, ...] = ()


def character_of(card: Json) -> Reading:
    """The character that this card alone describes."""
    data = checked(card)
    char = data.nickname.strip() or data.name.strip()
    greetings = _greetings(data, char)
    lore = {
        f"data.character_book.entries.{n}": entry
        for n, given in enumerate(data.character_book.entries)
        if (entry := _lore(given, n, char))
    }
    character = {
        "name": data.name.strip(),
        "description": filled(data.description, char).partition("\n\n")[0][:_BLURB],
        "base_persona": _persona(data, char),
        "greetings": list(greetings.values()),
        "style_examples": [filled(text, char) for text in _START.split(data.mes_example) if text.strip()],
        "lore": list(lore.values()),
    }
    return Reading(character, _places(list(greetings), list(lore)))


def taken_in(card: Json) -> Reading:
    """The character to keep: with what we wrote into the card ourselves, and the card for when it is exported."""
    data = checked(card)
    kept, notes = _kept(card, data)
    derived = character_of(kept)
    ours = data.extensions.get(OURS)
    own = {name: ours[name] for name in OWN if name in ours} if isinstance(ours, dict) else {}
    others = own.pop("extensions", {})
    extensions = {**(others if isinstance(others, dict) else {}), "card": kept}
    return Reading({**derived.character, **own, "extensions": extensions}, derived.places, notes)


def lore_id(entry: Entry, n: int) -> str:
    """The id we gave it, or its place in the card."""
    ours = entry.extensions.get(OURS)
    given = ours.get("id") if isinstance(ours, dict) else None
    return given if isinstance(given, str) else f"card.{n}"


def _kept(card: Json, data: Data) -> tuple[Json, tuple[str, ...]]:
    """The card without our namespace and without the files that came with it."""
    inside = dict(card["data"])
    if OURS in data.extensions:
        inside["extensions"] = {name: value for name, value in data.extensions.items() if name != OURS}
    gone = [n for n, asset in enumerate(data.assets) if not asset.uri.startswith(_KEPT_URIS)]
    if gone:
        inside["assets"] = [asset for n, asset in enumerate(card["data"]["assets"]) if n not in gone]
    notes = tuple(f"data.assets.{n}: files inside of a card are not kept" for n in gone)
    return {**card, "data": inside}, notes


def _persona(data: Data, char: str) -> str:
    guidance = "\n".join(filter(None, (filled(data.system_prompt, char), filled(data.post_history_instructions, char))))
    told = {
        "personality": filled(data.personality, char),
        "scenario": filled(data.scenario, char),
        "guidance": guidance,
    }
    description = filled(data.description, char)
    headings = _HEADINGS[lang_of(description + "".join(told.values()))]
    sections = [f"{headings[name]}: {text}" for name, text in told.items() if text]
    return "\n\n".join(filter(None, (description, *sections)))


def _greetings(data: Data, char: str) -> dict[str, str]:
    """By their place in the card."""
    others = {f"data.alternate_greetings.{n}": text for n, text in enumerate(data.alternate_greetings)}
    said = {place: filled(text, char) for place, text in {"data.first_mes": data.first_mes, **others}.items()}
    return {place: text for place, text in said.items() if text}


def _lore(entry: Entry, n: int, char: str) -> Json | None:
    content, decorators = undecorated(entry.content)
    text = filled(content, char)
    if not text:
        return None
    regex = entry.use_regex
    keys = [_pattern(key) if regex else filled(key, char) for key in entry.keys]
    secondary = [filled(key, char) for key in entry.secondary_keys] if entry.selective and not regex else []
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


def _pattern(key: str) -> str:
    """Some write a pattern between slashes, with flags behind."""
    match = _DELIMITED.fullmatch(key.strip())
    return match[1] if match else key.strip()


def _priority(entry: Entry) -> int:
    wanted = entry.priority if entry.priority is not None else entry.insertion_order
    return _PRIORITY if wanted is None else int(min(max(wanted, 0), _MAX_PRIORITY))


def _places(greetings: list[str], lore: list[str]) -> dict[str, str]:
    fields = {
        "name": "data.name",
        "base_persona": "data.description, personality, scenario and prompts together",
        "greetings": "data.alternate_greetings",
        "style_examples": "data.mes_example",
        "lore": "data.character_book.entries",
    }
    said = {f"greetings.{n}": place for n, place in enumerate(greetings)}
    known = {f"lore.{n}": place for n, place in enumerate(lore)}
    return {**fields, **said, **known, **{name: f"data.extensions.{OURS}.{name}" for name in OWN}}
