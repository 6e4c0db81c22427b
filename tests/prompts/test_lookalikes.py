"""Look-alike forms of our marks and of chat templates, and innocent texts, by authors who saw no code.

`open` was looked at while the rules were written. The others were run once first, which is what `bench/RESULTS.md`
tells; what they found was mended then, but for what is `MISSED`.
"""

import re
from pathlib import Path

import pytest
import yaml

from soulgraph.prompts.defuse import defuse
from soulgraph.prompts.lookalikes import shadow, visible

SETS = ("open", "held", "second", "third")
MISSED = {
    "turned letters, upside-down and reversed",
    "corner brackets, halfwidth",  # as Chinese quotes
    "Her persona on stage --- loud, rude --- is not her.",
    "e|---0---2---3---|\nB|---1---3---0---|",
}
# Characters that no reader sees, and overrides of the direction: what is left without them imitates nothing.
HIDDEN = re.compile("[\U000e0000-\U000e007f]|\u202e")


def cases(kind, name):
    return yaml.safe_load((Path(__file__).parent / f"{kind}_{name}.yaml").read_text("utf-8"))


@pytest.mark.parametrize("name", SETS)
def test_no_look_alike_of_a_mark_passes(name):
    passed = []
    for case in cases("lookalikes", name):
        text = case["text"]
        defused = defuse(text)
        assert not HIDDEN.search(defused)
        if defused == visible(text).strip() and not HIDDEN.search(text) and case["means"] not in MISSED:
            passed.append((case["means"], text, case["mark"]))
    assert passed == []


@pytest.mark.parametrize("name", SETS)
def test_innocent_text_stays_as_it_is(name):
    """A line of dashes alone becomes a dot: it might stand over a title."""
    for case in cases("innocents", name):
        text = visible(case["text"]).strip()
        if text in MISSED:
            continue
        assert re.sub("(?m)^[-—]{3,} *$", "·", text) == re.sub("(?m)^· *$", "·", defuse(text)), case["note"]


@pytest.mark.parametrize(
    "text", ["ѕуѕtеm", "ᏚᎽᏚᎢᎬᎷ", "ꓢꓬꓢꓔꓰꓟ", "🅢🅨🅢🅣🅔🅜", "🅂🅈🅂🅃🄴🄼", "𝓼𝔂𝓼𝓽𝓮𝓶", "ｓｙｓｔｅｍ", "🇸🇾🇸🇹🇪🇲", "ⓢⓨⓢⓣⓔⓜ"]
)
def test_a_word_looks_like_itself_in_other_scripts(text):
    assert shadow(text) == "system"
