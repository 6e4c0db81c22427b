import re
from dataclasses import replace

import pytest

from soulgraph.library.shipped import TEMPLATES
from soulgraph.prompts.budget import Budget, Piece, cut, fit_pieces
from soulgraph.prompts.context import build
from soulgraph.prompts.persona import MODES, Memory
from soulgraph.prompts.templates import read_template, shipped
from soulgraph.soul.character_words import describe_personality
from soulgraph.soul.personality import MBTI_TYPES, Traits, traits_of
from soulgraph.tests.prompts.samples import BARE, FULL

COMPANION = shipped("companion_v1")
LONG = replace(
    FULL,
    inner_state="I keep thinking. " * 40,
    evolved_persona="Grew a little braver. " * 30,
    slots={n: f"Fact number {n} about them." for n in range(60)},
    profile={
        "core_identity": {"archetype": "Guardian"},
        "dynamic_state": {
            "learned_patterns": {"items": [{"pattern": f"Pattern number {n}", "priority": n} for n in range(1, 11)]}
        },
    },
)


def built(who=FULL, template=COMPANION, **budget):
    return build(template, who, Budget(**budget))


def size(context):
    parts = (context.core_prompt, context.user_pref_prompt, context.mode_prompt)
    return len("\n\n".join(filter(None, parts)))


def section(context, name):
    return next((s.text.partition("\n")[2] for s in context.sections if s.module.name == name), "")


def test_each_layer_has_its_prompt():
    context = built()
    assert re.findall("---(.+)---", context.core_prompt)[0] == "Voice"
    assert re.findall("---(.+)---", context.core_prompt)[-1] == "Mood"
    assert re.findall("---(.+)---", context.user_pref_prompt) == [
        "This Person (never shown)",
        "User",
        "User Preferences",
        "Remembered",
    ]
    assert (
        context.mode_prompt
        == f"---Session Mode---\n{MODES['en']['hybrid']}\n\n---Session Wishes---\n- reply_length: short"
    )
    assert context.meta == {"mode": "hybrid", "memory_hits": 3, "truncated": False, "cut": []}


def test_every_source_is_named():
    own = "SOUL.md IDENTITY.md character:keeper personality background:island evolved_persona:v3 inner_state profile"
    user = "relation USER.md preference:tone slot:0 slot:40"
    recalled = "event:evt_1 episode:12 summary:summary_1 scratch_area lore:lamp"
    assert built().sources == f"{own} {user} {recalled}".split()
    assert built(BARE).sources == []


def test_what_is_not_said_is_no_source():
    few = built(LONG, persona=2000)
    kept = [source for source in few.sources if source.startswith("slot:")]
    assert len(kept) == section(few, "Remembered").count("- ") < 60
    modules = [m for m in COMPANION.model_dump(exclude_none=True)["modules"] if m["layer"] in (2, 4)]
    quiet = built(template=read_template({"template_id": "quiet", "name": "Quiet", "modules": modules}))
    lived = ["evolved_persona:v3", "inner_state", "profile"]
    assert quiet.sources == [
        "SOUL.md",
        "IDENTITY.md",
        "character:keeper",
        "personality",
        "background:island",
        *lived,
        "relation",
    ]
    assert quiet.meta["memory_hits"] == 0


def test_the_profile_is_told_in_words_by_priority_and_without_times():
    assert section(built(), "Current State") == (
        "archetype: Guardian\npersonality_traits: Patient, Dry\n"
        "emotions: calm (priority 7); tired (priority 2)\nrelationships: the visitor, ally (priority 9)"
    )
    assert section(built(profile_items=1), "Current State").splitlines()[2] == "emotions: calm (priority 7)"


def test_the_gate_speaks_only_when_the_soul_is_blocked():
    assert section(built(replace(FULL, gate_reason=None, blocked_intents=[])), "Gate") == ""
    closed = section(built(replace(FULL, blocked_intents=[])), "Gate")
    assert closed.startswith("Unable to act now (hurt by what was said)")
    assert "What would help: an apology or a kind word." in closed
    assert "The user asked for: 开灯. It was NOT done." in section(built(), "Gate")


def test_the_gate_is_explained_in_the_language_of_the_reply():
    told = section(built(replace(FULL, lang="zh")), "Gate")
    assert told.startswith("此刻不能行动（被刚才的话伤到了）")
    assert "用户想要：开灯。没有做" in told
    assert not re.search("[a-z]", told)


@pytest.mark.parametrize(
    ("lang", "laugh", "pity"), [("en", "laugh", "gentle|kind word|hurt"), ("zh", "笑", "道歉|暖心|伤")]
)
def test_a_gate_that_joy_has_closed_is_told_with_a_laugh(lang, laugh, pity):
    told = section(built(replace(FULL, lang=lang, gate_reason="excited")), "Gate")
    assert laugh in told
    assert not re.search(pity, told)


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_no_two_types_of_the_same_name_have_the_same_prompt(template, lang):
    unchanged = Traits(0.0, 0.0, 0.0, 0.0, 0.0)
    types = [describe_personality(traits_of(mbti), unchanged, lang) for mbti in MBTI_TYPES]
    contexts = [built(replace(FULL, personality=words), shipped(template)) for words in types]
    assert len({"\n".join(context.stable) for context in contexts}) == len(MBTI_TYPES)
    assert all("personality" in context.sources for context in contexts)


