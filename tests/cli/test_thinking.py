"""The sign of life in a terminal, and what people read when a turn fails."""

import io
import re
from typing import Any

import pytest
from rich.console import Console

from soulgraph.cli import conversation
from soulgraph.cli.client import Event
from soulgraph.cli.conversation import Conversation
from soulgraph.cli.plain_errors import plain_error
from soulgraph.cli.thinking import Thinking
from soulgraph.errors import SoulgraphError

SOUL = {"soul_id": "soul_1", "user_id": "u", "name": "小满", "character_id": None}
SHOW_CURSOR, HIDE_CURSOR, ERASE_LINE = "\x1b[?25h", "\x1b[?25l", "\x1b[2K"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def on(file: io.StringIO, **options: Any) -> Console:
    return Console(file=file, markup=False, width=60, **options)


def test_it_counts_in_the_language_of_the_user() -> None:
    now = [100.0]
    thinking = Thinking(on(io.StringIO()), "小满", lambda: now[0])
    thinking.begin("en")
    assert str(thinking.__rich__()) == "小满 is thinking…"
    now[0] += 12.4
    assert str(thinking.__rich__()) == "小满 is thinking… 12 s"
    thinking.begin("zh")
    now[0] += 3
    assert str(thinking.__rich__()) == "小满在想… 3 秒"


def test_on_a_terminal_it_is_drawn_and_taken_back() -> None:
    screen = Screen()
    thinking = Thinking(on(screen, force_terminal=True), "Mira")
    thinking.begin("en")
    thinking.show()
    thinking.hide()
    thinking.hide()
    drawn, _, _ = screen.getvalue().rpartition(ERASE_LINE)
    assert "Mira is thinking…" in drawn
    assert screen.getvalue().endswith(ERASE_LINE)
    assert SHOW_CURSOR in screen.getvalue()


@pytest.mark.parametrize("options", [{}, {"force_terminal": True}], ids=["pipe", "pipe with FORCE_COLOR"])
def test_through_a_pipe_nothing_is_printed(options: dict[str, Any]) -> None:
    pipe = io.StringIO()
    thinking = Thinking(on(pipe, **options), "Mira")
    thinking.begin("en")
    thinking.hide()
    assert pipe.getvalue() == ""


class Server:
    """A client of a server that sends these events; `drawn` is how much of the screen was there before each."""

    def __init__(self, screen: io.StringIO, *events: Event) -> None:
        self.screen, self.events, self.drawn = screen, events, list[str]()

    def chat(self, *_: Any) -> Any:
        for event in self.events:
            self.drawn.append(self.screen.getvalue())
            yield event


def _is_live(drawn: str) -> bool:
    """Rich hides the cursor while it draws a line that it will take back."""
    return drawn.rfind(HIDE_CURSOR) > drawn.rfind(SHOW_CURSOR)


def test_it_is_there_until_the_first_word_and_again_after_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(conversation, "console", on(screen, force_terminal=True))
    tool = Event("tool", {"name": "remember", "arguments": {"fact": "likes tea"}})
    words = [Event("token", {"text": "I "}), Event("token", {"text": "see."})]
    server = Server(screen, Event("emotion", {}), Event("waiting", {"seconds": 2, "for": "model"}), tool, *words)
    with pytest.raises(SoulgraphError, match="stopped in the middle"):
        Conversation(server, SOUL)._send("hello")  # type: ignore[arg-type]
    assert [_is_live(drawn) for drawn in server.drawn] == [True, True, True, True, False]
    assert re.search(r"is thinking….*remember: likes tea.*is thinking…", server.drawn[-1], re.DOTALL)
    assert server.drawn[-1].rpartition(ERASE_LINE)[2].endswith("I ")
    assert screen.getvalue().endswith("see.")


@pytest.mark.parametrize("code", ["turn_output_invalid", "model_timeout", "model_unavailable", "internal_error"])
def test_a_failed_turn_is_told_in_plain_words_that_say_what_to_do(code: str) -> None:
    problem = {"code": code, "detail": "there is no text inside <narrative>…</narrative>"}
    told = plain_error({**problem, "detail": "401 bad key"}, "Mira")
    assert re.search(r"[Ss]ay it again", told)
    if code in ("turn_output_invalid", "model_timeout", "internal_error"):
        assert "narrative" not in plain_error(problem, "Mira")
    else:
        assert "401 bad key" in told


def test_a_problem_without_words_of_ours_keeps_its_own() -> None:
    assert plain_error({"code": "session_mismatch", "detail": "the session has another {soul}"}, "M") == (
        "the session has another {soul}"
    )
