import asyncio
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.errors import InvalidInput, SpeechError, SpeechTimeout
from soulgraph.soul.prosody import Prosody, prosody_of
from soulgraph.tests import services
from soulgraph.tests.voices.audio_samples import loudness, opened, pitch
from soulgraph.voices.espeak import Espeak, arguments, harmless, language_of, voice_of
from soulgraph.voices.synthesis import Saying, heard_whole

EN = "I am so glad that you are here with me today, tell me everything."
ZH = "今天天气很好，我很高兴你来了，跟我说说吧。"


@pytest.fixture
def engine():
    return Espeak(services.espeak(), shutil.which("ffmpeg"), 30)


async def said(engine, text, **fields):
    return await heard_whole(await engine.speak(Saying(text, **{"format": "wav", "voice": "alloy"} | fields)))


@pytest.mark.parametrize("text", [EN, ZH, "Hello, 小满!", "一", "Привет", "こんにちは"])
async def test_a_text_becomes_a_wav_in_which_something_is_said(engine, text):
    seconds, rate, samples = opened(await said(engine, text))
    assert rate == 22050
    assert loudness(samples) > 300
    assert 0.03 * len(text) < seconds < 1.5 + 0.6 * len(text)


@pytest.mark.parametrize("text", [EN, ZH])
async def test_an_excited_soul_sounds_faster_higher_and_louder_than_a_sad_one(engine, text):
    excited = opened(await said(engine, text, prosody=prosody_of((0.7, 0.8, 0.2))))
    neutral = opened(await said(engine, text))
    sad = opened(await said(engine, text, prosody=prosody_of((-0.6, -0.5, -0.3))))
    assert excited[0] < 0.9 * neutral[0] < 0.9 * 0.9 * sad[0]
    heights = [pitch(samples, rate) for _, rate, samples in (excited, neutral, sad)]
    assert heights[0] > 1.05 * heights[1] > 1.05 * 1.05 * heights[2]
    assert loudness(excited[2]) > loudness(neutral[2]) > loudness(sad[2])


async def test_a_neutral_mood_changes_nothing(engine):
    assert await said(engine, EN, prosody=prosody_of((0.0, 0.0, 0.0))) == await said(engine, EN)
    assert arguments(Saying(EN, voice="alloy"))[-6:] == ["-s", "175", "-p", "50", "-a", "100"]


async def test_speed_changes_how_long_it_takes(engine):
    usual, fast, slow = [opened(await said(engine, EN, speed=speed))[0] for speed in (1.0, 2.0, 0.5)]
    assert fast < 0.7 * usual < 0.7 * 0.7 * slow


async def test_samples_without_a_header_have_the_rate_that_clients_expect(engine):
    seconds, _, samples = opened(await said(engine, EN))
    bare = np.frombuffer(await said(engine, EN, format="pcm"), "<i2")
    assert len(bare) / 24000 == pytest.approx(seconds, abs=0.01)
    assert loudness(bare) == pytest.approx(loudness(samples), rel=0.05)


@pytest.mark.parametrize(
    ("kind", "marks"),
    [("mp3", (b"ID3", b"\xff\xfb", b"\xff\xf3")), ("opus", (b"OggS",)), ("aac", (b"\xff\xf1",)), ("flac", (b"fLaC",))],
)
async def test_other_formats_are_what_they_are_called_and_last_as_long(engine, kind, marks, tmp_path):
    program = services.ffmpeg()
    content = await said(engine, EN, format=kind)
    assert content.startswith(marks)
    file = tmp_path / f"speech.{kind}"
    file.write_bytes(content)
    back = [program, "-loglevel", "error", "-i", file, "-f", "s16le", "-ar", "22050", "-ac", "1", "pipe:1"]
    samples = np.frombuffer(subprocess.run(back, capture_output=True, check=True).stdout, "<i2")
    assert len(samples) / 22050 == pytest.approx(opened(await said(engine, EN))[0], abs=0.15)
    assert loudness(samples) > 300


async def test_without_ffmpeg_it_says_which_formats_there_are():
    engine = Espeak(services.espeak(), None, 30)
    for kind in ("mp3", "opus", "aac", "flac"):
        with pytest.raises(InvalidInput, match="ask for wav or pcm"):
            await engine.speak(Saying(EN, kind, "alloy"))
    assert opened(await said(engine, EN))[0] > 1


