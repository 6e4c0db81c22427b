"""People: who owns what a soul knows, and who may hear of it.

A person is a `user_id`. What somebody tells a soul is theirs: it belongs to that person, and others may know it only
if it was shared with them.
"""

from collections.abc import Collection, Iterable
from typing import Literal

DEFAULT_USER = "default"
"""Who speaks if nobody says who."""

EVERYONE = "*"
"""In `shared_with`: all people may know it."""

NOBODY = ""
"""The owner of what was kept before things had owners, if it cannot be told whose it is: no turn is built from it."""

Visibility = Literal["private", "shared"]


def may_know(audience: Collection[str], user_id: str, shared_with: Collection[str]) -> bool:
    """Whether all of the audience may know of something that belongs to `user_id`."""
    if EVERYONE in shared_with:
        return True
    knowing = {user_id, *shared_with}
    return user_id != NOBODY and all(person in knowing for person in audience)


def visibility_of(shared_with: Collection[str]) -> Visibility:
    return "shared" if shared_with else "private"


def others(user_id: str, people: Iterable[str]) -> tuple[str, ...]:
    """The people beside this one, each once, in order."""
    return tuple(sorted({*people} - {user_id}))
