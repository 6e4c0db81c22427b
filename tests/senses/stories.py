"""Plays stories: sentences of people, heard by the built-in recogniser and told to souls on a fake clock.

A story is data (`stories_open.yaml`, `stories_held.yaml`): sentences and pauses, the types it is played for, and what
must hold after which of them.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

import yaml

from soulgraph.senses.embedding.local import encode
from soulgraph.senses.emotion.local import judge as recognise
from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.emotions import Appraisal, EmotionState, UserEmotion
from soulgraph.soul.gate import Gate, judge
from soulgraph.soul.impact import impact
from soulgraph.soul.mood import Mood, mood_of
from soulgraph.soul.personality import MBTI_TYPES, Traits, traits_of

HOSTILE, NOT_HOSTILE = 0.5, 0.3
MOODS: dict[str, set[str]] = {
    "sorrow_or_care": {"sad", "moved", "tender", "worried"},
    "fear_or_care": {"afraid", "worried", "tender", "moved", "sad"},
    "good": {"content", "cheerful", "elated", "excited", "proud", "tender", "calm", "moved"},
    "hurt_or_angry": {"hurt", "angry", "sulky", "sad", "afraid"},
    "not_reproachful": set(get_args(Mood)) - {"hurt", "angry", "sulky"},
}

Story = dict[str, Any]


class Scene(NamedTuple):
    """What can be seen after a step: the lock before it, what was heard, the soul and its gate."""

    lock_before: float
    appraisal: Appraisal
    state: EmotionState
    gate: Gate

    @property
    def lock_cut(self) -> float:
        return 1.0 - self.gate.lock_remaining_s / self.lock_before if self.lock_before else 1.0


CHECKS: dict[str, Callable[[Scene, Any], bool]] = {
    "acts": lambda scene, wanted: (scene.gate.exec_mode == "auto_execute") is wanted,
    "locked": lambda scene, wanted: scene.gate.locked is wanted,
    "mood": lambda scene, group: mood_of(scene.state) in MOODS[group],
    "lock_cut": lambda scene, span: span[0] <= scene.lock_cut <= span[1],
    "lock_longer": lambda scene, wanted: (scene.gate.lock_remaining_s > scene.lock_before) is wanted,
    "lock_at_most": lambda scene, most: scene.gate.lock_remaining_s <= most,
    "p_above": lambda scene, bound: scene.state.p > bound,
    "p_below": lambda scene, bound: scene.state.p < bound,
    "hostile": lambda scene, wanted: _is(scene.appraisal.hostility, wanted),
    "repair": lambda scene, wanted: _is(scene.appraisal.repair, wanted),
    "reason": lambda scene, wanted: scene.gate.reason == wanted,
}


def _is(share: float, wanted: bool) -> bool:
    return share >= HOSTILE if wanted else share < NOT_HOSTILE


def stories(half: str) -> list[Story]:
    loaded: list[Story] = yaml.safe_load((Path(__file__).parent / f"stories_{half}.yaml").read_text("utf-8"))
    return loaded


@cache
def heard(text: str) -> UserEmotion:
    return recognise(text, encode([text])[0])


class Outcome(NamedTuple):
    """How many expectations a story has, and those that did not hold."""

    total: int
    broken: list[str]


def played(story: Story) -> Outcome:
    """The story, played to every type it names."""
    types = MBTI_TYPES if story["types"] == "all" else story["types"]
    verdicts = [(mbti, *verdict) for mbti in types for verdict in _verdicts(story, traits_of(mbti))]
    return Outcome(len(verdicts), [f"{mbti}: {about}" for mbti, about, holds in verdicts if not holds])


def _verdicts(story: Story, traits: Traits) -> Iterator[tuple[str, bool]]:
    state = born(traits, 0.0)
    blocked_after: list[bool] = []
    for step in story["steps"]:
        before = evolve(traits, state, state.updated_at + step.get("wait", step.get("after", 0)))
        now = before.updated_at
        emotion = heard(step["say"]) if "say" in step else None
        state = impact(traits, before, emotion, now) if emotion else before
        gate = judge(traits, state, now)
        appraisal = emotion.appraised if emotion else Appraisal()
        scene = Scene(judge(traits, before, now).lock_remaining_s, appraisal, state, gate)
        for name, wanted in step.get("expect", {}).items():
            about = f"after {step.get('say', 'a pause')!r} {name} is not {wanted} ({_seen(scene)})"
            yield about, CHECKS[name](scene, wanted)
        if step.get("count_insult"):
            blocked_after.append(gate.exec_mode == "blocked")
    yield from _insult_verdicts(story, blocked_after)


def _insult_verdicts(story: Story, blocked_after: Sequence[bool]) -> Iterator[tuple[str, bool]]:
    first = blocked_after.index(True) + 1 if True in blocked_after else None
    if span := story.get("blocked_at"):
        holds = first is not None and span["first"] <= first <= span["last"]
        yield f"blocked first after insult {first}, not {span['first']} to {span['last']}", holds
    if bound := story.get("not_blocked_before"):
        yield f"blocked first after insult {first}, before {bound}", first is None or first >= bound


def _seen(scene: Scene) -> str:
    x = ", ".join(f"{v:+.2f}" for v in scene.state.x)
    lock = f"lock {scene.lock_before:.0f} to {scene.gate.lock_remaining_s:.0f} s"
    heard_as = f"h {scene.appraisal.hostility:.2f} r {scene.appraisal.repair:.2f}"
    return f"{heard_as}, x {x}, {mood_of(scene.state)}, {scene.gate.exec_mode} {scene.gate.reason}, {lock}"
