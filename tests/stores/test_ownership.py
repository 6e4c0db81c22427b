"""Revision 0007: what a soul had kept goes to the person it came from, or to nobody, and nothing is lost."""

import json

import pytest
from alembic import command
from sqlalchemy import insert, text

from soulgraph.soul.people import NOBODY
from soulgraph.soul.profile import item_id
from soulgraph.soul.timestamps import iso
from soulgraph.stores import schema, schema_memory
from soulgraph.stores.database import _backend, migrated_to
from soulgraph.stores.records import ProactiveSchedule, Relation
from soulgraph.stores.repository import fields_of
from soulgraph.stores.stores import Stores
from soulgraph.tests.stores.samples import NOW, session, soul
from soulgraph.tests.stores.test_migrations import alembic_config

pytestmark = pytest.mark.unmigrated

DAY = 86400.0
BORN = NOW - 30 * DAY
GUARD = {"hints": {"tea": {"value": "green", "count": 1, "evidence": ["绿茶"], "age": 0}}, "pending": None}


class Old:
    """A database of revision 0006, filled row by row and then brought to the newest."""

    def __init__(self, stores):
        self.stores = stores

    async def move(self, revision):
        step = command.upgrade if revision == "head" else command.downgrade
        await self.stores.database.run_sync(lambda sync: step(alembic_config(sync), revision))

    async def put(self, table, *rows):
        async with self.stores.database.write() as connection:
            await connection.execute(insert(table).inline(), [*rows])

    async def soul(self, soul_id="soul_1", **fields):
        born = soul(soul_id, created_at=BORN, **fields)
        state = {
            "personality_vector": born.personality_vector.to_dict(),
            "emotion_state": born.emotion_state.to_dict(),
        }
        await self.put(schema.souls, fields_of(born) | state)

    async def say(self, user_id, *texts, soul_id="soul_1", at=NOW, guard=None):
        """A conversation of this person: `sess_<user_id>`."""
        held = session(f"sess_{user_id}", soul_id, user_id=user_id, created_at=at - DAY, updated_at=at)
        later = {"people", "souls", "facts_to", "facts_asked_to"}
        row = {name: value for name, value in fields_of(held).items() if name not in later}
        await self.put(schema.sessions, row | {"guard": guard or {}})
        said = {"session_id": held.session_id, "turn_id": "turn", "role": "user", "archived": False, "created_at": at}
        await self.put(schema.messages, *(said | {"content": content} for content in texts or ["hello"]))
        index = (
            "SELECT message_id, :soul_id, role = 'user', created_at, '' FROM messages WHERE session_id = :session_id"
        )
        async with self.stores.database.write() as connection:
            columns = "message_id, soul_id, by_user, at, terms"
            ids = {"soul_id": soul_id, "session_id": held.session_id}
            await connection.execute(text(f"INSERT INTO episodes ({columns}) {index}"), ids)

    async def slots(self, *contents):
        rows = [{"soul_id": "soul_1", "n": n, "content": one, "updated_at": NOW} for n, one in enumerate(contents)]
        await self.put(schema_memory.slots, *rows)

    async def preferences(self, **evidence):
        """By key; a text is a source that is no one's words."""
        common = {"soul_id": "soul_1", "value": "yes", "confidence": 1.0, "updated_at": NOW}
        for key, words in evidence.items():
            source = (
                {"source": words, "evidence": []}
                if isinstance(words, str)
                else {"source": "explicit", "evidence": words}
            )
            await self.put(schema_memory.preferences, common | source | {"key": key})

    async def thoughts(self, **sources):
        """Versions of the monologue in order, each with the text of its name."""
        rows = [
            {"soul_id": "soul_1", "n": n, "inner_state": name, "source": source, "created_at": NOW}
            for n, (name, source) in enumerate(sources.items())
        ]
        await self.put(schema_memory.inner_versions, *rows)


@pytest.fixture
async def old(database_url):
    """Not by `Database.open`, which would bring it to the newest first."""
    await migrated_to(database_url, "0006")
    database = _backend(database_url)
    try:
        yield Old(Stores(database))
    finally:
        await database.close()


