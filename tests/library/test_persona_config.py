import logging

import pytest

from soulgraph.errors import ConfigurationError
from soulgraph.library.persona_config import PersonaConfig, PersonaFile


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "persona.yaml"
    path.write_text("default_mode: idol\n", "utf-8")
    return path


def test_an_edit_is_in_force_the_next_time_somebody_asks(path):
    persona = PersonaFile(path)
    assert persona().default_mode == "idol"
    path.write_text("default_mode: strict\npersona_budget: 900\n", "utf-8")
    assert (persona().default_mode, persona().persona_budget) == ("strict", 900)


@pytest.mark.parametrize("broken", ["default_mode: strict\nno_such_setting: 1\n", "default_mode: [", None])
def test_an_edit_that_cannot_be_used_leaves_everything_as_it_was_and_is_told_once(path, broken, caplog):
    told = []
    persona = PersonaFile(path, told.append)
    if broken is None:
        path.unlink()
    else:
        path.write_text(broken, "utf-8")
    with caplog.at_level(logging.WARNING):
        assert persona() == persona() == PersonaConfig(default_mode="idol")
    assert len(told) == len(caplog.records) == 1
    assert str(path) in told[0]
    path.write_text("default_mode: rational\n", "utf-8")
    assert persona().default_mode == "rational"


def test_a_file_that_cannot_be_used_at_the_start_is_refused(path):
    path.write_text("default_mode: merry\n", "utf-8")
    with pytest.raises(ConfigurationError):
        PersonaFile(path)


def test_one_switch_turns_off_all_that_changes_by_what_is_said():
    static = PersonaConfig(static=True, dynamic_modes=True, write_back=True, recalled=5, persona_budget=4000)
    assert (static.dynamic_modes, static.write_back, static.recalled, static.persona_budget) == (False, False, 0, 1500)


@pytest.mark.parametrize("scope", ["global", "soul", "off"])
def test_for_whom_events_are_drawn_is_written_as_it_is_named(path, scope):
    path.write_text(f"events: {scope}\n")
    assert PersonaConfig.read(path).events == scope
