"""Exports of other programs, in their formats: what is read of them, and what is left out."""

import json
import zipfile
from io import BytesIO
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.errors import InvalidInput
from soulgraph.library.chats.conversation import MAX_CONTENT, Conversation, Notes, SoulText
from soulgraph.library.chats.files import ChatReader, chat_files

HERE = Path(__file__).parent
CASES = [case for half in ("open", "held") for case in yaml.safe_load((HERE / f"cases_{half}.yaml").read_text("utf-8"))]
SHANGHAI = ZoneInfo("Asia/Shanghai")


def read(content: bytes, name: str, soul_name: str = ""):
    """(conversations with their lines, texts, notes)"""
    notes = Notes()
    conversations, texts = [], []
    for found in ChatReader(notes, SHANGHAI, soul_name).read(chat_files(BytesIO(content), name)):
        if isinstance(found, SoulText):
            texts.append(found)
        elif lines := list(found.lines):
            conversations.append((found, lines))
    return conversations, texts, notes


def told(conversation: Conversation, lines):
    messages = [[line.role, line.content, line.at] for line in lines]
    began = conversation.began(lines[0])
    return {
        "source": conversation.program,
        "id": conversation.id,
        "title": conversation.titled(lines[0]),
        "at": began,
        "messages": messages,
    }


def archive(**files: str) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name.replace("__", "/"), content)
    return packed.getvalue()


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_file_is_read_as_its_program_means_it(case):
    conversations, _, notes = read(case["content"].encode(), case["file"], case.get("soul_name", ""))
    assert [told(*found) for found in conversations] == case["expect"]
    assert notes.counts.total() == case.get("skipped", 0), notes.sentences()


def test_an_archive_is_read_file_by_file_and_what_is_no_chat_is_named():
    claude = next(case for case in CASES if case["id"].startswith("claude, an old"))["content"]
    packed = archive(
        **{"conversations.json": claude, "chat.html": "<html>", "x__.hidden__x.json": "{", "users.json": "[]"}
    )
    conversations, _, notes = read(packed, "export.zip")
    assert [found.id for found, _ in conversations] == ["u-3"]
    assert notes.sentences() == ["1 files left out that are no chats, like chat.html"]


def test_a_workspace_gives_its_persona_and_names_what_has_no_place():
    packed = archive(
        **{"ws__SOUL.md": "Be kind.", "ws__AGENTS.md": "Use git.", "ws__memory__2026-01-01.md": "- new year"}
    )
    conversations, texts, notes = read(packed, "ws.zip")
    assert texts == [SoulText("SOUL.md", b"Be kind.")]
    assert [found.id for found, _ in conversations] == ["memory/2026-01-01.md"]
    assert notes.counts == {"unused_file": 1}


def test_a_long_message_is_cut_and_that_is_said():
    row = {"name": "Ann", "is_user": True, "mes": "y" * 400_000}
    [(_, [line])], _, notes = read(json.dumps(row).encode(), "a.jsonl")
    assert len(line.content) == MAX_CONTENT + 2
    assert notes.sentences() == ["1 messages cut: of each the first 32,000 characters are kept"]


@pytest.mark.parametrize("content", [b"PK\x03\x04 and nothing", archive(a="1")[:-10]], ids=["no archive", "cut off"])
def test_a_damaged_archive_is_refused_in_a_sentence(content):
    with pytest.raises(InvalidInput, match="the archive is damaged"):
        read(content, "x.zip")


_WORDS = """
mapping chat_messages message author role content parts content_type metadata sender text name mes type id parent
children current_node create_time send_date conversations uuid attachments file_name swipes swipe_id parentId timestamp
user_name extra
"""
KEYS = _WORDS.split()


def test_a_member_that_is_damaged_inside_is_said_and_the_others_are_read():
    rows = "\n".join(json.dumps({"name": "Ann", "is_user": True, "mes": f"line {n} {'x' * n}"}) for n in range(3000))
    packed = bytearray(archive(**{"a.jsonl": rows, "b.jsonl": rows[:200], "conversations.json": "[]"}))
    packed[2000:2100] = bytes(100)
    conversations, _, notes = read(bytes(packed), "chats.zip")
    assert "b" in [found.id for found, _ in conversations]
    assert notes.counts["unreadable"] >= 1
    assert "a.jsonl" in notes.examples["unreadable"]


@pytest.mark.parametrize("day", ["0001-01-01", "1969-12-31", "9999-12-31"])
def test_a_note_about_a_day_that_cannot_be_kept_has_no_time(day):
    [(_, [line])], _, _ = read(f"- It began on {day}.".encode(), "memory/note.md")
    assert line.at is None


def test_an_archive_that_has_lost_bytes_in_its_middle_is_read_as_far_as_it_goes():
    """What is left of it stands, by its own directory, before its beginning."""
    packed = archive(**{"a.jsonl": "x" * 500, "conversations.json": "[]"})
    _, _, notes = read(packed[:4] + packed[60:], "chats.zip")
    assert "a.jsonl (negative seek value" in notes.examples["unreadable"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS) | st.text(max_size=3),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(JSON, st.sampled_from(["conversations.json", "a.jsonl", "memory/2026-01-01.md", "x.zip"]))
def test_whatever_comes_nothing_breaks(data, name):
    rows = data if isinstance(data, list) else [data]
    for text in (json.dumps(data), "\n".join(map(json.dumps, rows)), f"[{json.dumps(data)}"):
        for _, lines in read(text.encode(), name)[0]:
            assert all("\0" not in line.content and line.content.encode() for line in lines)


@given(st.binary(max_size=200), st.sampled_from(["conversations.json", "a.jsonl", "MEMORY.md", "SOUL.md", "x"]))
def test_no_bytes_break_it_either(content, name):
    try:
        read(content, name)
    except InvalidInput as error:
        assert error.detail.startswith("the archive is ")
