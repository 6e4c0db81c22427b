"""Characters of Backyard, which was called Faraday: the JSON in its PNG, and its archive."""

import re
from collections.abc import Set
from typing import Any

from soulgraph.library.cards.lenient import Json, split_keys
from soulgraph.library.cards.spec import V2

_FARADAY_MARKS = frozenset({"aiName", "aiDisplayName", "aiPersona", "customDialogue"})
_FARADAY_FIELDS = {
    "aiPersona": "description",
    "scenario": "scenario",
    "basePrompt": "system_prompt",
    "firstMessage": "first_mes",
}
_CHARACTER_READ = frozenset({"name", "persona", "loreItems", "images", "folder"})
_SCENARIO_READ = frozenset({"narrative", "firstMessages", "exampleMessages", "formattingInstructions", "folder"})
_BOOKKEEPING = frozenset({"id", "$schema", "schemaVersion", "version", "createdAt", "updatedAt", "isNSFW", "title"})
_SAYS_NOTHING: tuple[object, ...] = (None, "", [], {}, False)
_SPEAKER = re.compile(r"#(?=\{(?:character|user)\}\s*[:：])", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"(?<!\{)\{(character|user)\}(?!\})", re.IGNORECASE)
_NAMES = {"character": "{{char}}", "user": "{{user}}"}


def is_character(given: Json) -> bool:
    """Whether it is the JSON of Faraday's PNG, or the manifest of an archive with its characters in it."""
    return _is_archive(given) or bool(_FARADAY_MARKS & _faraday(given).keys())


def card_of_character(given: Json) -> tuple[Json, list[str]]:
    """The card of a character, and notes on what it has more."""
    return _card_of_archive(given) if _is_archive(given) else _card_of_faraday(_faraday(given))


def _is_archive(given: Json) -> bool:
    characters = given.get("characters")
    return isinstance(characters, list) and "scenarios" in given and any(map(_is_object, characters))


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _faraday(given: Json) -> Json:
    inner = given.get("character")
    return inner if isinstance(inner, dict) else given


def _card_of_faraday(given: Json) -> tuple[Json, list[str]]:
    texts = {card: _filled(given[name]) for name, card in _FARADAY_FIELDS.items() if name in given}
    name = _name(given, "aiName", "aiDisplayName")
    data = {
        **texts,
        "name": name,
        "mes_example": _filled(given.get("customDialogue")),
        "extensions": {},
    }
    read = {*_FARADAY_FIELDS, "aiName", "customDialogue", "loreItems"}
    return {"spec": V2, "data": {**data, **_book(given)}}, _others(given, read, name)


def _card_of_archive(given: Json) -> tuple[Json, list[str]]:
    characters = [one for one in given["characters"] if isinstance(one, dict)]
    scenarios = [one for one in _listed(given.get("scenarios")) if isinstance(one, dict)]
    character, scenario = characters[0], scenarios[0] if scenarios else {}
    greetings = [text for one in scenarios for text in _texts(one.get("firstMessages"))]
    author = given.get("author")
    data = {
        "name": _name(character, "name", "displayName"),
        "description": _filled(character.get("persona")),
        "scenario": _filled(scenario.get("narrative")),
        "system_prompt": _filled(scenario.get("formattingInstructions")),
        "first_mes": greetings[0] if greetings else "",
        "alternate_greetings": greetings[1:],
        "mes_example": "\n".join(_texts(scenario.get("exampleMessages"))),
        "creator": author.get("name", "") if isinstance(author, dict) else "",
        "assets": _assets(character),
        "extensions": {},
        **_book(character),
    }
    left = [f"{what}: the first of {n} is read" for what, n in _counts(characters, scenarios) if n > 1]
    notes = [*left, *_others(character, _CHARACTER_READ, data["name"]), *_others(scenario, _SCENARIO_READ)]
    return {"spec": V2, "data": data}, notes


def _counts(characters: list[Json], scenarios: list[Json]) -> list[tuple[str, int]]:
    return [("characters", len(characters)), ("scenarios (but the greetings of all are)", len(scenarios))]


def _name(given: Json, *names: str) -> str:
    """The name that prompts use, before the one that is shown to people."""
    texts = (given.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _book(given: Json) -> Json:
    """The lorebook of a character, if it has one; several keys of an entry stand in one text."""
    items = [item for item in _listed(given.get("loreItems")) if isinstance(item, dict)]
    entries = [
        {"keys": _keys(item.get("key")), "content": _filled(item.get("value")), "enabled": True, "extensions": {}}
        for item in items
    ]
    return {"character_book": {"extensions": {}, "entries": entries}} if entries else {}


def _keys(value: Any) -> list[str]:
    return split_keys(_filled(value))


def _assets(character: Json) -> list[Json]:
    """The pictures of a character: the first is its icon, and others are faces if they are called so."""
    images = [image for image in _listed(character.get("images")) if isinstance(image, dict)]
    return [
        {
            "type": "emotion" if n else "icon",
            "name": str(image.get("label") or "") if n else "main",
            "uri": f"embeded://{character.get('folder', '')}/{image.get('path', '')}",
            "ext": "unknown",
        }
        for n, image in enumerate(images)
    ]


def _texts(messages: Any) -> list[str]:
    """The texts of messages that are not empty."""
    given = (_filled(one.get("text")) for one in _listed(messages) if isinstance(one, dict))
    return [text for text in given if text.strip()]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _filled(value: Any) -> str:
    """A text with the placeholders that cards have."""
    text = value if isinstance(value, str) else ""
    return _PLACEHOLDER.sub(lambda match: _NAMES[match[1].lower()], _SPEAKER.sub("", text))


def _others(given: Json, read: Set[str], name: str = "") -> list[str]:
    """A note on what is not read; the name that is shown to people is often the same once more."""
    known = read | _BOOKKEEPING
    names = [key for key, value in given.items() if key not in known and value not in (*_SAYS_NOTHING, name)]
    return [f"not kept: {', '.join(key[:40] for key in names[:16])}"] if names else []
