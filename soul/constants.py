"""Every constant of the emotion dynamics, with its default and its allowed range.

Times are seconds. Weights are magnitudes: the formulas say where they are subtracted.
"""

import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any

from soulgraph.errors import ConfigurationError


def _bounded(low: float, high: float, default: float | tuple[float, ...]) -> Any:
    return field(default=default, metadata={"low": low, "high": high})


def unit(default: float) -> Any:
    return _bounded(0.0, 1.0, default)


def signed(default: float) -> Any:
    return _bounded(-1.0, 1.0, default)


def vector(*default: float) -> Any:
    return _bounded(-1.0, 1.0, default)


def weight(default: float) -> Any:
    return _bounded(0.0, 10.0, default)


def divisor(default: float) -> Any:
    return _bounded(0.1, 10.0, default)


def seconds(default: float, at_least: float = 0.0) -> Any:
    return _bounded(at_least, 1e8, default)


@dataclass(frozen=True, slots=True)
class Constants:
    # personality: what E, S, T, J add to (empathy, sensitivity, stability, expressiveness, dominance)
    trait_middle: float = unit(0.5)
    mbti_ei: tuple[float, ...] = vector(0.0, -0.03, 0.0, 0.20, 0.10)
    mbti_sn: tuple[float, ...] = vector(-0.02, 0.08, 0.06, -0.03, 0.03)
    mbti_tf: tuple[float, ...] = vector(-0.15, -0.05, 0.08, -0.05, 0.12)
    mbti_jp: tuple[float, ...] = vector(0.0, -0.03, 0.15, -0.02, 0.08)

    # resting points of the mood: x_neutral and x_bored
    neutral_p_empathy: float = signed(0.25)
    neutral_p_stability: float = signed(0.15)
    neutral_a_expressiveness: float = signed(0.20)
    neutral_a_stability: float = signed(0.10)
    neutral_d_dominance: float = signed(0.50)
    x_bored: tuple[float, ...] = vector(-0.35, -0.45, -0.15)

    # boredom b, shock load s, the PAD rate lambda, extreme memory m
    boredom_after: float = seconds(240.0)
    tau_up: float = seconds(900.0)
    tau_up_stability: float = weight(0.6)
    tau_up_sensitivity: float = weight(0.7)
    tau_up_min: float = seconds(30.0, at_least=1.0)
    tau_s: float = seconds(120.0)
    tau_s_sensitivity: float = weight(0.9)
    tau_s_stability: float = weight(0.8)
    tau_s_min: float = seconds(12.0, at_least=1.0)
    lambda_0: float = unit(0.009)
    lambda_offset: float = weight(0.5)
    lambda_shock: float = weight(1.5)
    tau_m: float = seconds(360.0)
    tau_m_sensitivity: float = weight(0.85)
    tau_m_stability: float = weight(0.95)
    tau_m_shock: float = weight(0.35)
    tau_m_min: float = seconds(90.0, at_least=1.0)
    tau_m_max: float = seconds(1200.0, at_least=1.0)
    tau_impression: float = seconds(360.0, at_least=1.0)

    # long-term statistics and the drift of traits they cause
    long_gain: float = unit(0.03)
    long_tau: float = seconds(14 * 86400.0, at_least=3600.0)
    drift_tau: float = seconds(3 * 86400.0, at_least=3600.0)
    drift_max: float = _bounded(0.0, 0.5, 0.22)
    q_empathy_p: float = weight(0.72)
    q_empathy_volatility: float = weight(0.36)
    q_empathy_extreme: float = weight(0.18)
    q_sensitivity_a: float = weight(0.36)
    q_sensitivity_volatility: float = weight(0.36)
    q_sensitivity_extreme: float = weight(0.18)
    q_stability_p: float = weight(0.38)
    q_stability_volatility: float = weight(0.38)
    q_stability_shock: float = weight(0.19)
    q_expressiveness_p: float = weight(0.36)
    q_expressiveness_a: float = weight(0.30)
    q_dominance_d: float = weight(0.55)
    q_dominance_shock: float = weight(0.18)

    # appraisal: below `appraisal_none` it counts as nothing, above `appraisal_full` as certain
    appraisal_none: float = unit(0.2)
    appraisal_full: float = _bounded(0.01, 1.0, 0.8)

    # impact: k, the largest displacement, and what each part of a sentence pulls towards
    k_0: float = weight(0.80)
    k_empathy_offset: float = weight(0.5)
    k_sensitivity_offset: float = weight(0.5)
    k_stability_offset: float = divisor(0.7)
    impact_max: float = unit(0.55)
    hurt_p: float = signed(-0.65)
    hurt_a: float = signed(0.40)
    hurt_d_dominance: float = signed(0.60)
    hurt_intensity: float = unit(0.85)
    shared_suffering: float = unit(0.42)
    shared_suffering_empathy: float = unit(0.35)
    suffering_max: float = unit(0.62)
    shared_joy: float = unit(0.80)
    shared_joy_warmth: float = unit(0.20)
    joy_max: float = unit(0.75)
    joy_doubted: float = unit(0.50)
    relief: tuple[float, ...] = vector(0.42, -0.12, 0.10)
    relief_share: float = unit(0.55)
    boredom_kept: float = unit(0.5)

    # shock load of what strikes, and how repair eases it; volatility of the long-term statistics
    shock_above: float = unit(0.10)
    shock_hostile: float = weight(1.0)
    shock_suffering: float = weight(0.33)
    shock_joy: float = weight(0.05)
    shock_repaired: float = unit(0.35)
    volatility_above: float = unit(0.17)

    # impressions: how much one sentence leaves of what it was
    impression_hurt: float = unit(0.60)
    impression_suffering: float = unit(0.75)
    impression_joy: float = unit(0.50)
    impression_repair: float = unit(0.50)
    hurt_forgiven: float = unit(0.40)

    # polarity of the user's emotion
    neg_p: float = weight(0.70)
    neg_a: float = weight(0.20)
    neg_d: float = weight(0.10)
    neg_label: float = unit(0.16)
    pos_p: float = weight(0.72)
    pos_a: float = weight(0.18)
    pos_d: float = weight(0.10)
    pos_label: float = unit(0.14)

    # lock: trigger, prolongation, soothing
    lock_neg: float = unit(0.35)
    lock_neg_over_pos: float = weight(1.08)
    lock_z: float = unit(0.95)
    lock_s: float = unit(0.90)
    lock_repair: float = unit(0.50)
    lock_first: float = seconds(120.0)
    lock_max: float = seconds(600.0, at_least=1.0)
    lock_more_min: float = seconds(18.0)
    lock_more_max: float = seconds(48.0)
    lock_severity: float = unit(0.62)
    lock_severity_z: float = unit(0.58)
    lock_severity_s: float = unit(0.42)
    lock_character: float = unit(0.38)
    lock_character_base: float = weight(0.55)
    lock_character_reactivity: float = weight(0.75)
    lock_character_resilience: float = weight(0.35)
    soothe_neg: float = unit(0.75)
    soothe_label: float = unit(0.20)
    soothe_base: float = weight(0.75)
    soothe_character: float = weight(0.5)
    soothe_empathy: float = unit(0.55)
    soothe_stability: float = unit(0.45)
    soothe_above: float = unit(0.01)
    soothe_cut_min: float = unit(0.20)
    soothe_cut_max: float = unit(0.75)
    lock_clears_at: float = seconds(0.5)

    # execution gate
    resilience_stability: float = unit(0.58)
    resilience_calm: float = unit(0.22)
    resilience_dominance: float = unit(0.20)
    reactivity_sensitivity: float = unit(0.55)
    reactivity_unstable: float = unit(0.25)
    reactivity_yielding: float = unit(0.20)
    tau: float = unit(0.6)
    tau_sensitivity: float = weight(0.2)
    tau_stability: float = weight(0.2)
    tau_min: float = unit(0.35)
    tau_max: float = _bounded(0.0, 0.99, 0.85)
    alpha: float = weight(2.2)
    alpha_sensitivity: float = weight(2.8)
    alpha_stability: float = weight(1.8)
    alpha_min: float = weight(0.6)
    alpha_max: float = weight(5.5)
    beta: float = divisor(3.0)
    p_base: float = unit(0.95)
    eta: float = weight(0.95)
    eta_base: float = weight(0.55)
    eta_reactivity: float = weight(0.90)
    eta_resilience: float = weight(0.45)
    eta_min: float = weight(0.35)
    eta_max: float = weight(1.30)
    xi: float = weight(0.80)
    xi_base: float = weight(0.55)
    xi_reactivity: float = weight(1.0)
    xi_resilience: float = weight(0.35)
    xi_min: float = weight(0.35)
    xi_max: float = weight(1.35)
    locked_factor: float = unit(0.02)
    threshold: float = unit(0.36)
    threshold_resilience: float = weight(0.12)
    threshold_reactivity: float = weight(0.08)
    threshold_min: float = unit(0.16)
    threshold_max: float = unit(0.48)

    # mood in words
    mood_impression: float = weight(0.7)
    mood_unexplained: float = weight(0.15)
    mood_clearly: float = unit(0.35)
    mood_strongly: float = unit(0.70)

    def __post_init__(self) -> None:
        for constant in fields(self):
            _check(constant, getattr(self, constant.name))
        for name in self.__slots__:
            if name.endswith("_min") and getattr(self, name) > getattr(self, f"{name[:-4]}_max", math.inf):
                raise ConfigurationError(name, f"must not exceed {name[:-4]}_max")

    def override(self, values: Mapping[str, Any]) -> "Constants":
        """A copy with some constants replaced; raises ConfigurationError for an unknown name or a bad value."""
        if unknown := sorted(str(name) for name in values if name not in self.__slots__):
            raise ConfigurationError(unknown[0], "there is no such constant of the dynamics")
        changes: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        return replace(self, **changes)


def _check(constant: Field[Any], value: Any) -> None:
    low, high = constant.metadata["low"], constant.metadata["high"]
    numbers = value if isinstance(constant.default, tuple) else (value,)
    size = len(constant.default) if isinstance(constant.default, tuple) else 1
    if not isinstance(numbers, tuple) or len(numbers) != size:
        raise ConfigurationError(constant.name, f"must be a list of {size} numbers")
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ConfigurationError(constant.name, f"must be a number, not {number!r}")
        if not low <= number <= high:  # false for NaN too
            raise ConfigurationError(constant.name, f"must lie in {low:g}..{high:g}, not {number!r}")


DEFAULT = Constants()
