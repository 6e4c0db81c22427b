"""A persona with everything in it, for tests of prompts."""

from soulgraph.prompts.lore import Lore
from soulgraph.prompts.persona import Memory, Persona
from soulgraph.soul.character_words import describe_personality
from soulgraph.soul.personality import Traits, traits_of

BARE = Persona(soul_name="Mika", mode="strict")
FULL = Persona(
    soul_name="Mika",
    mode="hybrid",
    mood="clearly relaxed",
    personality=describe_personality(traits_of("INFJ"), Traits(0.1, 0.0, 0.1, 0.0, 0.0), "en"),
    character_id="keeper",
    base_persona="A lighthouse keeper.\n\nShe was born on the mainland.",
    style_examples=["the user: Hi?\nMika: Hm.", "Mika: No."],
    evolved_persona="Softer since the storm.",
    evolved_version=3,
    background_id="island",
    background="An island.",
    inner_state="I keep the light.",
    relation="You have known Lin since 2026-03-01. I worry about the visitor.",
    profile={
        "core_identity": {"archetype": "Guardian", "personality_traits": ["Patient", "Dry"]},
        "dynamic_state": {
            "emotions": {"items": [{"content": "calm", "priority": 7}, {"content": "tired", "priority": 2}]},
            "relationships": {
                "items": [{"entity": "the visitor", "status": "ally", "priority": 9, "timestamp": "2027-01-15"}]
            },
            "learned_patterns": {"items": []},
        },
    },
    files={"SOUL.md": "Be kind.", "IDENTITY.md": "Name: Mika", "USER.md": "Likes rain."},
    preferences={"tone": "plain"},
    slots={0: "The visitor has a dog.", 40: "The dog is called Tofu."},
    wishes={"reply_length": "short"},
    skills=["ring the bell"],
    gate_reason="hurt",
    blocked_intents=["开灯"],
    events=[Memory("evt_1", "A guarded host warmed to a patient guest.", 0.9)],
    episodes=[Memory("12", "My daughter is called Ann.", 0.8)],
    summaries=[Memory("summary_1", "They spoke of the storm.", 0.7)],
    scratch_area="ask about the dog",
    lore=[Lore(id="lamp", keys=("lamp",), content="The lamp must never go out.")],
)
HISTORY = [("user", "hello"), ("assistant", "hi")]