async def owners(rows):
    """Whose the rows are, by name."""
    return {getattr(one, "key", None) or one.content: one.user_id for one in await rows}


def profile(*later):
    born = {"content": "curious", "priority": 5, "timestamp": iso(BORN)}
    undated = {"content": "calm", "priority": 4}
    retired = [
        {"id": item_id("emotions", item), "field": "emotions", "item": item, "retired_at": "x"} for item in later
    ]
    return {"core_identity": {}, "dynamic_state": {"emotions": {"items": [born, undated, *later]}}, "retired": retired}


WORRIED = {"content": "worried about Mika", "priority": 7, "timestamp": iso(NOW)}


async def test_what_a_soul_knows_from_one_person_is_theirs(old):
    await old.soul(inner_state="second", dynamic_profile=profile(WORRIED), scratch_area="ask about Mika")
    await old.say("ann", "my cat is called Mika", at=NOW, guard=GUARD)
    await old.slots("cat: Mika", "in words that nobody has said")
    await old.preferences(address="given", language="edited", tea=["green tea please"])
    await old.thoughts(born="birth", first="reflection:turn_1", second="reflection:turn_2")
    await old.put(schema_memory.lives, {"soul_id": "soul_1", "due_at": NOW, "day": "2027-01-15", "spoken": 2})
    await old.move("head")
    async with old.stores.read() as tx:
        assert {*(await owners(tx.slots.all("soul_1"))).values()} == {"ann"}
        assert {*(await owners(tx.preferences.all("soul_1"))).values()} == {"ann"}
        kept = await tx.souls.get("soul_1")
        assert (kept.inner_state, kept.scratch_area) == ("born", "")
        met = Relation("soul_1", "ann", "", "second", "ask about Mika", NOW - DAY, NOW)
        assert await tx.relations.all("soul_1") == [met]
        assert [one.inner_state for one in await tx.monologues.all("soul_1")] == ["born"]
        assert [one.inner_state for one in await tx.monologues.all("soul_1", "ann")] == ["second", "first"]
        born, undated, later = kept.dynamic_profile["dynamic_state"]["emotions"]["items"]
        assert "user_id" not in born and "user_id" not in undated
        assert later == {**WORRIED, "user_id": "ann"}
        [retired] = kept.dynamic_profile["retired"]
        assert (retired["item"], retired["id"]) == (later, item_id("emotions", later))
        schedules = await tx.proactive_schedules.of([("soul_1", "ann")])
        assert schedules == [ProactiveSchedule("soul_1", "ann", NOW, "2027-01-15", 2)]
        assert (await tx.sessions.get("sess_ann")).guard == {"ann": GUARD}
        [said] = await tx.messages.page("sess_ann")
        assert (said.user_id, said.soul_id, said.people, said.souls) == ("ann", "soul_1", (), ())
        [episode] = await tx.episodes.after("soul_1", ["ann"])
        assert (episode.message_id, episode.user_id, episode.shared_with) == (said.message_id, "ann", ())
        assert await tx.episodes.after("soul_1", ["bob"]) == []


async def test_the_next_thought_of_the_person_goes_on_from_there(old):
    await old.soul(inner_state="first")
    await old.say("ann")
    await old.thoughts(born="birth", first="reflection:turn_1")
    await old.move("head")
    async with old.stores.write() as tx:
        await tx.monologues.think("soul_1", "second", "reflection:turn_2", NOW, "ann")
        await tx.monologues.think("soul_1", "grown", "reflection:turn_2", NOW)
        assert [(one.n, one.inner_state) for one in await tx.monologues.all("soul_1", "ann")] == [
            (2, "second"),
            (1, "first"),
        ]
        assert [(one.n, one.inner_state) for one in await tx.monologues.all("soul_1")] == [(1, "grown"), (0, "born")]


