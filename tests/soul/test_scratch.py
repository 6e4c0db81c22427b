"""A soul's working notes: added to or replaced, and never longer than they may be."""

from soulgraph.soul.scratch import MAX_SCRATCH, noted


def note(text, replace=False):
    return {"text": text, "replace": replace}


def test_a_note_is_added_after_the_others_or_takes_their_place():
    assert noted("", [note("ask about the exam")]) == "ask about the exam"
    assert noted("one", [note("two"), note("three")]) == "one\ntwo\nthree"
    assert noted("one", [note("new", replace=True), note("and more")]) == "new\nand more"
    assert noted("one", [note("", replace=True)]) == ""


def test_the_oldest_lines_give_way():
    full = "\n".join(f"{n}: " + "x" * 96 for n in range(100))
    kept = noted(full, [note("the newest")])
    assert len(kept) <= MAX_SCRATCH
    assert kept.endswith("the newest")
    assert "0: " not in kept.splitlines()[0][:3]
