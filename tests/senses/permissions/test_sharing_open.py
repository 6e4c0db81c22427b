"""Messages of somebody who had not seen the grammar: each is understood, or known to be missed."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from soulgraph.senses.permissions.permission import permission_in
from soulgraph.senses.permissions.resolve import people_meant
from soulgraph.soul.people import EVERYONE

CASES = yaml.safe_load((Path(__file__).parent / "sharing_open.yaml").read_text("utf-8"))
MIN_KINDS = 0.95
"""The share of messages whose kind is understood."""
MIN_OWN_CONTENT = 0.95

HELD = yaml.safe_load((Path(__file__).parent / "sharing_held.yaml").read_text("utf-8"))
"""Of the same author, and not looked at before the grammar was done."""
MIN_HELD_KINDS = 0.6
FAMILY = {
    "dad": "爸爸",
    "gran": "Grandma",
    "tom": "Tom",
    "mia": "Mia",
    "bob": "小明",
    "sis": "my sister",
    "boss": "老板",
}


def kind_of(share):
    return "list" if isinstance(share, list) else share


def kind_found(permission):
    if permission is None:
        return "none"
    if permission.kind == "private":
        return "private"
    return "everyone" if permission.people == (EVERYONE,) else "list"


@pytest.mark.parametrize("case", CASES, ids=[case["text"] for case in CASES])
def test_nothing_is_shared_that_was_not_permitted(case):
    permission = permission_in(case["text"])
    found = kind_found(permission)
    assert found in (kind_of(case["share"]), "none", "private")
    if found == "list":
        known = {f"person {number}": name for number, name in enumerate(case["share"])}
        assert people_meant(permission.people, known, "speaker") == tuple(known)


def test_most_messages_are_understood():
    kinds = Counter(kind_found(permission_in(case["text"])) == kind_of(case["share"]) for case in CASES)
    assert kinds[True] >= MIN_KINDS * len(CASES)


@pytest.mark.parametrize(
    "case", [case for case in HELD if case["share"] in ("none", "private")], ids=lambda case: case["text"]
)
def test_nobody_hears_what_was_not_permitted(case):
    """Where the grammar is wrong it takes a thing for a person: no person is meant then."""
    permission = permission_in(case["text"])
    assert permission is None or people_meant(permission.people, FAMILY, "speaker") == ()


def test_of_messages_that_nobody_looked_at_the_greater_part_is_understood():
    kinds = Counter(kind_found(permission_in(case["text"])) == kind_of(case["share"]) for case in HELD)
    assert kinds[True] >= MIN_HELD_KINDS * len(HELD)


def test_it_is_known_whether_a_message_holds_what_it_is_about():
    found = [(case["own_content"], permission_in(case["text"])) for case in CASES if case["share"] != "none"]
    right = [permission.own_content == expected for expected, permission in found if permission]
    assert sum(right) >= MIN_OWN_CONTENT * len(right)
