"""The stemmer of English words."""

import threading

import snowballstemmer  # type: ignore[import-untyped]


class _Stemmers(threading.local):
    """One for each thread: a stemmer keeps the word that it works on, and texts are read on several threads."""

    def __init__(self) -> None:
        self.english = snowballstemmer.stemmer("english")


_stemmers = _Stemmers()


def stemmer() -> snowballstemmer.stemmer:
    """The one of this thread."""
    return _stemmers.english
