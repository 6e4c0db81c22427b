"""The sign of life in a terminal while nothing of a reply has come: a line that vanishes with the first word."""

import time
from collections.abc import Callable

from rich.console import Console
from rich.status import Status
from rich.text import Text

from soulgraph.soul.language import Lang

_WORDS: dict[Lang, tuple[str, str]] = {"en": (" is thinking…", " s"), "zh": ("在想…", " 秒")}


class Thinking:
    """Shown only on a terminal that can take a line back: through a pipe nothing is printed."""

    def __init__(self, console: Console, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._name = name
        self._clock = clock
        self._lang: Lang = "en"
        self._began = 0.0
        self._status: Status | None = None

    def begin(self, lang: Lang) -> None:
        """Count from now on, and show it in this language."""
        self._lang = lang
        self._began = self._clock()
        self.show()

    def show(self) -> None:
        if self._status is None and _can_take_back(self._console):
            self._status = self._console.status(self, spinner_style="dim")
            self._status.start()

    def hide(self) -> None:
        if self._status is not None:
            self._status.stop()
        self._status = None

    def __rich__(self) -> Text:
        """Drawn anew with every frame, so that the seconds go on."""
        thinking, unit = _WORDS[self._lang]
        seconds = int(self._clock() - self._began)
        return Text(f"{self._name}{thinking}" + (f" {seconds}{unit}" if seconds else ""), style="dim")


def _can_take_back(console: Console) -> bool:
    # FORCE_COLOR makes rich take a pipe for a terminal, so the file itself is asked too.
    return console.is_terminal and not console.is_dumb_terminal and console.file.isatty()
