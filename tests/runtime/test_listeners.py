"""Listeners hear what happens to their soul, lose the oldest when they are slow, and never keep anybody waiting."""

import asyncio

from soulgraph.runtime.listeners import Listeners, Notice


async def heard(listener, count):
    news = listener.events(5)
    return [(await anext(news)).data["n"] for _ in range(count)]


async def test_everyone_who_listens_to_the_soul_hears_it_and_nobody_else():
    listeners = Listeners()
    with listeners.listen("a") as one, listeners.listen("a") as two, listeners.listen("b"):
        assert listeners.subscriptions == {("a", None), ("b", None)}
        assert listeners.tell("a", "ann", "proactive", {"n": 1}) == 2
        assert listeners.tell("nobody", "ann", "proactive", {"n": 2}) == 0
        assert await anext(one.events(5)) == await anext(two.events(5)) == Notice("proactive", {"n": 1})
    assert listeners.subscriptions == set()
    assert listeners.tell("a", "ann", "proactive", {"n": 3}) == 0


async def test_a_slow_listener_loses_the_oldest():
    listeners = Listeners()
    with listeners.listen("a") as listener:
        for n in range(250):
            listeners.tell("a", "ann", "state_changed", {"n": n})
        assert await heard(listener, 100) == list(range(150, 250))


async def test_silence_is_noticed_and_news_after_it_are_heard():
    listeners = Listeners()
    with listeners.listen("a") as listener:
        news = listener.events(0.01)
        assert await anext(news) is None
        waiting = asyncio.ensure_future(anext(listener.events(5)))
        await asyncio.sleep(0)
        listeners.tell("a", "ann", "proactive", {"n": 1})
        assert (await waiting).data == {"n": 1}


async def test_closing_ends_every_line_after_what_was_told_and_those_that_come_later_at_once():
    listeners = Listeners()
    waiting = asyncio.create_task(_all_of("a", listeners))
    await asyncio.sleep(0)
    listeners.tell("a", "ann", "proactive", {"n": 1})
    await listeners.close(5)
    assert listeners.subscriptions == set()
    assert waiting.result() == [Notice("proactive", {"n": 1})]
    with listeners.listen("a") as late:
        assert await _all(late) == []


async def test_closing_does_not_wait_for_ever_for_a_line_that_hangs():
    listeners = Listeners()
    with listeners.listen("a"):
        await listeners.close(0.01)
        assert listeners.subscriptions == {("a", None)}


async def test_one_line_hears_the_souls_it_joins_but_nothing_of_its_own_turns():
    listeners, mine = Listeners(), {"turn_1"}
    with listeners.connect(mine) as line:
        for soul_id in ("a", "b", "a"):
            listeners.subscribe(line, soul_id)
        listeners.tell("a", "ann", "state_changed", {"turn_id": "turn_1"})
        listeners.tell("a", "ann", "state_changed", {"turn_id": "turn_2"})
        listeners.tell("b", "ann", "proactive", {"n": 1})
        mine.clear()
        listeners.tell("b", "ann", "state_changed", {"turn_id": "turn_1"})
        news = line.events(5)
        heard = [(await anext(news)).data for _ in range(3)]
    assert heard == [{"turn_id": "turn_2"}, {"n": 1}, {"turn_id": "turn_1"}]
    assert listeners.subscriptions == set()


async def _all_of(soul_id, listeners):
    with listeners.listen(soul_id) as listener:
        return await _all(listener)


async def _all(listener):
    return [news async for news in listener.events(5)]


async def news_of(listener):
    return [news.data["n"] async for news in _until_silence(listener)]


async def _until_silence(listener):
    async for news in listener.events(0.01):
        if news is None:
            return
        yield news


async def test_a_persons_line_hears_only_what_is_theirs_and_one_without_a_person_hears_all():
    listeners = Listeners()
    with (
        listeners.listen("a", "ann") as ann,
        listeners.listen("a", "bob") as bob,
        listeners.listen("a") as owner,
        listeners.listen("b", "ann") as elsewhere,
    ):
        assert listeners.subscriptions == {("a", "ann"), ("a", "bob"), ("a", None), ("b", "ann")}
        assert listeners.tell("a", "ann", "proactive", {"n": 1}) == 2
        assert listeners.tell("a", "bob", "proactive", {"n": 2}) == 2
        assert listeners.tell("a", "carl", "proactive", {"n": 3}) == 1
        heard = [await news_of(line) for line in (ann, bob, owner, elsewhere)]
    assert heard == [[1], [2], [1, 2, 3], []]
    assert listeners.tell("a", "ann", "proactive", {"n": 4}) == 0


async def test_a_line_that_is_subscribed_in_several_ways_hears_everything_once():
    listeners = Listeners()
    with listeners.connect() as line:
        for user_id in ("ann", None, "ann", "bob"):
            listeners.subscribe(line, "a", user_id)
        assert listeners.tell("a", "ann", "proactive", {"n": 1}) == 1
        assert listeners.tell("a", "bob", "proactive", {"n": 2}) == 1
        assert await news_of(line) == [1, 2]
    assert listeners.subscriptions == set()
