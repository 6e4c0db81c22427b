"""The second layer of a persona: every version is kept and can be restored; a session's guard is its own."""

import pytest

from soulgraph.errors import NotFound
from soulgraph.stores.records import PersonaVersion
from soulgraph.tests.stores.samples import ANY_JSON, NOW, session


async def evolved(stores):
    async with stores.read() as tx:
        return (await tx.sessions.get("sess_1")).character_snapshot["evolved_persona"]


async def test_versions_are_numbered_and_the_last_one_is_lived(home):
    async with home.write() as tx:
        await tx.personas.evolve("sess_1", "wary", "manual", NOW)
        await tx.personas.evolve("sess_1", "trusting", "manual", NOW + 1)
        kept = await tx.personas.all("sess_1")
    assert kept == [
        PersonaVersion("sess_1", 2, "trusting", "manual", NOW + 1),
        PersonaVersion("sess_1", 1, "wary", "manual", NOW),
    ]
    assert await evolved(home) == "trusting"


async def test_restoring_brings_an_old_version_back_and_loses_none(home):
    async with home.write() as tx:
        await tx.personas.evolve("sess_1", "wary", "manual", NOW)
        await tx.personas.evolve("sess_1", "trusting", "manual", NOW + 1)
        restored = await tx.personas.restore("sess_1", 1, NOW + 2)
        assert restored == await tx.personas.get("sess_1", 3)
    assert (restored.evolved_persona, restored.source) == ("wary", "restored:1")
    assert await evolved(home) == "wary"


async def test_the_rest_of_the_snapshot_stays(home):
    async with home.write() as tx:
        await tx.sessions.add(session("sess_2", character_snapshot={"base_persona": "a robot", "evolved_persona": ""}))
        await tx.personas.evolve("sess_2", "grown", "manual", NOW)
        snapshot = (await tx.sessions.get("sess_2")).character_snapshot
    assert snapshot == {"base_persona": "a robot", "evolved_persona": "grown"}


async def test_sessions_evolve_apart(home):
    async with home.write() as tx:
        await tx.sessions.add(session("sess_2"))
        await tx.personas.evolve("sess_2", "other", "manual", NOW)
        assert await tx.personas.all("sess_1") == []
        with pytest.raises(NotFound):
            await tx.personas.restore("sess_1", 1, NOW)
        with pytest.raises(NotFound):
            await tx.personas.evolve("nowhere", "", "manual", NOW)


async def test_versions_go_with_their_session(home):
    async with home.write() as tx:
        await tx.personas.evolve("sess_1", "wary", "manual", NOW)
        await tx.sessions.delete("sess_1")
        assert await tx.personas.all("sess_1") == []


async def test_a_guard_starts_empty_and_keeps_what_it_is_given(home):
    async with home.write() as tx:
        assert (await tx.sessions.get("sess_1")).guard_of("user_1") == {"hints": {}, "pending": None}
        await tx.sessions.set_guard("sess_1", {"user_1": ANY_JSON})
        kept = await tx.sessions.get("sess_1")
        assert (kept.guard_of("user_1"), kept.guard_of("ann")) == (ANY_JSON, {"hints": {}, "pending": None})
        with pytest.raises(NotFound):
            await tx.sessions.set_guard("nowhere", {})


async def test_dimensions_are_kept_with_their_version_and_a_plain_text_has_none(home):
    dimensions = {"beliefs": "人会变。", "behaviour": "", "relationship": "更近了。", "feeling": ""}
    async with home.write() as tx:
        plain = await tx.personas.evolve("sess_1", "grown", "manual", NOW)
        grown = await tx.personas.grow("sess_1", dimensions, "update-memory", NOW)
        again = await tx.personas.restore("sess_1", grown.n, NOW)
    assert (plain.dimensions, grown.dimensions, again.dimensions) == (None, dimensions, dimensions)
    assert grown.evolved_persona == "信念: 人会变。\n关系: 更近了。"
    async with home.read() as tx:
        assert await tx.personas.all("sess_1") == [again, grown, plain]
        assert await tx.personas.latest("sess_1") == again
        assert (await tx.sessions.get("sess_1")).character_snapshot["evolved_persona"] == grown.evolved_persona
