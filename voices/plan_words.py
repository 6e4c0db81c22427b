"""Prepared lines about plans: what is due, what was noted, and what is to be asked, in the person's language."""

from datetime import datetime, tzinfo
from typing import Any, Literal

from soulgraph.senses.plans.content import to_listener
from soulgraph.soul.language import Lang, lang_of
from soulgraph.soul.plan_times import local_time, zone_of
from soulgraph.soul.time_words import due_words
from soulgraph.stores.records import Plan
from soulgraph.voices.lines import Speaker, load_lines, pick

LATE_S = 600.0
"""From then on a reminder says when it was due."""

PlanLine = Literal["first", "moved", "cancelled", "confirmed", "ask_when", "ask_sure", "ahead", "over", "waiting"]


def plan_line(line: PlanLine, plan: Plan, now: datetime, lang: Lang, zone: tzinfo | None) -> str:
    """A line about a plan; `now` is the person's wall time, `zone` the server's."""
    template: str = _lines(lang)[line]
    return template.format(**_wording(plan, now, lang, zone))


def noted_line(plan: Plan, now: datetime, lang: Lang, zone: tzinfo | None) -> str:
    """What confirms that it was noted."""
    template: str = _lines(lang)["noted"][plan.kind]
    return template.format(**_wording(plan, now, lang, zone))


def follow_up_line(plan: Plan, now: datetime, lang: Lang, zone: tzinfo | None) -> str:
    template = pick(_lines(lang)["follow_up"], plan.plan_id)
    return template.format(**_wording(plan, now, lang, zone))


def due_line(plan: Plan, speaker: Speaker, at: float, lang: Lang, zone: tzinfo | None) -> str:
    """What is said when it is due, in the mood of the soul."""
    place = zone_of(plan.zone, zone)
    wording = _wording(plan, local_time(at, place), lang, zone)
    moods = _lines(lang)["promise" if plan.kind == "promise" else "remind"]
    said = speaker.pick(moods[speaker.mood_group], plan.plan_id).format(**wording)
    is_late = plan.due is not None and at - plan.due > LATE_S and plan.grain in ("minute", "hour")
    return f"{_lines(lang)['late'].format(**wording)}{said}" if is_late else said


def heard_line(said: list[str], lang: Lang, is_new: bool) -> str:
    """Tells a model what was noted or done, to be confirmed by it."""
    template: str = _lines(lang)["heard"]["noted" if is_new else "changed"]
    return template.format(said=" ".join(said))


def _wording(plan: Plan, now: datetime, lang: Lang, zone: tzinfo | None) -> dict[str, str]:
    what = plan.content if plan.kind == "promise" else to_listener(plan.content, lang_of(plan.content))
    if plan.due is None:
        return {"what": what, "due": ""}
    return {"what": what, "due": due_words(local_time(plan.due, zone_of(plan.zone, zone)), now, plan.grain, lang)}


def _lines(lang: Lang) -> dict[str, Any]:
    lines: dict[str, Any] = load_lines("plan_lines")[lang]
    return lines
