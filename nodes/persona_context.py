"""Who is speaking, to whom and how: the prompt of this turn."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Command

from soulgraph.library.shipped import TEMPLATES
from soulgraph.memory.recall import Recalled, RecalledEpisode, RecalledEvent
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import Heard, TurnState
from soulgraph.nodes.streaming import hide_messages
from soulgraph.nodes.tools.skills import offered_by
from soulgraph.prompts.budget import Budget, cut
from soulgraph.prompts.context import Memory, Persona, PersonaContext, build
from soulgraph.prompts.cues import Cues
from soulgraph.prompts.layers import assemble
from soulgraph.prompts.lore import lore_of, touched
from soulgraph.prompts.templates import Template, read_template, shipped
from soulgraph.runtime.tracing.trace import keep_private
from soulgraph.soul.language import lang_of
from soulgraph.soul.mood import describe
from soulgraph.soul.preferences import question
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Message, Preference, Preset, Session, Slot
from soulgraph.stores.stores import Transaction

_NOTHING = Recalled([], [])
_WHO = {"user": "they said", "assistant": "you said"}
_QUOTED = 150
"""Characters of one message of an episode."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the stores keep for this prompt."""

    template: Template
    character: Preset | None
    background: Preset | None
    preferences: list[Preference]
    slots: list[Slot]
    recent: list[Message]


async def persona_context(state: TurnState, runtime: Runtime[Context]) -> Command[Any]:
    return hide_messages(await prompt_of(state, runtime.context))


async def prompt_of(state: TurnState, context: Context) -> TurnState:
    said, session = state["said"], state["heard"].session
    async with context.stores.read() as tx:
        kept = await _kept(tx, session, 2 * context.persona.history_rounds)
    files = context.workspaces.read(session.soul_id) if context.workspaces else {}
    recalling = state.get("recalling")
    recalled = await recalling if recalling else _NOTHING
    budget = Budget(persona=context.persona.persona_budget, profile_items=context.persona.top_profile_items)
    persona = _persona(state, context, kept, files, recalled, budget)
    built = build(kept.template, persona, budget)
    _tell(state, context, built, recalled.problem)
    keep_private(*built.private)
    history = [(message.role, message.content) for message in kept.recent]
    cues = _cues(state, persona, kept.template)
    return {
        "recalling": None,  # what follows may be written to a checkpoint, and a task cannot
        "persona": {**built.meta, "sources": built.sources},
        "messages": assemble(built, history, said["text"], cues),
    }


def _tell(state: TurnState, context: Context, built: PersonaContext, problem: str) -> None:
    context.telemetry.emit(
        "persona.context.built",
        session_id=state["said"]["session_id"],
        soul_id=state["said"]["soul_id"],
        turn_id=state["heard"].turn_id,
        **built.meta,
        sources=built.sources,
        memory_problem=problem,
    )


async def _kept(tx: Transaction, session: Session, messages: int) -> _Kept:
    preset = session.character_snapshot.get("source_preset")
    return _Kept(
        template=await template_of(tx, session.template_id),
        character=await tx.characters.find(preset) if preset else None,
        background=await tx.backgrounds.find(session.background_id) if session.background_id else None,
        preferences=await tx.preferences.all(session.soul_id),
        slots=await tx.slots.all(session.soul_id),
        recent=await tx.messages.recent(session.session_id, messages),
    )


async def template_of(tx: Transaction, template_id: str) -> Template:
    if template_id in TEMPLATES:
        return shipped(template_id)
    return read_template((await tx.templates.get(template_id)).data)


def _episodes(recalled: Sequence[RecalledEpisode], recent: Sequence[Message], count: int) -> list[Memory]:
    """The best that the prompt does not show anyway, with what was said before and after."""
    shown = {message.message_id for message in recent}
    hide_messages = [episode for episode in recalled if episode.message.message_id not in shown][:count]
    return [Memory(str(one.message.message_id), _told(one), -place) for place, one in enumerate(hide_messages)]


def _told(episode: RecalledEpisode) -> str:
    around = (episode.before, episode.message, episode.after)
    said = (f"{_WHO[message.role]} “{cut(message.content, _QUOTED)}”" for message in around if message)
    return f"{iso(episode.message.created_at)[:10]}: {'; '.join(said)}"


def _events(recalled: Sequence[RecalledEvent], count: int) -> list[Memory]:
    return [Memory(one.event.event_id, one.event.summary, -place) for place, one in enumerate(recalled[:count])]


def _persona(
    state: TurnState, context: Context, kept: _Kept, files: Mapping[str, str], recalled: Recalled, budget: Budget
) -> Persona:
    heard, text = state["heard"], state["said"]["text"]
    snapshot = heard.session.character_snapshot
    lore = [entry for preset in (kept.character, kept.background) if preset for entry in lore_of(preset.data)]
    talk = [*(message.content for message in kept.recent), text]
    return Persona(
        soul_name=heard.soul.name,
        mode=state["persona_state"]["mode"],
        mood=describe(heard.soul_emotion, lang_of(text), context.constants),
        character_id=snapshot.get("source_preset"),
        base_persona=snapshot.get("base_persona", ""),
        style_examples=kept.character.data.get("style_examples", ()) if kept.character else (),
        evolved_persona=snapshot.get("evolved_persona", ""),
        background_id=kept.background.id if kept.background else None,
        background=_world(kept.background),
        inner_state=heard.soul.inner_state,
        profile=heard.soul.dynamic_profile,
        files=files,
        preferences={preference.key: preference.value for preference in kept.preferences},
        slots={slot.n: slot.content for slot in kept.slots},
        wishes={key: hint["value"] for key, hint in heard.guard["hints"].items() if key != "mode"},
        skills=[skill.line for skill in offered_by(state.get("terminal"), context.voice.tools)],
        may_act=state["gate"].exec_mode == "auto_execute",
        blocked_intents=[intent.intent_name for intent in state["filtered"].intents],
        question=_question(heard, text),
        events=_events(recalled.events, context.persona.recalled),
        episodes=_episodes(recalled.episodes, kept.recent, context.persona.recalled),
        lore=touched(lore, talk, budget.lore),
    )


def _question(heard: Heard, text: str) -> str:
    asked = heard.question
    return question(asked.key, asked.value, lang_of(text)) if asked else ""


def _world(background: Preset | None) -> str:
    if background is None:
        return ""
    texts = (background.data.get(key, "") for key in ("description", "world_rules", "initial_context"))
    return "\n".join(text for text in texts if text)


def _cues(state: TurnState, persona: Persona, template: Template) -> Cues:
    """The same persona for a voice that does not read prose."""
    text, heard, gate = state["said"]["text"], state["heard"], state["gate"]
    return {
        "task": "turn",
        "lang": lang_of(text),
        "soul_name": persona.soul_name,
        "voice": template.voice,
        "user_text": text,
        "user_emotion": asdict(heard.user_emotion),
        "mood": persona.mood,
        "mood_p": heard.soul_emotion.p,
        "mode": persona.mode,
        "gate": {"exec_mode": gate.exec_mode, "locked": gate.locked},
        "blocked_intents": list(persona.blocked_intents),
        "facts": list(persona.slots.values()),
        "question": persona.question,
    }
