"""Builds the prompt of this turn: who the soul is, whom it talks to, what it knows, and how it is to answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Command

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.library.shipped import TEMPLATES
from soulgraph.memory.event_source import RecalledEvent
from soulgraph.memory.facts import RecalledFact
from soulgraph.memory.plan_source import RecalledPlan
from soulgraph.memory.recall import Recalled
from soulgraph.memory.summaries import RecalledSummary
from soulgraph.nodes.context import Context
from soulgraph.nodes.in_mind import episodes_in_mind, events_in_mind, facts_in_mind, summaries_in_mind
from soulgraph.nodes.outside import outside_of
from soulgraph.nodes.person import fact_of, speakers_in, with_absent, witnessed
from soulgraph.nodes.plans import read_plans
from soulgraph.nodes.state import Impact, TurnState
from soulgraph.nodes.streaming import hide_messages
from soulgraph.nodes.tools.offers import concerns_memory
from soulgraph.nodes.tools.skills import offered_by
from soulgraph.nodes.transcript import as_history, spoken_by
from soulgraph.nodes.turn_plans import TurnPlans
from soulgraph.prompts.budget import Budget, budget_for
from soulgraph.prompts.context import PersonaContext, build
from soulgraph.prompts.cues import Cues, PlanCues
from soulgraph.prompts.layers import assemble, instructions
from soulgraph.prompts.lore import lore_of, triggered_entries
from soulgraph.prompts.persona import Persona, known_since
from soulgraph.prompts.templates import Template, read_template, shipped
from soulgraph.senses.grounding import is_question
from soulgraph.senses.intents.device_requests import asks_for_device
from soulgraph.soul.character_words import describe_personality, grades_of
from soulgraph.soul.language import Lang
from soulgraph.soul.mood import describe, mood_of
from soulgraph.soul.personality import effective
from soulgraph.soul.preferences import question
from soulgraph.soul.timestamps import iso
from soulgraph.stores.messages import MAX_ID
from soulgraph.stores.records import Message, Preset, Session, Slot
from soulgraph.stores.stores import Transaction
from soulgraph.voices.factory import OFFLINE

_NOTHING = Recalled()


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the database holds for this prompt."""

    template: Template
    character: Preset | None
    background: Preset | None
    slots: list[Slot]
    recent: list[Message]
    evolved_version: int
    names: dict[str, str]


async def persona_context(state: TurnState, runtime: Runtime[Context]) -> Command[Any]:
    context = runtime.context
    recalled = state.get("recalled") or _NOTHING
    async with context.stores.read() as tx:
        lang = state["impact"].reply_language(state["utterance"]["text"])
        stored = await _stored(tx, state, recalled, context.persona, lang)
        related = [one.source_id for one in recalled.of(RecalledPlan)]
        plans = await read_plans(tx, state, context, stored.recent, related)
    files = _files(state, context)
    budget = budget_of(context)
    persona = _with_plans(_persona(state, context, stored, files, recalled, budget), plans)
    if context.persona.static:
        persona = replace(persona, evolved_persona="", inner_state="", relation="", profile={}, scratch_area="")
    built = build(stored.template, persona, budget)
    _report(state, context, built, recalled.problem)
    thoughts = [persona.inner_state, *_own_thoughts(persona)]
    context.telemetry.keep_private(*built.private, *thoughts)  # as the cues have them
    cues = _cues(state, persona, stored.template, context) | _plan_cues(plans, persona.lang)
    language = state["impact"].third_language(state["utterance"]["text"])
    skills = [skill.function for skill in offered_by(state.get("terminal"), context.voice.tools)]
    history, text = _conversation(state, stored)
    begun = state["utterance"].get("continues", "")
    update = {
        "recalled": None,  # it is in the prompt now, and need not be in a checkpoint too
        "persona": {**built.meta, "sources": built.sources},
        "plans": plans,
        "messages": assemble(built, history, text, cues, context.carrier, language, begun),
        "shown": begun,  # the tool loop adds to it
        "outside": outside_of(persona, recalled, stored.recent, skills, context.voice.tools),
    }
    return hide_messages(update)


def _with_plans(persona: Persona, plans: TurnPlans) -> Persona:
    """What was noted of plans, what to ask, and what lies ahead. A reminder needs no device."""
    return replace(
        persona,
        plans=plans.shown(persona.lang),
        told=plans.told(persona.lang),
        question=persona.question or plans.question(persona.lang),
        no_device=persona.no_device and not plans.heeds,
    )


def _plan_cues(plans: TurnPlans, lang: Lang) -> PlanCues:
    return {"first": plans.first(lang), "said": plans.said(lang), "heeded": plans.heeds}


