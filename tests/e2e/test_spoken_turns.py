"""Sound in, sound out: turns with audio over one socket of a real server, and who is heard in them."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest

from soulgraph.tests import services
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.live import new_soul, serving, transcript
from soulgraph.tests.stub_openai import SOUL_TURN, Reply
from soulgraph.tests.stub_speech import Answer, StubSpeech
from soulgraph.tests.voices.audio_samples import loudness, made, opened, tone
from soulgraph.voices.audio import wav_of
from soulgraph.voices.espeak import Espeak
from soulgraph.voices.synthesis import Saying, heard_whole

WAV = made("wav 16000 1.0")


@pytest.fixture
async def ears():
    async with StubSpeech() as stub:
        yield stub


@asynccontextmanager
async def a_server(ears, folder, **settings):
    services.espeak()
    async with serving(
        data_dir=folder, stt_base_url=ears.base_url, stt_model="whisper-1", **{"speech_timeout_s": 60, **settings}
    ) as client:
        yield client


@pytest.fixture
async def hearing(ears, tmp_path):
    async with a_server(ears, tmp_path) as client:
        yield client


async def spoken(text):
    return await heard_whole(await Espeak(services.espeak(), None, 60).speak(Saying(text, "wav", "alloy")))


async def record(one, content=WAV, piece=3200, **fields):
    await one.send(type="audio", action="begin", **fields)
    for start in range(0, len(content), piece):
        await one.socket.send(content[start : start + piece])
    await one.send(type="audio", action="end")


async def all_until(one, *ends):
    """(frames of JSON, [(announcement, audio)]) up to the first of these events."""
    frames, audio = [], []
    while not frames or frames[-1]["event"] not in ends:
        async with asyncio.timeout(60):
            message = await one.socket.recv()
        if isinstance(message, bytes):
            audio.append((frames[-1] if frames[-1]["event"] == "speech" else None, message))
        else:
            frames.append(json.loads(message))
    return frames, audio


def events(frames):
    return [frame["event"] for frame in frames]


async def test_sound_in_sound_out(hearing, ears, tmp_path):
    """espeak-ng says a sentence, the recogniser hears it, the soul answers, and the answer is an audio file."""
    said = await spoken("今天被老板骂了，好难过")
    ears.knows(said, "今天被老板骂了，好难过")
    ears.text = "something else"
    soul_id = await new_soul(hearing)
    async with line(hearing) as one:
        await record(one, said, format="wav", soul_id=soul_id, session_id="s", input_id="a", speak={"format": "wav"})
        frames, audio = await all_until(one, "speech_done")
    assert {(frame["session_id"], frame["input_id"]) for frame in frames} == {("s", "a")}
    assert frames[0]["event"] == "transcript"
    assert frames[0]["data"] == {
        "text": "今天被老板骂了，好难过",
        "speakers": [],
        "language": "en",
        "user_id": "default",
    }
    [done] = [frame["data"] for frame in frames if frame["event"] == "done"]
    assert await transcript(hearing, "s") == [("user", "今天被老板骂了，好难过"), ("assistant", done["reply"])]
    assert frames[-1]["data"] == {"sentences": len(audio), "stopped": False, "problem": None}
    assert len(audio) >= 1
    file = tmp_path / "reply.wav"
    for announced, content in audio:
        file.write_bytes(content)
        seconds, rate, samples = opened(file.read_bytes())
        text = announced["data"]["text"]
        assert announced["data"] | {"index": 0} == {
            "index": 0, "text": text, "format": "wav", "sample_rate": rate, "bytes": len(content),
        }  # fmt: skip
        assert text in done["reply"]
        assert loudness(samples) > 300
        assert 0.08 * len(text) < seconds < 2 + 0.6 * len(text)
    assert [asked.audio for asked in ears.asked] == [said], "the recogniser got the recording as it was"


async def test_sound_in_sound_out_over_http(hearing, ears, tmp_path):
    said = await spoken("I had a rough day.")
    ears.knows(said, "I had a rough day.")
    soul_id = await new_soul(hearing, name="lumen")
    heard = await hearing.post("/v1/audio/transcriptions", files={"file": ("a.wav", said)}, data={"model": "whisper-1"})
    answer = await hearing.post("/v1/chat", json={"text": heard.json()["text"], "soul_id": soul_id})
    reply = answer.json()["reply"]
    wanted = {"model": "soul:lumen", "input": reply, "voice": "nova", "response_format": "wav"}
    seconds, _, samples = opened((await hearing.post("/v1/audio/speech", json=wanted)).content)
    assert heard.json() == {"text": "I had a rough day."}
    assert 0.03 * len(reply) < seconds < 2 + 0.2 * len(reply)
    assert loudness(samples) > 300


async def test_a_typed_turn_may_be_answered_aloud_sentence_by_sentence(ears, stub, tmp_path):
    words = "I hear you. That was hard. Tell me more."
    stub.default = Reply(text=SOUL_TURN.replace("I hear you.", words), chunk_delay_s=0.02)
    async with a_server(ears, tmp_path, llm_base_url=stub.base_url, llm_model="stub") as client:
        soul_id = await new_soul(client)
        async with line(client) as one:
            await one.chat("hello", soul_id=soul_id, session_id="s", speak={})
            frames, audio = await all_until(one, "speech_done")
            await one.chat("hello", soul_id=soul_id, session_id="s")
            quiet = await one.until("done", "error")
    assert [announced["data"]["text"] for announced, _ in audio] == ["I hear you.", "That was hard.", "Tell me more."]
    assert events(frames).index("speech") < events(frames).index("done"), "it is said while it is written"
    assert "speech" not in events(quiet)


async def test_bare_samples_and_other_formats_reach_the_recogniser_as_files(hearing, ears):
    soul_id = await new_soul(hearing)
    samples = tone(16000, 0.5)
    async with line(hearing) as one:
        await record(one, samples, format="pcm", sample_rate=16000, soul_id=soul_id)
        await one.until("done")
        ears.scripted = Answer(json={"text": "hi"})
        await record(one, made("ogg"), format="opus", soul_id=soul_id)
        await one.until("done")
    assert ears.asked[0].audio == wav_of(samples, 16000)
    assert (ears.asked[1].audio, ears.asked[1].filename) == (made("ogg"), "audio.opus")


@pytest.mark.parametrize(
    ("content", "fields", "code", "told"),
    [
        (b"", {}, "invalid_input", "empty"),
        (made("mp3"), {"format": "wav"}, "invalid_input", "is no wav"),
        (made("wav 16000 0"), {}, "invalid_input", "no samples"),
        (wav_of(bytes(32000), 16000), {}, "nothing_heard", "louder"),
        (WAV, {"format": "tape"}, "invalid_input", "format"),
        (WAV, {"sample_rate": 1}, "invalid_input", "sample_rate"),
        (WAV, {"soul_id": "soul_none"}, "not_found", "soul_none"),
        (WAV, {"speak": {"voice": "af_heart"}}, "invalid_input", "alloy"),
        (wav_of(bytes(2 * 8000 * 301), 8000), {}, "body_too_large", "300 s"),
        (bytes(2 * 8000 * 301), {"format": "pcm", "sample_rate": 8000}, "body_too_large", "300 s"),
        (bytes(26 * 2**20), {}, "body_too_large", "25 MiB"),
    ],
)
async def test_what_cannot_be_understood_is_told_once_and_no_turn_is_made(hearing, content, fields, code, told):
    soul_id = await new_soul(hearing)
    async with line(hearing, write_limit=2**26) as one:
        await record(one, content, 2**19, **{"soul_id": soul_id, "session_id": "s", "input_id": "a"} | fields)
        frames = await one.until("error")
        assert frames[-1]["data"]["code"] == code
        assert told in frames[-1]["data"]["detail"]
        assert (frames[-1]["session_id"], frames[-1]["input_id"]) == ("s", "a")
        await one.send(type="ping")
        assert (await one.until("pong"))[:-1] == []
        assert (await hearing.get("/v1/sessions/s/messages")).status_code == 404
        await record(one, soul_id=soul_id, session_id="t")
        assert "done" in events(await one.until("done", "error"))


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(status=500, body="boom", type="text/plain"), "speech_failed"),
        (Answer(body="<html>", type="text/html"), "speech_failed"),
        (Answer(json={"error": "no model"}), "speech_failed"),
        (Answer(status=503, json={}), "speech_unavailable"),
        (Answer(json={"text": "late"}, delay_s=3), "speech_timeout"),
        (Answer(json={"text": "x" * 8001}), "invalid_input"),
    ],
)
async def test_a_recogniser_that_fails_costs_nobody_a_turn(ears, tmp_path, answer, code):
    ears.scripted = answer
    async with a_server(ears, tmp_path, speech_timeout_s=0.5) as client:
        soul_id = await new_soul(client)
        async with line(client) as one:
            await record(one, soul_id=soul_id, session_id="s", input_id="a")
            [frame] = await one.until("error")
            assert (frame["data"]["code"], frame["input_id"]) == (code, "a")
            ears.scripted = None
            await record(one, soul_id=soul_id, session_id="s", input_id="a")
            assert (await one.until("done", "error"))[-1]["event"] == "done"
        assert len(await transcript(client, "s")) == 2


async def test_a_recording_may_be_cancelled_and_only_one_is_open(hearing, ears):
    soul_id = await new_soul(hearing)
    async with line(hearing) as one:
        assert "begin" in (await one.refused(type="audio", action="end"))["data"]["detail"]
        await one.send(type="audio", action="begin", soul_id=soul_id)
        await one.socket.send(WAV)
        assert "`end` or `cancel`" in (await one.refused(type="audio", action="begin"))["data"]["detail"]
        await one.send(type="audio", action="cancel")
        assert "begin" in (await one.refused(type="audio", action="end"))["data"]["detail"]
        assert ears.asked == []
        await one.send(type="audio", action="cancel")
        await record(one, soul_id=soul_id)
        await one.until("done")


async def test_several_recordings_are_understood_side_by_side(hearing, ears):
    soul_id = await new_soul(hearing)
    waves = {name: made(f"wav 16000 0.{number}") for number, name in enumerate(("a", "b", "c"), 2)}
    for name, content in waves.items():
        ears.knows(content, f"I am {name}")
    async with line(hearing) as one:
        for name, content in waves.items():
            await record(one, content, soul_id=soul_id, session_id=name, input_id=f"in-{name}", speak={})
        frames = []
        while events(frames).count("speech_done") < 3:
            more, audio = await all_until(one, "speech_done")
            frames += more
            assert all(announced and announced["data"]["bytes"] == len(content) for announced, content in audio)
    for name in waves:
        mine = [frame for frame in frames if frame.get("input_id") == f"in-{name}"]
        assert mine[0]["data"]["text"] == f"I am {name}"
        assert events(mine)[-1] == "speech_done"


async def test_stop_ends_the_speech_too(ears, stub, tmp_path):
    words = "I hear you. " * 40
    stub.default = Reply(text=SOUL_TURN.replace("I hear you.", words), chunk_delay_s=0.01)
    async with a_server(ears, tmp_path, llm_base_url=stub.base_url, llm_model="stub") as client:
        soul_id = await new_soul(client)
        async with line(client) as one:
            await record(one, soul_id=soul_id, session_id="s", input_id="a", speak={})
            await all_until(one, "speech")
            assert isinstance(await one.socket.recv(), bytes)
            await one.send(type="stop", session_id="s", input_id="a")
            frames, _ = await all_until(one, "speech_done", "error")
            assert frames[-1]["data"]["stopped"] is True
            assert frames[-1]["data"]["sentences"] < 40
            if "done" not in events(frames):
                await one.until("done")
            await one.send(type="ping")
            assert events(await one.until("pong")) == ["pong"]


async def test_stop_while_it_is_being_understood_makes_no_turn(ears, tmp_path):
    ears.scripted = Answer(json={"text": "late"}, delay_s=3)
    async with a_server(ears, tmp_path) as client:
        soul_id = await new_soul(client)
        async with line(client) as one:
            await record(one, soul_id=soul_id, session_id="s", input_id="a")
            await one.send(type="stop", session_id="s", input_id="a")
            assert (await one.until("error"))[-1]["data"]["code"] == "turn_stopped"
        assert (await client.get("/v1/sessions/s/messages")).status_code == 404


async def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind(ears, tmp_path):
    ears.scripted = Answer(json={"text": "late"}, delay_s=1)
    async with a_server(ears, tmp_path) as client:
        soul_id = await new_soul(client)
        async with line(client) as one:
            await one.send(type="audio", action="begin", soul_id=soul_id, session_id="s")
            await one.socket.send(WAV)
        async with line(client) as one:
            await record(one, soul_id=soul_id, session_id="s", speak={})
        await asyncio.sleep(1.2)
        assert (await client.get("/v1/sessions/s/messages")).status_code == 404


async def test_a_voice_that_fails_in_the_middle_is_told_and_the_turn_is_kept(ears, tmp_path):
    settings = {"tts_base_url": ears.base_url, "tts_model": "tts-1"}
    async with a_server(ears, tmp_path, **settings) as client:
        soul_id = await new_soul(client)
        ears.scripted = Answer(status=500, body="no voice", type="text/plain")
        async with line(client) as one:
            await one.chat("hello", soul_id=soul_id, session_id="s", speak={})
            frames, audio = await all_until(one, "speech_done")
    assert (frames[-1]["data"]["problem"]["code"], audio) == ("speech_failed", [])
    assert "done" in events(frames) or frames[-1]["data"]["sentences"] == 0


async def test_without_ears_or_voice_it_is_told_before_anything_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    async with serving(data_dir=tmp_path) as client:
        soul_id = await new_soul(client)
        async with line(client) as one:
            await record(one, soul_id=soul_id, session_id="s")
            assert "SOULGRAPH_STT_MODEL" in (await one.until("error"))[-1]["data"]["detail"]
            await one.chat("hello", soul_id=soul_id, session_id="s", speak={})
            assert "espeak-ng" in (await one.until("error"))[-1]["data"]["detail"]
            await one.send(type="ping")
            assert events(await one.until("pong")) == ["pong"]
        assert (await client.get("/v1/sessions/s/messages")).status_code == 404
