"""Characters and memory books of Agnai."""

import re
from typing import Any

from soulgraph.library.cards.lenient import Json
from soulgraph.library.cards.spec import V2

_FIELDS = {
    "name": "name",
    "greeting": "first_mes",
    "scenario": "scenario",
    "sampleChat": "mes_example",
    "description": "creator_notes",
    "systemPrompt": "system_prompt",
    "postHistoryInstructions": "post_history_instructions",
    "alternateGreetings": "alternate_greetings",
    "tags": "tags",
    "creator": "creator",
    "characterVersion": "character_version",
}
_READ = frozenset({*_FIELDS, "persona", "extensions", "characterBook", "avatar", "voice"})
_BOOKKEEPING = frozenset(
    {"kind", "_id", "userId", "createdAt", "updatedAt", "deletedAt", "favorite", "folder", "visualType", "spriteType"}
    | {"originalAvatar", "match", "share", "version", "culture"}
)
_SAYS_NOTHING: tuple[object, ...] = (None, "", [], {}, False)
_ENTRY_FIELDS = {
    "keywords": "keys",
    "entry": "content",
    "weight": "insertion_order",
    "secondaryKeys": "secondary_keys",
    "useRegex": "use_regex",
    "caseSensitive": "case_sensitive",
}
_WILDCARD = re.compile(r"[*?]")


def is_character(given: Json) -> bool:
    if "spec" in given or "data" in given:
        return False
    return given.get("kind") == "character" or (isinstance(given.get("persona"), dict) and "greeting" in given)


def is_book(given: Any) -> bool:
    """Whether it is a memory book: its entries have `keywords` and an `entry`."""
    if not isinstance(given, dict):
        return False
    entries = given.get("entries")
    if given.get("kind") == "memory":
        return isinstance(entries, list)
    return isinstance(entries, list) and any(is_entry(entry) for entry in entries[:20])


def is_entry(given: Any) -> bool:
    return isinstance(given, dict) and "entry" in given and "keys" not in given and "content" not in given


def card_of_character(given: Json) -> tuple[Json, list[str]]:
    """The card of a character, and notes on what it has more. Its own persona is kept for the export."""
    extensions = given.get("extensions")
    own = {name: given[name] for name in ("persona", "voice") if given.get(name) not in _SAYS_NOTHING}
    data = {card: given[agnai] for agnai, card in _FIELDS.items() if agnai in given} | {
        "description": persona_text(given.get("name"), given.get("persona")),
        "extensions": {**(extensions if isinstance(extensions, dict) else {}), **({"agnai": own} if own else {})},
    }
    if isinstance(given.get("characterBook"), dict):
        data["character_book"] = card_book(given["characterBook"])
    if isinstance(given.get("avatar"), str) and given["avatar"].strip():
        data["assets"] = [{"type": "icon", "uri": given["avatar"], "name": "main", "ext": "png"}]
    others = [name for name, value in given.items() if name not in _READ | _BOOKKEEPING and value not in _SAYS_NOTHING]
    notes = [f"not kept: {', '.join(name[:40] for name in others[:12])}"] if others else []
    return {"spec": V2, "data": data}, notes


def persona_text(name: Any, persona: Any) -> str:
    """A persona as one text, in the form that its kind says."""
    attributes = persona.get("attributes") if isinstance(persona, dict) else persona
    if not isinstance(attributes, dict):
        return attributes if isinstance(attributes, str) else ""
    listed = {str(key): _values(value) for key, value in attributes.items()}
    kind = persona.get("kind") if isinstance(persona, dict) else None
    if kind == "wpp":
        lines = "\n".join(f"{key}({' + '.join(map(_quoted, values))})" for key, values in listed.items())
        return f'[character("{name}") {{\n{lines}\n}}]'
    if kind == "sbf":
        pairs = "; ".join(f"{key}: {', '.join(map(_quoted, values))}" for key, values in listed.items())
        return f'[ character: "{name}"; {pairs} ]'
    if kind == "boostyle":
        return " + ".join([str(name), *(value for values in listed.values() for value in values)])
    if set(listed) == {"text"}:
        return "\n".join(listed["text"])
    return "\n".join(f"{key}: {', '.join(values)}" for key, values in listed.items())


def _values(value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [str(item) for item in items if isinstance(item, str | int | float) and str(item).strip()]


def _quoted(value: str) -> str:
    return f'"{value}"'


def card_book(book: Json) -> Json:
    """A memory book as the lorebook of a card; a book that is one already stays as it is."""
    entries = book.get("entries")
    listed = entries if isinstance(entries, list) else []
    kept = {name: book[name] for name in ("name", "description", "extensions") if book.get(name)}
    return {"extensions": {}, **kept, "entries": [card_entry(entry) for entry in listed]}


def card_entry(given: Any) -> Any:
    """An entry of a memory book as one of a lorebook. Its wildcards become regular expressions."""
    if not is_entry(given):
        return given
    entry = {_ENTRY_FIELDS.get(name, name): value for name, value in given.items()}
    keys = entry.get("keys")
    if isinstance(keys, list) and any(isinstance(key, str) and _WILDCARD.search(key) for key in keys):
        entry["keys"] = [_pattern(key) for key in keys if isinstance(key, str)]
        entry["use_regex"] = True
    return {"extensions": {}, **entry}


def _pattern(key: str) -> str:
    words = re.escape(key.strip()).replace(r"\*", r"\w*").replace(r"\?", r"\w")
    return rf"\b{words}\b"
