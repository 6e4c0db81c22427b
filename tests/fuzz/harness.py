"""Feeds mutants to a server and notes what must not happen. `(target, seed, n)` gives the same mutant again."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from soulgraph.tests.fuzz.mutators import Mutator, Seed
from soulgraph.tests.fuzz.world import MAX_STALL_S, World, brief

TIMEOUT_S = 30
_RENEW_EVERY = 250
_MAX_FINDINGS = 100


class Wrong(AssertionError):
    """What a target found to be wrong with an answer."""


@dataclass(frozen=True)
class Target:
    """`feed` gives a mutant to the server and tells what became of it: `taken…`, or anything else if it was refused."""

    name: str
    seeds: Callable[[], Sequence[Seed]]
    feed: Callable[[World, bytes, Random], Awaitable[str]]
    all_or_nothing: bool = True
    """Whether what is refused leaves the database as it was."""


@dataclass
class Finding:
    target: str
    seed: int
    n: int
    what: str
    mutant: bytes

    def __str__(self) -> str:
        return f"({self.target!r}, {self.seed}, {self.n}) {self.what}\n  input: {self.mutant[:300]!r}"


@dataclass
class Report:
    target: str
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    worst_stall_s: float = 0.0

    @property
    def count(self) -> int:
        return self.outcomes.total()


async def fuzz(
    target: Target,
    world: World,
    numbers: Iterable[int],
    seed: int = 1,
    progress: Callable[[Report], None] = lambda report: None,
) -> Report:
    """The mutants with these numbers, one after the other; then the server must work as before."""
    report = Report(target.name)
    seeds = target.seeds()
    for place, n in enumerate(numbers):
        if place % _RENEW_EVERY == _RENEW_EVERY - 1:
            await world.renew_soul()
            progress(report)
        random = Random(f"{target.name} {seed} {n}")
        mutant = Mutator(random).mutant(random.choice(seeds), seeds)
        for what in await _flaws(target, world, mutant, random, report):
            report.findings.append(Finding(target.name, seed, n, what, mutant))
        if len(report.findings) >= _MAX_FINDINGS or report.outcomes["hung"]:
            break
    try:
        await world.works()
    except AssertionError as error:
        report.findings.append(Finding(target.name, seed, -1, f"afterwards: {brief(error)}", b""))
    for what in world.log.taken():
        report.findings.append(Finding(target.name, seed, -1, f"afterwards: {what}", b""))
    return report


async def _flaws(target: Target, world: World, mutant: bytes, random: Random, report: Report) -> list[str]:
    flaws = []
    world.gauge.reset()
    before = world.rows.counts()
    outcome = "failed"
    try:
        async with asyncio.timeout(TIMEOUT_S):
            outcome = await target.feed(world, mutant, random)
    except Wrong as wrong:
        flaws.append(str(wrong))
    except TimeoutError:
        outcome = "hung"
        flaws.append(f"no answer within {TIMEOUT_S} s")
    except Exception as error:  # noqa: BLE001 (whatever it is, it is what we look for)
        flaws.append(brief(error))
    report.outcomes[outcome] += 1
    report.worst_stall_s = max(report.worst_stall_s, stalled_s := world.gauge.worst_s)
    if stalled_s > MAX_STALL_S:
        flaws.append(f"the loop stood still for {stalled_s:.2f} s of processor time ({outcome})")
    if target.all_or_nothing and not outcome.startswith("taken"):
        after = world.rows.counts()
        changed = [f"{name}: {rows} → {after[name]}" for name, rows in before.items() if rows != after[name]]
        flaws += [f"refused ({outcome}), but the number of rows has changed: {changed}"] if changed else []
    return flaws + world.log.taken()
