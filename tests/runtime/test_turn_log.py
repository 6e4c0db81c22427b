"""The log of a turn: each reader hears everything once, from wherever it broke off, also from the stored answer."""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.errors import InvalidInput
from soulgraph.nodes.state import TurnEvent
from soulgraph.runtime.silence import WaitIntervals
from soulgraph.runtime.turn_log import EventId, Place, StreamedEvent, TurnLog

FEELING = TurnEvent("emotion", {"p": 0.1})
TOOL = TurnEvent("tool", {"name": "recall_memory", "arguments": {}})
DONE = TurnEvent("done", {"turn_id": "turn_1", "reply": "I hear you."})


def token(text):
    return TurnEvent("token", {"text": text})


def log_of(*events, turn_id="turn_1", **options):
    log = TurnLog(turn_id, **options)
    for event in events:
        log.add(event)
    return log


async def heard(log, after=None, intervals=None):
    async with asyncio.timeout(10):
        return [event async for event in log.read(after, intervals or WaitIntervals(60, 60))]


def told(events):
    return [(event.event, event.data) for event in events]


def words(events):
    return "".join(event.data["text"] for event in events if event.event == "token")


async def test_what_has_come_together_is_one_token_and_other_events_keep_their_place():
    log = log_of(FEELING, token("I "), token("hear"), TOOL, token(" you."), DONE)
    assert told(await heard(log)) == [
        ("emotion", FEELING.data),
        ("token", {"text": "I hear"}),
        ("tool", TOOL.data),
        ("token", {"text": " you."}),
        ("done", DONE.data),
    ]


async def test_every_id_says_how_far_the_turn_was_read_with_it():
    events = await heard(log_of(FEELING, token("I hear"), TOOL, token(" you."), DONE))
    places = [EventId.parse(event.id).place for event in events]
    assert [place[:2] for place in places] == [(1, 0), (1, 6), (2, 6), (2, 11), (3, 11)]
    assert len({event.id for event in events}) == 5
    assert all(event.id.startswith("turn_1.") for event in events)


async def test_readers_come_and_go_as_they_like_and_hear_the_same():
    log = log_of(FEELING)
    early = asyncio.create_task(heard(log))
    for piece in "I hear you.":
        log.add(token(piece))
        await asyncio.sleep(0)
    late = asyncio.create_task(heard(log))
    await asyncio.sleep(0)
    log.add(DONE)
    assert words(await early) == words(await late) == "I hear you."
    assert len(await early) > len(await late)
    assert not log._readers


async def test_who_leaves_is_forgotten_at_once():
    log = log_of(FEELING)
    reading = asyncio.create_task(heard(log))
    await asyncio.sleep(0)
    assert len(log._readers) == 1
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    assert not log._readers


async def test_a_stored_answer_goes_on_after_the_characters_that_were_read():
    broken_off = [event async for event in _first(log_of(FEELING, TOOL, token("I he")), 3)][-1]
    log = TurnLog.of(DONE.data)
    rest = await heard(log, EventId.parse(broken_off.id))
    assert told(rest) == [("token", {"text": "ar you."}), ("done", DONE.data)]


async def test_of_a_stored_answer_that_was_read_whole_only_the_end_is_told():
    whole = (await heard(log_of(FEELING, token("I hear you."), DONE)))[-2]
    assert [event.event for event in await heard(TurnLog.of(DONE.data), EventId.parse(whole.id))] == ["done"]


@pytest.mark.parametrize("last", [DONE, TurnEvent("error", {"code": "model_timeout"})])
async def test_who_has_heard_the_end_hears_it_again_and_no_word(last):
    log = log_of(FEELING, token("I hear you."), last)
    [*_, end] = await heard(log)
    assert told(await heard(log, EventId.parse(end.id))) == [(last.event, last.data)]


async def test_another_reply_begins_anew_and_says_so():
    read = (await heard(log_of(FEELING, token("You are"), DONE)))[1]
    for log, reason in ((log_of(FEELING, token("I hear"), DONE), "lost"), (TurnLog.of(DONE.data), "changed")):
        first, *rest = await heard(log, EventId.parse(read.id))
        assert (first.event, first.data["reason"], first.id) == ("restart", reason, "turn_1.0.0.00000000")
        assert told(rest) == told(await heard(log))


