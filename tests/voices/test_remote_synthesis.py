import pytest

from soulgraph.errors import InvalidInput, SpeechError, SpeechTimeout, SpeechUnavailable
from soulgraph.senses.endpoint import Endpoint
from soulgraph.soul.prosody import prosody_of
from soulgraph.tests.stub_speech import Answer, StubSpeech
from soulgraph.tests.voices.audio_samples import loudness, opened, wav
from soulgraph.voices.audio import with_true_length
from soulgraph.voices.synthesis import Saying, heard_whole, open_synthesiser

EXCITED = prosody_of((0.7, 0.8, 0.2))


@pytest.fixture
async def stub():
    async with StubSpeech() as stub:
        yield stub


def synthesiser(stub, voice="", **fields):
    return open_synthesiser(
        Endpoint(**{"model": "tts-1", "base_url": stub.base_url, "api_key": "sk-secret", "timeout_s": 5} | fields),
        voice,
        5,
    )


async def said(remote, text="hello", **fields):
    return await heard_whole(await remote.speak(Saying(text, **{"format": "wav"} | fields)))


async def test_the_request_is_the_one_of_openai_and_the_audio_is_handed_on(stub):
    async with synthesiser(stub) as remote:
        assert remote.name == f"tts-1 at {stub.base_url}"
        _, _, samples = opened(with_true_length(await said(remote)))
    assert loudness(samples) > 300
    [asked] = stub.asked
    assert (asked.path, asked.key) == ("/v1/audio/speech", "sk-secret")
    assert asked.fields == {"model": "tts-1", "input": "hello", "voice": "alloy", "response_format": "wav"}


async def test_a_mood_is_told_as_speed_and_in_words(stub):
    async with synthesiser(stub, voice="nova") as remote:
        await said(remote, prosody=EXCITED, speed=2.0, instructions="Sound excited.")
        await said(remote, voice="af_heart")
    assert stub.asked[0].fields["speed"] == round(2.0 * EXCITED.rate, 3)
    assert stub.asked[0].fields["instructions"] == "Sound excited."
    assert [asked.fields["voice"] for asked in stub.asked] == ["nova", "af_heart"]


async def test_what_a_server_does_not_take_is_left_out_from_then_on(stub):
    stub.scripted = Answer(refuses=("instructions",))
    async with synthesiser(stub) as remote:
        await said(remote, prosody=EXCITED, instructions="Sound excited.")
        await said(remote, prosody=EXCITED, instructions="Sound excited.")
    assert ["instructions" in asked.fields for asked in stub.asked] == [True, False, False]
    assert all("speed" in asked.fields for asked in stub.asked)


@pytest.mark.parametrize(
    ("answer", "error", "told"),
    [
        (Answer(status=401, json={"error": {"message": "bad key sk-secret"}}), SpeechError, "SOULGRAPH_TTS_API_KEY"),
        (Answer(status=404, json={"detail": "no such model"}), SpeechError, "SOULGRAPH_TTS_MODEL"),
        (Answer(status=400, json={"error": {"message": "voice: unknown"}}), InvalidInput, "voice: unknown"),
        (Answer(status=500, body="oops", type="text/plain"), SpeechError, "oops"),
        (Answer(status=429, json={"error": {"message": "slow down"}}), SpeechUnavailable, "slow down"),
        (Answer(json={"error": "no voice"}), SpeechError, "no voice"),
        (Answer(body="<html>", type="text/html"), SpeechError, "web page"),
        (Answer(body=b"", type="audio/wav"), SpeechError, "without any audio"),
    ],
)
async def test_a_failure_says_whose_it_is_and_is_no_audio(answer, error, told, stub):
    stub.scripted = answer
    async with synthesiser(stub) as remote:
        with pytest.raises(error, match=told) as raised:
            await said(remote)
    assert "sk-secret" not in str(raised.value.problem())


async def test_a_server_that_is_slow_or_down_or_breaks_off_is_a_problem(stub):
    stub.scripted = Answer(body=wav(16000, 0.1), type="audio/wav", delay_s=2)
    async with synthesiser(stub, timeout_s=0.2) as remote:
        with pytest.raises(SpeechTimeout):
            await said(remote)
    stub.scripted = Answer(breaks_off=True)
    async with synthesiser(stub) as remote:
        with pytest.raises(SpeechUnavailable):
            await said(remote)
    async with synthesiser(stub, base_url="http://127.0.0.1:9/v1") as remote:
        with pytest.raises(SpeechUnavailable, match="SOULGRAPH_TTS_BASE_URL"):
            await said(remote)


async def test_a_configured_service_is_not_replaced_by_the_engine(stub, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    async with open_synthesiser(None, "", 5) as nothing:
        assert nothing is None
    async with synthesiser(stub) as remote:
        await said(remote)
    assert len(stub.asked) == 1
