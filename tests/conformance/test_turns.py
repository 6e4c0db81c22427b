"""Turns: an input is heard once and answered once."""

import pytest
from sqlalchemy.exc import IntegrityError

from soulgraph.stores.records import Turn
from soulgraph.tests.conformance.samples import ANY_JSON, NOW


async def test_a_heard_turn_waits_for_its_answer(home):
    async with home.write() as tx:
        assert await tx.turns.find("sess_1", "in_1") is None
        await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", ANY_JSON, NOW)
    async with home.read() as tx:
        heard = Turn("sess_1", "in_1", "turn_1", "soul_1", ANY_JSON, None, NOW)
        assert await tx.turns.find("sess_1", "in_1") == heard


async def test_an_answer_belongs_to_its_turn_only(home):
    async with home.write() as tx:
        await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", {}, NOW)
        await tx.turns.heard("sess_1", "in_2", "turn_2", "soul_1", {}, NOW)
        await tx.turns.answered("sess_1", "in_1", ANY_JSON)
    async with home.read() as tx:
        assert await tx.turns.find("sess_1", "in_1") == Turn("sess_1", "in_1", "turn_1", "soul_1", {}, ANY_JSON, NOW)
        assert await tx.turns.find("sess_1", "in_2") == Turn("sess_1", "in_2", "turn_2", "soul_1", {}, None, NOW)


@pytest.mark.parametrize(
    ("again", "accepted"),
    [
        (("sess_1", "in_1", "turn_2"), False),
        (("sess_1", "in_2", "turn_1"), False),
        (("sess_2", "in_1", "turn_2"), True),
    ],
    ids=["the same input", "the same turn", "the same input elsewhere"],
)
async def test_an_input_is_heard_once_in_a_session(home, again, accepted):
    async def hear(session_id, input_id, turn_id):
        async with home.write() as tx:
            await tx.turns.heard(session_id, input_id, turn_id, "soul_1", {}, NOW)

    await hear("sess_1", "in_1", "turn_1")
    if accepted:
        await hear(*again)
    else:
        with pytest.raises(IntegrityError):
            await hear(*again)
