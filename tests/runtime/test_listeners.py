"""Listeners hear what happens to their soul, lose the oldest when they are slow, and never keep anybody waiting."""

import asyncio

from soulgraph.runtime import notices as module
from soulgraph.runtime.listeners import Listeners
from soulgraph.runtime.notices import KeptNotices, Notice, Subscription
from soulgraph.tests.stores.samples import session


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


async def all_of(listener):
    """What was told so far, as (event, id, data)."""
    return [(one.event, one.id, one.data) async for one in _until_silence(listener)]


def sessions_of(frames):
    return [data["session_id"] for event, _, data in frames if event == "session_changed"]


def change(listeners, *names, **fields):
    for name in names:
        listeners.session_changed(session(name, "a", user_id="ann", **fields), "turn", f"turn_{name}")


async def test_what_came_after_an_event_is_told_again_to_whom_it_concerns():
    listeners = Listeners()
    with listeners.connect() as line:
        listeners.follow(line, Subscription("a", "ann"))
        [(event, last, data)] = await all_of(line)
    assert (event, data) == ("listening", {"soul_id": "a", "last_event_id": last, "missed": False})
    change(listeners, "s1", "s2")
    listeners.session_changed(session("s3", "a", user_id="bob"), "turn")
    listeners.session_changed(session("s4", "b", user_id="ann"), "turn")
    change(listeners, "s5", people=("bob",))
    for person, missed in (("ann", ["s1", "s2", "s5"]), ("bob", ["s3", "s5"]), (None, ["s1", "s2", "s3", "s5"])):
        with listeners.connect() as line:
            listeners.follow(line, Subscription("a", person), last)
            begin, *again = await all_of(line)
            assert begin[2]["missed"] is False
            assert sessions_of(again) == missed
            listeners.follow(line, Subscription("a", person), again[0][1])
            assert (await all_of(line))[1:] == again[1:], "with the same ids, from wherever it broke off"


async def test_what_is_too_long_ago_or_too_much_or_of_another_server_is_missed(monkeypatch):
    monkeypatch.setattr(module, "_MAX_REPLAYED", 3)
    other, listeners = Listeners(), Listeners()
    listeners._kept = KeptNotices("first", limit=5)

    async def begin(after):
        with listeners.connect() as line:
            listeners.follow(line, Subscription("a"), after)
            (_, last, data), *again = await all_of(line)
        return data["missed"], sessions_of(again), last

    _, _, start = await begin(None)
    change(listeners, "s1", "s2", "s3")
    assert await begin(start) == (False, ["s1", "s2", "s3"], start)
    _, _, third = await begin(None)
    change(listeners, "s4")
    missed, again, last = await begin(start)
    assert (missed, again, last > third) == (True, [], True), "four are too many"
    assert await begin(third) == (False, ["s4"], third)
    listeners.session_changed(session("elsewhere", "b"), "turn")
    change(listeners, "s6", "s7")
    assert (await begin(start))[0] is True, "the first is no longer kept"
    with other.connect() as line:
        other.follow(line, Subscription("a"))
        [(_, foreign, _)] = await all_of(line)
    for unknown in (foreign, "", "7", "-", "x-1", f"{third}9", f"{third[:-1]}x"):
        assert (await begin(unknown))[:2] == (True, []), unknown


async def test_who_follows_and_falls_behind_is_told_that_something_is_missed():
    listeners = Listeners()
    with listeners.connect() as line:
        listeners.follow(line, Subscription("a"))
        await all_of(line)
        for n in range(150):
            change(listeners, f"s{n}")
        begin, *kept = await all_of(line)
        assert (begin[0], begin[2]["missed"]) == ("listening", True)
        assert sessions_of(kept) == [f"s{n}" for n in range(50, 150)]
        listeners.follow(line, Subscription("a"), begin[1])
        again = await all_of(line)
        assert again[0][2]["missed"] is True, "a hundred are more than are told again"


async def test_words_that_nobody_heard_were_not_said_and_are_not_told_later():
    listeners = Listeners()
    with listeners.connect() as line:
        listeners.follow(line, Subscription("a"))
        [(_, start, _)] = await all_of(line)
    assert listeners.tell("a", "ann", "proactive", {"soul_id": "a", "text": "anybody there?"}) == 0
    assert listeners.tell("a", "ann", "state_changed", {"soul_id": "a"}) == 0
    with listeners.connect() as line:
        listeners.follow(line, Subscription("a"), start)
        assert [event for event, _, _ in await all_of(line)] == ["listening", "state_changed"]


async def test_the_latest_way_to_follow_a_soul_counts_and_who_stops_hears_nothing_more():
    listeners = Listeners()
    with listeners.connect() as line:
        listeners.follow(line, Subscription("a", nodes=True))
        assert (listeners.watched, listeners.hears_nodes("a")) == ({"a"}, True)
        listeners.follow(line, Subscription("a", "ann"))
        assert (listeners.subscriptions, listeners.hears_nodes("a")) == ({("a", "ann")}, False)
        await all_of(line)
        change(listeners, "s1")
        listeners.unsubscribe(line, "a")
        change(listeners, "s2")
        assert await all_of(line) == []
        assert (listeners.subscriptions, listeners.watched) == (set(), set())
        listeners.subscribe(line, "a", "ann")
        change(listeners, "s3")
        assert (listeners.watched, await all_of(line)) == (set(), []), "who only talks hears no more than before"


async def test_what_a_node_returned_is_made_for_owners_only_and_once():
    listeners, made = Listeners(), []

    def update():
        made.append(1)
        return {"prompt": "secret"}

    def nodes_of(frames):
        return [data for event, _, data in frames if event == "node"]

    with listeners.connect({"turn_1"}) as ann, listeners.connect() as owner, listeners.connect() as other:
        listeners.follow(ann, Subscription("a", "ann", nodes=True))
        listeners.follow(other, Subscription("a", "bob", nodes=True))
        listeners.tell_node("a", "ann", {"node": "gate", "turn_id": "turn_1"}, update)
        assert made == []
        for _ in range(2):
            listeners.follow(owner, Subscription("a", nodes=True, is_owner=True))
        listeners.tell_node("a", "ann", {"node": "recall", "turn_id": "turn_1"}, update)
        assert [one["node"] for one in nodes_of(await all_of(ann))] == ["gate", "recall"], "its own turn's too"
        assert nodes_of(await all_of(owner)) == [
            {"node": "recall", "turn_id": "turn_1", "update": {"prompt": "secret"}}
        ]
        assert nodes_of(await all_of(other)) == []
    assert made == [1]
