"""The sense of surprise: what overturns an expectation is told from what was to be expected."""

import yaml

from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.emotion.local import LocalRecogniser
from soulgraph.senses.surprise.sense import FEELINGS, SurpriseSense
from soulgraph.tests.test_project import ROOT
from soulgraph.voices.updates import Belief

BAR = 0.5


def expectations(situation):
    return [Belief(field, item).text for field, items in situation["state"].items() for item in items]


def situations():
    """The open half of those that are kept for the bench."""
    return yaml.safe_load((ROOT / "bench/data/situations_open.yaml").read_text("utf-8"))["situations"]


async def test_most_surprises_of_strangers_are_found_and_few_other_words_are_taken_for_one():
    async with open_local_embedder() as embedder:
        sense = SurpriseSense(embedder, LocalRecogniser(embedder))
        found = {True: 0, False: 0}
        for one in situations():
            found[one["surprising"]] += await sense.probability(one["say"], expectations(one)) >= BAR
    assert found[True] >= 8 and found[False] <= 1, found


async def test_the_expectation_that_the_words_have_most_to_do_with_comes_first():
    async with open_local_embedder() as embedder:
        sense = SurpriseSense(embedder, LocalRecogniser(embedder))
        order = await sense.nearest(
            "the campground is closed, the trip is off", ["my left arm is broken", "we go camping on Saturday"]
        )
    assert order == [1, 0]


async def test_words_without_any_expectation_and_empty_words_have_a_probability_too():
    async with open_local_embedder() as embedder:
        sense = SurpriseSense(embedder, LocalRecogniser(embedder))
        assert 0 <= await sense.probability("", []) <= 1
        assert len(await sense.inputs("hello", [])) == FEELINGS + 512
