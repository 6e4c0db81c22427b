"""A conversation that is steered by lines of JSON: what programs do that keep the history themselves.

It is run by the Python of the library that is tried, so it needs nothing but that Python.
"""

import json
import sys
from collections.abc import Callable, Iterator

History = list[dict[str, str]]
PIECES_BEFORE_STOP = 3


def talk(stream: Callable[[History], Iterator[str]]) -> None:
    """`stream` yields the reply to a history in pieces; closing it early is what a stop button does."""
    history: History = []
    for line in sys.stdin:
        wanted = json.loads(line)
        _apply(wanted, history)
        if wanted["do"] != "new chat":
            reply = _read(stream(history), PIECES_BEFORE_STOP if wanted["do"] == "stop" else None)
            history.append({"role": "assistant", "content": reply})
        sys.stdout.write(json.dumps({"history": history}) + "\n")
        sys.stdout.flush()


def _apply(wanted: dict[str, str], history: History) -> None:
    if wanted["do"] == "new chat":
        history.clear()
    elif wanted["do"] == "regenerate":
        del history[-1]
    elif wanted["do"] == "edit":
        history[-2:] = [{"role": "user", "content": wanted["text"]}]
    else:
        history.append({"role": "user", "content": wanted["text"]})


def _read(pieces: Iterator[str], most: int | None) -> str:
    said = ""
    for count, piece in enumerate(filter(None, pieces), 1):
        said += piece
        if count == most:
            pieces.close()
            break
    return said
