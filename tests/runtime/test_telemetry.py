import os
import stat

from soulgraph.runtime import telemetry
from soulgraph.runtime.telemetry import JsonLines


def test_the_file_and_its_rotations_are_the_owners_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(telemetry, "MAX_FILE", 200)
    before = os.umask(0o022)
    try:
        with JsonLines.open(tmp_path / "telemetry.jsonl", lambda: 0.0) as lines:
            for n in range(10):
                lines.emit("turn.completed", session_id="s", n=n)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert {"telemetry.jsonl", "telemetry.jsonl.1", "telemetry.jsonl.2"} <= modes.keys()
    assert {*modes.values()} == {0o600}
