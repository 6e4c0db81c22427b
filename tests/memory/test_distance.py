"""How much a text has changed: by meaning where vectors can be had, else by its words."""

import pytest

from soulgraph.errors import SenseUnavailable
from soulgraph.memory.distance import distances
from soulgraph.tests.memory.words_as_vectors import WordVectors

SAME, OTHER, NEAR = ("She trusts him",) * 2, ("She trusts him", "Bread bakes"), ("She trusts him", "She trusts nobody")


class Away:
    name = "away"

    async def embed(self, texts):
        raise SenseUnavailable("the embedder does not answer")


@pytest.mark.parametrize(("embedder", "measure"), [(WordVectors(), "meaning"), (None, "words"), (Away(), "words")])
async def test_the_more_has_changed_the_greater_the_distance(embedder, measure):
    (same, near, other), by = await distances([SAME, NEAR, OTHER], embedder)
    assert by == measure
    assert same == 0 < near < other <= 1


@pytest.mark.parametrize("embedder", [WordVectors(), None])
async def test_from_nothing_to_something_is_a_whole_change_and_nothing_stays_nothing(embedder):
    assert (await distances([("", "你好世界"), ("Hello there", ""), ("", "")], embedder))[0] == [1.0, 1.0, 0.0]
    assert (await distances([], embedder))[0] == []
