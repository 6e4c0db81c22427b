"""The five traits of a soul, derived from an MBTI type, and the formulas that depend on traits alone.

Each formula takes floats (one soul) or arrays (many souls): `N` is either.
"""

import math
from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy import ndarray
from numpy.typing import NDArray

from soulgraph.errors import InvalidInput
from soulgraph.soul.constants import DEFAULT, Constants

Array: TypeAlias = NDArray[np.float64]
N = TypeVar("N", float, Array)
Three: TypeAlias = tuple[N, N, N]
Five: TypeAlias = tuple[N, N, N, N, N]

MBTI_TYPES = tuple("".join(letters) for letters in product("EI", "SN", "TF", "JP"))


def exp(v: N) -> N:
    return np.exp(v) if isinstance(v, ndarray) else math.exp(v)


def log(v: N) -> N:
    return np.log(v) if isinstance(v, ndarray) else math.log(v)


def minimum(v: N, w: N | float) -> N:
    if isinstance(v, ndarray):
        return np.minimum(v, w)
    return v if v < w else w


def maximum(v: N, w: N | float) -> N:
    if isinstance(v, ndarray):
        return np.maximum(v, w)
    return v if v > w else w


def clip(v: N, low: float, high: float) -> N:
    if isinstance(v, ndarray):
        return np.minimum(np.maximum(v, low), high)
    return low if v < low else high if v > high else v


def c01(v: N) -> N:
    """Clips to 0..1."""
    return clip(v, 0.0, 1.0)


def largest_value(v: N) -> float:
    """The largest element of an array, or the float itself."""
    return float(v.max(initial=0.0)) if isinstance(v, ndarray) else v


def extremity(x: Three[N]) -> N:
    """z: the largest absolute value of the three axes."""
    p, a, d = x
    return maximum(maximum(abs(p), abs(a)), abs(d))


class Traits(NamedTuple):
    """The five traits, each in 0..1; also used for the drift of each trait, then in -1..1."""

    empathy: float
    sensitivity: float
    stability: float
    expressiveness: float
    dominance: float

    def to_dict(self) -> dict[str, float]:
        return self._asdict()

    @classmethod
    def from_dict(cls, data: Any, low: float = 0.0, high: float = 1.0) -> "Traits":
        if not isinstance(data, Mapping) or set(data) != set(cls._fields):
            raise InvalidInput(f"expected exactly the traits {', '.join(cls._fields)}")
        return cls(*(number_in(data[name], name, low, high) for name in cls._fields))


def number_in(value: Any, name: str, low: float, high: float) -> float:
    """The value as a float; raises InvalidInput naming `name` unless it is a number in low..high."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InvalidInput(f"{name} must be a number in {low:g}..{high:g}, not {value!r}")
    return float(value)


def traits_of(mbti: str, constants: Constants = DEFAULT) -> Traits:
    """The traits of an MBTI type: each letter shifts every trait, E S T J by +weight and I N F P by -weight."""
    c = constants
    letters = mbti.strip().upper() if isinstance(mbti, str) else ""
    if letters not in MBTI_TYPES:
        raise InvalidInput(f"{mbti!r} is no MBTI type; expected four letters like INFJ: E/I, S/N, T/F, J/P")
    signs = [1.0 if letter in "ESTJ" else -1.0 for letter in letters]
    axes = zip(c.mbti_ei, c.mbti_sn, c.mbti_tf, c.mbti_jp, strict=True)
    shifts = (sum(sign * weight for sign, weight in zip(signs, axis, strict=True)) for axis in axes)
    return Traits(*(round(c01(c.trait_middle + shift), 6) for shift in shifts))


def effective(base: Five[N], drift: Five[N]) -> Five[N]:
    """The base traits plus their drift, each clipped to 0..1."""
    em, se, st, ex, do = base
    drift_em, drift_se, drift_st, drift_ex, drift_do = drift
    return (c01(em + drift_em), c01(se + drift_se), c01(st + drift_st), c01(ex + drift_ex), c01(do + drift_do))


def neutral(traits: Five[N], c: Constants) -> Three[N]:
    """x_neutral: the mood these traits settle in."""
    em, _, st, ex, do = traits
    mid = c.trait_middle
    return (
        c.neutral_p_empathy * (em - mid) + c.neutral_p_stability * (st - mid),
        c.neutral_a_expressiveness * (ex - mid) - c.neutral_a_stability * (st - mid),
        c.neutral_d_dominance * (do - mid),
    )


def resilience(traits: Five[N], c: Constants) -> N:
    _, se, st, _, do = traits
    return c01(c.resilience_stability * st + c.resilience_calm * (1.0 - se) + c.resilience_dominance * do)


def reactivity(traits: Five[N], c: Constants) -> N:
    _, se, st, _, do = traits
    return c01(c.reactivity_sensitivity * se + c.reactivity_unstable * (1.0 - st) + c.reactivity_yielding * (1.0 - do))