@pytest.mark.parametrize(
    "text", ["-v whisper --help", "--version", "-f /etc/passwd", "$(reboot); `ls` | cat > x & '", "-w out.wav hello"]
)
async def test_a_text_that_looks_like_options_or_commands_is_read_aloud(engine, text):
    seconds, _, samples = opened(await said(engine, text))
    assert seconds > 0.5
    assert loudness(samples) > 300
    assert not list(Path().iterdir())


async def test_marks_of_markup_and_phonemes_are_no_commands(engine):
    slow = opened(await said(engine, '<prosody rate="x-slow">hello there my friend</prosody>'))[0]
    assert slow == pytest.approx(
        opened(await said(engine, "prosody rate= x-slow hello there my friend /prosody"))[0], rel=0.8
    )
    assert harmless("[[h@loU]] \x01 99S hi\ud800\n") == "[ [h@loU]]   99S hi \n"
    assert opened(await said(engine, "[[h@loU]]"))[0] > opened(await said(engine, "hello"))[0]


@settings(max_examples=15)
@given(st.text(min_size=1, max_size=40))
def test_any_text_is_said_or_refused(text):
    engine = Espeak(services.espeak(), None, 30)
    try:
        opened(asyncio.run(said(engine, text)))
    except InvalidInput as error:
        assert "nothing in it" in error.detail


@pytest.mark.parametrize(
    ("voice", "text", "chosen"),
    [
        ("alloy", EN, "en-us"), ("nova", EN, "en-us+f3"), ("Nova", ZH, "cmn+f3"), ("onyx", "Привет", "ru+m2"),
        ("shimmer", "こんにちは世界", "ja+f4"), ("en-gb+f2", ZH, "en-gb+f2"), ("de", EN, "de"),
        ("echo", "OK 好", "cmn+m1"),
    ],
)  # fmt: skip
def test_a_voice_speaks_the_language_of_the_text(voice, text, chosen):
    assert voice_of(Saying(text, voice=voice)) == chosen


@pytest.mark.parametrize("voice", ["af_heart", "../../etc/passwd", "-h", "en us", "en;ls", "voice_1", "x" * 300])
def test_a_voice_that_is_none_is_refused_with_those_that_there_are(voice):
    with pytest.raises(InvalidInput, match="alloy"):
        voice_of(Saying(EN, voice=voice))


async def test_a_voice_that_is_not_installed_is_refused(engine):
    with pytest.raises(InvalidInput, match="espeak-ng --voices"):
        await engine.speak(Saying(EN, "wav", "qqq"))


async def test_a_program_that_takes_too_long_is_killed(tmp_path):
    slow = program(tmp_path, "echo $$ > pid\nexec sleep 60")
    with pytest.raises(SpeechTimeout, match="SOULGRAPH_SPEECH_TIMEOUT_S"):
        await Espeak(slow, None, 0.3).speak(Saying(EN, "wav", "alloy"))
    assert gone(int(Path("pid").read_text()))


async def test_a_program_for_which_nobody_waits_is_killed(tmp_path):
    slow = program(tmp_path, "echo $$ > pid\nexec sleep 60")
    speaking = asyncio.create_task(Espeak(slow, None, 60).speak(Saying(EN, "wav", "alloy")))
    while not (Path("pid").exists() and Path("pid").read_text()):
        await asyncio.sleep(0.01)
    speaking.cancel()
    await asyncio.wait([speaking])
    assert gone(int(Path("pid").read_text()))


async def test_a_program_that_fails_says_why(tmp_path):
    with pytest.raises(SpeechError, match="no data directory"):
        await Espeak(program(tmp_path, "echo no data directory >&2; exit 3"), None, 5).speak(Saying(EN, "wav", "alloy"))


async def test_no_secret_of_ours_reaches_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("SOULGRAPH_LLM_API_KEY", "sk-secret")
    with pytest.raises(SpeechError) as raised:
        await Espeak(program(tmp_path, "env >&2; exit 3"), None, 5).speak(Saying(EN, "wav", "alloy"))
    assert "sk-secret" not in raised.value.detail


async def test_no_more_run_at_once_than_there_are_places(engine):
    waves = await asyncio.gather(*(said(engine, EN) for _ in range(12)))
    assert len(set(waves)) == 1


def program(folder, script):
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def gone(pid):
    return not Path(f"/proc/{pid}").exists()


def test_the_language_is_that_of_the_script():
    assert [language_of(text) for text in ("Hi", "你好", "안녕", "Γεια", "नमस्ते", "مرحبا", "", "123")] == [
        "en-us", "cmn", "ko", "el", "hi", "ar", "en-us", "en-us",
    ]  # fmt: skip
    assert Prosody() == prosody_of((0, 0, 0))
