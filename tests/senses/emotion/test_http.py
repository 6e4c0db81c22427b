import asyncio
import json
import socket
from contextlib import asynccontextmanager, suppress

import httpx
import pytest

from soulgraph.errors import SenseUnavailable
from soulgraph.senses.emotion.http import MAX_ANSWER, HttpRecogniser
from soulgraph.soul.emotions import Appraisal, UserEmotion

JOY = {"emotion": "joy", "p": 0.7, "a": 0.55, "d": 0.2, "intensity": 0.8, "confidence": 0.9}


def response(body, status="200 OK", length=None, extra=""):
    body = body if isinstance(body, bytes) else body.encode()
    length = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\n{extra}content-length: {length}\r\n\r\n".encode() + body


def saying(**changed):
    """JOY with some fields changed; `...` leaves one out."""
    return response(json.dumps({name: value for name, value in (JOY | changed).items() if value is not ...}))


class Service:
    """An emotion service over real HTTP, steered by the raw bytes `answer` gives for a text."""

    def __init__(self, answer):
        self.answer, self.asked, self.connections = answer, [], set()

    @asynccontextmanager
    async def serving(self):
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/feel"
        finally:
            server.close()
            for connection in self.connections:
                connection.cancel()
            await asyncio.gather(*self.connections, return_exceptions=True)

    def _accept(self, reader, writer):
        self.connections.add(asyncio.create_task(self._converse(reader, writer)))

    async def _converse(self, reader, writer):
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            try:
                while True:
                    head = (await reader.readuntil(b"\r\n\r\n")).decode()
                    length = int(
                        httpx.Headers([line.split(": ", 1) for line in head.split("\r\n")[1:-2]])["content-length"]
                    )
                    self.asked.append((head.split(" HTTP")[0], json.loads(await reader.readexactly(length))))
                    async for piece in self.answer(self.asked[-1][1]["text"]):
                        writer.write(piece)
                        await writer.drain()
            finally:
                writer.close()


def always(*pieces):
    async def answer(_):
        for piece in pieces:
            yield piece

    return answer


async def hangs(_):
    await asyncio.Event().wait()
    yield b""


async def drips(_):
    yield b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n"
    while True:
        yield b" "
        await asyncio.sleep(0.05)


async def cut_off(_):
    yield response('{"emotion": "jo', length=100)
    raise ConnectionAbortedError


async def closes(_):
    raise ConnectionAbortedError
    yield b""


@asynccontextmanager
async def recogniser_of(answer):
    service = Service(answer)
    async with service.serving() as url, HttpRecogniser.open(url) as recogniser:
        yield service, recogniser


async def failure(answer):
    """The error's text; the service was asked only once."""
    async with recogniser_of(answer) as (service, recogniser):
        with pytest.raises(SenseUnavailable) as caught:
            await recogniser.recognise("太好了")
        assert len(service.asked) == 1
    return caught.value.detail


@pytest.mark.parametrize("text", ["太好了！😀", 'a "quoted"\nline', "\ud83d", ""])
async def test_the_text_is_posted_as_it_is_and_the_answer_is_believed(text):
    async with recogniser_of(always(saying())) as (service, recogniser):
        assert await recogniser.recognise(text) == UserEmotion("joy", 0.7, 0.55, 0.2, 0.8, 0.9)
        assert service.asked == [("POST /feel", {"text": text})]


@pytest.mark.parametrize("confidence", [..., None])
async def test_a_service_may_leave_out_its_confidence(confidence):
    async with recogniser_of(always(saying(confidence=confidence))) as (_, recogniser):
        assert (await recogniser.recognise("hi")).confidence is None


async def test_more_than_was_asked_for_is_ignored_and_whole_numbers_and_capitals_are_fine():
    async with recogniser_of(always(saying(emotion="Joy", p=1, a=-1, model="m", latency_ms=3))) as (_, recogniser):
        felt = await recogniser.recognise("hi")
    assert (felt.emotion, felt.p, felt.a) == ("joy", 1.0, -1.0)


@pytest.mark.parametrize("field", ["emotion", "p", "a", "d", "intensity"])
@pytest.mark.parametrize("value", [..., None, "melancholy", "0.5", True, [0.5], float("nan"), float("inf"), 1.5, -1.5])
async def test_an_unusable_field_is_named(field, value):
    detail = await failure(always(saying(**{field: value})))
    assert detail.startswith(f"the emotion service answered something unusable: {field}: ")


async def test_a_strength_is_never_negative():
    assert "intensity: " in await failure(always(saying(intensity=-0.1)))
    assert "confidence: " in await failure(always(saying(confidence=-0.1)))


