"""A hundred and fifty mutants of everything that comes from outside; `make fuzz` feeds twenty thousand of each kind.

The mutators are our own: they change valid files, whose formats they need not know, and a finding is told by its
target, seed and number.
"""

import os
from random import Random

import pytest

from soulgraph.tests.fuzz.harness import fuzz
from soulgraph.tests.fuzz.mutators import Mutator
from soulgraph.tests.fuzz.targets import TARGETS
from soulgraph.tests.fuzz.world import fuzzed_server

COUNT = int(os.environ.get("SOULGRAPH_TEST_FUZZ_COUNT", "150"))


@pytest.fixture
async def world(sqlite_url, tmp_path):
    async with fuzzed_server(tmp_path) as world:
        yield world


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_number_gives_the_same_mutant_again(target):
    def mutants():
        return [Mutator(random).mutant(random.choice(seeds), seeds) for random in map(Random, range(30))]

    seeds = target.seeds()
    first = mutants()
    seeds = target.seeds()
    assert mutants() == first
    assert len({*first}) > 20


async def test_every_seed_is_taken_in_as_it_is(world):
    """Or its mutants would all be refused for one reason, and prove nothing."""
    for target in TARGETS.values():
        for seed in target.seeds():
            outcome = await target.feed(world, seed.file(), Random(3))
            assert outcome in {"taken", *ALLOWED.get(target.name, ())}, (target.name, seed)


ALLOWED = {
    "mqtt": ["dropped"],  # the result of a request that nobody made
    "frames": ["not_found"],  # the message that is to be replaced
    "packets": ["closed 1000", "closed 1002"],  # DISCONNECT, and a second CONNECT
}


async def test_no_mutant_does_more_than_to_be_refused(world):
    reports = [await fuzz(target, world, range(COUNT)) for target in TARGETS.values()]
    assert [str(finding) for report in reports for finding in report.findings] == []
