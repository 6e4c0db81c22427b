"""Speech over HTTP as OpenAI's clients ask for it, through real servers."""

import pytest

from soulgraph.soul.prosody import prosody_of
from soulgraph.tests import services
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stub_speech import Answer, StubSpeech
from soulgraph.tests.voices.audio_samples import loudness, made, opened, pitch
from soulgraph.voices.audio import wav_of

WAV = made("wav 16000 1.0")
SPEECH = "/v1/audio/speech"
TEXT = "/v1/audio/transcriptions"


@pytest.fixture
async def heard():
    async with StubSpeech() as stub:
        yield stub


@pytest.fixture
async def hearing(heard, tmp_path):
    services.espeak()
    async with serving(
        data_dir=tmp_path, stt_base_url=heard.base_url, stt_model="whisper-1", speech_timeout_s=5
    ) as client:
        yield client


async def sent(client, content=WAV, name="audio.wav", **fields):
    return await client.post(TEXT, files={"file": (name, content, "audio/wav")}, data={"model": "whisper-1", **fields})


def problem(response, status, code):
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert error["code"] == code
    return error["message"]


async def test_a_recording_becomes_text_in_every_format(hearing, heard):
    heard.text = "今天被老板骂了"
    assert (await sent(hearing)).json() == {"text": "今天被老板骂了"}
    verbose = (
        await sent(hearing, response_format="verbose_json", stream="true", language="zh", temperature="0.2")
    ).json()
    assert (verbose["text"], verbose["segments"][0]["text"]) == ("今天被老板骂了", "今天被老板骂了")
    for kind in ("text", "srt", "vtt"):
        answer = await sent(hearing, response_format=kind)
        assert answer.headers["content-type"].startswith("text/plain")
        assert "今天被老板骂了" in answer.text
    assert heard.asked[1].fields == {
        "model": "whisper-1", "language": "zh", "temperature": "0.2", "response_format": "verbose_json",
    }  # fmt: skip
    assert all(asked.audio == WAV for asked in heard.asked)


async def test_silence_is_what_the_recogniser_calls_it(hearing):
    assert (await sent(hearing, wav_of(bytes(32000), 16000))).json() == {"text": "[BLANK_AUDIO]"}


async def test_what_is_wrong_with_a_recording_is_told_in_the_form_of_openai(hearing, heard):
    assert "Invalid file format" in problem(await sent(hearing, b"no audio"), 400, "invalid_input")
    assert "nothing is in it" in problem(await sent(hearing, b""), 400, "invalid_input")
    problem(await hearing.post(TEXT, data={"model": "whisper-1"}), 400, "invalid_input")
    problem(await sent(hearing, response_format="mp3"), 400, "invalid_input")
    problem(await sent(hearing, temperature="7"), 400, "invalid_input")
    problem(await sent(hearing, bytes(26 * 1024 * 1024)), 413, "body_too_large")
    problem(await hearing.post(TEXT, json={"file": "x"}), 400, "invalid_input")
    heard.scripted = Answer(status=401, json={"error": {"message": "bad key"}})
    assert "SOULGRAPH_STT_API_KEY" in problem(await sent(hearing), 502, "speech_failed")
    heard.scripted = Answer(status=503, body="loading", type="text/plain")
    problem(await sent(hearing), 503, "speech_unavailable")


async def test_ten_megabytes_are_taken(hearing, heard):
    heard.scripted = Answer(json={"text": "long"})
    big = made("wav 16000 1.0") + bytes(10 * 1024 * 1024)
    assert (await sent(hearing, big)).json() == {"text": "long"}
    assert heard.asked[0].audio == big


async def test_a_text_is_spoken(hearing):
    answer = await hearing.post(
        SPEECH, json={"model": "tts-1", "input": "I am here.", "voice": "nova", "response_format": "wav"}
    )
    assert (answer.status_code, answer.headers["content-type"]) == (200, "audio/wav")
    seconds, _, samples = opened(answer.content)
    assert 0.5 < seconds < 3
    assert loudness(samples) > 300


async def test_speech_as_events_is_the_same_speech(hearing):
    import base64
    import json

    asked = {"model": "tts-1", "input": "I am here.", "response_format": "wav"}
    whole = (await hearing.post(SPEECH, json=asked)).content
    events = (await hearing.post(SPEECH, json=asked | {"stream_format": "sse"})).text
    told = [json.loads(line.removeprefix("data: ")) for line in events.splitlines() if line.startswith("data: ")]
    assert told[-1]["type"] == "speech.audio.done"
    assert b"".join(base64.b64decode(one["audio"]) for one in told[:-1]) == whole


