import pytest

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.memory.recall import Recall, Recalled
from soulgraph.nodes.context import Memory
from soulgraph.nodes.recall import recall
from soulgraph.tests.memory.words_as_vectors import WordVectors
from soulgraph.tests.nodes.samples import Unused, impact, small_runtime, utterance
from soulgraph.tests.stores.samples import NOW, message, session, soul

FOUND = Recalled(problem="events: no answer in time")


class Asked:
    """A memory that finds nothing and keeps what it was asked for."""

    def __init__(self):
        self.calls = []

    async def recall(self, soul_id, text, k, exclude, *, count_use, audience):
        self.calls.append((soul_id, text, k, audience, count_use))
        return FOUND


async def recalled(memory, place=None, **ports):
    of_turn = {"session": place} if place else {}
    state = {"utterance": utterance("我的车停在哪", soul_id="soul_7"), "impact": impact(soul("soul_7"), **of_turn)}
    return (await recall(state, small_runtime(memory=Memory(memory), **ports)))["recalled"]


async def test_without_a_memory_nothing_is_recalled():
    assert await recalled(None) is None


async def test_a_persona_that_wants_no_memories_does_not_ask_for_any():
    assert await recalled(Unused("recall"), persona=PersonaConfig(recalled=0)) is None


@pytest.mark.parametrize("shown", [1, 3, 20])
async def test_the_soul_s_memory_is_asked_for_more_than_the_prompt_shows(shown):
    memory = Asked()
    assert await recalled(memory, persona=PersonaConfig(recalled=shown)) is FOUND
    [(soul_id, text, k, audience, _)] = memory.calls
    assert (soul_id, text, audience) == ("soul_7", "我的车停在哪", {"user_1"})
    assert k > shown


@pytest.mark.parametrize("rehearsing", [False, True])
async def test_what_is_recalled_counts_as_used_unless_the_turn_is_rehearsed(rehearsing):
    memory = Asked()
    await recalled(memory, rehearsing=rehearsing)
    assert memory.calls[0][-1] is not rehearsing


async def test_a_soul_recalls_what_was_said_to_it_and_not_what_another_was_told(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_7"))
        for n in (1, 7):
            await tx.sessions.add(session(f"sess_{n}", f"soul_{n}"))
        await tx.messages.append("sess_1", [message("我的车停在楼顶")])
        await tx.messages.append("sess_7", [message("我的车停在地下三层", soul_id="soul_7")])
    memory = Recall(home, WordVectors(), lambda: NOW)
    try:
        found = await recalled(memory)
    finally:
        await memory.close()
    assert [one.message.content for one in found.episodes] == ["我的车停在地下三层"]
    assert found.problem == ""


async def test_everybody_who_hears_the_answer_is_the_audience():
    memory = Asked()
    for place in (session(user_id="ann"), session(user_id="ann", people=("bob", "carl"))):
        await recalled(memory, place)
    assert [call[3] for call in memory.calls] == [{"ann"}, {"ann", "bob", "carl"}]


async def test_of_what_others_have_told_only_what_they_shared_is_recalled(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_7"))
        words = {
            "ann": ("我的车停在楼顶上面", ()),
            "bob": ("我的车停在地下三层", ("ann",)),
            "carl": ("我的车停在河边桥头", ("bob",)),
        }
        for user_id, (text, shared_with) in words.items():
            said = message(text, soul_id="soul_7", user_id=user_id, shared_with=shared_with)
            await tx.sessions.add(session(user_id, "soul_7", user_id=user_id))
            await tx.messages.append(user_id, [said])
    memory = Recall(home, WordVectors(), lambda: NOW)

    async def found(*people):
        place = session(user_id=people[0], people=people[1:])
        return {one.message.user_id for one in (await recalled(memory, place)).episodes}

    try:
        assert await found("ann") == {"ann", "bob"}
        assert await found("bob") == {"bob", "carl"}
        assert await found("ann", "bob") == {"bob"}
        assert await found("ann", "bob", "carl") == await found("dora") == set()
    finally:
        await memory.close()
