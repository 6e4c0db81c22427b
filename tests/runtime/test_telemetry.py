import json
import os
import stat

import pytest

from soulgraph.errors import ConfigurationError
from soulgraph.runtime.ports import open_ports
from soulgraph.runtime.rotating_file import RotatingFile
from soulgraph.runtime.telemetry import JsonLines
from soulgraph.settings import Settings

SMALL_MB = 200 / 2**20


@pytest.fixture
def loose_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_the_file_and_its_rotations_are_the_owners_alone(tmp_path, loose_umask):
    with JsonLines.open(RotatingFile(tmp_path / "telemetry.jsonl", "telemetry", SMALL_MB, 5), lambda: 0.0) as lines:
        for n in range(10):
            lines.emit("turn.completed", session_id="s", n=n)
    modes = {path.name: mode_of(path) for path in tmp_path.iterdir()}
    assert {"telemetry.jsonl", "telemetry.jsonl.1", "telemetry.jsonl.2"} <= modes.keys()
    assert {*modes.values()} == {0o600}


async def test_it_is_written_with_any_database_into_a_folder_that_was_not_there(database_url, tmp_path, loose_umask):
    """Nothing else has to make the folder: with PostgreSQL there need be no data directory before."""
    file = tmp_path / "var" / "log" / "told.jsonl"
    settings = {"data_dir": tmp_path / "none yet", "database_url": database_url, "telemetry": str(file)}
    async with open_ports(Settings(**settings, _env_file=None), lambda: 0.0) as ports:
        ports.context.telemetry.emit("turn.completed", session_id="s")
    assert json.loads(file.read_text())["event"] == "turn.completed"
    assert (mode_of(file.parent), mode_of(file)) == (0o700, 0o600)


async def test_without_a_name_it_is_in_the_data_directory_which_is_made_with_any_database(database_url, tmp_path):
    settings = Settings(data_dir=tmp_path / "none yet", database_url=database_url, _env_file=None)
    async with open_ports(settings, lambda: 0.0) as ports:
        ports.context.telemetry.emit("turn.completed", session_id="s")
    assert json.loads((tmp_path / "none yet" / "telemetry.jsonl").read_text())["event"] == "turn.completed"


@pytest.mark.parametrize("place", ["file/folder/told.jsonl", "."])
async def test_a_file_that_was_asked_for_and_cannot_be_written_stops_the_start(place, sqlite_url, tmp_path):
    (tmp_path / "file").touch()
    settings = Settings(database_url=sqlite_url, telemetry=str(tmp_path / place), _env_file=None)
    with pytest.raises(ConfigurationError, match=r"SOULGRAPH_TELEMETRY: cannot write .*; name another file"):
        async with open_ports(settings, lambda: 0.0):
            pass


async def test_it_begins_a_new_file_at_the_size_and_keeps_as_many_as_the_settings_say(sqlite_url, tmp_path):
    limits = {"telemetry_max_mb": SMALL_MB, "telemetry_files": 2}
    settings = Settings(data_dir=tmp_path / "data", database_url=sqlite_url, **limits, _env_file=None)
    async with open_ports(settings, lambda: 0.0) as ports:
        for n in range(40):
            ports.context.telemetry.emit("turn.completed", session_id="s", n=n)
    files = sorted((tmp_path / "data").glob("telemetry.jsonl*"))
    assert [file.name for file in files] == ["telemetry.jsonl", "telemetry.jsonl.1", "telemetry.jsonl.2"]
    assert max(file.stat().st_size for file in files) <= 200
    assert json.loads(files[0].read_text().splitlines()[-1])["n"] == 39
