"""Audio by recipe, and what can be heard in it."""

import io
import math
import struct
import wave

import numpy as np


def tone(rate, seconds, channels=1, width=2):
    frames = int(rate * seconds)
    loud = 2 ** (8 * width - 2)
    values = [int(loud * math.sin(440 * 2 * math.pi * at / rate)) for at in range(frames)] if rate else [1000] * 16000
    return b"".join(value.to_bytes(width, "little", signed=True) * channels for value in values)


def wav(rate, seconds, channels=1, width=2):
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(channels)
        writer.setsampwidth(width)
        writer.setframerate(rate or 16000)
        writer.writeframes(tone(rate, seconds, channels, width))
    made = bytearray(file.getvalue())
    if not rate:
        made[24:32] = bytes(8)
    return bytes(made)


FIXED = {
    "empty": b"",
    "text": b"this is no audio at all, but it is longer than the header of one would be",
    "html": b"<!doctype html><html><body>404</body></html>",
    "mp3": b"\xff\xfb\x90\x64" + bytes(400),
    "mp3 tagged": b"ID3\x04" + bytes(400),
    "ogg": b"OggS\x00\x02" + bytes(400),
    "webm": b"\x1aE\xdf\xa3" + bytes(400),
    "flac": b"fLaC\x00\x00\x00\x22" + bytes(400),
    "avi": b"RIFF" + struct.pack("<I", 400) + b"AVI LIST" + bytes(400),
}


def made(recipe):
    if recipe in FIXED:
        return FIXED[recipe]
    how, *rest = recipe.split(maxsplit=1)
    if how == "cut":
        count, inner = rest[0].split(maxsplit=1)
        return made(inner)[: int(count)]
    if how in ("streamed", "zeroed"):
        whole = bytearray(made(rest[0]))
        whole[4:8] = whole[40:44] = b"\xff\xff\xff\xff" if how == "streamed" else bytes(4)
        return bytes(whole)
    if how == "listed":
        whole = made(rest[0])
        return whole[:36] + b"LIST" + struct.pack("<I", 5) + b"INFOx\0" + whole[36:]
    rate, seconds, *channels = rest[0].split()
    numbers = int(rate), float(seconds), int(channels[0]) if channels else 1
    if how == "pcm":
        return tone(*numbers)
    return wav(*numbers, width=3 if how == "wav24" else 2)


def opened(content):
    """(seconds, rate, samples) of a WAV whose header is true."""
    with wave.open(io.BytesIO(content)) as reader:
        assert reader.getsampwidth() == 2
        frames = reader.getnframes()
        samples = reader.readframes(frames)
        assert len(samples) == frames * 2 * reader.getnchannels(), "the header says how long it is"
        return frames / reader.getframerate(), reader.getframerate(), np.frombuffer(samples, "<i2")


def loudness(samples):
    return float(np.sqrt(np.mean(samples.astype(float) ** 2)))


def pitch(samples, rate):
    """The median fundamental frequency of what is voiced, by autocorrelation."""
    found = []
    size = rate // 20
    for start in range(0, len(samples) - size, size // 2):
        piece = samples[start : start + size].astype(float)
        piece -= piece.mean()
        if np.sqrt(np.mean(piece**2)) < 500:
            continue
        alike = np.correlate(piece, piece, "full")[size - 1 :]
        low, high = rate // 400, rate // 60
        period = low + int(alike[low:high].argmax())
        if alike[period] > 0.5 * alike[0]:
            found.append(rate / period)
    return float(np.median(found))
