"""Files as other programs write them become characters, and what of them is not kept is said."""

import pytest

from soulgraph.api.cards import flaw_of_pattern, read_card
from soulgraph.api.library import stored
from soulgraph.library.cards.spec import V2, V3
from soulgraph.library.cards.writing import card_of
from soulgraph.tests.library.cards.programs import cases, file_of
from soulgraph.tests.library.cards.samples import as_bytes

CASES = [*cases("open"), *cases("held")]


def flaws(case):
    """What is not as the case expects it."""
    card = read_card(file_of(case))
    character, expect = card.character, case["expect"]
    found = {
        "name": character.name,
        "greetings": character.greetings,
        "examples": len(character.style_examples),
        "images": sorted(card.images),
    }
    wrong = [f"{what}: {found[what]!r}" for what in found.keys() & expect.keys() if found[what] != expect[what]]
    wrong += [f"persona without {text!r}" for text in expect.get("persona", ()) if text not in character.base_persona]
    notes = "\n".join(card.notes)
    wrong += [f"no note on {word!r}: {notes}" for word in expect.get("notes", ()) if word not in notes]
    lore = [entry.model_dump(mode="json") for entry in character.lore]
    wanted = expect.get("lore", lore)
    if len(lore) != len(wanted) or not all(
        one.items() >= entry.items() for one, entry in zip(lore, wanted, strict=True)
    ):
        wrong.append(f"lore: {lore}")
    return wrong


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_file_of_another_program_becomes_a_character(case):
    assert flaws(case) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_it_comes_back_as_the_same_character_from_its_card(case):
    made = read_card(file_of(case)).character
    for spec in (V2, V3):
        card = card_of(made.name, stored(made), spec, flaw_of_pattern)
        again = read_card(as_bytes(card)).character
        for field in ("name", "base_persona", "greetings", "style_examples", "lore"):
            if spec == V3 or field != "base_persona":  # V2 has no nickname
                assert getattr(again, field) == getattr(made, field), (spec, field)
