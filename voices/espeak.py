"""The local engine: `espeak-ng`, and ffmpeg for the formats that are not plain samples."""

import asyncio
import os
import re
import struct
import tempfile
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import IO
from unicodedata import category

import numpy as np

from soulgraph.errors import InvalidInput, SpeechError, SpeechTimeout
from soulgraph.soul.personality import clip
from soulgraph.voices.audio import PCM_RATE, OutFormat, WavInfo, read_wav, resampled
from soulgraph.voices.synthesis import Saying, Speech

MAX_PROCESSES = 4
"""At once: each takes a processor."""
_WORDS_PER_MINUTE = 175
_SPEEDS = (80, 450)
_PITCHES = (0.77, 0.87, 1.0, 1.29, 1.67)
_PITCH_STEPS = (0, 25, 50, 75, 99)
"""What each step of `-p` makes of the fundamental frequency, as measured."""
_VARIANTS = {
    "alloy": "", "ash": "+m3", "ballad": "+m4", "cedar": "+m7", "coral": "+f2", "echo": "+m1", "fable": "+m5",
    "marin": "+f5", "nova": "+f3", "onyx": "+m2", "sage": "+f1", "shimmer": "+f4", "verse": "+m6",
}  # fmt: skip
_OWN_VOICE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{1,12}){0,4}(?:\+[A-Za-z0-9]{1,20})?")
_SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff]"), "ja"),
    (re.compile(r"[\u3400-\u9fff\uf900-\ufaff]"), "cmn"),
    (re.compile(r"[\uac00-\ud7af]"), "ko"),
    (re.compile(r"[\u0400-\u04ff]"), "ru"),
    (re.compile(r"[\u0370-\u03ff]"), "el"),
    (re.compile(r"[\u0600-\u06ff]"), "ar"),
    (re.compile(r"[\u0900-\u097f]"), "hi"),
)
_ENCODERS: dict[OutFormat, tuple[str, ...]] = {
    "mp3": ("-c:a", "libmp3lame", "-b:a", "64k", "-f", "mp3"),
    "opus": ("-c:a", "libopus", "-b:a", "32k", "-f", "ogg"),
    "aac": ("-c:a", "aac", "-b:a", "64k", "-f", "adts"),
    "flac": ("-c:a", "flac", "-f", "flac"),
}
_PIECE = 64 * 1024
_MAX_COMPLAINT = 300


class Espeak:
    """Text goes in by standard input and never by a shell, so nothing in it is an option or a command."""

    name = "espeak-ng"

    def __init__(self, espeak: str, ffmpeg: str | None, timeout_s: float) -> None:
        self._espeak = espeak
        self._ffmpeg = ffmpeg
        self._timeout_s = timeout_s
        self._slots = asyncio.Semaphore(MAX_PROCESSES)

    def check(self, saying: Saying) -> None:
        if saying.format in _ENCODERS and self._ffmpeg is None:
            raise InvalidInput(
                f"response_format: {saying.format} needs ffmpeg, which is not installed here: ask for wav or pcm"
            )
        voice_of(saying)

    async def speak(self, saying: Saying) -> Speech:
        """Whole before its first piece: this takes milliseconds a sentence, and a WAV tells its length."""
        self.check(saying)
        async with self._slots:
            file, found = await self._say(saying)
            if saying.format in _ENCODERS:
                with file:
                    file = await self._encode(file, saying.format)
        held = AsyncExitStack()
        held.enter_context(file)
        return Speech(_samples(file, found) if saying.format == "pcm" else _pieces(file), held)

    async def _say(self, saying: Saying) -> tuple[IO[bytes], WavInfo]:
        with tempfile.TemporaryFile() as text:
            text.write(harmless(saying.text).encode())
            text.seek(0)
            file = await self._run([self._espeak, *arguments(saying)], text)
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        try:
            found = read_wav(file.read(_PIECE), size)
        except InvalidInput as error:
            file.close()
            raise InvalidInput("input: there is nothing in it that can be said") from error
        _write_length(file, found)
        return file, found

    async def _encode(self, wav: IO[bytes], kind: OutFormat) -> IO[bytes]:
        assert self._ffmpeg
        wav.seek(0)
        quiet = ("-hide_banner", "-loglevel", "error", "-nostdin", "-threads", "1")
        return await self._run([self._ffmpeg, *quiet, "-f", "wav", "-i", "pipe:0", *_ENCODERS[kind], "pipe:1"], wav)

    async def _run(self, command: Sequence[str], source: IO[bytes]) -> IO[bytes]:
        """What a program writes. It is killed if it takes too long, or nobody waits for it any more."""
        with _kept_if_whole() as output:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=source, stdout=output, stderr=asyncio.subprocess.PIPE, env=_environment()
            )
            try:
                async with asyncio.timeout(self._timeout_s):
                    _, complaint = await process.communicate()
            except TimeoutError as error:
                fix = "send less text, or raise SOULGRAPH_SPEECH_TIMEOUT_S"
                raise SpeechTimeout(f"{command[0]} took more than {self._timeout_s:g} s: {fix}") from error
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
            if process.returncode:
                raise _failure(Path(command[0]).name, complaint.decode("utf-8", "replace"))
        return output