async def test_an_appraisal_is_taken_as_the_service_gives_it():
    given = {"toward": 1, "hostility": 0.9, "repair": 0, "reasons": ["insult"], "model": "m"}
    async with recogniser_of(always(saying(appraisal=given))) as (_, recogniser):
        assert (await recogniser.recognise("hi")).appraisal == Appraisal(1.0, 0.9, 0.0, ("insult",))


@pytest.mark.parametrize("given", [..., None])
async def test_a_service_may_leave_the_appraisal_out(given):
    async with recogniser_of(always(saying(appraisal=given))) as (_, recogniser):
        assert (await recogniser.recognise("hi")).appraisal is None


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"hostility": 1.1}, "hostility"),
        ({"repair": "0.5"}, "repair"),
        ({"toward": None}, "toward"),
        ({"reasons": [5]}, "reasons"),
        ({"reasons": ["x"] * 21}, "reasons"),
        ({"reasons": ["x" * 201]}, "reasons"),
    ],
)
async def test_a_wrong_appraisal_is_unusable(changed, field):
    given = {"toward": 1, "hostility": 0, "repair": 0} | changed
    assert field in await failure(always(saying(appraisal=given)))


@pytest.mark.parametrize("body", ["", "sorry", "[]", "null", '"joy"', "{", b"\xff\xfe", "[" * 50_000, "{}"])
async def test_what_is_no_answer_is_said_to_be_unusable(body):
    assert "unusable" in await failure(always(response(body)))


async def test_the_user_s_words_are_not_repeated_in_an_error():
    assert "secret" not in await failure(always(saying(emotion="my secret")))


@pytest.mark.parametrize(
    "status", ["400 Bad Request", "404 Not Found", "429 Too Many Requests", "500 Internal Server Error"]
)
async def test_a_service_that_fails_is_quoted_with_its_status(status):
    assert await failure(always(response(json.dumps(JOY), status))) == f"the emotion service answered {status}"


@pytest.mark.parametrize("status", ["301 Moved Permanently", "307 Temporary Redirect"])
async def test_a_redirect_is_not_followed(status):
    redirect = always(response(json.dumps(JOY), status, extra="location: /elsewhere\r\n"))
    assert await failure(redirect) == f"the emotion service answered {status}"


async def test_an_answer_beyond_all_measure_is_not_read_to_its_end():
    async def floods(_):
        yield b"HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n"
        while True:
            yield b" " * 8192

    assert await failure(floods) == f"the emotion service's answer is longer than {MAX_ANSWER} bytes"


@pytest.mark.parametrize("answer", [hangs, drips])
async def test_a_slow_service_is_given_up_however_it_dawdles(answer):
    assert await failure(answer) == "the emotion service did not answer within 1.5 s"


@pytest.mark.parametrize(
    "answer", [cut_off, closes, always(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")], ids=["cut", "closed", "ssh"]
)
async def test_an_answer_that_never_completes_is_no_answer(answer):
    assert "cannot be reached: RemoteProtocolError" in await failure(answer)


async def test_nobody_listening_is_unavailable_too():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        async with HttpRecogniser.open(f"http://127.0.0.1:{closed.getsockname()[1]}") as recogniser:
            with pytest.raises(SenseUnavailable, match="cannot be reached: ConnectError"):
                await recogniser.recognise("hi")


async def test_a_turn_that_is_cancelled_leaves_the_recogniser_usable():
    waiting = asyncio.Event()

    async def answer(text):
        waiting.set()
        if text == "wait":
            await asyncio.Event().wait()
        yield saying()

    async with recogniser_of(answer) as (_, recogniser):
        asking = asyncio.create_task(recogniser.recognise("wait"))
        await waiting.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert (await recogniser.recognise("go")).emotion == "joy"


async def test_fifty_at_once_each_get_their_own_answer():
    everybody = asyncio.Barrier(50)

    async def answer(text):
        await everybody.wait()
        yield saying(intensity=int(text) / 50)

    async with recogniser_of(answer) as (service, recogniser):
        felt = await asyncio.gather(*(recogniser.recognise(str(n)) for n in range(50)))
        assert len(service.asked) == 50
    assert [heard.intensity for heard in felt] == [n / 50 for n in range(50)]


async def test_calls_one_after_another_share_a_connection():
    async with recogniser_of(always(saying())) as (service, recogniser):
        for _ in range(3):
            await recogniser.recognise("hi")
        assert len(service.connections) == 1
