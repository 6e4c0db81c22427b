"""Audio in files: its formats, what is a WAV and how long it lasts, and the wrapping of bare samples."""

import struct
from dataclasses import dataclass
from typing import Literal

import numpy as np

from soulgraph.errors import InvalidInput

InFormat = Literal["wav", "pcm", "mp3", "ogg", "opus", "webm", "flac", "m4a", "mp4"]
OutFormat = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]
PCM_RATE = 24_000
"""Of bare samples that are sent, as with OpenAI: nothing in them says it."""
MEDIA_TYPES: dict[str, str] = {
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "ogg": "audio/ogg",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "webm": "audio/webm",
    "m4a": "audio/mp4",
    "mp4": "audio/mp4",
    "pcm": "audio/pcm",
}
_MAGIC: dict[str, tuple[tuple[int, bytes], ...]] = {
    "mp3": ((0, b"ID3"), (0, b"\xff\xfb"), (0, b"\xff\xf3"), (0, b"\xff\xf2"), (0, b"\xff\xfa")),
    "ogg": ((0, b"OggS"),),
    "opus": ((0, b"OggS"),),
    "webm": ((0, b"\x1aE\xdf\xa3"),),
    "flac": ((0, b"fLaC"),),
    "m4a": ((4, b"ftyp"),),
    "mp4": ((4, b"ftyp"),),
}
"""What a file of each kind has at which place."""
_PCM_HEADER = "<4sI4s4sIHHIIHH4sI"
_UNKNOWN = (0, 0x7FFFF000, 0xFFFFFFFF)
"""What stands in place of a length that the writer did not know; so do others that are longer than the file."""


@dataclass(frozen=True, slots=True)
class WavInfo:
    rate: int
    channels: int
    bytes_per_second: int
    start: int
    """Where the samples begin."""
    length: int
    """How many bytes of them there are."""

    @property
    def seconds(self) -> float:
        return self.length / self.bytes_per_second


def wav_of(samples: bytes, rate: int, channels: int = 1) -> bytes:
    """Samples of 16 bits as a WAV file."""
    return wav_header(len(samples), rate, channels) + samples


def wav_header(length: int, rate: int, channels: int = 1) -> bytes:
    frame = 2 * channels
    sizes = (16, 1, channels, rate, rate * frame, frame, 16)
    return struct.pack(_PCM_HEADER, b"RIFF", 36 + length, b"WAVE", b"fmt ", *sizes, b"data", length)


def read_wav(head: bytes, size: int) -> WavInfo:
    """What a WAV file of this size is, from its first bytes. A length that cannot be true is corrected.

    Raises InvalidInput for what is none.
    """
    if head[:4] not in (b"RIFF", b"RF64") or head[8:12] != b"WAVE":
        raise InvalidInput("the audio is no wav: it does not begin with RIFF and WAVE; name its real format")
    layout: tuple[int, int, int] | None = None
    at = 12
    while at + 8 <= len(head):
        name = head[at : at + 4]
        (length,) = struct.unpack_from("<I", head, at + 4)
        at += 8
        if name == b"fmt " and at + 16 <= len(head):
            _, channels, rate, per_second, _, _ = struct.unpack_from("<HHIIHH", head, at)
            layout = rate, channels, per_second
        elif name == b"data":
            return _checked(layout, at, length, size)
        at += length + length % 2
    raise InvalidInput("the audio is no wav that can be read: its header ends before its samples")


def _checked(layout: tuple[int, int, int] | None, start: int, length: int, size: int) -> WavInfo:
    if layout is None or not all(layout):
        raise InvalidInput("the audio is no wav that can be read: its header names no sample rate or no channels")
    present = size - start
    length = present if length in _UNKNOWN else min(length, present)
    if length <= 0:
        raise InvalidInput("the wav has no samples: nothing was recorded")
    return WavInfo(*layout, start, length)


def check_audio(kind: InFormat, head: bytes, size: int, rate: int = 16_000, channels: int = 1) -> float | None:
    """How many seconds a recording lasts; None if only a decoder could tell.

    Raises InvalidInput for one that is empty, or is not of the kind that it is called.
    """
    if size < 2:
        raise InvalidInput("the recording is empty: send audio between `begin` and `end`")
    if kind == "wav":
        return read_wav(head, size).seconds
    if kind == "pcm":
        return size // (2 * channels) / rate
    if not any(head[at : at + len(mark)] == mark for at, mark in _MAGIC[kind]):
        raise InvalidInput(f"the audio is no {kind}: it does not begin as one; name its real format")
    return None


def with_true_length(wav: bytes) -> bytes:
    """The WAV with its length in its header: who writes to a pipe does not know it before. What is none stays."""
    try:
        found = read_wav(wav[:4096], len(wav))
    except InvalidInput:
        return wav
    whole = bytearray(wav[: found.start + found.length])
    struct.pack_into("<I", whole, 4, len(whole) - 8)
    struct.pack_into("<I", whole, found.start - 4, found.length)
    return bytes(whole)


def resampled(samples: bytes, rate: int, wanted: int) -> bytes:
    """Samples of 16 bits of one channel at another rate."""
    if rate == wanted:
        return samples
    given = np.frombuffer(samples, dtype="<i2", count=len(samples) // 2)
    places = np.arange(int(len(given) * wanted / rate)) * (rate / wanted)
    return bytes(np.interp(places, np.arange(len(given)), given).astype("<i2").tobytes())
