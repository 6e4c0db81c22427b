"""Every soul is born with thoughts of its own: its character's, or ones made from who it is and whom it is for."""

import pytest

from soulgraph.library.first_monologue import first_monologue

CAPTAIN = {
    "base_persona": "Mara sails the northern strait. She talks little.",
    "initial_profile": {"core_identity": {"core_goal": "bring the crew home"}},
}


def test_a_character_brings_its_own_words():
    assert first_monologue("Mara", CAPTAIN | {"inner_state": "The sea was loud."}, "Lin") == "The sea was loud."


def test_without_them_the_monologue_is_made_from_name_character_and_person():
    text = first_monologue("Mara", CAPTAIN, "Lin")
    for words in (
        "I am Mara.",
        "Mara sails the northern strait.",
        "bring the crew home",
        "Lin is the one I care about",
    ):
        assert words in text
    assert "talks little" not in text


def test_a_bare_soul_has_thoughts_too_and_invents_nobody():
    text = first_monologue("Nova", {})
    assert text.startswith("I am Nova.")
    assert "whom I will meet" in text
    assert "None" not in text
    assert "{" not in text


@pytest.mark.parametrize(
    ("name", "character"),
    [("小满", {}), ("Alserqi", {"base_persona": "废土黑帮老大。"}), ("A", {"description": "寻仇者"})],
)
def test_it_is_in_the_language_of_name_or_character(name, character):
    assert f"我是{name}。" in first_monologue(name, character)
    assert "林是我最在乎的人" in first_monologue(name, character, "林")


def test_a_long_persona_leaves_room_to_think():
    text = first_monologue("n" * 80, {"base_persona": "长" * 5000, "initial_profile": {}}, "u" * 80)
    assert len(text) <= 1200
