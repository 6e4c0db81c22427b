"""The budget of a persona: every part keeps its share, however long the others are."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.library.cards.headings import HEADINGS
from soulgraph.library.shipped import TEMPLATES
from soulgraph.prompts.budget import GIVEN, GROWN, Budget, budget_for
from soulgraph.prompts.context import build
from soulgraph.prompts.fit_notes import fit_notes
from soulgraph.prompts.persona import Persona
from soulgraph.prompts.templates import read_template, shipped
from soulgraph.soul.character_words import describe_personality
from soulgraph.soul.personality import Traits, traits_of
from soulgraph.tests.prompts.samples import BARE, FULL

SENTENCES = {"en": "She counts ships and never days. ", "zh": "她只数船，从来不数日子。"}
PARTS = {*GIVEN, *GROWN} - {"background_description", "world_rules"}
COMPANION = shipped("companion_v1")


def words(lang: str, size: int) -> str:
    return (SENTENCES[lang] * size)[:size]


def card(lang: str) -> str:
    """The base persona of a card with 8,000 characters: description, personality, scenario and system prompt."""
    parts = [f"{heading}: {words(lang, 1000)}" for heading in HEADINGS[lang].values()]
    return "\n\n".join([words(lang, 5000), *parts])


def grown_soul(lang: str) -> Persona:
    """A soul that has much to say for itself, under a long card and long files."""
    items = [{"content": f"{SENTENCES[lang]} {n}", "priority": n} for n in range(1, 11)]
    return replace(
        FULL,
        lang=lang,
        personality=describe_personality(traits_of("INFJ"), Traits(0.1, 0.0, 0.1, 0.0, 0.0), lang),
        base_persona=card(lang),
        style_examples=[words(lang, 300)] * 10,
        background=words(lang, 3000),
        inner_state=words(lang, 1200),
        relation=words(lang, 1200),
        evolved_persona=words(lang, 3000),
        profile={"core_identity": {"archetype": "Guardian"}, "dynamic_state": {"emotions": {"items": items}}},
        files=dict.fromkeys(FULL.files, words(lang, 4000)),
        preferences={f"wish {n}": SENTENCES[lang] for n in range(30)},
        slots={n: f"{n}. {SENTENCES[lang]}" for n in range(60)},
        wishes={f"now {n}": SENTENCES[lang] for n in range(20)},
    )


def core_of(context):
    return "\n\n".join(section.text for section in context.sections if section.layer < 5)


def text_of(context, variable):
    [text] = [section.text for section in context.sections if variable in section.module.variables] or [""]
    return text.partition("\n")[2]


@pytest.mark.parametrize("budget", [1500, 2000, 6000])
@pytest.mark.parametrize("template_id", TEMPLATES)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_under_a_card_of_8000_characters_every_part_keeps_something(lang, template_id, budget):
    soul = grown_soul(lang)
    context = build(shipped(template_id), soul, Budget.for_persona(budget))
    assert len(core_of(context)) <= budget
    assert PARTS - ({"profile"} if budget == 6000 else set()) <= {*context.meta["cut"]} <= PARTS
    assert all(len(text_of(context, variable)) >= 10 for variable in PARTS)
    assert soul.personality in text_of(context, "personality")
    for heading in HEADINGS[lang].values():
        assert f"\n\n{heading}: {SENTENCES[lang][:12]}" in text_of(context, "base_persona")


@pytest.mark.parametrize("budget", [2000, 3000, 6000, 12_000])
@pytest.mark.parametrize("template_id", TEMPLATES)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_what_the_soul_has_become_keeps_a_third_but_for_the_end_of_a_sentence(lang, template_id, budget):
    context = build(shipped(template_id), grown_soul(lang), Budget(persona=budget))
    lived = [section.text for section in context.sections if section.module.variables & GROWN.keys()]
    assert len("\n\n".join(lived)) >= budget / 3 - len(SENTENCES[lang])


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_what_growth_does_not_need_goes_to_the_card(lang):
    grown = build(COMPANION, grown_soul(lang))
    newborn = build(COMPANION, replace(BARE, base_persona=card(lang)))
    shown = [context.cut_sizes["base_persona"].shown for context in (grown, newborn)]
    assert shown[1] > 5000 > 2 * shown[0]


def test_the_parts_of_a_card_share_its_place_and_short_ones_stay_whole():
    base = f"{words('en', 6000)}\n\nPersonality: dry, patient\n\nScenario: {words('en', 3000)}"
    shown = text_of(build(COMPANION, replace(FULL, base_persona=base)), "base_persona")
    description, personality, scenario = shown.split("\n\n")
    assert personality == "Personality: dry, patient"
    assert len(description) > len(scenario) > 1000


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_persona_of_1160_characters_costs_a_grown_soul_nothing(lang):
    context = build(COMPANION, replace(FULL, base_persona=words(lang, 1160)))
    assert context.meta["cut"] == []
    assert text_of(context, "base_persona") == words(lang, 1160).strip()


def test_what_stands_first_does_not_change_with_every_word_that_the_soul_gains():
    soul = replace(FULL, base_persona=card("en"))
    contexts = [build(COMPANION, replace(soul, mood="calm" * n, wishes={"now": "x" * n})) for n in (1, 5, 9)]
    assert len({text_of(context, "base_persona") for context in contexts}) == 1


def test_a_variable_that_the_template_does_not_say_takes_no_place():
    modules = [{"name": "Who", "layer": 2, "template": "{{base_persona}}"}]
    template = read_template({"template_id": "bare", "name": "Bare", "modules": modules})
    context = build(template, replace(grown_soul("en"), relation=""))
    assert context.meta["cut"] == ["base_persona"]
    assert len(core_of(context)) > 5800


any_text = st.text(st.sampled_from("ab 。.\n-<我：") | st.characters(), max_size=300) | st.just("-" * 300)
plain_text = st.text("ab我. ", max_size=100)


@st.composite
def personas(draw, text) -> Persona:
    long_text = st.builds(lambda one, times: one * times, text, st.integers(0, 40))
    texts = st.lists(long_text, max_size=8)
    return Persona(
        "Mika",
        "hybrid",
        personality="Warm; cares how others feel.",
        base_persona=draw(long_text),
        style_examples=draw(texts),
        background=draw(long_text),
        evolved_persona=draw(long_text),
        inner_state=draw(long_text),
        profile={"core_identity": {f"trait {n}": one for n, one in enumerate(draw(texts))}},
        files={"SOUL.md": draw(long_text), "USER.md": draw(long_text)},
        preferences={f"key {n}": one for n, one in enumerate(draw(texts))},
        slots=dict(enumerate(draw(texts))),
        wishes={f"wish {n}": one for n, one in enumerate(draw(texts))},
    )


@settings(max_examples=100, deadline=None)
@given(personas(any_text), st.integers(500, 8000))
def test_any_persona_is_within_its_budget(persona, budget):
    """500 characters are enough for the template's own words, the mode and the personality."""
    context = build(COMPANION, persona, Budget(persona=budget))
    whole = build(COMPANION, persona, Budget(persona=10_000_000))
    assert len(core_of(context)) <= budget
    assert context.meta["truncated"] == bool(context.meta["cut"])
    assert context.meta["truncated"] or core_of(context) == core_of(whole)


