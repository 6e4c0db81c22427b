"""How a soul's emotion moves: born at rest, drawn on by time, struck by what the user feels.

`flow` is the natural evolution, on floats or arrays. It follows the exact solution, so that one long gap
and many short ticks end in the same place. `evolve` and `impact` apply it to one soul.
"""

from math import sqrt
from typing import Generic, NamedTuple

from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.emotions import EmotionState, Six, UserEmotion, Vitals, instant
from soulgraph.soul.gate import lock_after, lock_remaining
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
    largest,
    least,
    log,
    most,
    neutral,
)

__all__ = ["EmotionState", "UserEmotion", "born", "evolve", "flow", "impact"]

# Sub-steps of a gap in seconds: short while a mood is in motion, longer as it comes to rest.
_FIRST_STEP = 4.0
_STEP_GROWTH = 0.5
_TINY = 1e-8


def born(traits: Traits, now: float, constants: Constants = DEFAULT) -> EmotionState:
    """At rest, with nothing behind it."""
    x = neutral(traits, constants)
    vitals = Vitals(x, 0.0, 0.0, extremity(x), (*x, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0))
    return EmotionState.of(vitals, None, instant(now), instant(now))


def evolve(traits: Traits, state: EmotionState, now: float, constants: Constants = DEFAULT) -> EmotionState:
    """The state at `now`; a clock that went back stands still."""
    now = max(instant(now), state.updated_at)
    gap = now - state.updated_at
    idle = clip(now - state.last_interaction_at - constants.boredom_after, 0.0, gap)
    vitals = flow(traits, state.vitals, gap - idle, idle, constants) if gap > 0.0 else state.vitals
    locked = lock_remaining(state, now, constants) > 0.0
    return EmotionState.of(vitals, state.lock_until if locked else None, state.last_interaction_at, now)


def flow(base: Five[N], vitals: Vitals[N], engaged: N, idle: N, c: Constants) -> Vitals[N]:
    """Natural evolution: first `engaged` seconds without boredom, then `idle` seconds with it."""
    # Traits drift over days, moods settle within the hour: the traits of the start serve the whole gap.
    pace, gap = _pace(effective(base, vitals.drift), c), engaged + idle
    settled = _settle(vitals, pace._replace(boredom_rate=0.0 * gap), 0.0 * gap, engaged, c)
    x, b, s, m, long, drift = _settle(settled, pace, engaged, gap, c)
    birth = neutral(base, c)
    past = _past(birth, long)
    return Vitals(x, b, s, m, _faded(birth, past, gap, c), _drifted(drift, past, gap, c))


class _Pace(NamedTuple, Generic[N]):
    """What the traits make of a gap."""

    rest: Three[N]
    boredom_rate: N
    tau_s: N
    rate: N
    tau_m: N


def _pace(traits: Five[N], c: Constants) -> _Pace[N]:
    _, se, st, _, _ = traits
    tau_up = c.tau_up * (1.0 + c.tau_up_stability * st - c.tau_up_sensitivity * se)
    tau_s = c.tau_s * (1.0 + c.tau_s_sensitivity * se - c.tau_s_stability * st)
    return _Pace(
        rest=neutral(traits, c),
        boredom_rate=1.0 / most(tau_up, c.tau_up_min),
        tau_s=most(tau_s, c.tau_s_min),
        rate=c.lambda_0 * (c.lambda_offset + st),
        tau_m=c.tau_m * (1.0 + c.tau_m_sensitivity * se - c.tau_m_stability * st),
    )


def _settle(vitals: Vitals[N], pace: _Pace[N], start: N, end: N, c: Constants) -> Vitals[N]:
    left = end - start
    while largest(left) > 0.0:
        step = least(_FIRST_STEP + _STEP_GROWTH * (end - left), left)
        vitals = _step(vitals, pace, step, c)
        left = left - step
    return vitals


