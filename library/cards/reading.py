"""Converts a card to a character of the library. What is too long is cut, and a note says so."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from soulgraph.library.cards.cutting import Cutter, cut_text, fair_shares
from soulgraph.library.cards.effects import without_effect
from soulgraph.library.cards.headings import HEADINGS
from soulgraph.library.cards.lenient import Json, Oddities
from soulgraph.library.cards.limits import (
    MAX_BLURB,
    MAX_EXAMPLES,
    MAX_GREETINGS,
    MAX_LORE,
    MAX_NAME,
    MAX_PERSONA,
    MAX_UTTERANCE,
)
from soulgraph.library.cards.lore import FlawOf, lore_entry, lore_ids, no_flaw
from soulgraph.library.cards.macros import macro_notes
from soulgraph.library.cards.spec import OURS, Data, validate_card
from soulgraph.library.cards.words import fill_placeholders
from soulgraph.soul.language import lang_of

OWN_FIELDS = ("description", "avatar", "initial_profile", "inner_state", "mbti_type", "extensions")
"""Fields of a character for which a card has none; they are exported in our extension."""

_START = re.compile(r"<START>", re.IGNORECASE)
_KEPT_URIS = ("http://", "https://", "ccdefault:")
_NAMELESS = {"zh": "无名", "en": "Nameless"}
_PERSONA_PARTS = ("description", "personality", "scenario", "system_prompt", "post_history_instructions")
_PERSONA = "data.description, personality, scenario and prompts together"


@dataclass(frozen=True, slots=True)
class Reading:
    """A character read from a card; `notes` tell what was cut, and what is kept without effect."""

    character: Json
    notes: tuple[str, ...] = ()


def character_of(card: Json, flaw_of: FlawOf = no_flaw) -> Reading:
    """The character of a card, without our extension."""
    oddities = Oddities()
    data = validate_card(card, oddities)
    cutter = Cutter()
    name = _name(data, cutter)
    char = cut_text(_one_line(data.nickname), MAX_NAME) or name
    character = {
        "name": name,
        "description": fill_placeholders(data.description, char).partition("\n\n")[0][:MAX_BLURB].strip(),
        "base_persona": _base_persona(data, char, cutter),
        "greetings": _greetings(data, char, cutter),
        "style_examples": _examples(data, char, cutter),
        "lore": _lore(data, char, cutter, flaw_of),
    }
    return Reading(character, (*oddities.notes(), *cutter.notes, *macro_notes(_texts(data))))


def taken_in(card: Json, flaw_of: FlawOf = no_flaw) -> Reading:
    """The character to store: with the fields of our extension, and with the card itself for a later export."""
    data = validate_card(card)
    kept = _card_to_keep(card, data)
    derived = character_of(kept, flaw_of)
    ours = data.extensions.get(OURS)
    own = {name: ours[name] for name in OWN_FIELDS if name in ours} if isinstance(ours, dict) else {}
    others = own.pop("extensions", {})
    extensions = {**(others if isinstance(others, dict) else {}), "card": kept}
    character = {**derived.character, **own, "extensions": extensions}
    return Reading(character, (*derived.notes, *without_effect(card["data"], data)))


def _texts(data: Data) -> list[str]:
    """The texts of a card that become a part of the character."""
    texts = [getattr(data, name) for name in (*_PERSONA_PARTS, "first_mes", "mes_example")]
    return [*texts, *data.alternate_greetings, *(entry.content for entry in data.character_book.entries)]


def has_words(data: Data) -> bool:
    """Whether there is anything to make a character of."""
    texts = (data.name, data.nickname, data.description, data.personality, data.scenario, data.first_mes)
    return any(text.strip() for text in (*texts, data.mes_example, data.system_prompt, *data.alternate_greetings))


def _name(data: Data, cutter: Cutter) -> str:
    """The name in one line; a card without one gets one, and a note says so."""
    name = cutter.text(_one_line(data.name) or _one_line(data.nickname), MAX_NAME, "data.name")
    if name:
        return name
    nameless = _NAMELESS[lang_of(data.description + data.first_mes)]
    cutter.notes.append(f"data.name: is empty, so the character is called {nameless}: give it a name")
    return nameless


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _card_to_keep(card: Json, data: Data) -> Json:
    """The card without our extension and without embedded files."""
    fields = dict(card["data"])
    if OURS in data.extensions:
        fields["extensions"] = {name: value for name, value in data.extensions.items() if name != OURS}
    kept = [n for n, asset in enumerate(data.assets) if asset.uri.startswith(_KEPT_URIS)]
    if len(kept) < len(data.assets):
        fields["assets"] = [card["data"]["assets"][n] for n in kept]
    return {**card, "data": fields}


def _base_persona(data: Data, char: str, cutter: Cutter) -> str:
    """Description, personality, scenario and prompts of a card as one text with headings; each keeps a fair share."""
    filled = {name: fill_placeholders(getattr(data, name), char) for name in _PERSONA_PARTS}
    whole = _with_headings(filled)
    if len(whole) <= MAX_PERSONA:
        return whole
    lengths = {name: len(text) for name, text in filled.items()}
    shares = fair_shares(lengths, MAX_PERSONA - (len(whole) - sum(lengths.values())))
    kept = {name: cut_text(text, shares[name]) for name, text in filled.items()}
    persona = _with_headings(kept)
    cut = ", ".join(name for name in kept if kept[name] != filled[name])
    kept_of = f"{len(persona):,} of {len(whole):,} characters are kept, at most {MAX_PERSONA:,} can be"
    cutter.notes.append(f"{_PERSONA}: {kept_of} (cut: {cut})")
    return persona


def _with_headings(filled: Mapping[str, str]) -> str:
    parts = {
        "personality": filled["personality"],
        "scenario": filled["scenario"],
        "guidance": "\n".join(filter(None, (filled["system_prompt"], filled["post_history_instructions"]))),
    }
    headings = HEADINGS[lang_of("".join(filled.values()))]
    sections = [f"{headings[name]}: {text}" for name, text in parts.items() if text]
    return "\n\n".join(filter(None, (filled["description"], *sections)))


def _greetings(data: Data, char: str, cutter: Cutter) -> list[str]:
    """The greetings that are not empty, the first one first."""
    others = {f"data.alternate_greetings.{n}": text for n, text in enumerate(data.alternate_greetings)}
    filled = {
        place: fill_placeholders(text, char) for place, text in {"data.first_mes": data.first_mes, **others}.items()
    }
    given = [place for place, text in filled.items() if text]
    return [
        cutter.text(filled[place], MAX_UTTERANCE, place)
        for place in cutter.first(given, MAX_GREETINGS, "data.first_mes and alternate_greetings")
    ]


def _examples(data: Data, char: str, cutter: Cutter) -> list[str]:
    given = [text for part in _START.split(data.mes_example) if (text := fill_placeholders(part, char))]
    return [
        cutter.text(text, MAX_UTTERANCE, f"data.mes_example.{n}")
        for n, text in enumerate(cutter.first(given, MAX_EXAMPLES, "data.mes_example"))
    ]


def _lore(data: Data, char: str, cutter: Cutter, flaw_of: FlawOf) -> list[Json]:
    entries: Sequence[tuple[int, str]] = [
        (n, entry_id)
        for n, entry_id in enumerate(lore_ids(data.character_book.entries))
        if data.character_book.entries[n].content.strip()
    ]
    found = (
        lore_entry(data.character_book.entries[n], entry_id, char, f"data.character_book.entries.{n}", cutter, flaw_of)
        for n, entry_id in cutter.first(entries, MAX_LORE, "data.character_book.entries")
    )
    return [entry for entry in found if entry]
