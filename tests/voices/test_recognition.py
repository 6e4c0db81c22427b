import io
from pathlib import Path

import pytest
import yaml

from soulgraph.errors import SoulgraphError, SpeechTimeout, SpeechUnavailable
from soulgraph.senses.endpoint import Endpoint
from soulgraph.tests.stub_speech import Answer, StubSpeech
from soulgraph.tests.voices.audio_samples import made
from soulgraph.voices.recognition import Recording, open_recogniser

FOLDER = Path(__file__).parent
CASES = [
    pytest.param(case, id=f"{name}: {case['id']}")
    for name in ("open", "held", "fourth")
    for case in yaml.safe_load((FOLDER / f"recognised_{name}.yaml").read_text("utf-8"))
]
KEY = "sk-secret"
WAV = made("wav 16000 1.0")


@pytest.fixture
async def stub():
    async with StubSpeech() as stub:
        yield stub


def endpoint(stub, **fields):
    return Endpoint(**{"model": "whisper-1", "base_url": stub.base_url, "api_key": KEY, "timeout_s": 5} | fields)


def recording(content=WAV):
    return Recording(io.BytesIO(content), "audio.wav", "audio/wav")


@pytest.mark.parametrize("case", CASES)
async def test_what_servers_answer_is_words_or_a_problem(case, stub):
    given = {name: case[name] for name in ("status", "json", "body", "type", "headers") if name in case}
    stub.scripted = Answer(**given)
    async with open_recogniser(endpoint(stub)) as recogniser:
        if "error" not in case:
            transcript = await recogniser.recognise(recording())
            assert (transcript.text, list(transcript.speakers)) == (case["heard"], case.get("speakers", []))
            return
        with pytest.raises(SoulgraphError) as raised:
            await recogniser.recognise(recording())
    assert raised.value.problem_code == case["error"]
    assert KEY not in str(raised.value.problem())


async def test_the_request_is_the_one_of_openai(stub):
    async with open_recogniser(endpoint(stub)) as recogniser:
        assert (await recogniser.recognise(recording(), language="en")).text == "hello"
    [asked] = stub.asked
    assert (asked.path, asked.audio, asked.filename, asked.key) == (
        "/v1/audio/transcriptions", WAV, "audio.wav", KEY,
    )  # fmt: skip
    assert asked.fields == {"model": "whisper-1", "language": "en", "response_format": "verbose_json"}


@pytest.mark.parametrize("path", ["/inference", "/v1/audio/transcriptions", "/v1/"])
async def test_the_whole_address_may_be_named(path, stub):
    url = f"http://127.0.0.1:{stub.port}{path}"
    async with open_recogniser(endpoint(stub, base_url=url, api_key="")) as recogniser:
        await recogniser.recognise(recording())
    [asked] = stub.asked
    assert asked.path in (path, "/v1/audio/transcriptions")
    assert asked.key == ""


async def test_a_server_that_does_not_know_a_format_is_asked_in_the_plain_one_from_then_on(stub):
    stub.scripted = Answer(refuses=("verbose_json",))
    async with open_recogniser(endpoint(stub)) as recogniser:
        assert (await recogniser.recognise(recording())).text == "hello"
        assert (await recogniser.recognise(recording())).text == "hello"
    assert [asked.fields["response_format"] for asked in stub.asked] == ["verbose_json", "json", "json"]
    assert all(asked.audio == WAV for asked in stub.asked), "the recording was sent whole each time"


async def test_a_model_that_tells_speakers_apart_is_asked_to(stub):
    async with open_recogniser(endpoint(stub, model="gpt-4o-transcribe-diarize")) as recogniser:
        await recogniser.recognise(recording())
    assert stub.asked[0].fields["response_format"] == "diarized_json"


async def test_a_server_that_is_slow_is_given_up(stub):
    stub.scripted = Answer(json={"text": "late"}, delay_s=2)
    async with open_recogniser(endpoint(stub, timeout_s=0.2)) as recogniser:
        with pytest.raises(SpeechTimeout, match="SOULGRAPH_SPEECH_TIMEOUT_S"):
            await recogniser.recognise(recording())


async def test_a_server_that_is_down_is_named_with_its_setting():
    nowhere = Endpoint("whisper-1", "http://user:secret@127.0.0.1:9/v1", timeout_s=2)
    async with open_recogniser(nowhere) as recogniser:
        with pytest.raises(SpeechUnavailable, match="SOULGRAPH_STT_BASE_URL") as raised:
            await recogniser.recognise(recording())
    assert "secret" not in raised.value.detail


async def test_without_an_endpoint_there_is_none():
    async with open_recogniser(None) as recogniser:
        assert recogniser is None
