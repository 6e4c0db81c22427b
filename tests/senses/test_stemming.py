"""Texts are read on several threads at once."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from soulgraph.senses.stemming import stemmer

WORDS = ["conditionally", "relational", "a", "running", "generously", "skies", "hopefulness", "it"] * 100


@pytest.fixture
def threads_that_take_turns_all_the_time():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("threads_that_take_turns_all_the_time")
def test_threads_do_not_get_the_stems_of_each_others_words():
    alone = [stemmer().stemWord(word) for word in WORDS]
    together = Barrier(4)

    def stems():
        together.wait()
        return [stemmer().stemWord(word) for word in WORDS]

    with ThreadPoolExecutor(4) as threads:
        found = [threads.submit(stems) for _ in range(4)]
        assert [one.result() == alone for one in found] == [True] * 4
