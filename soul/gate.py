"""The execution gate, which decides whether a soul acts on an intent, and the lock that closes it for a while."""

import math
from dataclasses import dataclass
from typing import Literal

from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.emotions import SOOTHING, EmotionState, UserEmotion, Vitals, checked_time, polarity
from soulgraph.soul.personality import Five, Traits, c01, clip, effective, extremity, reactivity, resilience

ExecMode = Literal["auto_execute", "blocked"]
GateReason = Literal["hurt", "overwhelmed_by_hurt", "sorrow", "excited", "tired"]


@dataclass(frozen=True, slots=True)
class Gate:
    """The decision with the numbers it was made from; judging changes no state."""

    exec_probability: float
    exec_mode: ExecMode
    threshold: float
    z: float
    z_n: float
    m: float
    s: float
    locked: bool
    lock_remaining_s: float
    reason: GateReason | None = None
    """Why the gate is closed; None while it is open."""


def judge(traits: Traits, state: EmotionState, now: float, constants: Constants = DEFAULT) -> Gate:
    """An extreme mood, its memory and shocks lower the probability; a lock reduces it to almost nothing."""
    c = constants
    current_traits = effective(traits, state.drift)
    m, s, z = state.extreme_memory, state.shock_load, extremity(state.x)
    z_n = _normalised_extremity(current_traits, z, c)
    threshold = _threshold(current_traits, c)
    remaining = lock_remaining(state, checked_time(now), c)
    probability = c.p_base * math.exp(-_inhibition(current_traits, z_n, m, s, c))
    if remaining > 0.0:
        probability *= c.locked_factor
    mode: ExecMode = "auto_execute" if probability >= threshold else "blocked"
    reason = None if mode == "auto_execute" else _reason(state, remaining)
    return Gate(probability, mode, threshold, z, z_n, m, s, remaining > 0.0, remaining, reason)


def _reason(state: EmotionState, remaining: float) -> GateReason:
    if remaining > 0.0:
        return "hurt"
    return "overwhelmed_by_hurt" if state.p < 0.0 else "excited"


def _normalised_extremity(traits: Five[float], z: float, c: Constants) -> float:
    """z_n: how far the mood is above the tolerance tau of these traits, as a share of the range above it."""
    _, se, st, _, _ = traits
    tau = clip(c.tau - c.tau_sensitivity * se + c.tau_stability * st, c.tau_min, c.tau_max)
    return c01((z - tau) / (1.0 - tau))


def _inhibition(traits: Five[float], z_n: float, m: float, s: float, c: Constants) -> float:
    _, se, st, _, _ = traits
    res = resilience(traits, c)
    rea = reactivity(traits, c)
    alpha = clip(c.alpha + c.alpha_sensitivity * se - c.alpha_stability * st, c.alpha_min, c.alpha_max)
    eta = c.eta * clip(c.eta_base + c.eta_reactivity * rea - c.eta_resilience * res, c.eta_min, c.eta_max)
    xi = c.xi * clip(c.xi_base + c.xi_reactivity * rea - c.xi_resilience * res, c.xi_min, c.xi_max)
    return alpha * math.pow(z_n, c.beta) + eta * m + xi * s


def _threshold(traits: Five[float], c: Constants) -> float:
    ease = c.threshold_resilience * resilience(traits, c) - c.threshold_reactivity * reactivity(traits, c)
    return clip(c.threshold - ease, c.threshold_min, c.threshold_max)


def lock_remaining(state: EmotionState, now: float, c: Constants) -> float:
    """Seconds until the lock opens, 0 without one, at most `lock_max`."""
    if state.lock_until is None:
        return 0.0
    return clip(state.lock_until - max(now, state.updated_at), 0.0, c.lock_max)


def lock_after(
    traits: Five[float], emotion: UserEmotion, vitals: Vitals[float], remaining: float, c: Constants
) -> float:
    """Seconds the lock has left after a user's emotion, which may start, prolong or shorten it.

    `vitals` are those after the impact, `remaining` is what the lock had left before it.
    """
    neg, pos = polarity(emotion, c)
    z, s = extremity(vitals.x), vitals.shock_load
    extreme = z >= c.lock_z or s >= c.lock_s
    if neg >= c.lock_neg and neg >= c.lock_neg_over_pos * pos and extreme:
        more = _prolongation(traits, z, s, c) if remaining > 0.0 else c.lock_first
        return min(remaining + more, c.lock_max)
    left = remaining * (1.0 - _soothed_share(traits, emotion, neg, pos, c))
    return left if left > c.lock_clears_at else 0.0


def _prolongation(traits: Five[float], z: float, s: float, c: Constants) -> float:
    """Seconds a further negative emotion adds to a lock that is already closed."""
    character = c01(
        c.lock_character_base
        + c.lock_character_reactivity * reactivity(traits, c)
        - c.lock_character_resilience * resilience(traits, c)
    )
    severity = c.lock_severity_z * z + c.lock_severity_s * s
    return _lerp(c.lock_more_min, c.lock_more_max, c.lock_severity * severity + c.lock_character * character)


def _soothed_share(traits: Five[float], emotion: UserEmotion, neg: float, pos: float, c: Constants) -> float:
    """The share of the remaining lock that a positive emotion takes away."""
    em, _, st, _, _ = traits
    base = c01(pos * (1.0 - c.soothe_neg * neg)) + (c.soothe_label if emotion.emotion in SOOTHING else 0.0)
    receptivity = c01(c.soothe_empathy * em + c.soothe_stability * st)
    soothe = c01(base * (c.soothe_base + c.soothe_character * receptivity))
    return _lerp(c.soothe_cut_min, c.soothe_cut_max, soothe) if soothe > c.soothe_above else 0.0


def _lerp(low: float, high: float, share: float) -> float:
    return low + c01(share) * (high - low)
