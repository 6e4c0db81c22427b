from dataclasses import replace
from datetime import UTC

import pytest

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.plans import keep_plans, promised_in_reply, read_plans, zone_name
from soulgraph.nodes.state import TurnResult
from soulgraph.tests.nodes.homes import open_home
from soulgraph.tests.nodes.samples import impact, small_context, utterance
from soulgraph.tests.stores.samples import NOW, plan, session

ANN = "user_1"


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        yield stores


def turn(text, at=NOW, audience=(), **fields):
    who = replace(session(), people=audience)
    heard = replace(impact(), at=at, session=who)
    return {"utterance": utterance(text, soul_id="soul_1", user_id=ANN, **fields), "impact": heard}


async def read(home, state, persona=None, related=()):
    context = small_context(stores=home, timezone=UTC, persona=persona or PersonaConfig())
    async with home.read() as tx:
        return await read_plans(tx, state, context, (), related)


async def put(home, *plans):
    async with home.write() as tx:
        for one in plans:
            await tx.plans.put(one)


async def kept(home, state, plans, reply="All right.", now=NOW):
    answered = {**state, "plans": plans, "result": TurnResult(reply)}
    promises = await promised_in_reply(answered, small_context(stores=home))
    async with home.write() as tx:
        await keep_plans(tx, answered, promises, [7, 8], now)
        return await tx.plans.all("soul_1")


async def test_what_is_found_is_kept_with_its_message(home):
    state = turn("remind me tomorrow at seven to take my pills")
    (stored,) = await kept(home, state, await read(home, state))
    assert (stored.content, stored.evidence, stored.user_id) == ("take my pills", [7], ANN)


async def test_what_is_known_is_not_noted_again(home):
    state = turn("remind me tomorrow at seven to take my pills")
    await kept(home, state, await read(home, state))
    assert (await read(home, turn("as I said, remind me tomorrow at seven to take my pills"))).new == []


@pytest.mark.parametrize(
    ("text", "due"),
    [("in ten minutes", "call the bank"), ("remind me in ten minutes to fetch the lamp", "fetch the lamp")],
)
async def test_a_wish_of_its_own_is_no_answer_to_when_the_other_is_due(home, text, due):
    asking = turn("remind me later to call the bank")
    await kept(home, asking, await read(home, asking))
    answer = turn(text)
    stored = await kept(home, answer, await read(home, answer))
    assert [one.content for one in stored if one.due] == [due]


async def test_what_the_soul_promises_is_kept_unless_it_only_confirms(home):
    asked = turn("remind me tomorrow at seven to take my pills")
    reply = "I'll remind you tomorrow at seven."
    assert [one.kind for one in await kept(home, asked, await read(home, asked), reply)] == ["reminder"]
    state = turn("good night")
    plans = await kept(home, state, await read(home, state), "Sleep now. I'll sing for you on Sunday evening.")
    assert sorted(one.kind for one in plans) == ["promise", "reminder"]


async def test_in_a_group_all_who_are_there_may_know_it_and_private_ones_are_not_spoken_of(home):
    await put(home, plan("secret", due=NOW - 60, next_at=NOW - 60))
    state = turn("remind me tomorrow at seven to take my pills", audience=("bob",))
    plans = await read(home, state)
    assert (plans.waiting, plans.ahead) == ([], [])
    assert plans.new[0].shared_with == ("bob",)


async def test_what_is_overdue_counts_as_said_only_if_the_reply_names_it(home):
    await put(home, plan(due=NOW - 60, next_at=NOW - 60))
    state = turn("hello")
    plans = await read(home, state)
    assert [one.plan_id for one in plans.waiting] == ["plan_1"]
    assert (await kept(home, state, plans, "Hello!"))[0].status == "open"
    assert (await kept(home, state, plans, "Hello! Your pills."))[0].status == "delivered"


async def test_what_was_taken_back_does_not_count_as_known(home):
    await put(home, plan(evidence=[12]))
    assert (await read(home, turn("hello", replaces=12))).ahead == []
    assert len((await read(home, turn("hello", replaces=13))).ahead) == 1


async def test_a_plan_far_ahead_is_shown_only_when_it_has_to_do_with_what_is_said(home):
    await put(home, plan(due=NOW + 30 * 86400, next_at=NOW + 30 * 86400))
    assert (await read(home, turn("hello"))).ahead == []
    assert len((await read(home, turn("hello"), related=["plan_1"])).ahead) == 1


async def test_in_static_mode_nothing_is_noted(home):
    state = turn("remind me tomorrow at seven to take my pills")
    assert (await read(home, state, PersonaConfig(static=True))).new == ()


def test_a_persons_zone_is_their_preference_or_the_servers():
    context = small_context(timezone=None)
    assert zone_name(context, {"time_zone": "Asia/Shanghai"}) == "Asia/Shanghai"
    assert zone_name(context, {"time_zone": "Mars/Olympus"}) == ""