async def test_a_place_beyond_what_was_said_begins_anew():
    log = log_of(FEELING, token("I hear"), DONE)
    for place in (Place(9, 0, 0), Place(1, 900, 0), Place(1, 0, 7)):
        assert (await heard(log, EventId("turn_1", place)))[0].event == "restart"


async def test_whether_it_goes_on_is_said_only_when_the_turn_has_begun():
    read = (await heard(log_of(FEELING, token("I he"), TurnEvent("error", {}))))[1]
    log = TurnLog("turn_2")
    reading = asyncio.create_task(heard(log, EventId.parse(read.id), WaitIntervals(0.001, 0.001)))
    await asyncio.sleep(0.01)
    log.add_stored(DONE.data)
    events = [event for event in await reading if event.event != "waiting"]
    waited = [event for event in await reading if event.event == "waiting"]
    assert told(events) == [("token", {"text": "ar you."}), ("done", DONE.data)]
    assert {event.id for event in waited} == {read.id}


async def test_silence_is_told_with_the_seconds_since_the_turn_began_and_what_is_awaited():
    now = [100.0]
    log = TurnLog("turn_1", clock=lambda: now[0])
    reading = asyncio.create_task(heard(log, None, WaitIntervals(0.001, 0.001)))
    now[0] = 102.2
    await asyncio.sleep(0.02)
    log.add(FEELING)
    now[0] = 109.0
    await asyncio.sleep(0.02)
    log.add(DONE)
    waits = [event.data for event in await reading if event.event == "waiting"]
    assert waits[0] == {"seconds": 2, "for": "turn"}
    assert waits[-1] == {"seconds": 9, "for": "model"}


@pytest.mark.parametrize(
    "text",
    ["", "5", "turn_1", "turn_1.1.2", "turn_1.1.2.xyz", "turn 1.1.2.00000000", "turn_1.-1.2.00000000", "t." * 70],
)
def test_what_is_no_id_is_refused_with_what_to_do(text):
    with pytest.raises(InvalidInput, match="send the last one that was heard"):
        EventId.parse(text)


@given(st.from_regex(r"\A[\w.:@-]{1,40}\Z"), st.tuples(*[st.integers(0, 999_999)] * 2), st.integers(0, 2**32 - 1))
def test_an_id_is_read_as_it_was_written(turn_id, counts, checksum):
    if turn_id.isascii():
        written = EventId(turn_id, Place(*counts, checksum))
        assert EventId.parse(str(written)) == written


def test_json_of_a_token_is_what_json_says():
    for text in ('a "quoted"\nline\t\x00', "你好 🌱 \u2028 </script>", ""):
        assert json.loads(StreamedEvent("token", {"text": text}, "").json) == {"text": text}


async def _first(log, count):
    async for event in log.read(None, WaitIntervals(60, 60)):
        yield event
        count -= 1
        if not count:
            return


PIECES = st.lists(st.one_of(st.text(max_size=6), st.none()), max_size=25)
"""Words, or None for a tool."""


@settings(deadline=None)
@given(PIECES, st.lists(st.integers(0, 6), max_size=12), st.booleans())
def test_cut_anywhere_and_resumed_every_character_comes_exactly_once(pieces, cuts, stored):
    asyncio.run(_cut_and_resume(pieces, cuts, stored))


async def _cut_and_resume(pieces, cuts, stored):
    """The turn goes on while its reader breaks off after so many events, again and again; in the end it is stored."""
    reply = "".join(piece or "" for piece in pieces)
    done = TurnEvent("done", {"turn_id": "turn_1", "reply": reply})
    events = [FEELING, *(TOOL if piece is None else token(piece) for piece in pieces)]
    log, unsaid, read, after = TurnLog("turn_1"), list(events), [], None
    for cut in cuts:
        for event in unsaid[:2]:
            log.add(event)
        del unsaid[:2]
        reader = log.read(after, WaitIntervals(0, 0))
        for _ in range(cut):
            event = await anext(reader)
            assert event.event != "restart"
            if event.event != "waiting":
                read.append(event)
            after = EventId.parse(event.id)
        await reader.aclose()
    for event in (*unsaid, done):
        log.add(event)
    read += await heard(TurnLog.of(done.data) if stored else log, after)
    assert words(read) == reply
    assert read[-1].event == "done"
    others = [event.event for event in read if event.event not in ("token", "waiting")]
    if not stored:
        assert others == [event.event for event in events if event.event != "token"] + ["done"]
