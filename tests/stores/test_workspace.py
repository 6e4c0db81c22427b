import os

import pytest

from soulgraph.errors import InvalidInput
from soulgraph.stores.workspace import MAX_BYTES, Workspaces
from soulgraph.tests.stores.samples import soul


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "data" / "souls" / "soul_1"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def workspaces(tmp_path):
    return Workspaces(tmp_path / "data")


def read(workspaces, soul_id="soul_1", user_id="user_1"):
    return workspaces.read(soul(soul_id), user_id)


def test_a_workspace_is_read_as_it_is(folder, workspaces):
    front = "---\ntitle: 'SOUL.md template'\nread_when:\n  - every session\n---\n\n"
    (folder / "SOUL.md").write_text(f"{front}# SOUL.md\n\n_You're not a chatbot._\n\n---\n\nBe kind.\n", "utf-8")
    (folder / "IDENTITY.md").write_bytes("\ufeff- **Name:** 小满\r\n- **Emoji:** 🌾\r\n".encode())
    (folder / "USER.md").write_text(" \n\n", "utf-8")
    (folder / "AGENTS.md").write_text("not about the persona", "utf-8")
    assert read(workspaces) == {
        "SOUL.md": "# SOUL.md\n\n_You're not a chatbot._\n\n---\n\nBe kind.",
        "IDENTITY.md": "- **Name:** 小满\n- **Emoji:** 🌾",
    }


def test_a_soul_without_files_has_none(workspaces):
    assert read(workspaces) == {}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("---\na: b\n---\nHi", "Hi"),
        ("---\na: b\n---", ""),
        ("---\nno end\nHi", "---\nno end\nHi"),
        ("Hi\n---\na: b\n---\n", "Hi\n---\na: b\n---"),
        ("---\r\na: b\r\n---\r\nHi", "Hi"),
    ],
)
def test_only_front_matter_at_the_top_is_left_out(folder, workspaces, text, kept):
    (folder / "SOUL.md").write_bytes(text.encode())
    assert read(workspaces).get("SOUL.md", "") == kept


def test_a_changed_file_is_read_again_and_only_then(folder, workspaces):
    path = folder / "USER.md"
    path.write_text("likes tea", "utf-8")
    os.utime(path, ns=(1, 1))
    assert read(workspaces) == {"USER.md": "likes tea"}
    with path.open("r+") as file:
        file.write("LIKES TEA")
    os.utime(path, ns=(1, 1))
    assert read(workspaces) == {"USER.md": "likes tea"}
    os.utime(path, ns=(2, 2))
    assert read(workspaces) == {"USER.md": "LIKES TEA"}
    path.write_text("likes tea and rain", "utf-8")
    os.utime(path, ns=(2, 2))
    assert read(workspaces) == {"USER.md": "likes tea and rain"}
    path.unlink()
    assert read(workspaces) == {}


def test_what_is_not_utf8_is_left_out_with_a_warning(folder, workspaces, caplog):
    (folder / "SOUL.md").write_bytes("善良".encode("gbk"))
    (folder / "USER.md").write_text("fine", "utf-8")
    assert read(workspaces) == {"USER.md": "fine"}
    assert read(workspaces) == {"USER.md": "fine"}
    assert [record.message.partition("SOUL.md was not read: ")[2] for record in caplog.records] == [
        "it is not UTF-8 (byte 0)"
    ]


def test_of_a_long_file_the_beginning_is_read_in_whole_characters(folder, workspaces, caplog):
    (folder / "SOUL.md").write_text("善" * MAX_BYTES, "utf-8")
    assert read(workspaces) == {"SOUL.md": "善" * (MAX_BYTES // 3)}
    assert "only its beginning is used" in caplog.text


def test_links_lead_nowhere_outside_of_the_souls_own_folder(folder, workspaces, tmp_path, caplog):
    secret = tmp_path / "secret.md"
    secret.write_text("secret", "utf-8")
    other = folder.parent / "soul_2"
    other.mkdir()
    (other / "USER.md").write_text("another's", "utf-8")
    (folder / "notes.md").write_text("my own", "utf-8")
    (folder / "SOUL.md").symlink_to(secret)
    (folder / "USER.md").symlink_to(other / "USER.md")
    (folder / "IDENTITY.md").symlink_to("notes.md")
    (folder.parent / "soul_3").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "SOUL.md").write_text("elsewhere", "utf-8")
    assert read(workspaces) == {"IDENTITY.md": "my own"}
    assert read(workspaces, "soul_3") == {}
    assert caplog.text.count("must be a plain file in its soul's own folder") == 3


def test_what_is_no_plain_file_is_not_opened(folder, workspaces):
    (folder / "SOUL.md").mkdir()
    os.mkfifo(folder / "USER.md")
    (folder / "IDENTITY.md").symlink_to("IDENTITY.md")
    assert read(workspaces) == {}


def test_a_data_directory_may_be_a_link(folder, tmp_path):
    (folder / "SOUL.md").write_text("Be kind.", "utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "data")
    assert read(Workspaces(tmp_path / "link")) == {"SOUL.md": "Be kind."}


@pytest.mark.parametrize(
    "soul_id", ["..", ".", "", "...", "../souls/soul_1", "a/b", "a\\b", "/etc", "a\x00b", "a\n", "x" * 129]
)
def test_a_soul_id_is_no_path(workspaces, soul_id):
    with pytest.raises(InvalidInput):
        read(workspaces, soul_id)


def test_what_is_written_about_a_person_is_for_that_person_alone(folder, workspaces):
    (folder / "SOUL.md").write_text("Be kind.", "utf-8")
    (folder / "USER.md").write_text("about its own user", "utf-8")
    for user_id in ("ann", "林"):
        (folder / "people" / user_id).mkdir(parents=True)
        (folder / "people" / user_id / "USER.md").write_text(f"about {user_id}", "utf-8")
    files = {user_id: read(workspaces, user_id=user_id) for user_id in ("user_1", "ann", "林", "bob", None)}
    assert {user_id: found.pop("USER.md", None) for user_id, found in files.items()} == {
        "user_1": "about its own user",
        "ann": "about ann",
        "林": "about 林",
        "bob": None,
        None: None,
    }
    assert list(files.values()) == [{"SOUL.md": "Be kind."}] * 5


@pytest.mark.parametrize("user_id", ["", ".", "..", "../..", "a/../ann", "/", "ann\n", "ann/", "*"])
def test_a_person_is_no_path(folder, workspaces, user_id):
    (folder / "people" / "ann").mkdir(parents=True)
    for path in (folder / "USER.md", folder / "people" / "USER.md", folder / "people" / "ann" / "USER.md"):
        path.write_text("somebody else's", "utf-8")
    assert read(workspaces, user_id=user_id) == {}
