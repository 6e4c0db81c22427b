import os
import stat
from pathlib import Path

import pytest

from soulgraph.runtime.data_dir import make_data_dir, private_umask, tighten


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_is_the_owners_alone_and_its_parents_are_as_always(tmp_path):
    make_data_dir(tmp_path / "var" / "data")
    (tmp_path / "plain").mkdir()
    assert mode_of(tmp_path / "var" / "data") == 0o700
    assert mode_of(tmp_path / "var") == mode_of(tmp_path / "plain")


def test_only_the_rights_of_others_are_taken(tmp_path):
    for name, mode in {"read_only": 0o444, "program": 0o755, "shared": 0o666, "private": 0o600}.items():
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    tighten(tmp_path)
    modes = {path.name: mode_of(path) for path in tmp_path.iterdir()}
    assert modes == {"read_only": 0o400, "program": 0o700, "shared": 0o600, "private": 0o600}


def test_what_links_lead_to_is_left_alone(tmp_path):
    folder, outside = tmp_path / "data", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir(0o755)
    (outside / "file").touch()
    (outside / "file").chmod(0o644)
    (folder / "folder").symlink_to(outside)
    (folder / "file").symlink_to(outside / "file")
    (folder / "nothing").symlink_to(tmp_path / "nothing")
    tighten(folder)
    assert (mode_of(outside), mode_of(outside / "file")) == (0o755, 0o644)


def test_a_folder_may_itself_be_a_link(tmp_path):
    (tmp_path / "disk").mkdir(0o755)
    (tmp_path / "disk" / "file").touch()
    (tmp_path / "data").symlink_to(tmp_path / "disk")
    tighten(tmp_path / "data")
    assert (mode_of(tmp_path / "disk"), mode_of(tmp_path / "disk" / "file")) == (0o700, 0o600)


def test_what_belongs_to_somebody_else_is_one_warning_that_says_what_to_do(tmp_path, monkeypatch, caplog):
    for name in ("one", "two", "mine"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o600 if name == "mine" else 0o644)

    def refuse(path, mode):
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "chmod", refuse)
    tighten(tmp_path)
    [warning] = caplog.records
    assert "and 1 more" in warning.message
    assert f"chmod -R go-rwx {tmp_path}" in warning.message
    assert "mine" not in warning.message


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_the_umask_is_ours_for_a_while(tmp_path, umask):
    before = os.umask(umask)
    try:
        with private_umask():
            (tmp_path / "during").touch()
        (tmp_path / "after").touch()
    finally:
        os.umask(before)
    assert (mode_of(tmp_path / "during"), mode_of(tmp_path / "after")) == (0o600, 0o666 & ~umask)
