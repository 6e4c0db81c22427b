"""Characters of text-generation-webui and of Pygmalion: YAML or JSON, with the names of today or of old."""

from soulgraph.library.cards.lenient import Json
from soulgraph.library.cards.spec import V2

_NAMES = {
    "name": ("name", "bot", "char_name"),
    "description": ("context", "char_persona", "description"),
    "personality": ("personality",),
    "first_mes": ("greeting", "char_greeting", "first_mes"),
    "scenario": ("world_scenario", "scenario"),
    "mes_example": ("example_dialogue", "mes_example"),
}
"""The fields of a card, and what they are called there; the first that is there counts."""
_MARKS = frozenset({"context", "bot", "greeting", "char_name", "char_persona", "char_greeting", "example_dialogue"})
_SAYS_NOTHING: tuple[object, ...] = (None, "", [], {}, False)


def is_character(given: Json) -> bool:
    return bool(_MARKS & given.keys())


def card_of_character(given: Json) -> tuple[Json, list[str]]:
    """The card of a character, and notes on what it has more."""
    fields = {field: _first(given, names) for field, names in _NAMES.items()}
    known = {name for names in _NAMES.values() for name in names}
    others = [name for name, value in given.items() if name not in known and value not in _SAYS_NOTHING]
    card = {"spec": V2, "data": {field: value for field, value in fields.items() if value is not None}}
    return card, [f"not kept: {', '.join(name[:40] for name in others[:12])}"] if others else []


def _first(given: Json, names: tuple[str, ...]) -> object:
    values = [given[name] for name in names if name in given]
    return next((value for value in values if value not in _SAYS_NOTHING), values[0] if values else None)
