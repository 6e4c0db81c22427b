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
