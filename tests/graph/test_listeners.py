"""Listeners hear what happens to their soul, lose the oldest when they are slow, and never keep anybody waiting."""

import asyncio

from soulgraph.graph.listeners import Listeners, News


async def heard(listener, count):
    news = listener.news(5)
    return [(await anext(news)).data["n"] for _ in range(count)]


async def test_everyone_who_listens_to_the_soul_hears_it_and_nobody_else():
    listeners = Listeners()
    with listeners.listen("a") as one, listeners.listen("a") as two, listeners.listen("b"):
        assert listeners.souls == {"a", "b"}
        assert listeners.tell("a", "proactive", {"n": 1}) == 2
        assert listeners.tell("nobody", "proactive", {"n": 2}) == 0
        assert await anext(one.news(5)) == await anext(two.news(5)) == News("proactive", {"n": 1})
    assert listeners.souls == set()
    assert listeners.tell("a", "proactive", {"n": 3}) == 0


async def test_a_slow_listener_loses_the_oldest():
    listeners = Listeners()
    with listeners.listen("a") as listener:
        for n in range(250):
            listeners.tell("a", "state_changed", {"n": n})
        assert await heard(listener, 100) == list(range(150, 250))


async def test_silence_is_noticed_and_news_after_it_are_heard():
    listeners = Listeners()
    with listeners.listen("a") as listener:
        news = listener.news(0.01)
        assert await anext(news) is None
        waiting = asyncio.ensure_future(anext(listener.news(5)))
        await asyncio.sleep(0)
        listeners.tell("a", "proactive", {"n": 1})
        assert (await waiting).data == {"n": 1}


async def test_closing_ends_every_line_after_what_was_told_and_those_that_come_later_at_once():
    listeners = Listeners()
    with listeners.listen("a") as listener:
        waiting = asyncio.create_task(_all(listener))
        await asyncio.sleep(0)
        listeners.tell("a", "proactive", {"n": 1})
        listeners.close()
        assert await waiting == [News("proactive", {"n": 1})]
    with listeners.listen("a") as late:
        assert await _all(late) == []


async def _all(listener):
    return [news async for news in listener.news(5)]