def _files(state: TurnState, context: Context) -> dict[str, str]:
    """The soul's files; what one of them says about a person is for that person alone."""
    workspaces = context.memory.workspaces
    if workspaces is None:
        return {}
    session = state["impact"].session
    return workspaces.read(state["impact"].soul, None if session.people else state["utterance"]["user_id"])


def _conversation(state: TurnState, stored: _Stored) -> tuple[list[tuple[str, str]], str]:
    """What was said before and what is said now; where others talk or have talked every line says who spoke."""
    impact = state["impact"]
    text = state["utterance"]["text"]
    others = speakers_in(stored.recent, impact.soul.soul_id, state["utterance"]["user_id"])
    if not impact.session.is_group and not others:
        return [(message.role, message.content) for message in stored.recent], text
    history = as_history(stored.recent, stored.names, impact.soul.soul_id)
    return history, spoken_by(stored.names.get(state["utterance"]["user_id"]), text)


def budget_of(context: Context) -> Budget:
    config = context.persona
    return Budget.for_persona(budget_for(config.persona_budget, context.voice.context_tokens), config.top_profile_items)


def _report(state: TurnState, context: Context, built: PersonaContext, problem: str) -> None:
    context.telemetry.emit(
        "persona.context.built",
        session_id=state["utterance"]["session_id"],
        soul_id=state["utterance"]["soul_id"],
        turn_id=state["impact"].turn_id,
        **built.meta,
        sources=built.sources,
        memory_problem=problem,
    )


async def _stored(tx: Transaction, state: TurnState, recalled: Recalled, config: PersonaConfig, lang: Lang) -> _Stored:
    session = state["impact"].session
    soul_id = state["utterance"]["soul_id"]
    preset = session.snapshot_of(soul_id)["source_preset"]
    before = state["utterance"].get("replaces") or MAX_ID
    recent = await tx.messages.recent(session.session_id, 2 * config.history_rounds, before)
    recent = witnessed(recent, session, soul_id)
    slots = [] if config.static else await _slots(tx, state)
    return _Stored(
        template=await template_of(tx, session.template_id, lang),
        character=await tx.characters.find(preset) if preset else None,
        background=await _background(tx, session, soul_id),
        slots=slots,
        recent=recent,
        evolved_version=await tx.personas.last_number(session.session_id),
        names=await _names(tx, state, recalled, recent, slots),
    )


async def _background(tx: Transaction, session: Session, soul_id: str) -> Preset | None:
    """Where the session is set; what sums up an earlier conversation is only for the soul that had it."""
    preset = await tx.backgrounds.find(session.background_id) if session.background_id else None
    return preset if preset and preset.summary_of.get("soul_id", soul_id) == soul_id else None


async def _slots(tx: Transaction, state: TurnState) -> list[Slot]:
    utterance = state["utterance"]
    return await tx.slots.known_to(utterance["soul_id"], state["impact"].session.audience, utterance["user_id"])


async def _names(
    tx: Transaction, state: TurnState, recalled: Recalled, recent: Sequence[Message], slots: Sequence[Slot]
) -> dict[str, str]:
    """What those are called who take part, those who once did, and those who have shared what is recalled or kept."""
    soul_id, user_id = state["utterance"]["soul_id"], state["utterance"]["user_id"]
    quoted = [message for one in recalled.episodes for message in one.lines]
    owners = {slot.user_id for slot in slots} | {one.fact.user_id for one in recalled.of(RecalledFact)}
    people = speakers_in([*recent, *quoted], soul_id, user_id) | owners - {user_id}
    impact = state["impact"]
    return await with_absent(tx, soul_id, impact.session.audience, impact.names, people)


async def template_of(tx: Transaction, template_id: str, lang: Lang) -> Template:
    """The session's template; one that ships speaks the language of the reply."""
    if template_id in TEMPLATES:
        return shipped(template_id, lang)
    return read_template((await tx.templates.get(template_id)).data)


def _seen(recent: Sequence[Message], text: str, context: Context) -> Sequence[Message]:
    """What a model finds in the conversation by itself: a weak one that is asked about it only what was said last."""
    return recent[-2:] if context.carrier == "plain" and concerns_memory(text) else recent