@pytest.mark.parametrize("words", ["你这个废物，滚开，我讨厌你！", "太棒了，我中奖了，谢谢你，我爱你！"])
async def test_a_soul_speaks_in_the_voice_of_its_mood(words, tmp_path, clock):
    services.espeak()
    asked = {"input": "I am so glad that you are here with me today.", "response_format": "wav"}
    async with serving(clock, data_dir=tmp_path) as client:
        soul_id = await new_soul(client, name="lumen")

        async def spoken(model):
            answer = await client.post(SPEECH, json=asked | {"model": model})
            assert answer.status_code == 200, answer.text
            seconds, rate, samples = opened(answer.content)
            return seconds, pitch(samples, rate)

        neutral = await spoken("tts-1")
        for _ in range(5):
            await say(client, words, soul_id=soul_id)
        emotion = (await client.get(f"/v1/souls/{soul_id}/emotion")).json()["soul_emotion"]
        moved = await spoken(f"soul:{soul_id}")
        assert moved == await spoken("soul:lumen")
    prosody = prosody_of((emotion["p"], emotion["a"], emotion["d"]))
    assert abs(prosody.rate - 1) > 0.03, emotion
    assert moved[0] == pytest.approx(neutral[0] / prosody.rate, rel=0.06)
    assert moved[1] == pytest.approx(neutral[1] * prosody.pitch, rel=0.12)


async def test_what_cannot_be_said_is_told(hearing):
    asked = {"model": "tts-1", "input": "hi", "response_format": "wav"}
    assert "alloy" in problem(await hearing.post(SPEECH, json=asked | {"voice": "af_heart"}), 400, "invalid_input")
    problem(await hearing.post(SPEECH, json=asked | {"input": ""}), 400, "invalid_input")
    problem(await hearing.post(SPEECH, json=asked | {"input": "x" * 4097}), 400, "invalid_input")
    problem(await hearing.post(SPEECH, json=asked | {"speed": 9}), 400, "invalid_input")
    problem(await hearing.post(SPEECH, json=asked | {"response_format": "midi"}), 400, "invalid_input")
    problem(await hearing.post(SPEECH, json=asked | {"model": "soul:nobody"}), 404, "model_not_found")
    assert (await hearing.post(SPEECH, json=asked | {"voice": {"id": "en-gb"}, "unknown": 1})).status_code == 200


async def test_without_anything_that_hears_or_speaks_it_says_what_to_set(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    async with serving(data_dir=tmp_path) as client:
        assert "SOULGRAPH_STT_MODEL" in problem(await sent(client), 503, "speech_unavailable")
        asked = {"model": "tts-1", "input": "hi"}
        assert "espeak-ng" in problem(await client.post(SPEECH, json=asked), 503, "speech_unavailable")


async def test_without_ffmpeg_the_formats_that_there_are_are_named(tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "espeak-ng").symlink_to(services.espeak())
    monkeypatch.setenv("PATH", str(folder))
    async with serving(data_dir=tmp_path) as client:
        for kind in (None, "mp3", "opus", "aac", "flac"):
            asked = {"model": "tts-1", "input": "hi"} | ({"response_format": kind} if kind else {})
            assert "wav or pcm" in problem(await client.post(SPEECH, json=asked), 400, "invalid_input")
        for kind in ("wav", "pcm"):
            asked = {"model": "tts-1", "input": "hi", "response_format": kind}
            assert (await client.post(SPEECH, json=asked)).status_code == 200


async def test_a_configured_service_speaks_and_its_failure_is_not_covered_up(heard, tmp_path):
    settings = {"tts_base_url": heard.base_url, "tts_model": "tts-1", "tts_voice": "nova"}
    async with serving(data_dir=tmp_path, **settings) as client:
        asked = {"model": "tts-1", "input": "hello there", "response_format": "wav"}
        assert (await client.post(SPEECH, json=asked)).status_code == 200
        assert heard.asked[0].fields["voice"] == "nova"
        heard.scripted = Answer(status=500, body="out of memory", type="text/plain")
        assert "out of memory" in problem(await client.post(SPEECH, json=asked), 502, "speech_failed")
    async with serving(data_dir=tmp_path, **settings | {"tts_base_url": "http://127.0.0.1:9/v1"}) as client:
        assert "SOULGRAPH_TTS_BASE_URL" in problem(await client.post(SPEECH, json=asked), 503, "speech_unavailable")
