"""Whether a soul acts on an intent: the execution gate, a pure read with its reasons, and the lock on it."""

import math
from dataclasses import dataclass
from typing import Literal

from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.emotions import SOOTHING, EmotionState, UserEmotion, Vitals, instant, polarity
from soulgraph.soul.personality import Five, Traits, c01, clip, effective, extremity, reactivity, resilience

ExecMode = Literal["auto_execute", "blocked"]


@dataclass(frozen=True, slots=True)
class Gate:
    exec_probability: float
    exec_mode: ExecMode
    threshold: float
    z: float
    z_n: float
    m: float
    s: float
    locked: bool
    lock_remaining_s: float


def judge(traits: Traits, state: EmotionState, now: float, constants: Constants = DEFAULT) -> Gate:
    """Extremes, their memory and shocks lower the probability; a lock all but closes the gate."""
    c, character = constants, effective(traits, state.drift)
    m, s, z = state.extreme_memory, state.shock_load, extremity(state.x)
    z_n, threshold = _excess(character, z, c), _threshold(character, c)
    remaining = lock_remaining(state, instant(now), c)
    probability = c.p_base * math.exp(-_inhibition(character, z_n, m, s, c))
    if remaining > 0.0:
        probability *= c.locked_factor
    mode: ExecMode = "auto_execute" if probability >= threshold else "blocked"
    return Gate(probability, mode, threshold, z, z_n, m, s, remaining > 0.0, remaining)


def _excess(traits: Five[float], z: float, c: Constants) -> float:
    """z_n: how much of the room above what the character bears the mood takes."""
    _, se, st, _, _ = traits
    tau = clip(c.tau - c.tau_sensitivity * se + c.tau_stability * st, c.tau_min, c.tau_max)
    return c01((z - tau) / (1.0 - tau))


def _inhibition(traits: Five[float], z_n: float, m: float, s: float, c: Constants) -> float:
    _, se, st, _, _ = traits
    firm, touchy = resilience(traits, c), reactivity(traits, c)
    alpha = clip(c.alpha + c.alpha_sensitivity * se - c.alpha_stability * st, c.alpha_min, c.alpha_max)
    eta = c.eta * clip(c.eta_base + c.eta_reactivity * touchy - c.eta_resilience * firm, c.eta_min, c.eta_max)
    xi = c.xi * clip(c.xi_base + c.xi_reactivity * touchy - c.xi_resilience * firm, c.xi_min, c.xi_max)
    return alpha * math.pow(z_n, c.beta) + eta * m + xi * s


def _threshold(traits: Five[float], c: Constants) -> float:
    ease = c.threshold_resilience * resilience(traits, c) - c.threshold_reactivity * reactivity(traits, c)
    return clip(c.threshold - ease, c.threshold_min, c.threshold_max)


def lock_remaining(state: EmotionState, now: float, c: Constants) -> float:
    """Seconds until the lock opens, 0 without one; never longer than any lock may be."""
    if state.lock_until is None:
        return 0.0
    return clip(state.lock_until - max(now, state.updated_at), 0.0, c.lock_max)


def lock_after(traits: Five[float], felt: UserEmotion, struck: Vitals[float], remaining: float, c: Constants) -> float:
    """Seconds the lock has left after this emotion: closed, prolonged, soothed or untouched."""
    neg, pos = polarity(felt, c)
    z, s = extremity(struck.x), struck.shock_load
    extreme = z >= c.lock_z or s >= c.lock_s
    if neg >= c.lock_neg and neg >= c.lock_neg_over_pos * pos and extreme:
        more = _prolonging(traits, z, s, c) if remaining > 0.0 else c.lock_first
        return min(remaining + more, c.lock_max)
    left = remaining * (1.0 - _soothing(traits, felt, neg, pos, c))
    return left if left > c.lock_clears_at else 0.0


def _prolonging(traits: Five[float], z: float, s: float, c: Constants) -> float:
    character = c01(
        c.lock_character_base
        + c.lock_character_reactivity * reactivity(traits, c)
        - c.lock_character_resilience * resilience(traits, c)
    )
    severity = c.lock_severity_z * z + c.lock_severity_s * s
    return _lerp(c.lock_more_min, c.lock_more_max, c.lock_severity * severity + c.lock_character * character)


def _soothing(traits: Five[float], felt: UserEmotion, neg: float, pos: float, c: Constants) -> float:
    """The share of the remaining lock that kindness takes away."""
    em, _, st, _, _ = traits
    base = c01(pos * (1.0 - c.soothe_neg * neg)) + (c.soothe_label if felt.emotion in SOOTHING else 0.0)
    heart = c01(c.soothe_empathy * em + c.soothe_stability * st)
    soothe = c01(base * (c.soothe_base + c.soothe_character * heart))
    return _lerp(c.soothe_cut_min, c.soothe_cut_max, soothe) if soothe > c.soothe_above else 0.0


def _lerp(low: float, high: float, share: float) -> float:
    return low + c01(share) * (high - low)
