"""Lorebooks of other programs: what of them becomes lore here, and what is said about the rest."""

import pytest

from soulgraph.api.cards import flaw_of_pattern
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


def test_entries_without_content_are_left_out_and_odd_values_are_understood_and_named():
    lore, notes = read(
        world(
            entry(comment="Blank", content="  "),
            entry(comment="Odd", key=[1], order="70", constant="true"),
            entry(order="many"),
            "text",
            entry(key="reef, ship，暗礁"),
        )
    )
    assert [(one["id"], one["keys"], one["priority"], one["constant"]) for one in lore] == [
        ("Odd", ["1"], 70, True),
        ("lore.2", ["reef"], 50, False),
        ("lore.4", ["reef", "ship", "暗礁"], 100, False),
    ]
    assert notes == [
        "entries.0 (Blank): left out, because it has no content",
        "entries.3: left out, because it is no entry",
        "key: is no text but a number, and was read as one",
        "order: is no number, and is left out",
    ]


def test_a_memory_book_of_agnai_becomes_lore():
    docks = {"name": "Docks", "entry": "{{char}} fears them.", "keywords": ["dock*", "harbour"], "priority": 7}
    entries = [
        {**docks, "weight": 3, "enabled": True},
        {"name": "Off", "entry": "x", "keywords": ["a"], "priority": 0, "weight": 9, "enabled": False},
    ]
    for book in (
        {"kind": "memory", "name": "b", "entries": entries},
        {"entries": entries},
        {"characterBook": {"entries": entries}},
    ):
        lore, notes = read(book)
        assert [(one["id"], one["keys"], one["use_regex"], one["priority"], one["enabled"]) for one in lore] == [
            ("Docks", [r"\bdock\w*\b", r"\bharbour\b"], True, 7, True),
            ("Off", ["a"], False, 0, False),
        ]
        assert (lore[0]["content"], notes) == ("Lumen fears them.", [])


def test_a_lorebook_of_risuai_becomes_lore():
    tide = {
        "key": "tide, 潮",
        "secondkey": "moon",
        "selective": True,
        "comment": "Tide",
        "content": "It turns.",
        "mode": "normal",
    }
    lore, notes = read({"type": "risu", "ver": 1, "data": [{**tide, "alwaysActive": False, "insertorder": 200}]})
    assert notes == []
    assert (
        lore[0].items() >= {"id": "Tide", "keys": ["tide", "潮"], "secondary_keys": ["moon"], "priority": 200}.items()
    )


def novel(**fields):
    return {"text": "Ships.", "displayName": "Reef", "keys": ["reef"], "enabled": True, "category": "", **fields}


def test_a_lorebook_of_novelai_becomes_lore_alone_in_a_scenario_and_in_a_story():
    book = {
        "lorebookVersion": 5,
        "entries": [
            novel(keys=["reef & ship"], contextConfig={"budgetPriority": 400}),
            novel(displayName="Off", keys=["/ree+f/i"], category="c", searchRange=3000, forceActivation=True),
        ],
        "categories": [{"id": "c", "enabled": False}],
    }
    for shape in (book, {"scenarioVersion": 2, "prompt": "x", "lorebook": book}, {"content": {"lorebook": book}}):
        lore, notes = read(shape)
        assert [(one["id"], one["keys"], one["secondary_keys"], one["priority"]) for one in lore] == [
            ("Reef", ["reef"], ["ship"], 400),
            ("Off", ["ree+f"], [], 50),
        ]
        assert [(one["use_regex"], one["enabled"], one["constant"]) for one in lore] == [
            (False, True, False),
            (True, False, True),
        ]
        assert notes == ["not kept: searchRange (entries: 1)"]


def test_world_info_of_koboldai_becomes_lore():
    reef = {"key": "reef,暗礁", "keysecondary": "ship", "keyanti": "peace", "content": "Sharp.", "selective": True}
    lite = {"worldinfo": [{**reef, "probability": "100", "constant": False, "widisabled": True}]}
    united = {"worldinfo_v2": {"folders": {}, "entries": {"3": {**reef, "key": ["reef", "暗礁"]}}}}
    for shape, enabled in ((lite, False), (united, True)):
        [one], notes = read(shape)
        assert (one["keys"], one["secondary_keys"], one["enabled"]) == (["reef", "暗礁"], ["ship"], enabled)
        assert notes == [
            "keys that keep an entry out (keyanti): here it is told whenever one of its keys is said (entries: 1)"
        ]


def test_a_pattern_in_a_text_of_keys_may_have_commas():
    risu = {"content": "x", "useRegex": True, "alwaysActive": False, "insertorder": 1}
    lore, _ = read({"type": "risu", "data": [{**risu, "key": "/a{1,3}b/i, /c,d/"}, {**risu, "key": "/usr, /bin"}]})
    assert [one["keys"] for one in lore] == [["a{1,3}b", "c,d"], ["/usr", "/bin"]]


def test_a_list_of_entries_is_a_lorebook_too():
    lore, _ = read([entry(), {"keys": ["lamp"], "content": "Lit."}])
    assert [one["keys"] for one in lore] == [["reef"], ["lamp"]]


def test_settings_and_decorators_without_effect_are_said():
    book = {"scan_depth": 3, "entries": [{"keys": ["a"], "content": "@@depth 4\n@@exclude_keys war\nx"}]}
    _, notes = read(book)
    assert notes == ["not kept: @@depth (entries: 1), @@exclude_keys (entries: 1), scan_depth"]


def test_what_is_too_long_is_cut_and_patterns_that_cannot_be_searched_for_are_left_out():
    book = world(
        entry(comment="Long", content="A ship. " * 600),
        entry(comment="Slow", key=["/(a+)+$/", "/re+f/"]),
        entry(comment="Many", key=[f"key {n}" for n in range(51)]),
        entry(comment="Wide", key=["x" * 201, "reef"]),
    )
    found = read_lorebook(book, "Lumen", flaw_of_pattern)
    assert [len(one.lore["keys"]) for one in found.entries] == [1, 1, 50, 1]
    assert found.notes == [
        "entries.0 (Long): 3,999 of 4,799 characters are kept, at most 4,000 can be",
        "entries.1 (Slow).keys: '(a+)+$' is left out, because it takes too long to search for: "
        "leave it fewer ways to match",
        "entries.2 (Many).keys: at most 50 keys are kept, 1 are left out: 'key 50'",
        "entries.3 (Wide).keys: 1 are left out: at most 200 characters each",
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
