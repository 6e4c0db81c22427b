"""Turns: an input is heard once and answered once."""

import pytest
from sqlalchemy.exc import IntegrityError

from soulgraph.errors import NotFound
from soulgraph.stores.records import Turn
from soulgraph.tests.stores.samples import ANY_JSON, NOW


async def test_a_heard_turn_waits_for_its_answer(home):
    async with home.write() as tx:
        await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", ANY_JSON, NOW)
    async with home.read() as tx:
        heard = Turn("sess_1", "in_1", "turn_1", "soul_1", ANY_JSON, None, NOW)
        assert await tx.turns.find("sess_1", "in_1") == await tx.turns.get("sess_1", "in_1") == heard


async def test_an_answer_belongs_to_its_turn_only(home):
    async with home.write() as tx:
        await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", {}, NOW)
        await tx.turns.heard("sess_1", "in_2", "turn_2", "soul_1", {}, NOW)
        await tx.turns.answered("sess_1", "in_1", ANY_JSON)
    async with home.read() as tx:
        assert await tx.turns.find("sess_1", "in_1") == Turn("sess_1", "in_1", "turn_1", "soul_1", {}, ANY_JSON, NOW)
        assert await tx.turns.find("sess_1", "in_2") == Turn("sess_1", "in_2", "turn_2", "soul_1", {}, None, NOW)


async def test_an_input_is_heard_once_in_a_session(home):
    async with home.write() as tx:
        assert await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", {"p": 0.5}, NOW) is True
        assert await tx.turns.heard("sess_1", "in_1", "turn_2", "soul_1", {"p": -1}, NOW + 1) is False
        assert await tx.turns.heard("sess_2", "in_1", "turn_3", "soul_1", {}, NOW) is True
        assert await tx.turns.get("sess_1", "in_1") == Turn("sess_1", "in_1", "turn_1", "soul_1", {"p": 0.5}, None, NOW)


async def test_a_turn_id_is_given_once(home):
    async with home.write() as tx:
        await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", {}, NOW)
    with pytest.raises(IntegrityError):
        async with home.write() as tx:
            await tx.turns.heard("sess_1", "in_2", "turn_1", "soul_1", {}, NOW)


async def test_an_unheard_turn_is_not_found(home):
    async with home.read() as tx:
        assert await tx.turns.find("sess_1", "in_1") is None
        with pytest.raises(NotFound, match="no turn 'in_1'"):
            await tx.turns.get("sess_1", "in_1")


async def test_an_input_that_is_answered_anew_is_another_turn_s(home):
    async with home.write() as tx:
        await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", {}, NOW)
        await tx.turns.answered("sess_1", "in_1", {"reply": "old"})
        await tx.turns.answered_anew("sess_1", "in_1", "turn_2", {"reply": "new"})
        assert await tx.turns.of(["turn_1"]) == []
        assert await tx.turns.of(["turn_2"]) == [Turn("sess_1", "in_1", "turn_2", "soul_1", {}, {"reply": "new"}, NOW)]


async def test_the_turn_that_has_replaced_a_message_is_found_in_its_session(home):
    large = 2**40
    async with home.write() as tx:
        for n, answer in enumerate([{"reply": "", "replaces": large}, {"reply": "", "replaces": None}, {"reply": ""}]):
            await tx.turns.heard("sess_1", f"in_{n}", f"turn_{n}", "soul_1", {}, NOW)
            await tx.turns.answered("sess_1", f"in_{n}", answer)
        await tx.turns.heard("sess_1", "unanswered", "turn_9", "soul_1", {}, NOW)
    async with home.read() as tx:
        found = await tx.turns.in_place_of("sess_1", large)
        assert found and found.turn_id == "turn_0"
        assert await tx.turns.in_place_of("sess_1", 1) is None
        assert await tx.turns.in_place_of("sess_2", large) is None


async def test_a_stored_reply_is_corrected_and_nothing_else(home):
    async with home.write() as tx:
        await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", {}, NOW)
        await tx.turns.correct_reply("sess_1", "turn_1", "nothing was said")
        await tx.turns.answered("sess_1", "in_1", {"reply": "old", "voice": "offline"})
        await tx.turns.correct_reply("sess_2", "turn_1", "elsewhere")
        await tx.turns.correct_reply("sess_1", "turn_1", "new")
        assert (await tx.turns.get("sess_1", "in_1")).answer == {"reply": "new", "voice": "offline"}
