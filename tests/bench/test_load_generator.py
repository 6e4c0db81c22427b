"""The load generator says everything once, also when a server fails: it goes to the next one with the same input."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

from soulgraph.scripts.draw_graph import ROOT

GENERATOR = ROOT / "bench" / "load_generator.py"


class Server:
    """Answers every turn, or closes the connection instead of answering each third."""

    def __init__(self, fails=False):
        self.fails, self.bodies, self.answered = fails, [], []

    @asynccontextmanager
    async def open(self):
        server = await asyncio.start_server(self._converse, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _converse(self, reader, writer):
        while head := await self._head(reader):
            length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            self.bodies.append(json.loads(await reader.readexactly(length)))
            if self.fails and len(self.bodies) % 3 == 0:
                break
            self.answered.append(self.bodies[-1]["input_id"])
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            await asyncio.sleep(0.01)
        writer.close()

    async def _head(self, reader):
        try:
            return await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return b""


async def generate(people, **order):
    process = await asyncio.create_subprocess_exec(
        sys.executable, GENERATOR, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    order = {"people": people, "warm_up_s": 0, "seconds": 0.5, "talk": 4, **order}
    told, _ = await process.communicate(f"{json.dumps(order)}\n".encode())
    measuring, measured, last = told.splitlines()
    assert (measuring, measured) == (b"measuring", b"measured")
    return json.loads(last)


async def test_what_one_server_fails_to_answer_the_next_one_is_asked_under_the_same_id():
    one, other = Server(fails=True), Server()
    async with one.open() as first, other.open() as second:
        person = {"urls": [first, second], "soul_id": "soul_1", "name": "ann"}
        told = await generate([person])
    assert told["refused"] == [{"IncompleteReadError": len(one.bodies) // 3}]
    assert told["input_ids"] == [f"ann-{n}" for n in range(len(told["input_ids"]))]
    assert sorted(one.answered + other.answered) == sorted(told["input_ids"])
    assert {server for _, _, server in told["answers"]} == {0, 1}


async def test_a_conversation_has_so_many_turns_and_then_a_new_one_begins():
    server = Server()
    async with server.open() as url:
        await generate([{"urls": [url], "soul_id": "soul_1", "name": "ann"}])
    sessions = [body["session_id"] for body in server.bodies]
    assert sessions == [f"ann-{n // 4}" for n in range(len(sessions))]
    assert {body["soul_id"] for body in server.bodies} == {"soul_1"}
