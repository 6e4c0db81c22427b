"""What a listener hears of a turn while it works in silence."""

import asyncio

import pytest

from soulgraph.nodes.state import TurnEvent
from soulgraph.runtime.running_turn import RunningTurn, WaitIntervals
from soulgraph.tests.nodes.samples import utterance
from soulgraph.voices.stop import Stop

SHORT = WaitIntervals(0.001, 0.001)
DONE = TurnEvent("done", {})


class Script:
    """A queue that gives these events; a number is a silence of so many seconds, by its own clock."""

    def __init__(self, *script):
        self.script, self.now = list(script), 100.0

    async def get(self):
        if not isinstance(self.script[0], TurnEvent):
            self.now += self.script.pop(0)
            await asyncio.sleep(60)
        return self.script.pop(0)


async def heard(*script, intervals=SHORT):
    queue = Script(*script)
    turn = RunningTurn(utterance(), None, queue, Stop(), lambda: queue.now)
    async with asyncio.timeout(10):
        return [(event.event, event.data) async for event in turn.events(intervals)]


async def test_silence_is_told_with_the_seconds_since_the_turn_began():
    events = await heard(2.0, 5.0, TurnEvent("emotion", {}), 2.4, DONE)
    assert events == [
        ("waiting", {"seconds": 2, "for": "turn"}),
        ("waiting", {"seconds": 7, "for": "turn"}),
        ("emotion", {}),
        ("waiting", {"seconds": 9, "for": "model"}),
        ("done", {}),
    ]


@pytest.mark.parametrize("last", [DONE, TurnEvent("error", {"code": "model_timeout"})])
async def test_without_silence_nothing_is_added(last):
    token = TurnEvent("token", {"text": "hi"})
    assert [name for name, _ in await heard(token, token, last)] == ["token", "token", last.event]


async def test_the_first_silence_is_shorter_than_the_next_and_every_event_begins_anew(monkeypatch):
    limits = []
    limit = asyncio.timeout

    def noted(seconds):
        limits.append(seconds)
        return limit(seconds)

    monkeypatch.setattr(asyncio, "timeout", noted)
    await heard(1.0, 1.0, TurnEvent("token", {}), 1.0, DONE, intervals=WaitIntervals(0.002, 0.005))
    assert limits[1:] == [0.002, 0.005, 0.005, 0.002, 0.005]
