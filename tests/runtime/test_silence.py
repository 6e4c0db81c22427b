"""What wakes a reader: something new, or that there is nothing."""

import asyncio

import pytest

from soulgraph.runtime.silence import Silence, WaitIntervals


class Timers:
    """The timers that silences have asked the loop for."""

    def __init__(self, monkeypatch):
        self.set = []
        loop = asyncio.get_running_loop()
        call_at = loop.call_at

        def noted(when, callback, *args, **options):
            if getattr(callback, "__name__", "") == "_ring":
                self.set.append(when - loop.time())
            return call_at(when, callback, *args, **options)

        monkeypatch.setattr(loop, "call_at", noted)


@pytest.fixture
async def silence():
    silence = Silence(WaitIntervals(0.02, 0.05))
    yield silence
    silence.close()


async def waited(silence):
    async with asyncio.timeout(10):
        return await silence.wait()


async def test_the_first_silence_is_shorter_than_the_next_and_news_begin_anew(silence, monkeypatch):
    timers = Timers(monkeypatch)
    assert not await waited(silence)
    assert not await waited(silence)
    asyncio.get_running_loop().call_soon(silence.wake)
    assert await waited(silence)
    assert not await waited(silence)
    assert [round(seconds, 2) for seconds in timers.set] == [0.02, 0.05, 0.05, 0.02]


async def test_a_thousand_news_need_one_timer(monkeypatch):
    timers, silence = Timers(monkeypatch), Silence(WaitIntervals(60, 60))
    for _ in range(1000):
        asyncio.get_running_loop().call_soon(silence.wake)
        assert await waited(silence)
    silence.close()
    assert len(timers.set) == 1


async def test_silence_counts_from_the_last_news(silence):
    loop = asyncio.get_running_loop()
    began = loop.time()
    for _ in range(5):
        loop.call_later(0.01, silence.wake)
        assert await waited(silence)
    assert not await waited(silence)
    assert loop.time() - began >= 0.065