@settings(max_examples=100, deadline=None)
@given(personas(plain_text), st.integers(0, 100))
def test_nothing_is_cut_when_everything_fits(persona, spare):
    whole = build(COMPANION, persona, Budget(persona=10_000_000))
    context = build(COMPANION, persona, Budget(persona=len(core_of(whole)) + spare))
    assert context.meta["cut"] == []
    assert core_of(context) == core_of(whole)


@settings(max_examples=100, deadline=None)
@given(personas(any_text), st.integers(1500, 8000))
def test_whatever_the_soul_has_become_keeps_something(persona, budget):
    context = build(COMPANION, persona, Budget(persona=budget))
    whole = build(COMPANION, persona, Budget(persona=10_000_000))
    lost = [name for name in GROWN if text_of(whole, name) and not text_of(context, name)]
    assert lost == []


@pytest.mark.parametrize(
    ("configured", "context_tokens", "budget"),
    [(6000, None, 6000), (6000, 128_000, 6000), (6000, 8192, 2048), (6000, 2048, 1000), (500, 2048, 500)],
)
def test_the_budget_follows_the_context_of_the_model(configured, context_tokens, budget):
    assert budget_for(configured, context_tokens) == budget


def test_memories_shrink_with_a_small_budget_and_do_not_grow_with_a_large_one():
    assert [Budget.for_persona(size).memories for size in (1500, 6000, 20_000)] == [150, 600, 600]
    assert Budget.for_persona(3000, 2) == Budget(persona=3000, profile_items=2, memories=300, lore=300)


def test_a_note_tells_how_much_of_a_card_a_prompt_shows():
    card_only = replace(BARE, base_persona=card("en"))
    [note] = fit_notes(COMPANION, card_only, Budget())
    grown = replace(card_only, evolved_persona=words("en", 9000))
    shown = build(COMPANION, grown, Budget()).cut_sizes["base_persona"].shown
    assert note.startswith("base_persona: 8,0")
    assert f"shows about {shown:,} of them" in note
    assert fit_notes(COMPANION, replace(BARE, base_persona=words("en", 1160)), Budget()) == []


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("budget", [1500, 6000])
def test_what_the_soul_feels_about_the_person_keeps_its_share_as_its_own_monologue_does(lang, budget):
    context = build(shipped("companion_v1", lang), grown_soul(lang), Budget.for_persona(budget))
    relation, own = text_of(context, "relation"), text_of(context, "inner_state")
    assert relation.startswith(SENTENCES[lang].strip()[:12])
    assert abs(len(relation) - len(own)) <= len(SENTENCES[lang])
