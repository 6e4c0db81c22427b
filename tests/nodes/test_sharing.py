"""Sharing by word: only what the speaker said, only with whom they named, and only as long as they want."""

import pytest

from soulgraph.nodes.sharing import Sharing, heed_permission
from soulgraph.stores.records import Relation
from soulgraph.tests.nodes.homes import open_home
from soulgraph.tests.nodes.samples import utterance
from soulgraph.tests.stores.samples import NOW, message, preference

SECRET = "I got the job in Oslo"


@pytest.fixture
async def home(sqlite_url):
    """The soul knows Ann (user_1), bob, and two people who are called Mia."""
    async with open_home(sqlite_url) as stores:
        async with stores.write() as tx:
            for user_id, name in {"bob": "小明", "m1": "Mia", "m2": "mia"}.items():
                await tx.relations.ensure(Relation.new("soul_1", user_id, NOW))
                await tx.preferences.put(preference("address", user_id=user_id, value=name))
            await tx.messages.append("sess_1", [message(SECRET), message("Well done!", role="assistant")])
        yield stores


async def heed(stores, text):
    async with stores.write() as tx:
        return await heed_permission(tx, {"utterance": utterance(text)})


async def shared(stores):
    async with stores.read() as tx:
        return {one.message.content: one.shared_with for one in await tx.episodes.shared("soul_1")}


@pytest.mark.parametrize("text", ["You can tell Bob that I got the job.", "你可以告诉小明我拿到那份工作了。"])
async def test_what_the_message_itself_tells_is_shared_with_whom_it_names(home, text):
    assert await heed(home, text) == Sharing(("bob",))
    assert await shared(home) == {}


@pytest.mark.parametrize("text", ["You can tell Bob.", "这个可以告诉小明。"])
async def test_a_bare_permission_shares_what_the_speaker_said_before_and_nothing_of_the_soul(home, text):
    assert await heed(home, text) == Sharing((), changed=True)
    assert await shared(home) == {SECRET: ("bob",)}
    assert await heed(home, text) == Sharing()


@pytest.mark.parametrize("name", ["Mia", "Carl", "somebody"])
async def test_a_name_that_nobody_or_more_than_one_bears_shares_nothing(home, name):
    assert await heed(home, f"You can tell {name}.") == Sharing()
    assert await heed(home, f"You can tell {name} that I got the job.") == Sharing()
    assert await shared(home) == {}


@pytest.mark.parametrize(
    "text", ["Did you tell Bob?", "Bob told me he can keep it.", "你告诉小明了吗？", "Tell me a story."]
)
async def test_questions_and_stories_permit_nothing(home, text):
    assert await heed(home, text) == Sharing()
    assert await shared(home) == {}


@pytest.mark.parametrize("text", ["Don't tell anybody.", "这事别告诉任何人。"])
async def test_what_is_to_stay_between_them_is_taken_back(home, text):
    await heed(home, "You can tell Bob.")
    assert await heed(home, text) == Sharing((), changed=True)
    assert await shared(home) == {}


async def test_everybody_may_be_meant(home):
    await heed(home, "You can tell everybody.")
    assert await shared(home) == {SECRET: ("*",)}


async def test_nobody_shares_what_another_has_said(home):
    async with home.write() as tx:
        await tx.messages.append("sess_1", [message("my own secret", user_id="bob", people=("user_1",))])
    await heed(home, "You can tell everybody.")
    assert (await shared(home))[SECRET] == ("*",)
    assert (await shared(home))["my own secret"] == ("user_1",)


async def test_those_who_were_present_go_on_knowing_it(home):
    async with home.write() as tx:
        await tx.messages.append("sess_1", [message("said before bob", people=("bob",))])
    await heed(home, "You can tell everybody.")
    await heed(home, "Don't tell anybody.")
    assert (await shared(home))["said before bob"] == ("bob",)
