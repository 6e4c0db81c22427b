"""Questions of a wizard: at a keyboard a wrong answer is explained and asked again, through a pipe it is an error."""

import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from soulgraph.cli.conversation import console, print_error, read_line
from soulgraph.cli.init_words import WORDS
from soulgraph.errors import InvalidInput
from soulgraph.soul.language import Lang

T = TypeVar("T")

_YES, _NO = {"y", "yes", "是", "好", "对"}, {"n", "no", "否", "不", "不要"}


class Asker:
    """`assumes`: nothing is asked, and what would be offered is taken."""

    def __init__(self, lang: Lang, assumes: bool) -> None:
        self.lang = lang
        self.assumes = assumes
        self.asks_again = sys.stdin.isatty() and not assumes

    def words(self, name: str, /, **values: object) -> str:
        return WORDS[self.lang][name].format(**values)

    def say(self, name: str, /, **values: object) -> None:
        console.print(self.words(name, **values), soft_wrap=True)

    def wrong(self, name: str, /, **values: object) -> InvalidInput:
        return InvalidInput(self.words(name, **values))

    def ask(self, question: str, offered: str, read: Callable[[str], T], given: str | None = None) -> T:
        """What `read` makes of the answer; it raises InvalidInput for a wrong one. `given` is an option's value."""
        if given is not None or self.assumes:
            return read(plain(offered if given is None else given))
        while True:
            console.print(f"{question} [{offered}]" if offered else question, soft_wrap=True)
            try:
                return read(plain(self._line(question)) or offered)
            except EndOfInput:
                raise
            except InvalidInput as error:
                if not self.asks_again:
                    raise
                print_error(error)

    def ask_secret(self, question: str) -> str:
        """It is not seen while it is typed; empty if nothing is said."""
        console.print(question, soft_wrap=True)
        with _unseen():
            secret = self._line(question)
        if self.asks_again:
            console.print()
        return secret

    def confirm(self, question: str) -> bool:
        return self.assumes or self.ask(question, "y", self._yes_or_no)

    def _yes_or_no(self, answer: str) -> bool:
        if answer.lower() not in _YES | _NO:
            raise self.wrong("confirm_wrong", answer=answer)
        return answer.lower() in _YES

    def _line(self, question: str) -> str:
        try:
            return read_line("› ")
        except EOFError as error:
            raise EndOfInput(self.words("ended", question=question)) from error


class EndOfInput(InvalidInput):
    """Nobody is there to be asked again."""


def plain(answer: str) -> str:
    """Without the widths of a Chinese keyboard: `１` is 1."""
    return unicodedata.normalize("NFKC", answer).strip()


@contextmanager
def _unseen() -> Iterator[None]:
    """At a keyboard, what is typed meanwhile is not shown."""
    if not sys.stdin.isatty():
        yield
        return
    import termios  # there is none on Windows, where a keyboard shows it

    file = sys.stdin.fileno()
    shown = termios.tcgetattr(file)
    hidden = [*shown[:3], shown[3] & ~termios.ECHO, *shown[4:]]
    termios.tcsetattr(file, termios.TCSADRAIN, hidden)
    try:
        yield
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, shown)