@pytest.fixture
async def crowd(old):
    """A soul of `maker` that ann, bob and cleo have talked to, ann last."""
    notes = "Mika is ann's cat, seven years old\n明天陪我去医院复查\nbuy more paper"
    await old.soul(user_id="maker", inner_state="second", dynamic_profile=profile(WORRIED), scratch_area=notes)
    await old.say("ann", "Mika is my cat, seven years old", "I like strong coffee", "from now on no emojis", at=NOW)
    await old.say("bob", "I like strong coffee", "我明天陪我妈去医院复查", "yes", "stop the jokes", at=NOW - DAY)
    await old.say("cleo", "yes", "seven cats and years of coffee", "an old hospital", at=NOW - 2 * DAY)
    await old.slots(
        "User's cat is called Mika and is seven", "User likes strong coffee", "用户明天陪妈妈去医院复查", "speaks Welsh"
    )
    await old.preferences(
        address="given",
        mode="edited",
        emojis=["from now on no emojis"],
        jokes=["stop the jokes", "yes"],
        coffee=["strong coffee"],
        answers=["yes"],
        unfounded=[],
        odd=[7, None],
    )
    await old.thoughts(born="birth", first="reflection:turn_1", second="reflection:turn_2")
    await old.put(schema_memory.lives, {"soul_id": "soul_1", "due_at": NOW, "day": "", "spoken": 0})
    return old


async def test_what_only_one_of_several_has_said_is_theirs_and_the_rest_is_nobodys(crowd):
    await crowd.move("head")
    async with crowd.stores.read() as tx:
        assert await owners(tx.slots.all("soul_1")) == {
            "User's cat is called Mika and is seven": "ann",
            "User likes strong coffee": NOBODY,
            "用户明天陪妈妈去医院复查": "bob",
            "speaks Welsh": NOBODY,
            "buy more paper": NOBODY,
        }
        assert await owners(tx.preferences.all("soul_1")) == {
            "address": "maker",
            "mode": "maker",
            "emojis": "ann",
            "jokes": "bob",
            "coffee": NOBODY,
            "answers": NOBODY,
            "unfounded": NOBODY,
            "odd": NOBODY,
        }
        assert await tx.slots.known_to("soul_1", ["cleo"], "cleo") == []
        assert await tx.proactive_schedules.of([("soul_1", "ann")]) != []
        assert {one.user_id for one in await tx.episodes.after("soul_1")} == {"ann", "bob", "cleo"}


async def test_working_notes_of_several_stay_with_none_but_their_own(crowd):
    await crowd.move("head")
    async with crowd.stores.read() as tx:
        notes = {one.user_id: one.scratch_area for one in await tx.relations.all("soul_1")}
        assert notes == {"ann": "Mika is ann's cat, seven years old", "bob": "明天陪我去医院复查", "cleo": ""}
        assert (await tx.souls.get("soul_1")).scratch_area == ""
        assert (await tx.slots.get("soul_1", NOBODY, 99)).content == "buy more paper"


async def test_what_a_soul_thought_of_several_is_withheld_and_kept(crowd):
    await crowd.move("head")
    async with crowd.stores.read() as tx:
        kept = await tx.souls.get("soul_1")
        versions = await tx.monologues.all("soul_1")
        relations = await tx.relations.all("soul_1")
        assert kept.inner_state == "born"
        assert [(one.n, one.inner_state, one.source) for one in versions] == [
            (3, "born", "restored:0"),
            (2, "second", "reflection:turn_2"),
            (1, "first", "reflection:turn_1"),
            (0, "born", "birth"),
        ]
        assert [(one.user_id, one.inner_state, one.since) for one in relations] == [
            ("cleo", "", NOW - 3 * DAY),
            ("bob", "", NOW - 2 * DAY),
            ("ann", "", NOW - DAY),
        ]
        items = kept.dynamic_profile["dynamic_state"]["emotions"]["items"]
        assert [item.get("user_id") for item in items] == [None, None, NOBODY]