def _persona(
    state: TurnState, context: Context, stored: _Stored, files: Mapping[str, str], recalled: Recalled, budget: Budget
) -> Persona:
    impact = state["impact"]
    text = state["utterance"]["text"]
    lang = impact.reply_language(text)
    emotion = impact.soul.emotion_state
    relation = impact.relation
    snapshot = impact.session.snapshot_of(impact.soul.soul_id)
    lore = [entry for preset in (stored.character, stored.background) if preset for entry in lore_of(preset.data)]
    spoken = [*(message.content for message in stored.recent), text]
    seen = _seen(stored.recent, text, context)
    count, names = context.persona.recalled, stored.names
    return Persona(
        soul_name=impact.soul.name,
        mode=state["persona_state"]["mode"],
        lang=lang,
        mood=describe(emotion, lang, context.constants),
        personality=describe_personality(impact.soul.personality_vector, emotion.drift, lang),
        character_id=snapshot["source_preset"],
        base_persona=snapshot["base_persona"],
        style_examples=stored.character.data.get("style_examples", ()) if stored.character else (),
        evolved_persona=snapshot["evolved_persona"],
        evolved_version=stored.evolved_version,
        background_id=stored.background.id if stored.background else None,
        background=_world(stored.background, "description", "world_rules", "initial_context"),
        background_description=_world(stored.background, "description", "initial_context"),
        world_rules=_world(stored.background, "world_rules"),
        inner_state=impact.soul.inner_state,
        relation=_relation(impact, lang),
        profile=impact.soul.dynamic_profile,
        files=files,
        preferences=impact.preferences,
        slots=_facts(stored, state["utterance"]["user_id"]),
        wishes={key: value for key, value in impact.wishes.items() if key != "mode"},
        skills=[skill.line for skill in offered_by(state.get("terminal"), context.voice.tools)],
        gate_reason=state["gate"].reason,
        blocked_intents=[intent.intent_name for intent in state["intents"].intents],
        no_device=_has_no_device(state) and asks_for_device(text),
        nothing_known=_knows_nothing(text, recalled, stored),
        question=_question(impact, lang),
        events=events_in_mind(recalled.of(RecalledEvent), count),
        facts=facts_in_mind(recalled.of(RecalledFact), stored.recent, count, names, lang),
        episodes=episodes_in_mind(recalled.episodes, seen, count, names, lang),
        summaries=summaries_in_mind(recalled.of(RecalledSummary), impact.session.background_id, count),
        scratch_area="\n".join(filter(None, (impact.soul.scratch_area, relation.scratch_area if relation else ""))),
        lore=triggered_entries(lore, spoken, budget.lore),
    )


def _relation(impact: Impact, lang: Lang) -> str:
    """How long they have known each other, what they are to each other, and what the soul feels about the person."""
    relation = impact.relation
    if relation is None:
        return ""
    known = known_since(iso(relation.since)[:10], impact.names.get(relation.user_id), relation.bond, lang)
    return "\n".join(filter(None, (known, relation.inner_state)))


def _facts(stored: _Stored, user_id: str) -> dict[int | str, str]:
    """Everybody's slots have the same numbers: one that another has shared is named with its owner."""
    return {
        slot.n if slot.user_id == user_id else f"{slot.user_id}/{slot.n}": fact_of(slot, user_id, stored.names)
        for slot in stored.slots
    }


def _knows_nothing(text: str, recalled: Recalled, stored: _Stored) -> bool:
    """Whether it is asked for what nobody has told it: better to say so than to offer what lies nearest."""
    if not is_question(text) or recalled.problem or recalled.of(RecalledFact):
        return False
    return recalled.doubtful or not (recalled.hits or stored.slots or not concerns_memory(text))


def _has_no_device(state: TurnState) -> bool:
    terminal = state.get("terminal")
    return terminal is None or not (terminal.skills or terminal.intent_catalog)


def _question(impact: Impact, lang: Lang) -> str:
    asked = impact.question
    return question(asked.key, asked.value, lang) if asked else ""


def _world(background: Preset | None, *fields: str) -> str:
    if background is None:
        return ""
    texts = (background.data.get(key, "") for key in fields)
    return "\n".join(text for text in texts if text)


def _cues(state: TurnState, persona: Persona, template: Template, context: Context) -> Cues:
    """The same persona for a voice that does not read prose, and what a voice that does may not recite."""
    impact = state["impact"]
    emotion = impact.soul.emotion_state
    cues: Cues = {
        "task": "turn",
        "lang": persona.lang,
        "soul_name": persona.soul_name,
        "voice": template.voice,
        "user_text": state["utterance"]["text"],
        "user_emotion": impact.user_emotion.to_dict(),
        "mood": persona.mood,
        "mood_key": mood_of(emotion),
        "grades": grades_of(effective(impact.soul.personality_vector, emotion.drift)),
        "mode": persona.mode,
        "gate_reason": persona.gate_reason,
        "blocked_intents": list(persona.blocked_intents),
        "facts": list(persona.slots.values()),
        "question": persona.question,
        "begun": state["utterance"].get("continues", ""),
    }
    if context.voice.name != OFFLINE:
        cues["secrets"] = [*_own_thoughts(persona), *instructions(persona.lang)]
    return cues


def _own_thoughts(persona: Persona) -> list[str]:
    """The monologues without the persona, which a first one quotes, and which is no secret."""
    own = persona.inner_state.replace(persona.base_persona, "") if persona.base_persona else persona.inner_state
    return [own, persona.relation]