def test_the_personality_is_kept_whole_within_the_budget():
    words = "Warm; cares how others feel. " * 9
    context = built(replace(LONG, personality=words), persona=2000)
    assert section(context, "Personality") == words.strip()
    assert size(context) <= 2000


def test_a_persona_that_is_too_long_is_brought_within_its_budget():
    assert size(built(LONG, persona=100_000)) > 2500
    context = built(LONG, persona=2000)
    assert context.meta["truncated"]
    assert context.meta["cut"] == ["evolved_persona", "inner_state", "slots"]
    assert 1900 < size(context) <= 2000


def test_the_least_important_items_go_first():
    for budget in range(5000, 500, -50):
        state = section(built(LONG, persona=budget), "Current State")
        kept = [int(n) for n in re.findall(r"number (\d+)", state)]
        assert kept == list(range(10, 10 - len(kept), -1))
        assert not kept or state.startswith("archetype: Guardian\n")
        slots = [int(n) for n in re.findall(r"number (\d+)", section(built(LONG, persona=budget), "Remembered"))]
        assert slots == list(range(len(slots)))


@pytest.mark.parametrize("budget", [2000, 4000, 6000])
def test_the_mode_and_the_first_paragraph_of_the_base_persona_stay_whole(budget):
    first = ("A keeper of light. " * (budget // 80)).strip()
    persona = replace(
        LONG, base_persona=f"{first}\n\n{'Then much more. ' * 500}", files={"SOUL.md": "Be kind. " * 5000}
    )
    context = built(persona, persona=budget)
    assert first in context.core_prompt
    assert MODES["en"]["hybrid"] in context.mode_prompt
    assert {"base_persona", "soul_file"} <= set(context.meta["cut"])
    assert size(context) <= budget


def test_an_endless_first_paragraph_leaves_the_others_their_place():
    context = built(replace(LONG, base_persona="A keeper of light. " * 900, files={"SOUL.md": "Be kind. " * 5000}))
    assert 2000 < len(section(context, "Base Identity (Immutable Core)")) <= 3100
    assert len(section(context, "Soul")) > 200
    assert size(context) <= 6000


def test_a_long_file_does_not_push_out_what_was_lived():
    context = built(replace(FULL, files=dict.fromkeys(FULL.files, "Be kind, always. " * 2000)), persona=2000)
    assert size(context) <= 2000
    assert {"SOUL.md", "IDENTITY.md", "USER.md"} < set(context.sources)
    assert FULL.inner_state in context.core_prompt
    assert FULL.evolved_persona in context.core_prompt
    assert len(section(context, "Soul")) > len(section(context, "Identity")) > 100


EXAMPLES = [f"the user: How was day {n}?\nMika: It went. Ships passed, {n} of them." for n in range(50)]


def test_long_style_examples_push_out_neither_what_was_lived_nor_the_persona():
    context = built(replace(FULL, style_examples=EXAMPLES), persona=2000)
    assert size(context) <= 2000
    assert context.meta["cut"] == ["style_examples"]
    assert len(section(context, "Style Examples")) > 500
    for words in (FULL.inner_state, FULL.evolved_persona, FULL.base_persona):
        assert words in context.core_prompt


def test_a_long_persona_leaves_room_for_the_way_it_is_spoken_in():
    persona = replace(FULL, base_persona="A keeper.\n\n" + "She counts ships. " * 300, style_examples=EXAMPLES)
    context = built(persona, persona=2000)
    assert size(context) <= 2000
    assert "Mika: It went." in section(context, "Style Examples")
    assert len(section(context, "Base Identity (Immutable Core)")) > 400


def test_style_examples_are_the_same_whatever_the_soul_has_learned():
    """They stand before what changes, so that the beginning of a prompt stays what it was."""
    slots = [{n: f"Fact number {n} about them." for n in range(count)} for count in (20, 40, 60)]
    grown = [replace(LONG, style_examples=EXAMPLES, slots=some, mood="calm" * len(some)) for some in slots]
    learned = [built(persona, persona=2000) for persona in grown]
    assert len({section(context, "Style Examples") for context in learned}) == 1
    assert section(learned[0], "Style Examples")


def test_memories_have_a_budget_of_their_own_and_the_best_stay():
    memories = [Memory(str(n), f"Memory {n}: {'rain ' * 20}", n / 10) for n in range(9)]
    context = built(replace(FULL, events=memories, episodes=memories), memories=400)
    assert [s for s in context.sources if s.startswith("event:")] == ["event:6", "event:7", "event:8"]
    assert context.meta["memory_hits"] == 7
    assert not context.meta["truncated"]


def test_a_text_is_cut_at_the_end_of_a_sentence_if_there_is_one_near():
    assert cut("One. Two. Three is long.", 22) == "One. Two. Three is lo…"
    assert cut("Rain fell all day. Then it stopped.", 25) == "Rain fell all day.…"
    assert cut("short", 5) == "short"
    assert cut("too short a rest to say anything", 19) == ""


def test_pieces_stay_in_their_order_and_the_lowest_rank_goes():
    pieces = [Piece("aaa", rank=1), Piece("bbb", rank=3), Piece("ccc", rank=2)]
    assert [piece.text for piece in fit_pieces(pieces, 12)] == ["bbb", "ccc"]
    assert fit_pieces(pieces, 0) == []


def test_the_best_piece_stays_even_if_it_must_be_cut():
    pieces = [Piece("a" * 90, rank=1), Piece("b" * 90, rank=2)]
    assert [piece.text for piece in fit_pieces(pieces, 43)] == ["b" * 39 + "…"]
