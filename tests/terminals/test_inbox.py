import asyncio

from soulgraph.terminals.inbox import Inbox
from soulgraph.terminals.invocations import Invocations
from soulgraph.terminals.presence import Presence
from soulgraph.terminals.reports import Input
from soulgraph.tests.terminals.brokers import eventually


async def test_a_message_that_is_dropped_is_logged_without_what_it_says(caplog):
    dropped = []
    inbox = Inbox(Presence(lambda: 7.0), Invocations(), lambda: dropped.append(1))

    async def work(message):
        Input.read(message.payload)

    inbox.receive("soul/terminal/lamp/result/use_1", b'"my sister Aurelia"')
    inbox.receive("soul/terminal/lamp/input", b'{"input_id": 7, "text": "my sister Aurelia"}')
    await inbox._work_on_first(work)
    assert len(dropped) == 2
    assert "dropped 44 bytes" in caplog.text
    assert "Aurelia" not in caplog.text


async def test_a_flood_of_nonsense_is_counted_and_logged_once_of_each_kind(caplog):
    dropped = []
    inbox = Inbox(Presence(lambda: 7.0), Invocations(), lambda: dropped.append(1))
    for number in range(100):
        inbox.receive(f"soul/terminal/{number}/heartbeat", b"nonsense")
        inbox.receive(f"soul/terminal/{number}/online", b"nonsense")
        inbox.receive(f"soul/terminal/lamp/{number}", b"nonsense")
    assert len(dropped) == 300
    assert [record.message.partition(":")[0] for record in caplog.records] == ["mqtt"] * 3


async def test_what_a_terminal_said_before_it_was_deleted_does_not_bring_it_back():
    inbox = Inbox(Presence(lambda: 7.0), Invocations(), lambda: None)
    worked, begun, go_on = [], asyncio.Event(), asyncio.Event()

    async def work(message):
        worked.append((message.terminal_id, message.payload))
        begun.set()
        await go_on.wait()

    inbox.receive("soul/terminal/fan/skills", b"1")
    running = asyncio.create_task(inbox.run(work))
    await begun.wait()
    for terminal_id in ("lamp", "fan", "lamp"):
        inbox.receive(f"soul/terminal/{terminal_id}/skills", b"2")
    inbox.receive("soul/terminal/lamp/online", b"")
    inbox.receive("soul/terminal/fan/online", b"")
    for terminal_id in ("lamp", "fan"):
        inbox.receive(f"soul/terminal/{terminal_id}/skills", b"3")
    go_on.set()
    await eventually(lambda: len(worked) == 3)
    running.cancel()
    assert worked == [("fan", b"1"), ("lamp", b"3"), ("fan", b"3")]
    assert inbox._bytes == 0


async def test_a_mistake_of_ours_costs_one_message_and_not_all_terminals(caplog):
    dropped, worked = [], []
    inbox = Inbox(Presence(lambda: 7.0), Invocations(), lambda: dropped.append(1))

    async def work(message):
        if message.terminal_id == "lamp":
            raise OverflowError("int too large")
        worked.append(message.terminal_id)

    for terminal_id in ("lamp", "fan"):
        inbox.receive(f"soul/terminal/{terminal_id}/skills", b"1")
    running = asyncio.create_task(inbox.run(work))
    await eventually(lambda: worked == ["fan"])
    running.cancel()
    assert (len(dropped), inbox._bytes) == (1, 0)
    assert "skills of lamp could not be worked on" in caplog.text
