import re
from pathlib import Path

import pytest
import yaml

from soulgraph.soul.speakers import is_guest, person_heard

FOLDER = Path(__file__).parent
CASES = [
    pytest.param(case, id=f"{name}: {case['id']}")
    for name in ("open", "held", "fourth")
    for case in yaml.safe_load((FOLDER / f"speakers_{name}.yaml").read_text("utf-8"))
]


def heard(case):
    return person_heard(case["speakers"], case["known"], case.get("table", {}))


@pytest.mark.parametrize("case", CASES)
def test_a_voice_is_whom_it_is_known_to_be_and_else_a_guest(case):
    first, second = heard(case), heard(case)
    if case["person"] in ("guest", "same guest"):
        assert is_guest(first)
        assert first not in case["known"]
        assert re.fullmatch(r"[\w.:@-]{1,128}", first), "it is an id like any other"
        assert (first == second) == (case["person"] == "same guest")
    else:
        assert first == second == case["person"]


def test_voices_that_look_alike_as_ids_are_not_one_guest():
    assert len({person_heard([voice], [], {}) for voice in ("Ann Smith", "Ann_Smith", "Ann/Smith", "Ann?Smith")}) == 4
