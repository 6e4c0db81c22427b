"""Files as other programs write them become characters, and what of them is not kept is said."""

import pytest

from soulgraph.api.cards import flaw_of_pattern, read_card
from soulgraph.api.library import stored
from soulgraph.api.lore_import import read_book
from soulgraph.errors import InvalidInput
from soulgraph.library.cards.spec import V2, V3
from soulgraph.library.cards.writing import card_of
from soulgraph.tests.library.cards.programs import cases, file_of
from soulgraph.tests.library.cards.samples import as_bytes

CASES = [*cases("open"), *cases("held"), *cases("second"), *cases("third"), *cases("fourth")]
REFUSED = [case for case in CASES if "refused" in case["expect"]]
CASES = [case for case in CASES if case not in REFUSED]
CHARACTERS = [case for case in CASES if case["as"] != "lorebook"]


def read(case):
    """What a case's file becomes, its notes, and its lore as data."""
    content = file_of(case)
    if case["as"] == "lorebook":
        book = read_book(content, "Lumen")
        return None, {}, book.notes, [entry.model_dump(mode="json") for entry in book.entries]
    card = read_card(content)
    return card.character, card.images, card.notes, [entry.model_dump(mode="json") for entry in card.character.lore]


def holds(text, wanted):
    """Whether any of the words that are joined by | is in it, in whatever case."""
    return any(word.casefold() in text.casefold() for word in wanted.split("|"))


def flaws(case):
    """What is not as the case expects it."""
    character, images, notes, lore = read(case)
    expect, said = case["expect"], "\n".join(notes)
    wrong = [f"no note on {word!r}: {said}" for word in expect.get("notes", ()) if not holds(said, word)]
    wanted = expect.get("lore", lore)
    if len(lore) != len(wanted) or not all(
        one.items() >= entry.items() for one, entry in zip(lore, wanted, strict=True)
    ):
        wrong.append(f"lore: {lore}")
    wrong += [
        f"lore without {entry}"
        for entry in expect.get("lore_has", ())
        if not any(one.items() >= entry.items() for one in lore)
    ]
    counts = {"lore": len(lore)}
    if character:
        counts["greetings"] = len(character.greetings)
        wrong += character_flaws(character, images, expect)
    note = expect.get("whole", {}).get("note")
    for what in counts.keys() & expect.get("whole", {}).keys():
        kept, whole = counts[what], expect["whole"][what]
        if kept != whole and not (kept >= whole / 2 and holds(said, note)):
            wrong.append(f"{kept} of {whole} {what}: {said}")
    return wrong


def character_flaws(character, images, expect):
    found = {
        "name": character.name,
        "greetings": character.greetings,
        "examples": len(character.style_examples),
        "images": sorted(images),
    }
    greetings = "\n\n".join(character.greetings)
    wrong = [f"{what}: {found[what]!r}" for what in found.keys() & expect.keys() if found[what] != expect[what]]
    for where, text in (("persona", character.base_persona), ("greetings_has", greetings)):
        wrong += [f"{where} without {words!r}: {text}" for words in expect.get(where, ()) if words not in text]
    for where, text in (("persona_not", character.base_persona), ("greetings_not", greetings)):
        wrong += [f"{where}: {words!r}: {text}" for words in expect.get(where, ()) if words in text]
    return wrong


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_file_of_another_program_becomes_a_character(case):
    assert flaws(case) == []


@pytest.mark.parametrize("case", CHARACTERS, ids=lambda case: case["name"])
def test_it_comes_back_as_the_same_character_from_its_card(case):
    made = read_card(file_of(case)).character
    for spec in (V2, V3):
        card = card_of(made.name, stored(made), spec, flaw_of_pattern)
        again = read_card(as_bytes(card)).character
        for field in ("name", "base_persona", "greetings", "style_examples", "lore"):
            if spec == V3 or field != "base_persona":  # V2 has no nickname
                assert getattr(again, field) == getattr(made, field), (spec, field)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["name"])
def test_a_file_without_a_card_is_refused(case):
    with pytest.raises(InvalidInput, match=r"no card|empty|lorebook|files card\.json, expected one"):
        read(case)