def arguments(saying: Saying) -> list[str]:
    prosody = saying.prosody
    speed = round(clip(_WORDS_PER_MINUTE * saying.speed * prosody.rate, *_SPEEDS))
    pitch = round(float(np.interp(prosody.pitch, _PITCHES, _PITCH_STEPS)))
    volume = round(clip(100 * prosody.volume, 0, 200))
    numbers = ("-s", str(speed), "-p", str(pitch), "-a", str(volume))
    return ["--stdin", "--stdout", "-b", "1", "-v", voice_of(saying), *numbers]


def voice_of(saying: Saying) -> str:
    """One of espeak-ng's for a name of OpenAI's, in the language of the text; its own names stand for themselves."""
    name = saying.voice.strip()
    variant = _VARIANTS.get(name.lower())
    if variant is not None:
        return language_of(saying.text) + variant
    if not _OWN_VOICE.fullmatch(name):
        names = ", ".join(_VARIANTS)
        raise InvalidInput(f"voice: there is no {name[:80]!r} here: use {names}, or one of espeak-ng's, like en-gb+f2")
    return name


def language_of(text: str) -> str:
    """By its script. English words in a Chinese text are read as English."""
    return next((language for script, language in _SCRIPTS if script.search(text)), "en-us")


def harmless(text: str) -> str:
    """Without what the engine takes for commands: control characters, and phonemes between double brackets."""
    text = "".join(char if char in "\n\t" or category(char) not in ("Cc", "Cs") else " " for char in text)
    return text.replace("[[", "[ [")


def _failure(program: str, complaint: str) -> SpeechError | InvalidInput:
    if "voice does not exist" in complaint:
        return InvalidInput("voice: espeak-ng has no such voice here: `espeak-ng --voices` lists them")
    return SpeechError(f"{program} failed: {complaint.strip()[:_MAX_COMPLAINT] or 'it does not say why'}")


def _environment() -> dict[str, str]:
    """No secrets of ours: programs of others need none."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "ESPEAK_DATA_PATH") if name in os.environ}


@contextmanager
def _kept_if_whole() -> Iterator[IO[bytes]]:
    """A file without a name, which is closed if the block fails."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 (it outlives the block)
    try:
        yield file
    except BaseException:
        file.close()
        raise


def _write_length(file: IO[bytes], found: WavInfo) -> None:
    """Into the header: the engine writes it before it knows."""
    for place, length in ((4, found.start + found.length - 8), (found.start - 4, found.length)):
        file.seek(place)
        file.write(struct.pack("<I", length))
    file.truncate(found.start + found.length)


async def _pieces(file: IO[bytes]) -> AsyncGenerator[bytes, None]:
    file.seek(0)
    while piece := file.read(_PIECE):
        yield piece


async def _samples(file: IO[bytes], found: WavInfo) -> AsyncGenerator[bytes, None]:
    """Without a header, at the rate that clients take for granted. A second at a time."""
    file.seek(found.start)
    while second := file.read(2 * found.rate):
        yield resampled(second, found.rate, PCM_RATE)
        await asyncio.sleep(0)
