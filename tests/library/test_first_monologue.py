"""Every soul is born with thoughts of its own: its character's, or ones made from who it is. People come later."""

import pytest

from soulgraph.library.first_monologue import first_monologue, first_thought_about

CAPTAIN = {
    "base_persona": "Mara sails the northern strait. She talks little.",
    "initial_profile": {"core_identity": {"core_goal": "bring the crew home"}},
}


def test_a_character_brings_its_own_words():
    assert first_monologue("Mara", CAPTAIN | {"inner_state": "The sea was loud."}) == "The sea was loud."


def test_without_them_the_monologue_is_made_from_name_and_character():
    text = first_monologue("Mara", CAPTAIN)
    for words in ("I am Mara.", "Mara sails the northern strait.", "bring the crew home", "whom I will meet"):
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
    text = first_monologue(name, character)
    assert f"我是{name}。" in text
    assert "我还不知道会遇见谁" in text


def test_a_first_thought_is_about_the_person_in_the_language_of_the_soul():
    zh, en = first_thought_about("安", "我是小满。"), first_thought_about("Ann", "I am Mara.")
    assert zh.startswith("安是我在乎的人。") and zh.count("安") == 3
    assert en.startswith("Ann is somebody I care about.") and en.count("Ann") == 2


def test_a_name_in_a_first_thought_is_only_a_name():
    assert "{person} is somebody" in first_thought_about("{person}", "I am Mara.")


def test_a_long_persona_leaves_room_to_think():
    text = first_monologue("n" * 80, {"base_persona": "长" * 5000, "initial_profile": {}})
    assert len(text) + len(first_thought_about("u" * 80, text)) <= 1200
