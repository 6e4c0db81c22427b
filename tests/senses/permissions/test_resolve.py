"""A name means the one person whom it fits; nobody is guessed."""

import pytest

from soulgraph.senses.permissions.resolve import people_meant
from soulgraph.soul.people import EVERYONE

KNOWN = {
    "ann": "Annie",
    "bob": "Robert",
    "u3": "Bob",
    "u4": "小明",
    "u5": "陈先生",
    "u6": "Mrs Lee",
    "u7": "Sam",
    "u8": "sam",
    "u9": None,
    "u10": "Grandma Rose",
    "u11": "奶奶",
    "u12": "王老师",
}


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("ANN", "ann"),
        ("an n", "ann"),
        ("ａｎｎｉｅ", "ann"),
        ("Robert", "bob"),
        ("Bob", "bob"),
        ("小明", "u4"),
        ("小明哥", "u4"),
        ("小 明", "u4"),
        ("陳先生", "u5"),
        ("陈", "u5"),
        ("Lee", "u6"),
        ("mrs. lee", "u6"),
        ("grandma  rose", "u10"),
        ("我奶奶", "u11"),
        ("王", "u12"),
        ("U9", "u9"),
    ],
)
def test_a_name_is_an_id_or_what_somebody_is_called(name, person):
    assert people_meant([name], KNOWN, "speaker") == (person,)


@pytest.mark.parametrize(
    "name", ["Sam", "Carla", "Mr Lee", "陈太太", "Grandma", "Rose", "", "  ", "my sister", "大哥", "小明妈妈"]
)
def test_a_name_that_fits_nobody_or_several_means_nobody(name):
    assert people_meant([name], KNOWN, "speaker") == ()


def test_the_speaker_is_left_out_and_nobody_is_named_twice():
    assert people_meant(["Annie", "Bob", "bob", "Robert"], KNOWN, "ann") == ("bob",)


def test_everyone_stays_everyone():
    assert people_meant([EVERYONE], KNOWN, "ann") == (EVERYONE,)
    assert people_meant([EVERYONE], {}, "ann") == (EVERYONE,)
