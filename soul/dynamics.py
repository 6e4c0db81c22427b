"""The emotion dynamics: the initial state and its evolution in time. `soul/impact.py` has what a user's words do.

`flow` is the natural evolution, on floats or arrays. It follows the exact solution, so that one long gap
and many short ticks end in the same state. `evolve` applies it to one soul.
"""

from typing import Generic, NamedTuple

from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.emotions import EmotionState, Impressions, Six, Vitals, checked_time
from soulgraph.soul.gate import lock_remaining
from soulgraph.soul.personality import (
    Five,
    N,
    Three,
    Traits,
    c01,
    clip,
    effective,
    exp,
    extremity,
    largest_value,
    log,
    maximum,
    minimum,
    neutral,
)

# Sub-steps of a gap in seconds: short at its start, when the mood changes fast, then growing.
_FIRST_STEP = 8.0
_STEP_GROWTH = 0.2
_TINY = 1e-8


def born(traits: Traits, now: float, constants: Constants = DEFAULT) -> EmotionState:
    """The initial state: the neutral mood of these traits, without history."""
    x = neutral(traits, constants)
    untouched = Impressions(0.0, 0.0, 0.0, 0.0)
    vitals = Vitals(x, 0.0, 0.0, extremity(x), untouched, (*x, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0))
    return EmotionState.of(vitals, None, checked_time(now), checked_time(now))


def evolve(traits: Traits, state: EmotionState, now: float, constants: Constants = DEFAULT) -> EmotionState:
    """The state at `now`; a `now` before the last update counts as the last update."""
    now = max(checked_time(now), state.updated_at)
    gap = now - state.updated_at
    idle = clip(now - state.last_interaction_at - constants.boredom_after, 0.0, gap)
    vitals = flow(traits, state.vitals, gap - idle, idle, constants) if gap > 0.0 else state.vitals
    locked = lock_remaining(state, now, constants) > 0.0
    return EmotionState.of(vitals, state.lock_until if locked else None, state.last_interaction_at, now)


def flow(base: Five[N], vitals: Vitals[N], engaged: N, idle: N, c: Constants) -> Vitals[N]:
    """Natural evolution: first `engaged` seconds without boredom, then `idle` seconds with it."""
    # Traits drift over days, moods settle within the hour: the traits at the start are good for the whole gap.
    rates = _rates_of(effective(base, vitals.drift), c)
    gap = engaged + idle
    after_engaged = _integrate(vitals, rates._replace(boredom_rate=0.0 * gap), 0.0 * gap, engaged, c)
    later = _integrate(after_engaged, rates, engaged, gap, c)
    birth = neutral(base, c)
    deviation = _deviation(birth, vitals.long)
    return later._replace(
        impressions=_faded(vitals.impressions, gap, c),
        long=_decayed_long(birth, deviation, gap, c),
        drift=_moved_drift(vitals.drift, deviation, gap, c),
    )


def _faded(impressions: Impressions[N], gap: N, c: Constants) -> Impressions[N]:
    kept = exp(-gap / c.tau_impression)
    hurt, sorrow, worry, warmth = impressions
    return Impressions(hurt * kept, sorrow * kept, worry * kept, warmth * kept)


class _Rates(NamedTuple, Generic[N]):
    """The resting mood and the time constants that follow from the traits."""

    rest: Three[N]
    boredom_rate: N
    tau_s: N
    rate: N
    tau_m: N


def _rates_of(traits: Five[N], c: Constants) -> _Rates[N]:
    _, se, st, _, _ = traits
    tau_up = c.tau_up * (1.0 + c.tau_up_stability * st - c.tau_up_sensitivity * se)
    tau_s = c.tau_s * (1.0 + c.tau_s_sensitivity * se - c.tau_s_stability * st)
    return _Rates(
        rest=neutral(traits, c),
        boredom_rate=1.0 / maximum(tau_up, c.tau_up_min),
        tau_s=maximum(tau_s, c.tau_s_min),
        rate=c.lambda_0 * (c.lambda_offset + st),
        tau_m=c.tau_m * (1.0 + c.tau_m_sensitivity * se - c.tau_m_stability * st),
    )


def _integrate(vitals: Vitals[N], rates: _Rates[N], start: N, end: N, c: Constants) -> Vitals[N]:
    """The vitals after `end - start` seconds, in sub-steps that grow with the time since the gap began."""
    left = end - start
    while largest_value(left) > 0.0:
        step = minimum(_FIRST_STEP + _STEP_GROWTH * (end - left), left)
        vitals = _step(vitals, rates, step, c)
        left = left - step
    return vitals


