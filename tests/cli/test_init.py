"""`soulgraph init` as people use it: at a keyboard, through a pipe and by options alone, in a folder of its own."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from dotenv import dotenv_values
from typer.testing import CliRunner

from soulgraph.cli.init_model import PROVIDERS
from soulgraph.cli.init_words import WORDS
from soulgraph.cli.main import app
from soulgraph.scripts.draw_graph import ROOT
from soulgraph.tests.cli.test_models import running

ENV = Path(".env")
CASES = Path(__file__).parent / "cases"
COMMAND = [sys.executable, "-m", "soulgraph.cli", "init"]
PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def no_server_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOULGRAPH_PORT", "0")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)


def cases(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8")))


DIALOGUES = [case for part in ("open", "held", "fourth") for case in cases(f"init_{part}")]


def _sit_down() -> None:
    """The terminal is that of the process, whatever the tests run in: else Ctrl-C would be only a character."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Keyboard:
    """Somebody who sits at a terminal in which the wizard runs."""

    def __init__(self, *arguments: str) -> None:
        self.screen = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._terminal, other = pty.openpty()
        options = {"stdin": other, "stdout": other, "stderr": other, "start_new_session": True}
        self.process = subprocess.Popen([*COMMAND, *arguments], **options, preexec_fn=_sit_down)  # type: ignore[call-overload]
        os.close(other)

    def answer(self, text: str) -> None:
        self.wait_for_question()
        os.write(self._terminal, f"{text}\n".encode())

    def wait_for_question(self) -> None:
        seen = len(self.screen)
        while "› " not in self.screen[seen:]:
            assert self._read(), self.screen

    def leave(self, key: bytes) -> None:
        """Press a key until there is an answer: a line editor that is just beginning may miss it."""
        for _ in range(int(PATIENCE_S)):
            os.write(self._terminal, key)
            if select.select([self._terminal], [], [], 2)[0]:
                return

    def end(self) -> int:
        while self._read():
            pass
        os.close(self._terminal)
        return self.process.wait(PATIENCE_S)

    def _read(self) -> bool:
        """Whether there was more to read."""
        if not select.select([self._terminal], [], [], PATIENCE_S)[0]:
            raise TimeoutError(self.screen)
        try:
            more = os.read(self._terminal, 4096)
        except OSError:
            return False
        self.screen += self._decoder.decode(more)
        return bool(more)


def at_keyboard(arguments: list[str], answers: list[str]) -> tuple[int, str]:
    keyboard = Keyboard(*arguments)
    for answer in answers:
        keyboard.answer(answer)
    return keyboard.end(), keyboard.screen


def through_pipe(arguments: list[str], answers: list[str]) -> tuple[int, str]:
    ran = CliRunner().invoke(app, ["init", *arguments], input="".join(f"{answer}\n" for answer in answers))
    return ran.exit_code, ran.output


@contextmanager
def model_server(case: dict[str, Any]) -> Iterator[str]:
    provider = case.get("server")
    if provider is None:
        yield ""
        return
    reply = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}]}
    changes = {"answers": {}} if provider == "nothing" else {"plain": reply}
    with running("vllm" if provider == "nothing" else provider, case.get("needs_key", ""), **changes) as server:
        if provider == "nothing":
            server._chat = lambda request: (404, "text/plain", "404 page not found")  # type: ignore[method-assign]
        yield server.base_url


def souls() -> list[str]:
    listed = CliRunner().invoke(app, ["soul", "list"], env={"SOULGRAPH_MQTT_URL": "none"})
    assert listed.exit_code == 0, listed.output
    return re.findall(r"^ +(\S+) +[A-Z]{4} ", listed.output, re.MULTILINE)


def flaws_of(case: dict[str, Any]) -> list[str]:
    before = case.get("before")
    if before is not None:
        ENV.write_text(before)
    with model_server(case) as url:
        arguments, answers = ([one.replace("{URL}", url) for one in case.get(of, [])] for of in ("args", "answers"))
        run = at_keyboard if case.get("tty") else through_pipe
        for _ in range(2 if case.get("twice") else 1):
            code, said = run(arguments, answers)
        flaws = [] if code == case["exit"] else [f"exit {code}: {said}"]
        said = " ".join(said.split())
        flaws += [f"does not say {words!r}: {said}" for words in case.get("says", ()) if words not in said]
        flaws += [f"says {words!r}" for words in case.get("lacks", ()) if words in said]
        return flaws + flaws_of_file(case, before, url)


def flaws_of_file(case: dict[str, Any], before: str | None, url: str) -> list[str]:
    text = ENV.read_text("utf-8") if ENV.exists() else None
    if case.get("unchanged"):
        return [] if text == before else [f".env: {text}"]
    flaws = [] if ENV.stat().st_mode & 0o777 == 0o600 else ["others may read .env"]
    values = dotenv_values(ENV)
    wanted = {name: value.replace("{URL}", url) for name, value in case.get("set", {}).items()}
    flaws += [f"{name} is {values.get(name)!r}" for name, value in wanted.items() if values.get(name) != value]
    flaws += [f"{name} is set" for name in case.get("unset", ()) if values.get(name)]
    flaws += [f"{name} is not set" for name in case.get("present", ()) if not values.get(name)]
    flaws += [f"{line!r} is gone" for line in case.get("keeps", ()) if line not in (text or "").splitlines()]
    return flaws + ([f"souls: {souls()}"] if "souls" in case and souls() != case["souls"] else [])


