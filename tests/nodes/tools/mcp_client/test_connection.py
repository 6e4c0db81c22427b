"""One session: who waits for an answer is told when there can be none."""

import asyncio

import pytest

from soulgraph.nodes.tools.mcp_client.connection import Connection, LostCall, Undelivered
from soulgraph.nodes.tools.mcp_client.failures import LOST, NOT_DELIVERED, ServerFailure
from soulgraph.nodes.tools.mcp_client.wire import Ending, Wire


class Session:
    """Answers as it is told; None: never."""

    def __init__(self, *answers):
        self.answers = [*answers]

    async def send_request(self, request, result_type, *args):
        answer = self.answers.pop(0)
        if answer is None:
            await asyncio.Event().wait()
        if isinstance(answer, Exception):
            raise answer
        return result_type.model_validate(answer)

    async def initialize(self):
        await asyncio.Event().wait()


def connected(*answers):
    ending = Ending()
    return Connection(Session(*answers), Wire(None, None, ending, lambda: "; its last words: oh")), ending


def mcp_error(code, message="no"):
    from mcp import McpError
    from mcp.types import ErrorData

    return McpError(ErrorData(code=code, message=message))


async def test_tools_are_read_page_by_page():
    pages = {"tools": [1, 2], "nextCursor": "3"}, {"tools": [3]}
    connection, _ = connected(*pages)
    assert await connection.tools(1) == [1, 2, 3]


async def test_a_list_without_an_end_is_given_up():
    connection, _ = connected(*[{"tools": [], "nextCursor": "again"}] * 100)
    with pytest.raises(ServerFailure, match="more than 100 pages"):
        await connection.tools(1)


async def test_silence_is_told_with_what_the_process_has_said():
    connection, _ = connected()
    with pytest.raises(ServerFailure, match=r"no answer to `initialize` in 0\.05 s; its last words: oh"):
        await connection.begin(0.05)


async def test_a_call_under_way_may_still_be_answered_for_a_moment_and_who_leaves_waits_for_it():
    answered, ending = asyncio.Event(), Ending()

    class Late(Session):
        async def send_request(self, request, result_type, *args):
            await answered.wait()
            return await super().send_request(request, result_type, *args)

    session = Late({"content": [{"type": "text", "text": "paid"}]})
    connection = Connection(session, Wire(None, None, ending, grace_s=5))
    calling = asyncio.create_task(connection.call("pay", {}, 5))
    await asyncio.sleep(0)
    ending.tell("its other stream broke off")
    leaving = asyncio.create_task(connection.calls_ended())
    await asyncio.wait({leaving}, timeout=0.05)
    assert not leaving.done() and not connection.is_open
    answered.set()
    assert (await calling).content[0].text == "paid"
    await leaving


async def test_a_server_that_only_says_that_it_is_over_is_not_waited_for_without_end():
    connection, _ = connected(mcp_error(-32000, "Connection closed"))
    with pytest.raises(ServerFailure, match="Connection closed"):
        await connection.tools(0.05)


async def test_a_call_does_not_outlast_its_connection():
    connection, ending = connected(None)
    calling = asyncio.create_task(connection.call("pay", {}, 5))
    await asyncio.sleep(0)
    ending.tell("it fell")
    with pytest.raises(LostCall, match="it fell"):
        await calling
    assert not connection.is_open


@pytest.mark.parametrize(
    ("code", "said", "error"),
    [(NOT_DELIVERED, "no", Undelivered), (LOST, "no", LostCall), (-32000, "Connection closed", LostCall)],
)
async def test_only_what_was_certainly_not_delivered_may_be_sent_again(code, said, error):
    connection, _ = connected(mcp_error(code, said))
    with pytest.raises(error):
        await connection.call("pay", {}, 5)


@pytest.mark.parametrize("code", [-32602, -32000])
async def test_another_error_is_the_servers_answer_and_ends_nothing(code):
    connection, _ = connected(mcp_error(code))
    with pytest.raises(Exception, match="no") as raised:
        await connection.call("pay", {}, 5)
    assert raised.value.error.code == code
    assert connection.is_open
