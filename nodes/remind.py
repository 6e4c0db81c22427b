"""What a soul says when a reminder or promise is due: in its own words if a model is there in time, else prepared."""

import asyncio

from soulgraph.errors import BudgetExhausted, ModelError
from soulgraph.nodes.context import Context
from soulgraph.nodes.plan_records import names_plan
from soulgraph.nodes.quality import addresses
from soulgraph.nodes.self_image import self_image
from soulgraph.soul.character_words import grades_of
from soulgraph.soul.dynamics import evolve
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.language import Lang, lang_of, reply_language
from soulgraph.soul.mood import describe, mood_of
from soulgraph.soul.personality import effective
from soulgraph.soul.plan_times import local_time, zone_of
from soulgraph.soul.time_words import due_words, time_of_day
from soulgraph.stores.records import Plan, Session, Soul
from soulgraph.voices.factory import OFFLINE
from soulgraph.voices.lines import Speaker
from soulgraph.voices.plan_words import LATE_S, due_line
from soulgraph.voices.tasks import REMIND, run_task

MODEL_TIMEOUT_S = 6.0
"""A reminder must come in time: a model that takes longer is not waited for."""


async def reminder_text(plan: Plan, soul: Soul, session: Session, preferences: dict[str, str], context: Context) -> str:
    """A model whose words do not name what it is about is not believed: the prepared line is said instead."""
    now = context.clock()
    emotion = evolve(soul.personality_vector, soul.emotion_state, now, context.constants)
    lang = reply_language(plan.content, preferences, {})
    said = "" if context.voice.name == OFFLINE else await _asked(plan, soul, session, emotion, lang, context, now)
    if said and _names(said, plan) and not addresses(said, soul.name):
        return said
    speaker = Speaker(mood_of(emotion), grades_of(effective(soul.personality_vector, emotion.drift)))
    return due_line(plan, speaker, now, lang, context.timezone)


async def _asked(
    plan: Plan, soul: Soul, session: Session, emotion: EmotionState, lang: Lang, context: Context, now: float
) -> str:
    """The model's words; empty if it is away, too slow, or the day's tokens are spent."""
    zone = zone_of(plan.zone, context.timezone)
    here = local_time(now, zone)
    due = now if plan.due is None else plan.due
    image = self_image(soul, session, context, lang, plan.user_id)
    material = {
        **{name: image[name] for name in ("name", "persona", "soul_file")},
        "mood": describe(emotion, lang, context.constants),
        "what": plan.content,
        "due": due_words(local_time(due, zone), here, plan.grain, lang),
        "late": now - due > LATE_S,
        "local_time": time_of_day(here, lang),
    }
    try:
        async with asyncio.timeout(MODEL_TIMEOUT_S), context.budget.background(soul.soul_id, "life"):
            return (await run_task(context.voice.model, REMIND, lang, **material)).text
    except (ModelError, BudgetExhausted, TimeoutError):
        return ""


def _names(said: str, plan: Plan) -> bool:
    return lang_of(said) == lang_of(plan.content) and names_plan(said, plan)
