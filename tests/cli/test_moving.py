"""Souls move from the command line, with a server and without one."""

import json
import re
from pathlib import Path

import pytest

from soulgraph.cli.hosting import hosted
from soulgraph.settings import Settings
from soulgraph.tests.cli.test_main import no_server_of_others, refused, soulgraph  # noqa: F401 - a fixture for all


def test_a_soul_goes_to_a_file_and_comes_back_under_another_name(tmp_path: Path) -> None:
    with hosted(Settings.load()) as url:
        soulgraph("soul", "create", "Mira", "--mbti", "INFJ", "--server", url)
        told = soulgraph("soul", "export", "Mira", "--server", url)
        assert re.search(r"Mira is in Mira\.jsonl \([\d,]+ bytes\)\.", told.stdout), told.output
        assert refused(soulgraph("soul", "export", "Mira", "--server", url), 1, "there is a file of this name already")
        nowhere = str(tmp_path / "no folder" / "mira.jsonl")
        assert refused(soulgraph("soul", "export", "Mira", nowhere, "--server", url), 1, "cannot be written to")
        assert refused(
            soulgraph("soul", "import", "Mira.jsonl", "--server", url), 1, "already has a soul called 'Mira'"
        )
        made = soulgraph("soul", "import", "Mira.jsonl", "--name", "Lin", "--server", url)
        assert made.stdout.startswith("Lin is there: soul_")
    assert [*tmp_path.glob("*.part")] == []


def test_without_a_server_one_is_there_for_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ")
    assert soulgraph("soul", "export", "Mira", "mira.jsonl").exit_code == 0
    monkeypatch.setenv("SOULGRAPH_DATA_DIR", str(tmp_path / "elsewhere"))
    assert soulgraph("soul", "import", "mira.jsonl").stdout.startswith("Mira is there: soul_")


def test_a_file_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "soul.jsonl"
    with hosted(Settings.load()) as url:
        soulgraph("soul", "create", "Mira", "--mbti", "INFJ", "--server", url)
        soulgraph("soul", "export", "Mira", str(file), "--server", url)
        lines = file.read_text().split("\n")
        for broken, about in {
            "{}": "line 1: this is no file of a soul",
            json.dumps({**json.loads(lines[0]), "version": 9}): "line 1: the file has version 9",
            "\n".join([lines[0], lines[1][:40]]): "line 2: this is no JSON",
        }.items():
            file.write_text(broken)
            assert refused(soulgraph("soul", "import", str(file), "--server", url), 1, about)


def test_a_folder_of_chats_is_shown_and_then_imported_once(tmp_path: Path) -> None:
    chats = tmp_path / "chats" / "Mira"
    chats.mkdir(parents=True)
    rows = [{"user_name": "Ann", "character_name": "Mira", "create_date": "2024-06-05@14h56m50s"}]
    rows += [{"name": "Ann", "is_user": True, "send_date": "June 5, 2024 2:57pm", "mes": f"line {n}"} for n in range(3)]
    (chats / "first.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (chats / "picture.png").write_bytes(b"\x89PNG")
    with hosted(Settings.load()) as url:
        soulgraph("soul", "create", "Mira", "--mbti", "INFJ", "--server", url)
        given = ("import", "chats", str(chats.parent), "--soul", "Mira", "--user", "ann", "--server", url)
        shown = soulgraph(*given, "--dry-run")
        assert re.search(r"sillytavern +3 +3 +2024-06-05 +first", shown.stdout), shown.output
        assert "1 conversations with 3 messages, 3 of them new" in shown.stdout
        assert soulgraph(*given).stdout == "Imported: 3 messages of 1 new conversations.\n"
        again = soulgraph(*given)
        assert again.stdout == "Imported: 0 messages of 0 new conversations; 3 were here already.\n"
        empty = tmp_path / "empty"
        empty.mkdir()
        assert refused(soulgraph("import", "chats", str(empty), "--soul", "Mira", "--server", url), 1, "no chats")


def test_a_backup_is_taken_and_put_into_an_empty_place_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soulgraph("soul", "create", "Mira", "--mbti", "INFJ")
    told = soulgraph("backup", "all.tar.gz")
    assert re.fullmatch(r"The backup is all\.tar\.gz \([\d,]+ bytes\)\.\n", told.stdout), told.output
    assert refused(soulgraph("backup", "all.tar.gz"), 1, "there is a file of this name already")
    assert refused(soulgraph("restore", "all.tar.gz"), 2, "is not empty: restore into an empty database")
    monkeypatch.setenv("SOULGRAPH_DATA_DIR", str(tmp_path / "elsewhere"))
    (tmp_path / "none.tar.gz").write_bytes(b"none")
    assert refused(soulgraph("restore", "none.tar.gz"), 1, "this is no backup")
    assert soulgraph("restore", "all.tar.gz").exit_code == 0
    assert "Mira" in soulgraph("soul", "list").stdout


def test_under_a_running_server_nothing_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "all.tar.gz").write_bytes(b"")
    with hosted(Settings.load()) as url:
        monkeypatch.setenv("SOULGRAPH_PORT", url.rpartition(":")[2])
        assert refused(soulgraph("restore", "all.tar.gz"), 2, "stop it before its data is restored")
