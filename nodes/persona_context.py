"""Who is speaking, to whom and how: the prompt of this turn."""

from dataclasses import asdict

from langgraph.runtime import Runtime

from soulgraph.graph.context import Context
from soulgraph.graph.state import TurnState
from soulgraph.prompts.cues import Cues
from soulgraph.prompts.layers import Persona, assemble
from soulgraph.soul.language import lang_of
from soulgraph.soul.mood import describe
from soulgraph.soul.profile import top
from soulgraph.stores.records import Preference, Preset, Slot


async def persona_context(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    context, session = runtime.context, state["heard"].session
    async with context.stores.read() as tx:
        background = await tx.backgrounds.find(session.background_id) if session.background_id else None
        preferences = await tx.preferences.all(session.soul_id)
        slots = await tx.slots.all(session.soul_id)
        recent = await tx.messages.recent(session.session_id, 2 * context.persona.history_rounds)
    persona = _persona(state, context, background, preferences, slots)
    meta = {
        "mode": persona.mode,
        "sources": persona.sources,
        "memory_hits": len(preferences) + len(slots),
        "truncated": False,
    }
    history = [(message.role, message.content) for message in recent]
    return {"persona": meta, "messages": assemble(persona, history, state["said"]["text"], _cues(state, persona))}


def _persona(
    state: TurnState, context: Context, background: Preset | None, preferences: list[Preference], slots: list[Slot]
) -> Persona:
    soul, session = state["heard"].soul, state["heard"].session
    blocked = [intent.intent_name for intent in state["filtered"].intents]
    return Persona(
        name=soul.name,
        template=session.template_id,
        base=session.character_snapshot["base_persona"],
        evolved=session.character_snapshot["evolved_persona"],
        background=_world(background),
        inner_state=soul.inner_state,
        profile=top(soul.dynamic_profile, context.persona.top_profile_items),
        mood=describe(state["heard"].soul_emotion, lang_of(state["said"]["text"]), context.constants),
        preferences=[f"{preference.key}: {preference.value}" for preference in preferences],
        slots=[slot.content for slot in slots],
        mode=state["persona_state"]["mode"],
        blocked_intents=blocked,
        may_act=state["gate"].exec_mode == "auto_execute",
        sources=[
            *([f"character:{preset}"] if (preset := session.character_snapshot["source_preset"]) else []),
            *([f"background:{background.id}"] if background else []),
            *[f"preference:{preference.key}" for preference in preferences],
            *[f"slot:{slot.n}" for slot in slots],
        ],
    )


def _world(background: Preset | None) -> str:
    if background is None:
        return ""
    texts = (background.data.get(key, "") for key in ("description", "world_rules", "initial_context"))
    return "\n".join(text for text in texts if text)


def _cues(state: TurnState, persona: Persona) -> Cues:
    """The same persona for a voice that does not read prose."""
    text, heard, gate = state["said"]["text"], state["heard"], state["gate"]
    return {
        "task": "turn",
        "lang": lang_of(text),
        "soul_name": persona.name,
        "voice": persona.template.removesuffix("_v1"),
        "user_text": text,
        "user_emotion": asdict(heard.user_emotion),
        "mood": persona.mood,
        "mood_p": heard.soul_emotion.p,
        "mode": persona.mode,
        "gate": {"exec_mode": gate.exec_mode, "locked": gate.locked},
        "blocked_intents": persona.blocked_intents,
        "facts": persona.slots,
    }
