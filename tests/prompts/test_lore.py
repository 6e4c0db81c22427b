import pytest

from soulgraph.errors import InvalidInput
from soulgraph.prompts.lore import RECENT_MESSAGES, Lore, lore_of, triggered_entries

TOWER = Lore(id="tower", keys=("钟楼", "clock tower"), content="The clock stopped in the war.", priority=80)
ART = Lore(id="art", keys=("art", "C++"), content="Art is forbidden.", priority=20)
LAW = Lore(id="law", content="Nobody lies here.", constant=True, priority=50)


def chosen_ids(*said, entries=(ART, LAW, TOWER), limit=1000):
    return [entry.id for entry in triggered_entries(entries, said, limit)]


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
    assert ("tower" in chosen_ids(said)) == called


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
    assert ("art" in chosen_ids(said)) == called


def test_constant_entries_are_always_told_and_disabled_ones_never():
    assert chosen_ids("hello") == ["law"]
    off = [entry.model_copy(update={"enabled": False}) for entry in (LAW, ART)]
    assert chosen_ids("art", entries=off) == []


def test_only_what_was_said_lately_calls():
    assert chosen_ids("art", *["nothing"] * (RECENT_MESSAGES - 1)) == ["law", "art"]
    assert chosen_ids("art", *["nothing"] * RECENT_MESSAGES) == ["law"]


def test_the_highest_priority_comes_first_and_what_does_not_fit_is_left_out():
    assert chosen_ids("art at the clock tower") == ["tower", "law", "art"]
    assert chosen_ids("art at the clock tower", limit=len(TOWER.content) + len(ART.content)) == ["tower", "law"]
    assert chosen_ids("art at the clock tower", limit=len(LAW.content)) == ["law"]
    assert chosen_ids("art", limit=0) == []


def test_what_is_longer_than_all_the_room_is_told_in_part():
    saga = Lore(id="saga", keys=("saga",), content="The first ship sank. " * 20, priority=90)
    [chosen_ids] = triggered_entries([saga], ["tell me the saga"], 100)
    assert chosen_ids.content.startswith("The first ship sank.") and 60 < len(chosen_ids.content) <= 100


def test_an_entry_with_secondary_keys_needs_one_of_both():
    crew = Lore(id="crew", keys=("ship", "船"), secondary_keys=("ghost", "幽灵"), content="Nobody is aboard.")
    assert chosen_ids("the ghost on the ship", entries=[crew]) == chosen_ids("幽灵船", entries=[crew]) == ["crew"]
    assert chosen_ids("the ship", entries=[crew]) == chosen_ids("a ghost", entries=[crew]) == []


def test_a_pattern_calls_its_entry_where_words_cannot():
    ghost = Lore(id="ghost", keys=(r"gh?ost\s+ships?",), use_regex=True, content="Nobody is aboard.")
    assert chosen_ids("The GHOST  ship!", entries=[ghost]) == ["ghost"]
    assert chosen_ids(f"{'long ago ' * 100} a ghost ship", "and now?", entries=[ghost]) == ["ghost"]
    assert chosen_ids("the ship of a ghost", entries=[ghost]) == []


def test_a_pattern_that_takes_too_long_calls_nothing():
    evil = Lore(id="evil", keys=("(b|b)*[xy]",), use_regex=True, content="Never told.")
    assert chosen_ids("b" * 5000, entries=[evil, LAW]) == ["law"]


def test_patterns_that_cannot_be_searched_for_are_refused():
    for keys, why in ((["("], "does not compile"), (["a{9999}{9999}"], "repeats too much"), (["a"] * 9, "at most 8")):
        with pytest.raises(InvalidInput, match=rf"lore\.0: .*{why}"):
            lore_of({"lore": [{"id": "a", "keys": keys, "content": "x", "use_regex": True}]})


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