@pytest.mark.parametrize(
    ("sources", "own", "about_ann"),
    [
        ({}, "now", ""),
        ({"born": "birth", "now": "edited"}, "now", ""),
        ({"born": "birth", "learned": "reflection:turn_1", "now": "edited"}, "now", ""),
        ({"born": "birth", "written": "edited", "now": "reflection:turn_1"}, "written", "now"),
        ({"born": "birth", "a": "reflection:t", "b": "edited", "now": "restored:1"}, "b", "now"),
        ({"born": "birth", "a": "reflection:t", "b": "restored:0", "now": "reflection:t"}, "b", "now"),
        ({"a": "birth", "b": "reflection:t", "c": "restored:0", "now": "restored:2"}, "now", ""),
        ({"now": "reflection:turn_1"}, "", "now"),
    ],
)
async def test_a_monologue_is_the_souls_own_if_no_conversation_has_made_it(old, sources, own, about_ann):
    await old.soul(inner_state="now")
    await old.say("ann")
    if sources:
        await old.thoughts(**sources)
    await old.move("head")
    async with old.stores.read() as tx:
        assert (await tx.souls.get("soul_1")).inner_state == own
        assert (await tx.relations.get("soul_1", "ann")).inner_state == about_ann
        versions = [*await tx.monologues.all("soul_1"), *await tx.monologues.all("soul_1", "ann")]
        assert sorted(one.inner_state for one in versions) == sorted(sources)


async def test_a_soul_without_sessions_is_its_users(old):
    await old.soul(user_id="maker", inner_state="first", dynamic_profile=profile(WORRIED), scratch_area="buy paper")
    await old.soul("fresh")
    await old.slots("likes rain")
    await old.preferences(address="given", tea=["green tea"])
    await old.thoughts(born="birth", first="reflection:turn_1")
    await old.put(schema_memory.lives, {"soul_id": "soul_1", "due_at": NOW, "day": "", "spoken": 0})
    await old.move("head")
    async with old.stores.read() as tx:
        assert await owners(tx.slots.all("soul_1")) == {"likes rain": "maker"}
        assert await owners(tx.preferences.all("soul_1")) == {"address": "maker", "tea": "maker"}
        assert len(await tx.proactive_schedules.of([("soul_1", "maker")])) == 1
        assert await tx.relations.all("soul_1") == [Relation("soul_1", "maker", "", "first", "buy paper", BORN, NOW)]
        kept = await tx.souls.get("soul_1")
        assert kept.inner_state == "born"
        assert kept.dynamic_profile["dynamic_state"]["emotions"]["items"][2]["user_id"] == "maker"
        assert await tx.relations.all("fresh") == []


async def test_a_summary_is_the_persons_whose_conversation_it_sums_up(old):
    await old.soul()
    await old.say("ann")
    origins = {"ann's": {"session_id": "sess_ann", "soul_id": "soul_1"}, "lost": {"session_id": "gone"}, "odd": "x"}
    data = {name: {"text": name, "extensions": {"summary_of": origin}} for name, origin in origins.items()}
    data |= {"plain": {"text": "a flat"}, "empty": {"extensions": None}}
    dates = {"created_at": NOW, "updated_at": NOW}
    await old.put(schema.backgrounds, *({"id": name, "name": name, "data": one, **dates} for name, one in data.items()))
    await old.move("head")
    async with old.stores.database.read() as connection:
        rows = (await connection.execute(text("SELECT id, data FROM backgrounds"))).all()
    kept = {name: json.loads(found) if isinstance(found, str) else found for name, found in rows}
    assert kept["ann's"]["extensions"]["summary_of"] == {**origins["ann's"], "user_id": "ann"}
    assert kept["lost"]["extensions"]["summary_of"] == {"session_id": "gone", "user_id": NOBODY}
    assert {name: kept[name] for name in ("odd", "plain", "empty")} == {
        name: data[name] for name in ("odd", "plain", "empty")
    }


async def test_old_keys_terminals_and_events_are_as_open_as_they_were(old):
    await old.soul()
    key = {"key_id": "k", "name": "robot", "scope": "chat", "hash": "h", "created_at": NOW, "revoked_at": None}
    await old.put(schema.api_keys, key)
    terminal = {"terminal_id": "term_1", "soul_id": "soul_1", "skills": [], "skill_version": 0, "intent_catalog": []}
    await old.put(schema.terminals, terminal | {"catalog_version": 0, "updated_at": NOW})
    use = {"recalled": 0, "useful": 0, "last_recalled_at": None, "merged": 0, "created_at": NOW}
    await old.put(schema.event_uses, {"event_id": "evt_1", **use})
    await old.move("head")
    async with old.stores.write() as tx:
        [kept] = await tx.keys.all()
        assert (kept.user_id, kept.soul_ids) == (None, ())
        assert (await tx.terminals.find("term_1")).user_id == "default"
        assert await tx.events.without_audience(9) == ["evt_1"]
        await tx.events.admit("evt_1", "*")
        assert await tx.events.without_audience(9) == []


