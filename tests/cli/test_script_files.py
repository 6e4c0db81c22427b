"""Scripts of sentences: how they are heard, and what those that ship do to souls."""

from pathlib import Path

import pytest

from soulgraph.cli.script_files import hear, read_script
from soulgraph.library.shipped import SCRIPTS
from soulgraph.soul.personality import MBTI_TYPES, traits_of
from soulgraph.soul.simulation import is_hostile, makes_good, play, spans

PAGE = Path(__file__).parents[2] / "docs" / "simulating.md"


def test_a_sentence_is_heard_by_the_built_in_recogniser():
    Path("s.yaml").write_text("- {at: 8, say: 'I am so happy, thank you!'}\n")
    (cue,) = read_script(Path("s.yaml"))
    assert (cue.words, cue.felt) == ("I am so happy, thank you!", hear("I am so happy, thank you!"))
    assert cue.felt.p > 0.5


def test_a_file_is_read_before_the_script_of_the_same_name_that_ships():
    assert len(read_script(Path("grief"))) == 7
    Path("grief").write_text("- {at: 8, emotion: sadness}\n")
    assert len(read_script(Path("grief"))) == 1


@pytest.mark.parametrize("name", ["insults", "insults_zh"])
def test_the_script_of_insults_insults_four_times(name):
    *insults, _ = read_script(Path(name))
    assert len(insults) == 4
    hurt = play(traits_of("INFP"), tuple(insults), 240.0, 1.0)
    assert spans(hurt, lambda sample: sample.gate.locked)


@pytest.mark.parametrize("name", ["insults", "insults_zh"])
def test_the_script_of_insults_ends_with_an_apology_that_shortens_the_lock(name):
    *insults, apology = script = read_script(Path(name))
    assert all(is_hostile(cue.felt) for cue in insults)
    assert makes_good(apology.felt)
    hurt, forgiven = (play(traits_of("INFP"), tuple(cues), 300.0, 1.0) for cues in (insults, script))
    [(_, late)], [(_, soon)] = (spans(run, lambda sample: sample.gate.locked) for run in (hurt, forgiven))
    assert 0.25 <= (soon - apology.at) / (late - apology.at) <= 0.80


@pytest.mark.parametrize("mbti", MBTI_TYPES)
@pytest.mark.parametrize("name", ["grief", "grief_zh"])
def test_a_soul_that_hears_of_grief_is_sad_and_still_turns_on_the_light(name, mbti):
    script = read_script(Path(name))
    samples = play(traits_of(mbti), script, script[-1].at, 4.0)
    assert all(sample.gate.exec_mode == "auto_execute" for sample in samples)
    assert samples[-1].mood in {"sad", "moved", "tender", "worried"}


@pytest.mark.parametrize("name", ["joy", "joy_zh"])
def test_a_soul_that_hears_of_joy_is_glad_and_never_locked(name):
    script = read_script(Path(name))
    for mbti in MBTI_TYPES:
        samples = play(traits_of(mbti), script, script[-1].at, 4.0)
        assert samples[-1].state.p > 0.1
        assert {sample.gate.reason for sample in samples} <= {None, "excited"}


def test_the_page_names_every_script_that_ships():
    names = {path.stem for path in SCRIPTS.glob("*.yaml")}
    assert {name.removesuffix("_zh") for name in names} == {"insults", "grief", "joy"}
    assert all(f"{name}_zh" in names for name in ("insults", "grief", "joy"))
    assert all(f"`{name}`" in PAGE.read_text("utf-8") for name in names)
