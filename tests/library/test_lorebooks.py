"""Lorebooks of other programs: what of them becomes lore here, and what is said about the rest."""

import pytest

from soulgraph.errors import InvalidInput
from soulgraph.library.lorebooks import read_lorebook
from soulgraph.tests.library.cards.samples import V3

# As SillyTavern saves one.
DEFAULTS = {
    "vectorized": False,
    "selective": True,
    "selectiveLogic": 0,
    "addMemo": True,
    "order": 100,
    "position": 0,
    "disable": False,
    "excludeRecursion": False,
    "preventRecursion": False,
    "delayUntilRecursion": 0,
    "probability": 100,
    "useProbability": True,
    "depth": 4,
    "group": "",
    "groupWeight": 100,
    "scanDepth": None,
    "caseSensitive": None,
    "automationId": "",
    "role": None,
    "sticky": None,
    "cooldown": None,
    "delay": None,
    "characterFilter": {"isExclude": False, "names": [], "tags": []},
}


def entry(uid=0, **fields):
    return {"uid": uid, "key": ["reef"], "keysecondary": [], "comment": "", "content": "Ships.", **DEFAULTS, **fields}


def world(*entries):
    return {"entries": {str(n): one for n, one in enumerate(entries)}}


def read(data, char="Lumen"):
    book = read_lorebook(data, char)
    return [found.lore for found in book.entries], book.notes


def test_world_info_of_sillytavern_becomes_lore_in_its_order():
    lore, notes = read(
        world(
            entry(comment="The Reef", key=["reef", "暗礁"], content="{{char}} fears it. {{user}} does not.", order=250),
            entry(comment="灯塔 №1", key=["lamp"], keysecondary=["oil"], constant=True, disable=True, order=5000),
        )
    )
    assert lore == [
        {
            "id": "The_Reef",
            "keys": ["reef", "暗礁"],
            "secondary_keys": [],
            "use_regex": False,
            "content": "Lumen fears it. the user does not.",
            "enabled": True,
            "priority": 250,
            "constant": False,
        },
        {
            "id": "灯塔_1",
            "keys": ["lamp"],
            "secondary_keys": ["oil"],
            "use_regex": False,
            "content": "Ships.",
            "enabled": False,
            "priority": 1000,
            "constant": True,
        },
    ]
    assert notes == []


def test_only_keys_between_slashes_are_patterns_for_sillytavern():
    lore, _ = read(world(entry(key=["/ree+f/i", "C++", "a.b"]), entry(key=["C++", "(what)"])))
    assert [(one["keys"], one["use_regex"]) for one in lore] == [
        (["ree+f", r"C\+\+", r"a\.b"], True),
        (["C++", "(what)"], False),
    ]
    exported = {"keys": ["C++"] * 9, "content": "x", "use_regex": True, "extensions": {"useProbability": True}}
    pattern = {"keys": ["ree+f"], "content": "x", "use_regex": True}
    lore, _ = read({"entries": [exported, pattern]})
    assert [(one["keys"][0], one["use_regex"]) for one in lore] == [("C++", False), ("ree+f", True)]


def test_a_book_is_found_alone_in_a_card_and_in_a_lorebook_of_v3():
    book = V3["data"]["character_book"]
    shapes = [V3, book, {"character_book": book}, {"spec": "lorebook_v3", "data": book}]
    read_ones = [read(shape)[0] for shape in shapes]
    assert len(read_ones[0]) >= 2
    assert all(one == read_ones[0] for one in read_ones)


def test_a_world_without_a_character_speaks_of_one():
    lore, _ = read(world(entry(content="{{char}} lives here."), entry(content="{{char}}住在这里")), char=None)
    assert [one["content"] for one in lore] == ["the character lives here.", "角色住在这里"]


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"keysecondary": ["peace"], "selectiveLogic": 2}, "secondary keys that keep an entry out"),
        ({"keysecondary": ["a", "b"], "selectiveLogic": 3}, "all secondary keys are asked for"),
        ({"probability": 30}, "a probability: here the entry is always told (entries: 1)"),
        ({"key": []}, "no keys: never told"),
        ({"position": 4}, "not kept: position (entries: 1)"),
        ({"sticky": 3, "cooldown": 2}, "not kept: sticky (entries: 1), cooldown (entries: 1)"),
        ({"characterFilter": {"names": ["Ann"], "tags": []}}, "characterFilter (entries: 1)"),
        ({"caseSensitive": True}, "caseSensitive (entries: 1)"),
    ],
)
def test_what_means_something_else_here_is_said(fields, note):
    lore, notes = read(world(entry(**fields), entry()))
    assert len(lore) == 2
    [said] = notes
    assert note in said


def test_the_same_is_said_about_the_book_of_a_card():
    extensions = {"selectiveLogic": 1, "probability": 50, "useProbability": True, "scan_depth": 2}
    one = {"keys": ["reef"], "secondary_keys": ["peace"], "selective": True, "content": "x", "extensions": extensions}
    [lore], notes = read({"entries": [one]})
    assert lore["secondary_keys"] == []
    assert len(notes) == 3
    assert "scanDepth (entries: 1)" in notes[-1]


def test_entries_that_cannot_be_read_are_left_out_and_named():
    lore, notes = read(
        world(entry(comment="Blank", content="  "), entry(comment="Odd", key=[1]), entry(order="many"), "text", entry())
    )
    assert len(lore) == 1
    assert [note.partition(",")[0] for note in notes] == [
        "entries.0 (Blank): left out",
        "entries.1 (Odd): left out",
        "entries.2: left out",
        "entries.3: left out",
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "no lore `entries`"),
        ([], "no lore `entries`"),
        (None, "no lore `entries`"),
        ({"entries": "many"}, "no lore `entries`"),
        ({"entries": {}}, "is empty"),
        ({"entries": []}, "is empty"),
        ({"name": "Lumen", "description": "a V1 card"}, "no lore `entries`"),
        ({"spec": "chara_card_v2", "data": {"name": "Lumen"}}, "no lore `entries`"),
        ({"spec": "chara_card_v2", "data": "?"}, "no lore `entries`"),
        ({"spec": "lorebook_v3", "data": None}, "no lore `entries`"),
        ({"spec": "preset_v9", "data": {}}, "spec: is 'preset_v9'"),
    ],
)
def test_what_is_no_lorebook_is_refused(data, message):
    with pytest.raises(InvalidInput, match=message):
        read(data)