async def contents(stores):
    """All rows of all tables, without the time at which the first migration gave a monologue back."""
    found = {}
    async with stores.database.read() as connection:
        for table in schema.metadata.sorted_tables:
            rows = (await connection.execute(table.select())).mappings()
            skipped = {"created_at"} if table is schema_memory.inner_versions else set()
            found[table.name] = sorted(repr({k: v for k, v in row.items() if k not in skipped}) for row in rows)
    return found


async def test_down_and_up_again_keeps_what_one_person_has(old):
    await old.soul(inner_state="first", dynamic_profile=profile(WORRIED), scratch_area="ask about Mika\nand her cat")
    await old.say("ann", "my cat is called Mika", guard=GUARD)
    await old.slots("cat: Mika", "likes rain")
    await old.preferences(address="given", tea=["green tea"])
    await old.thoughts(born="birth", first="reflection:turn_1")
    await old.move("head")
    before = await contents(old.stores)
    await old.move("0006")
    async with old.stores.database.read() as connection:
        kept = (await connection.execute(text("SELECT inner_state, scratch_area, dynamic_profile FROM souls"))).one()
    assert (kept.inner_state, kept.scratch_area) == ("first", "ask about Mika\nand her cat")
    assert (json.loads(kept[2]) if isinstance(kept[2], str) else kept[2]) == profile(WORRIED)
    await old.move("head")
    assert await contents(old.stores) == before


async def test_down_and_up_again_keeps_what_several_have(crowd):
    await crowd.move("head")
    before = await contents(crowd.stores)
    await crowd.move("0006")
    await crowd.move("head")
    assert await contents(crowd.stores) == before


async def test_on_the_way_down_rows_of_several_people_become_one(crowd):
    await crowd.move("head")
    async with crowd.stores.write() as tx:
        [mine] = await tx.slots.of("soul_1", "ann")
        await tx.slots.put(type(mine)("soul_1", "bob", mine.n, "bob's", NOW))
        await tx.proactive_schedules.schedule({("soul_1", "bob"): NOW})
        await tx.monologues.think("soul_1", "of ann", "edited", NOW, "ann")
        await tx.souls.add(soul("a_guest"))
        [said, *_] = await tx.messages.page("sess_ann")
        copy = "INSERT INTO episodes SELECT {} FROM episodes WHERE message_id = :id"
        columns = [column.name for column in schema.episodes.c]
        chosen = ", ".join("'a_guest'" if name == "soul_id" else name for name in columns)
    async with crowd.stores.database.write() as connection:
        names = ", ".join(columns)
        statement = copy.format(chosen).replace("INTO episodes", f"INTO episodes ({names})")
        await connection.execute(text(statement), {"id": said.message_id})
    await crowd.move("0006")
    async with crowd.stores.database.read() as connection:
        slots = (await connection.execute(text("SELECT content FROM slots WHERE n = :n"), {"n": mine.n})).scalars()
        assert slots == [mine.content]
        assert (await connection.execute(text("SELECT count(*) FROM lives"))).scalar() == 1
        heard = "SELECT soul_id FROM episodes WHERE message_id = :id"
        assert (await connection.execute(text(heard), {"id": said.message_id})).scalars() == ["soul_1"]


async def test_many_messages_move_to_whom_they_belong(old):
    await old.soul(dynamic_profile=profile(WORRIED), inner_state="first")
    for user_id, place in (("ann", "garden"), ("bob", "海边")):
        await old.say(
            user_id, *(f"on day {n} I saw bird{n % 997} at the {place}, at {n % 89} past" for n in range(1_000))
        )
    await old.slots(*(f"bird{n} in the garden" for n in range(100)))
    await old.move("head")
    async with old.stores.read() as tx:
        assert len(await tx.episodes.after("soul_1", ["ann"])) == 1_000
        assert {*(await owners(tx.slots.all("soul_1"))).values()} == {"ann"}
