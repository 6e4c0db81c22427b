"""What the first turn needs is read after the start, and a server that stops does not wait for it."""

import asyncio
import subprocess
import sys

from soulgraph.runtime import warm_up
from soulgraph.runtime.warm_up import warming_up

STARTED = """
import asyncio, sys
from soulgraph.runtime.warm_up import STEPS
for step in STEPS:
    step()
from soulgraph.senses.emotion.lexicon import lexicon
from soulgraph.senses.permissions.grammar import grammar
from soulgraph.soul import patterns
assert lexicon.cache_info().currsize == grammar.cache_info().currsize == 1
assert not patterns._pending
"""


def test_the_steps_read_what_the_start_has_left_out():
    subprocess.run([sys.executable, "-c", STARTED], check=True)


async def test_the_steps_are_done_one_after_the_other_and_not_on_the_loop(monkeypatch):
    done = []
    all_done = asyncio.Event()
    loop = asyncio.get_running_loop()
    last = lambda: loop.call_soon_threadsafe(all_done.set)  # noqa: E731
    monkeypatch.setattr(warm_up, "STEPS", (lambda: done.append(1), lambda: done.append(2), last))
    async with warming_up(after_s=0):
        await all_done.wait()
    assert done == [1, 2]


async def test_a_start_that_is_not_over_is_left_alone_and_a_stop_begins_nothing(monkeypatch):
    done = []
    monkeypatch.setattr(warm_up, "STEPS", (lambda: done.append(1),))
    async with warming_up():
        await asyncio.sleep(0)
    assert done == []
