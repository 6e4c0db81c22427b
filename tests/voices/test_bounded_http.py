"""However much a model server sends, so much of it is read, and the loop goes on meanwhile."""

import gzip

import httpx2
import pytest

from soulgraph.errors import AnswerTooLong, ModelError, ModelUnavailable
from soulgraph.settings import Settings
from soulgraph.tests.loop_gauge import LoopGauge
from soulgraph.tests.stub_openai import Reply, StubOpenAI
from soulgraph.voices.bounded_http import MAX_BODY, MAX_STREAM, bound
from soulgraph.voices.factory import open_voice
from soulgraph.voices.tasks import SUMMARIZE, run_task

MAX_STALL_S = 0.25
EVENTS = {"content-type": "text/event-stream; charset=utf-8"}


class Sent(httpx2.AsyncByteStream):
    """The same bytes, so many times."""

    def __init__(self, piece, times):
        self.piece, self.times, self.closed = piece, times, False

    async def __aiter__(self):
        for _ in range(self.times):
            yield self.piece

    async def aclose(self):
        self.closed = True


async def size_of(stream, **headers):
    async def respond(request):
        return httpx2.Response(200, headers=headers, stream=stream)

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(respond), event_hooks={"response": [bound]}) as client:
        return len((await client.get("http://model/")).content)


async def test_what_is_within_the_limits_comes_as_it_is():
    assert await size_of(Sent(b"y" * 2**16, 64)) == MAX_BODY
    assert await size_of(Sent(b": ping\n\n" * 2**13, 512), **EVENTS) == MAX_STREAM


@pytest.mark.parametrize(
    ("stream", "headers"),
    [
        (Sent(b"y" * 2**16, 10**9), {}),
        (Sent(b"\n" * 2**16, 10**9), {}),
        (Sent(b": ping\n\n" * 2**13, 10**9), EVENTS),
        (Sent(b"y" * 2**16, 65), EVENTS),
    ],
    ids=["body", "lines", "stream", "one event"],
)
async def test_what_is_larger_is_not_read_to_its_end(stream, headers):
    with pytest.raises(AnswerTooLong) as refused:
        await size_of(stream, **headers)
    assert refused.value.problem()["reason"] == "endless"
    assert stream.closed


async def test_what_is_packed_is_refused_because_nobody_knows_its_size():
    with pytest.raises(ModelUnavailable):
        await size_of(Sent(gzip.compress(b"y" * 10**6), 1), **{"content-encoding": "gzip"})


async def summarized(voice):
    return await run_task(voice.model, SUMMARIZE, "en", messages=[{"role": "user", "content": "hi"}])


@pytest.mark.parametrize("text", ["y" * 6_000_000, "{" * 3_000_000, "</think>" * 300_000, '{"a": [' * 200_000])
async def test_a_plain_answer_of_any_size_ends_and_does_not_take_the_loop(text):
    async with StubOpenAI(Reply(text=text)) as stub:
        endpoint = Settings.load(llm_base_url=stub.base_url, llm_model="stub").llm
        async with open_voice(endpoint, ()) as voice:
            with pytest.raises(ModelError):
                await summarized(voice)  # loads what the next one needs
            async with LoopGauge().running() as gauge:
                with pytest.raises(ModelError, match=r"does not end|unusable twice"):
                    await summarized(voice)
            assert gauge.worst_s < MAX_STALL_S, gauge.places
        assert all(request.headers["accept-encoding"] == "identity" for request in stub.requests)
