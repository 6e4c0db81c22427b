"""Statements become facts: settled against what is known, shared like their message."""

import pytest

from soulgraph.nodes.facts import keep_statements, names_of
from soulgraph.soul.facts import Statement
from soulgraph.tests.nodes.homes import open_home
from soulgraph.tests.stores.samples import NOW, message, preference

HOME = Statement("self", "home", "Bristol", "Ann lives in Bristol.")


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        yield stores


async def test_a_fact_is_known_to_those_to_whom_the_message_is_and_to_more_if_it_is_said_again(home):
    async with home.write() as tx:
        await tx.messages.append("sess_1", [message("a", shared_with=("bob",)), message("b", people=("cy",))])
        first, second = await tx.messages.page("sess_1")
        await keep_statements(tx, "soul_1", [(first, HOME)], "pattern", NOW)
        [fact] = await tx.facts.of("soul_1", "user_1")
        assert fact.shared_with == ("bob",)
        assert await keep_statements(tx, "soul_1", [(second, HOME)], "pattern", NOW) == []
        [fact] = await tx.facts.of("soul_1", "user_1")
        assert (fact.shared_with, fact.message_ids) == (("bob", "cy"), [first.message_id, second.message_id])


@pytest.mark.parametrize(
    ("first_heard_by", "then_by", "told"),
    [
        (("bob",), ("cy",), {("bob",): "rained a lot here on Monday", ("cy",): "rained a lot here on Tuesday"}),
        (("bob",), ("bob", "cy"), {("bob", "cy"): "rained a lot here on Tuesday"}),
        (("bob", "cy"), ("cy",), {("bob", "cy"): "rained a lot here on Monday"}),
    ],
)
async def test_nobody_learns_of_a_fact_in_words_that_only_others_have_heard(home, first_heard_by, then_by, told):
    """Both say almost the same, and so are one fact where those are the same who have heard the one or the other."""
    statements = [
        Statement("self", "other", day, f"It rained a lot here on {day} at home.") for day in ("Monday", "Tuesday")
    ]
    said = [message("a", people=first_heard_by), message("b", people=then_by)]
    async with home.write() as tx:
        await tx.messages.append("sess_1", said)
        pairs = zip(await tx.messages.page("sess_1"), statements, strict=True)
        await keep_statements(tx, "soul_1", pairs, "model", NOW)
        facts = await tx.facts.of("soul_1", "user_1")
    assert {one.shared_with: one.content for one in facts} == {who: f"It {what} at home." for who, what in told.items()}
    assert all(one.value in one.content for one in facts)


async def test_when_a_message_is_shared_what_was_drawn_from_it_alone_is_too(home):
    async with home.write() as tx:
        await tx.messages.append("sess_1", [message("a")])
        [said] = await tx.messages.page("sess_1")
        await keep_statements(tx, "soul_1", [(said, HOME)], "pattern", NOW)
        await tx.episodes.share("soul_1", said.message_id, "user_1", ["bob"])
        assert (await tx.facts.of("soul_1", "user_1"))[0].shared_with == ("bob",)
        await tx.episodes.share("soul_1", said.message_id, "user_1", [])
        assert (await tx.facts.of("soul_1", "user_1"))[0].shared_with == ()


async def test_a_fact_that_ends_another_is_named_as_its_end(home):
    gave_up = Statement("self", "past", "Arsenal", "Ann gave up Arsenal.", ends=("*",))
    fan = Statement("self", "team", "Arsenal", "Ann is a fan of Arsenal.")
    async with home.write() as tx:
        await tx.messages.append("sess_1", [message("a"), message("b", created_at=NOW + 1)])
        first, second = await tx.messages.page("sess_1")
        await keep_statements(tx, "soul_1", [(first, fan), (second, gave_up)], "pattern", NOW)
        old, new = await tx.facts.of("soul_1", "user_1")
        assert (old.valid_to, old.superseded_by, new.holds) == (NOW + 1, new.fact_id, True)


async def test_two_of_one_name_are_told_apart(home):
    async with home.write() as tx:
        for user_id in ("a", "b"):
            await tx.preferences.put(preference("address", value="Sam", user_id=user_id, shared_with=("a", "b")))
        assert await names_of(tx, "soul_1", ["a", "b", "c"], ["a", "b"]) == {"a": "Sam (a)", "b": "Sam (b)"}
