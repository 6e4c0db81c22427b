"""What a user's words do to a soul: `impact`.

The user's emotion says what the user feels, the appraisal what the words are to this soul. Three parts of a sentence
strike, each with its own weight: an attack hurts, what the user feels is shared, and making good relieves. Hurt adds
up without end. A shared feeling pulls the mood only as far as a damped copy of the user's own, so that a friend who
cries with the user still turns on the light.
"""

from math import sqrt
from typing import NamedTuple

from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.dynamics import evolve
from soulgraph.soul.emotions import EmotionState, Impressions, Six, UserEmotion, Vitals
from soulgraph.soul.gate import lock_after, lock_remaining
from soulgraph.soul.personality import Five, Three, Traits, c01, clip, effective, extremity, neutral

_SORROWFUL = frozenset({"sadness", "disappointment", "boredom"})


class Weights(NamedTuple):
    """How much of a sentence is an attack, shared suffering, shared joy and making good, each 0..1."""

    hurt: float
    suffering: float
    joy: float
    repair: float


def impact(
    traits: Traits, state: EmotionState, user_emotion: UserEmotion, now: float, constants: Constants = DEFAULT
) -> EmotionState:
    """The state right after the user said something with this emotion and appraisal at `now`."""
    c = constants
    emotion = user_emotion.sane()
    state = evolve(traits, state, now, c)
    now = state.updated_at
    vitals = state.vitals
    current_traits = effective(traits, state.drift)
    weights = _weights(emotion, vitals.impressions.sorrow, c)
    displacement = _displacement(current_traits, vitals, emotion, weights, c)
    size = _norm(displacement)
    s = _shock_load(vitals.shock_load, size, weights, c)
    p, a, d = (clip(at + by, -1.0, 1.0) for at, by in zip(vitals.x, displacement, strict=True))
    usual_z = extremity(neutral(traits, c))
    sample = (p, a, d, max(0.0, size - c.volatility_above), s, max(0.0, vitals.extreme_memory - usual_z))
    after = vitals._replace(
        x=(p, a, d),
        boredom=vitals.boredom * c.boredom_kept,
        shock_load=s,
        impressions=_impressions(vitals.impressions, emotion, weights, c),
        long=_updated_long(vitals.long, sample, c),
    )
    remaining = lock_after(current_traits, emotion, after, lock_remaining(state, now, c), c)
    return EmotionState.of(after, now + remaining if remaining > 0.0 else None, now, now)


def _weights(emotion: UserEmotion, sorrow: float, c: Constants) -> Weights:
    """What an apology makes good is not suffered again with its guilt; in sorrow a first laugh is half believed."""
    appraisal = emotion.appraised
    hurt = _firm(appraisal.hostility, c) * max(emotion.intensity, c.hurt_intensity)
    repair = _firm(appraisal.repair, c)
    confidence = emotion.intensity if emotion.confidence is None else emotion.confidence
    shared = confidence * emotion.intensity * (1.0 - _firm(appraisal.hostility, c))
    if emotion.p < 0.0:
        return Weights(hurt, shared * (1.0 - repair), 0.0, repair)
    return Weights(hurt, 0.0, shared * (1.0 - c.joy_doubted * sorrow), repair)


def _firm(share: float, c: Constants) -> float:
    """An appraisal without its doubts: traces of hostility must not add up over a long talk."""
    return c01((share - c.appraisal_none) / (c.appraisal_full - c.appraisal_none))


def _displacement(
    traits: Five[float], vitals: Vitals[float], emotion: UserEmotion, weights: Weights, c: Constants
) -> Three[float]:
    """How far each axis moves; the Euclidean norm of it is at most `impact_max`."""
    em, se, st, _, do = traits
    x = vitals.x
    k = c.k_0 * (c.k_empathy_offset + em) * (c.k_sensitivity_offset + se) / (c.k_stability_offset + st)
    # The low in dominance shrink, the high bristle.
    attack = (c.hurt_p, c.hurt_a, c.hurt_d_dominance * (do - c.trait_middle))
    feeling = _shared_feeling(em, vitals.impressions.warmth, emotion, c)
    shared = c01((weights.suffering + weights.joy) * k)
    relief = weights.repair * c.relief_share
    moved = [
        weights.hurt * k * attack[axis]
        + shared * _pull(x[axis], feeling[axis])
        + relief * _pull(x[axis], c.relief[axis])
        for axis in range(3)
    ]
    size = _norm((moved[0], moved[1], moved[2]))
    scale = c.impact_max / size if size > c.impact_max else 1.0
    return scale * moved[0], scale * moved[1], scale * moved[2]


def _shared_feeling(empathy: float, warmth: float, emotion: UserEmotion, c: Constants) -> Three[float]:
    """The mood that the user's own emotion draws a soul towards; delight upon delight draws it further."""
    share, most = c.shared_suffering + c.shared_suffering_empathy * empathy, c.suffering_max
    if emotion.p >= 0.0:
        share, most = c.shared_joy + c.shared_joy_warmth * warmth, c.joy_max
    p, a, d = (clip(share * v, -most, most) for v in (emotion.p, emotion.a, emotion.d))
    return p, a, d


def _pull(at: float, goal: float) -> float:
    """The way to the goal; none for who is beyond it on the same side."""
    return min(0.0, goal - at) if goal < 0.0 else max(0.0, goal - at)


def _shock_load(s: float, size: float, weights: Weights, c: Constants) -> float:
    """Attacks weigh fully, suffering a third, joy next to nothing; making good eases what is there."""
    parts = (
        (weights.hurt, c.shock_hostile),
        (weights.suffering, c.shock_suffering),
        (weights.joy + weights.repair, c.shock_joy),
    )
    total = sum(share for share, _ in parts)
    weight = sum(share * factor for share, factor in parts) / total if total else 0.0
    return c01(s * (1.0 - c.shock_repaired * weights.repair) + weight * max(0.0, size - c.shock_above))


def _impressions(
    before: Impressions[float], emotion: UserEmotion, weights: Weights, c: Constants
) -> Impressions[float]:
    hurt, sorrow, worry, warmth = before
    suffering = c.impression_suffering * sqrt(weights.suffering)
    sorrowful = emotion.emotion in _SORROWFUL
    kindness = max(c.impression_joy * weights.joy, c.impression_repair * weights.repair)
    return Impressions(
        hurt=_deepened(hurt * (1.0 - c.hurt_forgiven * weights.repair), c.impression_hurt * weights.hurt),
        sorrow=_deepened(sorrow, suffering if sorrowful else 0.0),
        worry=_deepened(worry, 0.0 if sorrowful else suffering),
        warmth=_deepened(warmth, kindness),
    )


def _deepened(impression: float, share: float) -> float:
    return impression + share * (1.0 - impression)


def _norm(x: Three[float]) -> float:
    p, a, d = x
    return sqrt(p * p + a * a + d * d)


def _updated_long(long: Six[float], sample: Six[float], c: Constants) -> Six[float]:
    """The long-term statistics as exponential moving averages, with one more sample."""
    mu_p, mu_a, mu_d, volatility, shock, extreme = (
        clip(old + c.long_gain * (new - old), -1.0, 1.0) for old, new in zip(long, sample, strict=True)
    )
    return mu_p, mu_a, mu_d, volatility, shock, extreme
