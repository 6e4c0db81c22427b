import pytest

from soulgraph.nodes.context import Outlets
from soulgraph.nodes.outreach import tell_terminals
from soulgraph.terminals.payloads import Proactive
from soulgraph.tests.nodes.homes import open_home
from soulgraph.tests.nodes.samples import small_context
from soulgraph.tests.stores.samples import NOW

PAYLOAD = Proactive(session_id="sess_1", soul_id="soul_1", text="It is time.", delivery_id="life_1", ts=NOW)


class Hub:
    """A broker that has only what is sent to the lamp."""

    def __init__(self):
        self.sent = []

    async def proactive(self, terminal_id, payload):
        self.sent.append((terminal_id, payload))
        return terminal_id == "lamp"


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        async with stores.write() as tx:
            for terminal_id, person in (("lamp", "user_1"), ("robot", "user_1"), ("bob's", "bob")):
                await tx.terminals.bind(terminal_id, "soul_1", NOW, person)
        yield stores


async def test_the_persons_terminals_are_told_and_those_that_the_broker_has_are_named(home):
    hub = Hub()
    told = await tell_terminals(PAYLOAD, "user_1", small_context(stores=home, outlets=Outlets(hub)))
    assert (told, sorted(one for one, _ in hub.sent)) == (["lamp"], ["lamp", "robot"])


async def test_without_a_broker_there_is_no_terminal(home):
    assert await tell_terminals(PAYLOAD, "user_1", small_context(stores=home)) == []