def _step(vitals: Vitals[N], rates: _Rates[N], h: N, c: Constants) -> Vitals[N]:
    """One sub-step: b and s exactly, x exactly while lambda is steady, m by the mean of z and its slope."""
    x, b, s, m = vitals[:4]
    s_end = s * exp(-h / rates.tau_s)
    # The integral of lambda over the step, in closed form because s decays exponentially.
    turn = rates.rate * (h + rates.tau_s * log((1.0 + c.lambda_shock * s_end) / (1.0 + c.lambda_shock * s)))
    boredom_turn, fresh = h * rates.boredom_rate, 1.0 - b
    # What an axis keeps of its value, what it gains of the resting point, the mean of 1 - b, and the divisor.
    pull = (
        exp(-turn),
        fresh * turn * _mean_decay(turn, boredom_turn),
        fresh * _mean_exp(boredom_turn),
        maximum(turn, _TINY),
    )
    p, p_mean = _step_axis(x[0], rates.rest[0], c.x_bored[0], pull)
    a, a_mean = _step_axis(x[1], rates.rest[1], c.x_bored[1], pull)
    d, d_mean = _step_axis(x[2], rates.rest[2], c.x_bored[2], pull)
    tau_m = clip(rates.tau_m + c.tau_m * c.tau_m_shock * 0.5 * (s + s_end), c.tau_m_min, c.tau_m_max)
    z_mean = extremity((p_mean, a_mean, d_mean))
    z_move = extremity((p, a, d)) - extremity(x)
    memory = _step_extreme_memory(m, z_mean, z_move, h / tau_m)
    return vitals._replace(
        x=(p, a, d), boredom=1.0 - fresh * exp(-boredom_turn), shock_load=s_end, extreme_memory=memory
    )


def _step_axis(at: N, rest: N, bored: float, pull: tuple[N, N, N, N]) -> tuple[N, N]:
    """The end value and the mean of one axis, which moves to a resting point that itself moves towards `bored`."""
    kept, gained, fresh_mean, turn = pull
    end = clip(bored + (at - bored) * kept + (rest - bored) * gained, -1.0, 1.0)
    return end, bored + (rest - bored) * fresh_mean - (end - at) / turn


def _step_extreme_memory(m: N, z_mean: N, z_move: N, span: N) -> N:
    kept = exp(-span)
    # z is taken as linear over the step, and its later values are forgotten less.
    late = 1.0 - (1.0 - kept) * (1.0 / maximum(span, _TINY) + 0.5)
    return c01(m * kept + z_mean * (1.0 - kept) + z_move * late)


def _mean_exp(v: N) -> N:
    """The mean of exp(-t) over 0..v."""
    v = maximum(v, _TINY)
    return (1.0 - exp(-v)) / v


def _mean_decay(v: N, w: N) -> N:
    """The mean of exp(-t) between v and w, without overflow and also where they meet."""
    return exp(-minimum(v, w)) * _mean_exp(abs(v - w))


def _deviation(birth: Three[N], long: Six[N]) -> Six[N]:
    """How far the long-term statistics are from their values at birth."""
    mu_p, mu_a, mu_d, volatility, shock, extreme = long
    return mu_p - birth[0], mu_a - birth[1], mu_d - birth[2], volatility, shock, extreme


def _decayed_long(birth: Three[N], deviation: Six[N], gap: N, c: Constants) -> Six[N]:
    p, a, d, volatility, shock, extreme = deviation
    kept = exp(-gap / c.long_tau)
    return (
        clip(birth[0] + p * kept, -1.0, 1.0),
        clip(birth[1] + a * kept, -1.0, 1.0),
        clip(birth[2] + d * kept, -1.0, 1.0),
        volatility * kept,
        shock * kept,
        extreme * kept,
    )


def _moved_drift(drift: Five[N], deviation: Six[N], gap: N, c: Constants) -> Five[N]:
    p, a, d, volatility, shock, extreme = deviation
    em, se, st, ex, do = drift
    q_em = c.q_empathy_p * p - c.q_empathy_volatility * volatility - c.q_empathy_extreme * extreme
    q_se = c.q_sensitivity_a * a + c.q_sensitivity_volatility * volatility + c.q_sensitivity_extreme * extreme
    q_st = c.q_stability_p * p - c.q_stability_volatility * volatility - c.q_stability_shock * shock
    q_ex = c.q_expressiveness_p * p + c.q_expressiveness_a * a
    q_do = c.q_dominance_d * d - c.q_dominance_shock * shock
    share = _approach_shares(gap, c)
    return (
        _approach(em, q_em, gap, share, c),
        _approach(se, q_se, gap, share, c),
        _approach(st, q_st, gap, share, c),
        _approach(ex, q_ex, gap, share, c),
        _approach(do, q_do, gap, share, c),
    )


def _approach(drift: N, q: N, gap: N, share: tuple[N, N], c: Constants) -> N:
    """The drift of one trait after it approached drift_max * clip(q) for a gap.

    q decays with the long-term statistics. While |q| > 1 the goal is constant, afterwards it decays: both parts have
    a closed form.
    """
    goal = c.drift_max * clip(q, -1.0, 1.0)
    if largest_value(abs(q)) > 1.0:
        flat = minimum(c.long_tau * log(maximum(abs(q), 1.0)), gap)
        drift = goal + (drift - goal) * exp(-flat / c.drift_tau)
        share = _approach_shares(gap - flat, c)
    kept, gained = share
    return clip(drift * kept + goal * gained, -c.drift_max, c.drift_max)


def _approach_shares(gap: N, c: Constants) -> tuple[N, N]:
    """The shares of its old drift and of a decaying goal that make up a trait's drift after a gap."""
    fast, slow = gap / c.drift_tau, gap / c.long_tau
    return exp(-fast), fast * _mean_decay(fast, slow)
