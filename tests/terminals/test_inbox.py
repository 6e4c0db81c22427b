from soulgraph.terminals.inbox import Inbox
from soulgraph.terminals.invocations import Invocations
from soulgraph.terminals.presence import Presence
from soulgraph.terminals.reports import Input


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
