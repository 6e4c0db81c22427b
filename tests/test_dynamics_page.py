"""docs/dynamics.md says what the dynamics do: its numbers, tables and words are computed again."""

import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import get_args

import pytest

from soulgraph.soul.constants import DEFAULT
from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.gate import GateReason, judge
from soulgraph.soul.mood import Mood
from soulgraph.soul.personality import MBTI_TYPES, traits_of
from soulgraph.stores.factories import MODEL_VERSION
from soulgraph.tests.soul.test_stories import month, talk

PAGE = (Path(__file__).parent.parent / "docs" / "dynamics.md").read_text("utf-8")
GOLDEN = PAGE.partition("\n## Golden values\n")[2].partition("\n## ")[0]


def rows(text, head):
    """The cells of the table with this head, which begins with the name of its first columns."""
    body = text.partition(f"\n| {head}")[2].partition("\n\n")[0]
    return [line.strip("| ").split(" | ") for line in body.splitlines()[2:]]


def test_it_is_about_the_model_that_souls_are_stored_with():
    assert f"`{MODEL_VERSION}`" in PAGE.partition("\n\n")[2].partition("\n\n")[0]


def test_every_constant_is_listed_with_its_value():
    listed = re.findall(r"`(\w+)` (\([^)]+\)|[-\d.]+)", PAGE.partition("\n## Constants\n")[2])
    values = {name: tuple(map(float, re.findall(r"[-\d.]+", value))) for name, value in listed}
    constants = {name: value if isinstance(value, tuple) else (value,) for name, value in asdict(DEFAULT).items()}
    assert values == constants


def test_every_constant_that_a_formula_names_exists():
    formulas = PAGE.partition("\n## Appraisal\n")[2].partition("\n## Golden values\n")[0]
    named = set(re.findall(r"`([a-z]+_[a-z_0-9]+)`", formulas))
    assert len(named) > 40
    assert named <= {*asdict(DEFAULT), *get_args(GateReason), "auto_execute"}


@pytest.mark.parametrize("row", rows(GOLDEN, "type | threshold"), ids=lambda row: row[0])
def test_the_gate_of_each_mood_is_as_listed(row):
    mbti, threshold, *probabilities = row
    traits = traits_of(mbti)
    for z, probability in zip((0.5, 0.7, 0.8, 0.9, 0.95, 1.0), probabilities, strict=True):
        state = replace(born(traits, 0.0), p=-z, a=0.0, d=0.0, extreme_memory=0.0)
        gate = judge(traits, state, 0.0)
        assert (f"{gate.threshold:.3f}", f"{gate.exec_probability:.3f}") == (threshold, probability)


def test_each_type_recovers_is_blocked_and_is_locked_as_listed():
    listed = rows(GOLDEN, "type | half-life")
    assert [row[0] for row in listed] == list(MBTI_TYPES)
    for mbti, half_life, blocked, locked in listed:
        traits = traits_of(mbti)
        rest = born(traits, 0.0).p
        moved = replace(born(traits, 0.0), p=rest + 0.6)
        assert evolve(traits, moved, float(half_life)).p - rest == pytest.approx(0.3, abs=0.002)
        gates = list(talk(mbti, ["anger"] * 8))
        assert [gate.exec_mode for gate in gates].index("blocked") + 1 == int(blocked)
        assert [gate.locked for gate in gates].index(True) + 1 == int(locked)


@pytest.mark.parametrize("row", rows(GOLDEN, "type | of"), ids=lambda row: " ".join(row[:2]))
def test_a_month_leaves_the_drift_that_is_listed(row):
    mbti, said, *drift = row
    lived = month(mbti, {"thanks": "gratitude", "insults": "anger"}[said])
    assert [f"{value:+.2f}" for value in lived.drift] == drift


def test_every_reason_and_every_mood_is_named():
    reasons = [row[0].strip("`") for row in rows(PAGE, "reason | when")]
    [words] = re.findall(r"^The words: (.+)\.$", PAGE, re.MULTILINE)
    assert reasons == list(get_args(GateReason))
    assert words.split(", ") == list(get_args(Mood))


def test_a_state_of_v2_is_read_as_the_page_says():
    traits = traits_of("INFP")
    stored = replace(born(traits, 0.0), p=-0.4, shock_load=0.3, lock_until=60.0).to_dict()
    of_v2 = {name: value for name, value in stored.items() if name not in ("hurt", "sorrow", "worry", "warmth")}
    state = EmotionState.from_dict(of_v2)
    assert state.to_dict() == stored
    assert state.impressions == (0.0, 0.0, 0.0, 0.0)


def test_every_range_of_the_lock_that_a_story_names_is_that_of_the_constants():
    stories = PAGE.partition("\n## Stories\n")[2].partition("\n## ")[0]
    [cuts], [most] = re.findall(r"(\d+) to (\d+) %", stories), re.findall(r"beyond (\d+) s", stories)
    assert [int(cut) / 100 for cut in cuts] == [DEFAULT.soothe_cut_min, DEFAULT.soothe_cut_max]
    assert int(most) == DEFAULT.lock_max
