import pytest

from soulgraph.errors import InvalidInput
from soulgraph.prompts.lore import RECENT, Lore, lore_of, touched

TOWER = Lore(id="tower", keys=("钟楼", "clock tower"), content="The clock stopped in the war.", priority=80)
ART = Lore(id="art", keys=("art", "C++"), content="Art is forbidden.", priority=20)
LAW = Lore(id="law", content="Nobody lies here.", constant=True, priority=50)


def told(*said, entries=(ART, LAW, TOWER), limit=1000):
    return [entry.id for entry in touched(entries, said, limit)]


@pytest.mark.parametrize(
    ("said", "called"),
    [
        ("我们去钟楼看看吧", True),
        ("Meet me at the CLOCK TOWER.", True),
        ("the clock towers above us", False),
        ("the clock  tower", False),
        ("敲钟，上楼", False),
    ],
)
def test_a_key_calls_its_entry(said, called):
    assert ("tower" in told(said)) == called


@pytest.mark.parametrize(
    ("said", "called"),
    [
        ("I love art", True),
        ("我喜欢Art啊", True),
        ("Art!", True),
        ("start the party", False),
        ("artist", False),
        ("I write C++ at night", True),
        ("C+", False),
    ],
)
def test_words_must_stand_alone_and_case_does_not_matter(said, called):
    assert ("art" in told(said)) == called


def test_constant_entries_are_always_told_and_disabled_ones_never():
    assert told("hello") == ["law"]
    off = [entry.model_copy(update={"enabled": False}) for entry in (LAW, ART)]
    assert told("art", entries=off) == []


def test_only_what_was_said_lately_calls():
    assert told("art", *["nothing"] * (RECENT - 1)) == ["law", "art"]
    assert told("art", *["nothing"] * RECENT) == ["law"]


def test_the_highest_priority_comes_first_and_what_does_not_fit_is_left_out():
    assert told("art at the clock tower") == ["tower", "law", "art"]
    assert told("art at the clock tower", limit=len(TOWER.content) + len(ART.content)) == ["tower", "law"]
    assert told("art at the clock tower", limit=len(LAW.content)) == ["law"]
    assert told("art", limit=0) == []


def test_lore_is_read_from_a_preset():
    entry = {"id": "tower", "keys": ["钟楼"], "content": "It stopped."}
    assert lore_of({"lore": [entry]}) == [Lore(id="tower", keys=("钟楼",), content="It stopped.")]
    assert lore_of({"name": "no lore"}) == []


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"keys": ["x"], "content": "y"}, r"lore\.0\.id"),
        ({"id": "a", "keys": [""], "content": "y"}, r"lore\.0\.keys\.0"),
        ({"id": "a", "keys": ["x"], "content": " "}, r"lore\.0\.content"),
        ({"id": "a", "content": "y", "order": 1}, r"lore\.0\.order"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_place(wrong, where):
    with pytest.raises(InvalidInput, match=where):
        lore_of({"lore": [wrong]})