def _step(vitals: Vitals[N], pace: _Pace[N], h: N, c: Constants) -> Vitals[N]:
    """One sub-step: b and s exactly, x exactly while lambda is steady, m by the mean of z and its slope."""
    x, b, s, m, long, drift = vitals
    s_end = s * exp(-h / pace.tau_s)
    # The integral of lambda over the step, in closed form because s decays exponentially.
    turn = pace.rate * (h + pace.tau_s * log((1.0 + c.lambda_shock * s_end) / (1.0 + c.lambda_shock * s)))
    tiring, fresh = h * pace.boredom_rate, 1.0 - b
    draw = (exp(-turn), fresh * turn * _mean_decay(turn, tiring), fresh * _mean_exp(tiring), most(turn, _TINY))
    p, p_mean = _axis(x[0], pace.rest[0], c.x_bored[0], draw)
    a, a_mean = _axis(x[1], pace.rest[1], c.x_bored[1], draw)
    d, d_mean = _axis(x[2], pace.rest[2], c.x_bored[2], draw)
    tau_m = clip(pace.tau_m + c.tau_m * c.tau_m_shock * 0.5 * (s + s_end), c.tau_m_min, c.tau_m_max)
    z_mean, z_move = extremity((p_mean, a_mean, d_mean)), extremity((p, a, d)) - extremity(x)
    memory = _remembered(m, z_mean, z_move, h / tau_m)
    return Vitals((p, a, d), 1.0 - fresh * exp(-tiring), s_end, memory, long, drift)


def _axis(at: N, rest: N, bored: float, draw: tuple[N, N, N, N]) -> tuple[N, N]:
    """Where one axis ends and its mean on the way, drawn to a rest that itself slides towards `bored`."""
    keep, pull, fresh_mean, turn = draw
    end = clip(bored + (at - bored) * keep + (rest - bored) * pull, -1.0, 1.0)
    return end, bored + (rest - bored) * fresh_mean - (end - at) / turn


def _remembered(m: N, z_mean: N, z_move: N, span: N) -> N:
    kept = exp(-span)
    late = 1.0 - (1.0 - kept) * (1.0 / most(span, _TINY) + 0.5)  # the later z counts a little more
    return c01(m * kept + z_mean * (1.0 - kept) + z_move * late)


def _mean_exp(v: N) -> N:
    """The mean of exp(-t) over 0..v."""
    v = most(v, _TINY)
    return (1.0 - exp(-v)) / v


def _mean_decay(v: N, w: N) -> N:
    """The mean of exp(-t) between v and w, without overflow and also where they meet."""
    return exp(-least(v, w)) * _mean_exp(abs(v - w))


def _past(birth: Three[N], long: Six[N]) -> Six[N]:
    """What life has made of the long statistics: their distance from the values of birth."""
    mu_p, mu_a, mu_d, volatility, shock, extreme = long
    return mu_p - birth[0], mu_a - birth[1], mu_d - birth[2], volatility, shock, extreme


def _faded(birth: Three[N], past: Six[N], gap: N, c: Constants) -> Six[N]:
    p, a, d, volatility, shock, extreme = past
    kept = exp(-gap / c.long_tau)
    return (
        clip(birth[0] + p * kept, -1.0, 1.0),
        clip(birth[1] + a * kept, -1.0, 1.0),
        clip(birth[2] + d * kept, -1.0, 1.0),
        volatility * kept,
        shock * kept,
        extreme * kept,
    )


