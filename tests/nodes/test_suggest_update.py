import pytest

from soulgraph.library.persona_config import HintConfig, PersonaConfig
from soulgraph.nodes.context import Outlets
from soulgraph.nodes.suggest_update import suggest_update
from soulgraph.stores.records import Provenance
from soulgraph.tests.nodes.homes import Ears, follow_up
from soulgraph.tests.nodes.samples import small_runtime
from soulgraph.tests.stores.samples import NOW, session, soul

FEW = PersonaConfig(memory_hint=HintConfig(turns=4, state_changes=2, events=2, strong_emotions=2))


@pytest.fixture
async def home(stores):
    """On both databases."""
    async with stores.write() as tx:
        await tx.souls.add(soul())
        await tx.sessions.add(session(title="hello"))
    return stores


async def live(stores, *turns, at=NOW + 1):
    """Turns as (state_changed, intensity)."""
    async with stores.write() as tx:
        for n, (changed, intensity) in enumerate(turns):
            key = f"{at}:{n}"
            await tx.turns.heard("sess_1", key, f"turn_{key}", "soul_1", {"intensity": intensity}, at)
            await tx.turns.answered("sess_1", key, {"state_changed": changed})


async def hint(stores):
    """What the session says after the node has run, and what listeners heard."""
    ears = Ears()
    await suggest_update(follow_up(), small_runtime(stores=stores, persona=FEW, outlets=Outlets(listeners=ears)))
    async with stores.read() as tx:
        return (await tx.sessions.get("sess_1")).memory_hint, ears.heard


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        ([(False, 0.1)] * 3, ""),
        ([(False, 0.1)] * 4, "There were 4 turns"),
        ([(True, 0.1)], ""),
        ([(True, 0.1)] * 2, "state has changed 2 times"),
        ([(False, 0.9)] * 2, "2 strong emotions"),
    ],
)
async def test_it_is_suggested_once_enough_has_happened(home, turns, reason):
    await live(home, *turns)
    said, heard = await hint(home)
    assert reason in said
    assert bool(said) == bool(reason)
    data = {"soul_id": "soul_1", "session_id": "sess_1", "memory_update_suggested": True, "memory_update_reason": said}
    assert heard == ([("soul_1", "user_1", "state_changed", data)] if reason else [])


async def test_archived_events_count_too(home):
    async with home.write() as tx:
        for n in range(2):
            await tx.events.trace(Provenance(f"evt_{n}", "sess_1", "soul_1", [], NOW + 1))
    assert "2 experiences" in (await hint(home))[0]


async def test_it_is_said_once_and_updating_memory_begins_anew(home):
    await live(home, *[(True, 0.1)] * 2)
    said, heard = await hint(home)
    assert heard
    assert await hint(home) == (said, [])
    async with home.write() as tx:
        await tx.personas.evolve("sess_1", "grown", "update-memory", NOW + 5)
    assert await hint(home) == ("", [])
    await live(home, *[(True, 0.1)] * 2, at=NOW + 6)
    assert (await hint(home))[0] == said


async def test_the_reason_is_in_the_language_of_the_conversation(home):
    async with home.write() as tx:
        await tx.sessions.retitle("sess_1", "你好", NOW)
    await live(home, *[(True, 0.1)] * 2)
    assert "状态变了 2 次" in (await hint(home))[0]


async def test_a_session_that_is_gone_needs_no_hint(home):
    async with home.write() as tx:
        await tx.sessions.delete("sess_1")
    await suggest_update(follow_up(), small_runtime(stores=home, persona=FEW))


async def test_the_sessions_own_person_hears_of_it(home):
    async with home.write() as tx:
        await tx.sessions.add(session("sess_ann", user_id="ann", people=("bob",)))
        for n in range(4):
            await tx.turns.heard("sess_ann", f"in_{n}", f"turn_{n}", "soul_1", {}, NOW + 1)
            await tx.turns.answered("sess_ann", f"in_{n}", {"state_changed": False})
    ears = Ears()
    state = follow_up(session_id="sess_ann", user_id="bob")
    await suggest_update(state, small_runtime(stores=home, persona=FEW, outlets=Outlets(listeners=ears)))
    assert [heard[:3] for heard in ears.heard] == [("soul_1", "ann", "state_changed")]