@pytest.mark.parametrize("case", DIALOGUES, ids=lambda case: str(case["name"]))
def test_a_dialogue_ends_as_the_cases_say(case: dict[str, Any]) -> None:
    assert flaws_of(case) == []
    assert [path.name for path in Path().glob(".env*")] in ([], [".env"])


def asked(keyboard: Keyboard, answers: list[str]) -> Keyboard:
    for answer in answers:
        keyboard.answer(answer)
    keyboard.wait_for_question()
    return keyboard


@pytest.mark.parametrize(("key", "code"), [(b"\x03", 130), (b"\x04", 1)], ids=["Ctrl-C", "Ctrl-D"])
def test_who_leaves_in_the_middle_leaves_everything_as_it_was(key: bytes, code: int) -> None:
    ENV.write_text("# mine\nFOO=1\n")
    keyboard = asked(Keyboard(), ["en", "offline", "Europe/London", "Lin", "INFJ", "3", "2"])
    keyboard.leave(key)
    assert keyboard.end() == code
    assert "Nothing was written." in keyboard.screen
    assert ENV.read_text() == "# mine\nFOO=1\n"
    assert [*Path().iterdir()] == [ENV]


def test_killed_in_the_middle_it_has_written_nothing() -> None:
    keyboard = asked(Keyboard(), ["zh", "1", "", "小满", "小满", "3", "2"])
    keyboard.process.send_signal(signal.SIGKILL)
    assert keyboard.end() == -signal.SIGKILL
    assert [*Path().iterdir()] == []


def test_a_second_run_offers_what_the_first_has_written_and_changes_nothing() -> None:
    options = ["--yes", "--language", "en", "--timezone", "Asia/Tokyo", "--terminal", "none", "--host", "::"]
    code, _ = through_pipe([*options, "--soul", "Lin", "--mbti", "INTP"], [])
    first = ENV.read_text()
    assert (code, "SOULGRAPH_API_KEY=sg-" in first) == (0, True)
    code, said = through_pipe([], ["en", "", "", "Lin", "", "", "", ""])
    assert (code, ENV.read_text()) == (0, first)
    assert "[Asia/Tokyo]" in said
    assert ".env in this folder stays as it is." in said
    assert "Lin is there already, and stays as it is." in said
    assert "sg-" not in said


def test_a_soul_of_the_library_is_bound_to_the_robot() -> None:
    code, said = through_pipe(["--yes", "--language", "zh", "--soul", "小满", "--character", "xiaoman"], [])
    assert (code, "终端 `robot` 承载 小满。" in said) == (0, True)
    greeted = CliRunner().invoke(app, ["chat"], input="/quit\n")
    assert "小满: 你回来啦。今天过得怎么样？" in greeted.output


def test_a_soul_that_cannot_be_made_is_told_with_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOULGRAPH_DATABASE_URL", "postgresql://nobody@127.0.0.1:9/nothing")
    code, said = through_pipe(["--yes", "--language", "en", "--timezone", "Asia/Tokyo"], [])
    assert (code, ".env is written, but the soul was not made: " in said) == (1, True)
    assert dotenv_values(ENV)["SOULGRAPH_TIMEZONE"] == "Asia/Tokyo"


def test_a_variable_of_the_environment_that_wins_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOULGRAPH_TIMEZONE", "Asia/Tokyo")
    code, said = through_pipe(["--yes", "--language", "en", "--timezone", "Europe/London", "--soul", "-"], [])
    assert (code, "SOULGRAPH_TIMEZONE is also set in the environment" in said) == (0, True)


def test_every_provider_is_one_of_the_page_and_both_languages_say_the_same() -> None:
    page = (ROOT / "docs" / "models.md").read_text("utf-8")
    for provider in PROVIDERS:
        assert f"| {provider.label} |" in page
        assert provider.url in page
    english, chinese = WORDS["en"], WORDS["zh"]
    assert english.keys() == chinese.keys()
    for name, words in english.items():
        assert set(re.findall(r"\{(\w+)", words)) == set(re.findall(r"\{(\w+)", chinese[name])), name


def test_what_the_page_shows_is_what_is_printed() -> None:
    page = (ROOT / "docs" / "settings.md").read_text("utf-8").partition("## The wizard")[2]
    command, *shown = page.partition("```text\n")[2].partition("```")[0].splitlines()
    code, said = through_pipe(command.removeprefix("$ soulgraph init ").split(), [])
    assert code == 0
    printed = [re.sub(r"^  \S+ (serve|chat)", r"  soulgraph \1", line) for line in said.splitlines()]
    assert printed == shown
