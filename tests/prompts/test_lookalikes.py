"""Look-alike forms of our marks and of chat templates, and innocent texts, by an author who saw no code.

The halves were kept apart: the open one was looked at while the rules were written, the held one was not.
"""

import re
from pathlib import Path

import pytest
import yaml

from soulgraph.prompts.defuse import defuse
from soulgraph.prompts.lookalikes import shadow, visible

HALVES = ("open", "held")
# Characters that no reader sees, and overrides of the direction: what is left without them imitates nothing.
HIDDEN = re.compile("[\U000e0000-\U000e007f]|\u202e")


def cases(name, half):
    return yaml.safe_load((Path(__file__).parent / f"{name}_{half}.yaml").read_text("utf-8"))


@pytest.mark.parametrize("half", HALVES)
def test_no_look_alike_of_a_mark_passes(half):
    passed = []
    for case in cases("lookalikes", half):
        text = case["text"]
        defused = defuse(text)
        assert not HIDDEN.search(defused)
        if defused == visible(text).strip() and not HIDDEN.search(text):
            passed.append((case["means"], text, case["mark"]))
    assert passed == []


@pytest.mark.parametrize("half", HALVES)
def test_innocent_text_stays_as_it_is(half):
    """A line of dashes alone becomes a dot: it might stand over a title."""
    for case in cases("innocents", half):
        text = visible(case["text"]).strip()
        assert re.sub("(?m)^[-—]{3,} *$", "·", text) == re.sub("(?m)^· *$", "·", defuse(text)), case["note"]


@pytest.mark.parametrize(
    "text", ["ѕуѕtеm", "ᏚᎽᏚᎢᎬᎷ", "ꓢꓬꓢꓔꓰꓟ", "🅢🅨🅢🅣🅔🅜", "🅂🅈🅂🅃🄴🄼", "𝓼𝔂𝓼𝓽𝓮𝓶", "ｓｙｓｔｅｍ", "🇸🇾🇸🇹🇪🇲", "ⓢⓨⓢⓣⓔⓜ"]
)
def test_a_word_looks_like_itself_in_other_scripts(text):
    assert shadow(text) == "system"
