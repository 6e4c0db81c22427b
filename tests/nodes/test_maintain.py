import pytest

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.context import Limits, Memory
from soulgraph.nodes.maintain import maintain
from soulgraph.soul.people import EVERYONE
from soulgraph.tests.nodes.homes import Vault, event, follow_up, library_on, open_home, open_recall, talk
from soulgraph.tests.nodes.samples import small_runtime
from soulgraph.tests.stores.samples import NOW

FADING = {"content": "a little cold", "priority": 3, "timestamp": "2026-12-01T00:00:00Z"}
PROFILE = {"dynamic_state": {"emotions": {"items": [FADING]}}}
EVERY_THIRD = PersonaConfig(maintain_every=3)


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url, dynamic_profile=PROFILE) as stores:
        yield stores


async def maintained(stores, state, **ports):
    values = {"stores": stores, "clock": lambda: NOW, "persona": EVERY_THIRD, **ports}
    assert await maintain(state, small_runtime(**values)) == state


async def answered(stores, hits, sources):
    answer = {"persona": {"memory_hits": hits, "sources": sources}, "reply": "Was the whale number 0 blue?"}
    async with stores.write() as tx:
        await tx.turns.heard("sess_1", "in_1", "turn_1", "soul_1", {}, NOW)
        await tx.turns.answered("sess_1", "in_1", answer)


async def useful(stores, message_id):
    async with stores.read() as tx:
        return (await tx.episodes.messages("soul_1", [message_id]))[message_id].useful


@pytest.mark.parametrize(("hits", "counted"), [(1, 1), (0, 0)])
async def test_a_memory_that_served_the_reply_is_counted_if_the_prompt_had_it(home, hits, counted):
    [message_id] = await talk(home, 1)
    await answered(home, hits, [f"episode:{message_id}"])
    async with open_recall(home) as recall:
        await maintained(home, follow_up(message_id), memory=Memory(recall))
    assert await useful(home, message_id) == counted


async def test_a_turn_that_is_gone_or_a_soul_without_recall_is_no_trouble(home):
    await maintained(home, follow_up())
    await answered(home, 1, ["episode:1"])
    await maintained(home, follow_up())


@pytest.mark.parametrize(("turn", "retired"), [(2, 0), (3, 1), (4, 0), (6, 1)])
async def test_the_profile_is_tidied_once_in_so_many_turns(home, turn, retired):
    await maintained(home, follow_up(soul_turn=turn))
    async with home.read() as tx:
        profile = (await tx.souls.get("soul_1")).dynamic_profile
    assert len(profile.get("retired", [])) == retired
    assert len(profile["dynamic_state"]["emotions"]["items"]) == 1 - retired


@pytest.mark.parametrize(("limit", "turn", "left"), [(0, 3, 2), (1, 2, 2), (1, 3, 1)])
async def test_events_are_tidied_with_a_limit_alone(home, limit, turn, left):
    vault = Vault()
    library = library_on(vault, home)
    for one in (event("evt_1", "grandmother bakes bread"), event("evt_2", "a stranger shows proof")):
        await library.add(one, "sess_1", "soul_1", [], EVERYONE)
    state = follow_up(soul_turn=turn)
    await maintained(home, state, memory=Memory(events=library), limits=Limits(max_events=limit))
    assert len(vault.documents) == left
