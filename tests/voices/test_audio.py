from pathlib import Path

import numpy as np
import pytest
import yaml

from soulgraph.errors import InvalidInput
from soulgraph.tests.voices.audio_samples import FIXED, made, opened, pitch, tone
from soulgraph.voices.audio import check_audio, resampled, wav_of, with_true_length

FOLDER = Path(__file__).parent
CASES = [
    pytest.param(case, id=f"{name}: {case['id']}")
    for name in ("open", "held")
    for case in yaml.safe_load((FOLDER / f"audio_{name}.yaml").read_text("utf-8"))
]


@pytest.mark.parametrize("case", CASES)
def test_a_recording_is_what_it_is_called_or_is_refused_with_a_reason(case):
    content = made(case["make"])
    if "error" in case:
        with pytest.raises(InvalidInput, match=case["error"]):
            check_audio(case["format"], content[:4096], len(content))
    else:
        seconds = check_audio(case["format"], content[:4096], len(content))
        assert seconds == (None if case["seconds"] is None else pytest.approx(case["seconds"], abs=0.001))


def test_samples_become_a_file_that_says_how_long_it_is():
    seconds, rate, samples = opened(wav_of(tone(16000, 0.5), 16000))
    assert (seconds, rate) == (0.5, 16000)
    assert pitch(samples, rate) == pytest.approx(440, rel=0.05) or pitch(samples, rate) == pytest.approx(220, rel=0.05)


@pytest.mark.parametrize("recipe", ["streamed wav 22050 0.5", "zeroed wav 22050 0.5", "cut 10000 wav 22050 0.5"])
def test_a_wav_from_a_pipe_gets_its_true_length(recipe):
    content = made(recipe)
    seconds, rate, _ = opened(with_true_length(content))
    assert seconds == pytest.approx((len(content) - 44) / 2 / rate, abs=0.001)


def test_what_is_no_wav_is_left_as_it_is():
    assert with_true_length(FIXED["mp3"]) == FIXED["mp3"]


def test_another_rate_keeps_how_long_and_how_high_it_is():
    given = tone(22050, 1.0)
    changed = np.frombuffer(resampled(given, 22050, 24000), "<i2")
    assert len(changed) == 24000
    assert pitch(changed, 24000) == pytest.approx(pitch(np.frombuffer(given, "<i2"), 22050), rel=0.03)
    assert resampled(given, 22050, 22050) is given
