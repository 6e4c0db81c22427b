"""The scratch area: a soul's working notes, one to a line, of bounded size."""

from collections.abc import Iterable

from typing_extensions import TypedDict

MAX_SCRATCH = 2000
"""Characters of all notes together."""
MAX_NOTE = 500


class Note(TypedDict):
    """What the soul writes down in a turn: after what is there, or instead of it."""

    text: str
    replace: bool


def noted(scratch_area: str, notes: Iterable[Note]) -> str:
    """The notes with the new ones. If they become too long, the oldest lines give way."""
    for note in notes:
        scratch_area = note["text"] if note["replace"] else f"{scratch_area}\n{note['text']}"
    lines = [line for line in scratch_area.splitlines() if line.strip()]
    while len("\n".join(lines)) > MAX_SCRATCH:
        del lines[0]
    return "\n".join(lines)
