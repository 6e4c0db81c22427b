"""The dynamics of many souls at once, as arrays, by the same formulas as for one soul."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.dynamics import flow
from soulgraph.soul.emotions import EmotionState, Impressions, Vitals, checked_time
from soulgraph.soul.personality import Array, Five, N, Traits

_NO_LOCK = -np.inf
_VITALS_SIZE = 21
_ROW_SIZE = 5 + 3 + _VITALS_SIZE  # traits, times, vitals
_BLOCK_SIZE = 16_384  # souls whose numbers fit into the processor's cache together


@dataclass(frozen=True, slots=True)
class Population:
    """Each array holds one number of every soul; `lock_until` is -inf without a lock."""

    traits: Five[Array]
    vitals: Vitals[Array]
    lock_until: Array
    last_interaction_at: Array
    updated_at: Array

    @classmethod
    def of(cls, souls: Iterable[tuple[Traits, EmotionState]]) -> "Population":
        table = np.array([_row(traits, state) for traits, state in souls], dtype=np.float64)
        em, se, st, ex, do, lock_until, interacted, updated, *numbers = np.ascontiguousarray(
            table.reshape(-1, _ROW_SIZE).T
        )
        return cls((em, se, st, ex, do), _vitals(numbers), lock_until, interacted, updated)

    def evolve(self, now: float, constants: Constants = DEFAULT) -> "Population":
        """All souls at `now`; a soul that was updated later than that stays as it is."""
        later = np.maximum(checked_time(now), self.updated_at)
        gap = later - self.updated_at
        idle = np.clip(later - self.last_interaction_at - constants.boredom_after, 0.0, gap)
        columns = [*self.traits, *_numbers(self.vitals), gap - idle, idle]
        moved = np.empty((_VITALS_SIZE, gap.size))
        for start in range(0, gap.size, _BLOCK_SIZE):
            block = slice(start, start + _BLOCK_SIZE)
            em, se, st, ex, do, *numbers, engaged, idle = (column[block] for column in columns)
            moved[:, block] = _numbers(flow((em, se, st, ex, do), _vitals(numbers), engaged, idle, constants))
        return replace(self, vitals=_vitals(list(moved)), updated_at=later)

    def states(self) -> list[EmotionState]:
        rows = np.array([self.lock_until, self.last_interaction_at, self.updated_at, *_numbers(self.vitals)])
        return [
            EmotionState.of(_vitals(numbers), lock_until if lock_until > updated else None, interacted, updated)
            for lock_until, interacted, updated, *numbers in rows.T.tolist()
        ]


def _row(traits: Traits, state: EmotionState) -> list[float]:
    lock_until = _NO_LOCK if state.lock_until is None else state.lock_until
    return [*traits, lock_until, state.last_interaction_at, state.updated_at, *_numbers(state.vitals)]


def _numbers(vitals: Vitals[N]) -> list[N]:
    (p, a, d), b, s, m, (hurt, sorrow, worry, warmth), long, (em, se, st, ex, do) = vitals
    mu_p, mu_a, mu_d, vol, ls, lm = long
    return [p, a, d, b, s, m, hurt, sorrow, worry, warmth, mu_p, mu_a, mu_d, vol, ls, lm, em, se, st, ex, do]


def _vitals(numbers: Sequence[N]) -> Vitals[N]:
    p, a, d, b, s, m, hurt, sorrow, worry, warmth, mu_p, mu_a, mu_d, vol, ls, lm, em, se, st, ex, do = numbers
    impressions = Impressions(hurt, sorrow, worry, warmth)
    return Vitals((p, a, d), b, s, m, impressions, (mu_p, mu_a, mu_d, vol, ls, lm), (em, se, st, ex, do))