def _drifted(drift: Five[N], past: Six[N], gap: N, c: Constants) -> Five[N]:
    p, a, d, volatility, shock, extreme = past
    em, se, st, ex, do = drift
    q_em = c.q_empathy_p * p - c.q_empathy_volatility * volatility - c.q_empathy_extreme * extreme
    q_se = c.q_sensitivity_a * a + c.q_sensitivity_volatility * volatility + c.q_sensitivity_extreme * extreme
    q_st = c.q_stability_p * p - c.q_stability_volatility * volatility - c.q_stability_shock * shock
    q_ex = c.q_expressiveness_p * p + c.q_expressiveness_a * a
    q_do = c.q_dominance_d * d - c.q_dominance_shock * shock
    share = _pursuit(gap, c)
    return (
        _pursued(em, q_em, gap, share, c),
        _pursued(se, q_se, gap, share, c),
        _pursued(st, q_st, gap, share, c),
        _pursued(ex, q_ex, gap, share, c),
        _pursued(do, q_do, gap, share, c),
    )


def _pursued(drift: N, q: N, gap: N, share: tuple[N, N], c: Constants) -> N:
    """Drift after pursuing clip(q) for a gap. q fades with the long statistics, so while |q| > 1 the goal
    stands still and afterwards it decays: both stretches have a closed form."""
    goal = c.drift_max * clip(q, -1.0, 1.0)
    if largest(abs(q)) > 1.0:
        flat = least(c.long_tau * log(most(abs(q), 1.0)), gap)
        drift = goal + (drift - goal) * exp(-flat / c.drift_tau)
        share = _pursuit(gap - flat, c)
    kept, gained = share
    return clip(drift * kept + goal * gained, -c.drift_max, c.drift_max)


def _pursuit(gap: N, c: Constants) -> tuple[N, N]:
    """How much of its drift a trait keeps over a gap, and how much of a decaying goal it gains."""
    fast, slow = gap / c.drift_tau, gap / c.long_tau
    return exp(-fast), fast * _mean_decay(fast, slow)


def impact(
    traits: Traits, state: EmotionState, user_emotion: UserEmotion, now: float, constants: Constants = DEFAULT
) -> EmotionState:
    """The state after the user's emotion has struck at `now`."""
    c, felt = constants, user_emotion.sane()
    state = evolve(traits, state, now, c)
    now, vitals, character = state.updated_at, state.vitals, effective(traits, state.drift)
    push = _push(character, felt, c)
    size = _size(push)
    wound = (c.shock_negative if felt.p < 0 else c.shock_positive) * max(0.0, size - c.shock_above)
    s = c01(vitals.shock_load + wound)
    p, a, d = (clip(at + by, -1.0, 1.0) for at, by in zip(vitals.x, push, strict=True))
    ordinary = extremity(neutral(traits, c))
    news = (p, a, d, max(0.0, size - c.volatility_above), s, max(0.0, vitals.extreme_memory - ordinary))
    struck = vitals._replace(
        x=(p, a, d), boredom=vitals.boredom * c.boredom_kept, shock_load=s, long=_learnt(vitals.long, news, c)
    )
    remaining = lock_after(character, felt, struck, lock_remaining(state, now, c), c)
    return EmotionState.of(struck, now + remaining if remaining > 0.0 else None, now, now)


def _push(traits: Five[float], felt: UserEmotion, c: Constants) -> Three[float]:
    em, se, st, _, _ = traits
    k = c.k_0 * (c.k_empathy_offset + em) * (c.k_sensitivity_offset + se) / (c.k_stability_offset + st)
    confidence = felt.intensity if felt.confidence is None else felt.confidence
    force = confidence * felt.intensity * k
    size = force * _size((felt.p, felt.a, felt.d))
    force *= c.impact_max / size if size > c.impact_max else 1.0
    return force * felt.p, force * felt.a, force * felt.d


def _size(x: Three[float]) -> float:
    p, a, d = x
    return sqrt((p * p + a * a + d * d) / 3.0)


def _learnt(long: Six[float], news: Six[float], c: Constants) -> Six[float]:
    mu_p, mu_a, mu_d, volatility, shock, extreme = (
        clip(old + c.long_gain * (new - old), -1.0, 1.0) for old, new in zip(long, news, strict=True)
    )
    return mu_p, mu_a, mu_d, volatility, shock, extreme
