"""What the dynamics of a soul cost: one soul over a gap, a tick of 100,000 souls against the loop over single ones.

Run with `python bench/dynamics.py`; it prints Markdown tables. Ticks and loops alternate within one run, so that a busy
machine slows both alike and their ratio holds.
"""

import random
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES, EmotionState, UserEmotion
from soulgraph.soul.gate import judge
from soulgraph.soul.impact import impact
from soulgraph.soul.personality import MBTI_TYPES, Traits, traits_of
from soulgraph.soul.population import Population

GAPS = {"3 s": 3.0, "60 s": 60.0, "5 min": 300.0, "1 day": 86400.0}
LIVES, TURNS = 500, 4_000
SOULS, SAMPLE, ROUNDS, TICK_S = 100_000, 5_000, 9, 3.0
NOW = 1_800_000_000.0
TURN_TARGET_US, TICK_TARGET = 150, 40

Soul = tuple[Traits, EmotionState]


def some_emotion(chance: random.Random) -> UserEmotion:
    label = chance.choice(EMOTIONS)
    return UserEmotion(label, *PROTOTYPES[label], chance.uniform(0.3, 1.0))


def some_life(chance: random.Random) -> Soul:
    """A soul after a short conversation that may still go on or have ended an hour ago."""
    traits = traits_of(chance.choice(MBTI_TYPES))
    messages, silence = chance.randrange(1, 8), chance.choice((2.0, 15.0, 120.0, 3600.0))
    state = born(traits, NOW - silence - 20.0 * messages)
    for n in range(messages, 0, -1):
        state = impact(traits, state, some_emotion(chance), NOW - silence - 20.0 * (n - 1))
    return traits, evolve(traits, state, NOW)


def lapse(act: Callable[[], Any]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def one_turn(traits: Traits, state: EmotionState, felt: UserEmotion, now: float) -> None:
    state = evolve(traits, state, now)
    state = impact(traits, state, felt, now)
    judge(traits, state, now)


def single_souls(chance: random.Random) -> None:
    lives = [some_life(chance) for _ in range(LIVES)]
    print(
        f"| gap | evolve + impact + judge, p50 µs | p95 µs | target, up to 60 s: {TURN_TARGET_US} |\n|---|---|---|---|"
    )
    for name, gap in GAPS.items():
        turns = [(*chance.choice(lives), some_emotion(chance), NOW + gap) for _ in range(TURNS)]
        costs = [lapse(lambda turn=turn: one_turn(*turn)) * 1e6 for turn in turns]
        middle, high = statistics.median(costs), statistics.quantiles(costs, n=20)[-1]
        verdict = "" if gap > GAPS["60 s"] else "met" if middle <= TURN_TARGET_US else "missed"
        print(f"| {name} | {middle:.0f} | {high:.0f} | {verdict} |")


def many_souls(souls: list[Soul]) -> None:
    population, sample, later = Population.of(souls), souls[:SAMPLE], NOW + TICK_S
    population.evolve(later)
    rounds = [
        (
            lapse(lambda: population.evolve(later)),
            lapse(lambda: [evolve(traits, state, later) for traits, state in sample]) * SOULS / SAMPLE,
        )
        for _ in range(ROUNDS)
    ]
    tick, loop = (statistics.median(side) for side in zip(*rounds, strict=True))
    ratio = statistics.median(slow / fast for fast, slow in rounds)
    verdict = "met" if ratio >= TICK_TARGET else "missed"
    print(f"\n| a tick of {TICK_S:g} s, {SOULS:,} souls | p50 ms |\n|---|---|")
    print(f"| population | {tick * 1e3:.0f} |")
    print(f"| loop over single souls ({SAMPLE:,} measured, times {SOULS // SAMPLE}) | {loop * 1e3:.0f} |")
    print(f"| ratio (target: {TICK_TARGET}×) | {ratio:.0f}×, {verdict} |")
    print(f"| from states to a population | {lapse(lambda: Population.of(souls)) * 1e3:.0f} |")
    print(f"| from a population to states | {lapse(population.states) * 1e3:.0f} |")


def memory(souls: list[Soul]) -> None:
    tracemalloc.start()
    population, held = held_by(lambda: Population.of(souls))
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    population.evolve(NOW + TICK_S)
    extra = tracemalloc.get_traced_memory()[1] - before
    _, as_states = held_by(population.states)
    tracemalloc.stop()
    print("\n| memory | bytes per soul |\n|---|---|")
    print(f"| population | {held / SOULS:.0f} |")
    print(f"| on top of it at the height of a tick, result included | {extra / SOULS:.0f} |")
    print(f"| single states | {as_states / SOULS:.0f} |")


def held_by(make: Callable[[], Any]) -> tuple[Any, int]:
    before = tracemalloc.get_traced_memory()[0]
    made = make()
    return made, tracemalloc.get_traced_memory()[0] - before


def main() -> None:
    chance = random.Random(7)
    single_souls(chance)
    lives = [some_life(chance) for _ in range(SAMPLE)]
    souls = lives * (SOULS // SAMPLE)
    many_souls(souls)
    memory(souls)


if __name__ == "__main__":
    main()
