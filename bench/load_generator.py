"""People who talk without pause, each saying the next thing as soon as the last is answered; a program of its own.

It imports little, so that it leaves the cores to what is measured. Its order is a line of JSON on its input; it prints
`measuring` when the warm-up is over and everybody has had an answer, and in the end what it saw, as JSON. It is for
`bench/load.py` and `bench/scale.py`.

    {"people": [{"urls": ["http://…"], "soul_id": "…", "name": "s1"}], "warm_up_s": 5, "seconds": 20, "talk": 10}

Who has several servers goes to the next one when a turn fails, and sends the same `input_id` again until it is
answered, so that each thing said is answered once, however often it was sent. Each conversation begins at the `first`.
"""

import asyncio
import json
import sys
import time
from typing import Any
from urllib.parse import urlsplit

WHO = ("mother", "neighbour", "teacher", "old friend", "sister", "boss", "grandmother", "cousin")
DID = ("visited", "painted", "repaired", "lost", "found", "cooked", "bought", "watched")
WHAT = ("bicycle", "kettle", "violin", "garden", "telescope", "sofa", "lantern", "puzzle", "balcony")
RETRY_S = 0.1


def saying(n: int) -> str:
    """The n-th thing that somebody says; it repeats after some hundreds."""
    return f"My {WHO[n % 8]} {DID[n // 3 % 8]} the {WHAT[n // 5 % 9]} today, and it rained a little."


class Person:
    """One conversation at a time, over one connection that is kept."""

    def __init__(self, order: dict[str, Any], talk: int) -> None:
        self._urls = [urlsplit(url) for url in order["urls"]]
        self._soul_id, self._name, self._talk = order["soul_id"], order["name"], talk
        self._first = self._server = order.get("first", 0)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.warm = asyncio.Event()
        self.answers: list[tuple[float, float, int]] = []
        self.input_ids: list[str] = []
        self.refused: dict[str, int] = {}

    async def live(self, over: asyncio.Event) -> None:
        n = 0
        while not over.is_set():
            if n % self._talk == 0 and self._server != self._first:
                self._go_to(self._first)
            began = time.monotonic()
            server = await self._say(n)
            self.answers.append((began, time.monotonic() - began, server))
            self.warm.set()
            n += 1
        if self._streams:
            self._streams[1].close()

    async def _say(self, n: int) -> int:
        """Until it is answered; returns which of the servers did."""
        input_id = f"{self._name}-{n}"
        body = {"text": saying(n), "input_id": input_id, "session_id": f"{self._name}-{n // self._talk}"}
        payload = json.dumps(body | {"soul_id": self._soul_id}).encode()
        while (reason := await self._try(payload)) != "200":
            self.refused[reason] = self.refused.get(reason, 0) + 1
            self._go_to((self._server + 1) % len(self._urls))
            await asyncio.sleep(RETRY_S)
        self.input_ids.append(input_id)
        return self._server

    def _go_to(self, server: int) -> None:
        if self._streams:
            self._streams[1].close()
        self._streams = None
        self._server = server

    async def _try(self, payload: bytes) -> str:
        """The status of the answer, or why there was none."""
        url = self._urls[self._server]
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection(url.hostname, url.port)
            reader, writer = self._streams
            head = f"POST /v1/chat HTTP/1.1\r\nhost: {url.netloc}\r\ncontent-type: application/json\r\n"
            writer.write(f"{head}content-length: {len(payload)}\r\n\r\n".encode() + payload)
            return await _status(reader)
        except (OSError, asyncio.IncompleteReadError) as error:
            return type(error).__name__


async def _status(reader: asyncio.StreamReader) -> str:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))
    return head.split(b" ", 2)[1].decode()


async def main() -> None:
    order = json.loads(sys.stdin.readline())
    people, over = [Person(one, order["talk"]) for one in order["people"]], asyncio.Event()
    talks = [asyncio.create_task(person.live(over)) for person in people]
    await asyncio.sleep(order["warm_up_s"])
    await asyncio.gather(*(person.warm.wait() for person in people))
    begin = time.monotonic()
    print("measuring", flush=True)
    await asyncio.sleep(order["seconds"])
    over.set()
    print("measured", flush=True)
    await asyncio.gather(*talks)
    told = {
        "answers": [(at - begin, took, server) for person in people for at, took, server in person.answers],
        "input_ids": [input_id for person in people for input_id in person.input_ids],
        "refused": [person.refused for person in people],
    }
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
