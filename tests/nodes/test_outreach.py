import pytest

from soulgraph.nodes.context import NoListeners, Outlets
from soulgraph.nodes.outreach import DELIVERY, can_reach, deliver, run_delivery, tell_terminals
from soulgraph.terminals.payloads import Proactive
from soulgraph.tests.nodes.homes import Ears, open_home
from soulgraph.tests.nodes.samples import small_context
from soulgraph.tests.stores.samples import NOW, message

PAYLOAD = Proactive(session_id="sess_1", soul_id="soul_1", text="It is time.", delivery_id="life_1", ts=NOW)


class Hub:
    """A broker that has only what is sent to the lamp."""

    def __init__(self, reached="lamp"):
        self.reached, self.sent = reached, []

    async def proactive(self, terminal_id, payload):
        self.sent.append((terminal_id, payload))
        return terminal_id == self.reached


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        async with stores.write() as tx:
            for terminal_id, person in (("lamp", "user_1"), ("robot", "user_1"), ("bob's", "bob")):
                await tx.terminals.bind(terminal_id, "soul_1", NOW, person)
        yield stores


def context_of(stores, hub=None, ears=None, now=NOW):
    return small_context(stores=stores, outlets=Outlets(hub, ears or NoListeners()), clock=lambda: now)


async def test_the_persons_terminals_are_told_and_those_that_the_broker_has_are_named(home):
    hub = Hub()
    told = await tell_terminals(PAYLOAD, "user_1", context_of(home, hub))
    assert (told, sorted(one for one, _ in hub.sent)) == (["lamp"], ["lamp", "robot"])


async def test_without_a_broker_there_is_no_terminal(home):
    assert await tell_terminals(PAYLOAD, "user_1", small_context(stores=home)) == []


async def test_a_stream_or_an_online_terminal_can_be_reached(home):
    assert await can_reach("soul_1", "user_1", context_of(home, Hub()))
    assert await can_reach("soul_1", "user_1", context_of(home, ears=Ears(1)))
    assert not await can_reach("soul_1", "user_1", context_of(home))
    assert not await can_reach("soul_1", "carl", context_of(home, Hub()))
    assert not await can_reach("soul_1", "user_1", context_of(home, Hub(), now=NOW + 3600)), "it went long ago"


async def stored(stores, text="It is time."):
    """The message and the job for it, as a server leaves them that dies before it has sent it; the job is claimed."""
    async with stores.write() as tx:
        await tx.messages.append("sess_1", [message(text, turn_id="life_1", role="assistant")])
        await tx.outbox.add(DELIVERY, "soul_1", "sess_1", "life_1", {"user_id": "user_1"}, NOW)
        return await tx.outbox.claim(NOW, NOW + 60)


async def jobs_of(stores):
    async with stores.read() as tx:
        return await tx.outbox.all("sess_1")


async def test_what_somebody_has_is_not_to_be_delivered_any_more(home):
    for hub, ears, left in ((Hub(), None, 0), (None, Ears(1), 0), (Hub("none"), Ears(0), 1)):
        await stored(home)
        await deliver(PAYLOAD, "user_1", context_of(home, hub, ears))
        assert len(await jobs_of(home)) == left


async def test_what_another_server_stored_is_sent_under_its_own_id(home):
    job, hub, ears = await stored(home, "Has it rained?"), Hub(), Ears(1)
    await run_delivery(job, context_of(home, hub, ears))
    [(_, _, event, data)] = ears.heard
    assert (event, data["delivery_id"], data["text"]) == ("proactive", "life_1", "Has it rained?")
    assert {payload.delivery_id for _, payload in hub.sent} == {"life_1"}
    assert await jobs_of(home) == []


async def test_it_is_tried_again_for_some_minutes_until_somebody_hears_it(home):
    job, nobody = await stored(home), Ears(0)
    await run_delivery(job, context_of(home, Hub("none"), nobody))
    [put_off] = await jobs_of(home)
    assert (put_off.status, put_off.run_at, put_off.attempts) == ("pending", NOW + 5, 0)
    await run_delivery(job, context_of(home, Hub("none"), nobody, now=NOW + 601))
    [given_up] = await jobs_of(home)
    assert given_up == put_off, "left to the worker, which marks it done"


async def test_what_was_taken_back_is_not_said(home):
    job, ears = await stored(home), Ears(1)
    async with home.write() as tx:
        [said] = await tx.messages.page("sess_1")
        await tx.messages.delete(said)
    await run_delivery(job, context_of(home, ears=ears))
    assert ears.heard == []
