"""Opens what turns speech into text and text into speech, as the settings say."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from soulgraph.errors import SpeechUnavailable
from soulgraph.settings import Settings
from soulgraph.voices.recognition import Recogniser, open_recogniser
from soulgraph.voices.synthesis import HOW_TO_HEAR, HOW_TO_SPEAK, Synthesiser, open_synthesiser

NOBODY_HEARS = SpeechUnavailable(f"no speech recogniser is configured: {HOW_TO_HEAR}")
NOBODY_SPEAKS = SpeechUnavailable(f"nothing here can speak: {HOW_TO_SPEAK}")


@dataclass(frozen=True, slots=True)
class SpeechPorts:
    recogniser: Recogniser | None = None
    synthesiser: Synthesiser | None = None

    @property
    def hearing(self) -> Recogniser:
        if self.recogniser is None:
            raise SpeechUnavailable(NOBODY_HEARS.detail)
        return self.recogniser

    @property
    def speaking(self) -> Synthesiser:
        if self.synthesiser is None:
            raise SpeechUnavailable(NOBODY_SPEAKS.detail)
        return self.synthesiser


@asynccontextmanager
async def open_speech(settings: Settings) -> AsyncIterator[SpeechPorts]:
    """Raises ConfigurationError with the name of the setting at fault. No server is asked anything yet."""
    _ = settings.speaker_table
    async with (
        open_recogniser(settings.stt) as recogniser,
        open_synthesiser(settings.tts, settings.tts_voice, settings.speech_timeout_s) as synthesiser,
    ):
        yield SpeechPorts(recogniser, synthesiser)
