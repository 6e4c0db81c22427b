"""`soulgraph model` as people use it, against servers that play providers, in a folder of its own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from soulgraph.cli.env_file import changed
from soulgraph.cli.main import app
from soulgraph.errors import InvalidInput
from soulgraph.settings import Settings
from soulgraph.tests.voices.wire_server import WireServer, wire_file

ENV = Path(".env")


@contextmanager
def running(provider: str, key: str = "", **changes: Any) -> Iterator[WireServer]:
    """The command has an event loop of its own, so the server runs in another thread."""
    server = WireServer({**wire_file(provider), **changes}, key=key)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        yield server
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def model(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["model", *arguments])


def said(result: Result) -> str:
    return " ".join(result.output.split())


def mode() -> int:
    return ENV.stat().st_mode & 0o777


def test_the_models_of_a_server_are_listed_with_what_it_tells() -> None:
    with running("ollama") as server:
        listed = model("--at", server.base_url)
    assert listed.exit_code == 0
    assert "qwen3:1.7b 4,096 thinking, tools" in said(listed)
    assert "in use" not in said(listed)
    assert not ENV.exists()


def test_the_configured_server_is_listed_and_the_model_in_use_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    with running("deepseek", key="sk-right") as server:
        monkeypatch.setenv("SOULGRAPH_LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("SOULGRAPH_LLM_API_KEY", "sk-right")
        monkeypatch.setenv("SOULGRAPH_LLM_MODEL", "deepseek-v4-pro")
        listed = said(model())
    assert "deepseek-v4-pro not told in use" in listed
    assert listed.count("in use") == 1


def test_a_chosen_model_is_written_and_every_other_line_stays() -> None:
    ENV.write_text(
        "# mine\nSOULGRAPH_PORT=1\nSOULGRAPH_LLM_MODEL=old\n\nOTHER='x y'\nexport SOULGRAPH_LLM_MODEL=older\n"
    )
    with running("ollama") as server:
        chosen = model("qwen3:1.7b", "--at", server.base_url.removesuffix("/v1"))
    assert chosen.exit_code == 0
    assert "has to be restarted" in said(chosen)
    url = f"SOULGRAPH_LLM_BASE_URL={server.base_url}"
    assert ENV.read_text() == f"# mine\nSOULGRAPH_PORT=1\nSOULGRAPH_LLM_MODEL=qwen3:1.7b\n\nOTHER='x y'\n{url}\n"
    assert mode() == 0o644
    assert list(Path().glob(".env*")) == [ENV]


def test_a_given_key_is_used_and_written_for_the_owner_alone() -> None:
    ENV.write_text("SOULGRAPH_PORT=1\n")
    with running("qwen", key="sk-right") as server:
        chosen = model("qwen-plus", "--at", server.base_url, "--key", "sk-right")
        assert chosen.exit_code == 0
        assert "sk-right" not in chosen.output
        assert "qwen-plus not told in use" in said(model())
    assert Settings.load().llm_api_key.get_secret_value() == "sk-right"
    assert mode() == 0o600


def test_the_key_of_one_server_is_neither_sent_nor_left_to_the_next() -> None:
    ENV.write_text("SOULGRAPH_LLM_BASE_URL=https://one.example\nSOULGRAPH_LLM_API_KEY=sk-one\nSOULGRAPH_LLM_MODEL=m\n")
    with running("vllm") as server:
        chosen = model("Qwen/Qwen3-4B", "--at", server.base_url)
        assert all("authorization" not in request.headers for request in server.requests)
    assert "its line is a comment now" in said(chosen)
    assert "# SOULGRAPH_LLM_API_KEY=sk-one" in ENV.read_text()
    assert not Settings.load().llm_api_key.get_secret_value()
    assert mode() == 0o600


def test_a_name_that_is_nearly_right_gets_a_hint_and_nothing_is_written() -> None:
    with running("llama_cpp") as server:
        missed = model("qwen-1.5", "--at", server.base_url)
        far = model("zzz", "--at", server.base_url)
    assert (missed.exit_code, far.exit_code) == (1, 1)
    assert "has no model 'qwen-1.5': did you mean qwen-1.5b?" in said(missed)
    assert "it offers qwen-1.5b" in said(far)
    assert not ENV.exists()


def test_a_server_without_a_list_is_believed() -> None:
    with running("vllm", answers={}) as server:
        chosen = model("anything", "--at", server.base_url)
        listed = model("--at", server.base_url)
    assert (chosen.exit_code, "without a check" in said(chosen)) == (0, True)
    assert Settings.load().llm_model == "anything"
    assert (listed.exit_code, "has no list of models" in said(listed)) == (1, True)


def test_a_server_without_models_says_so() -> None:
    with running("ollama", answers={"GET /v1/models": {"object": "list", "data": []}}) as server:
        assert "has no models yet" in said(model("--at", server.base_url))


@pytest.mark.parametrize("arguments", [("--at", "http://127.0.0.1:1/v1"), ("m", "--at", "http://127.0.0.1:1")])
def test_a_server_that_is_not_there_is_one_line(arguments: tuple[str, ...]) -> None:
    away = model(*arguments)
    assert away.exit_code == 1
    assert "http://127.0.0.1:1/v1/models: " in said(away)
    assert "Traceback" not in away.output


def test_a_refused_key_is_one_line() -> None:
    with running("openai", key="sk-right") as server:
        refused = model("gpt-5-mini", "--at", server.base_url, "--key", "sk-wrong")
    assert (refused.exit_code, "the key is refused" in said(refused)) == (1, True)
    assert "sk-wrong" not in refused.output
    assert not ENV.exists()


def test_offline_takes_the_model_out_and_keeps_the_key_as_a_comment() -> None:
    ENV.write_text("SOULGRAPH_LLM_MODEL=m\nA=1\nSOULGRAPH_LLM_BASE_URL=http://x\nSOULGRAPH_LLM_API_KEY=sk-x\n")
    assert "the offline voice answers" in said(model("offline"))
    assert ENV.read_text() == "A=1\n# SOULGRAPH_LLM_API_KEY=sk-x\n"
    assert Settings.load().llm is None
    assert model("offline").exit_code == 0
    assert ENV.read_text() == "A=1\n# SOULGRAPH_LLM_API_KEY=sk-x\n"


def test_a_variable_that_would_win_over_the_file_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOULGRAPH_LLM_MODEL", "another")
    assert "SOULGRAPH_LLM_MODEL is also set in the environment" in said(model("offline"))


def test_without_any_server_it_says_how_to_name_one() -> None:
    nothing = model()
    assert (nothing.exit_code, "use --at" in said(nothing)) == (2, True)
    assert "must start with http://" in said(model("--at", "127.0.0.1:11434"))


def test_a_folder_that_cannot_be_written_to_is_one_line() -> None:
    ENV.mkdir()
    assert "cannot be changed" in said(model("offline"))


@pytest.mark.parametrize("value", ["a b", "it's", "a#b", 'say "x"', "back\\slash", "$HOME"])
def test_what_is_written_is_what_is_read(value: str) -> None:
    ENV.write_text(changed("", {"SOULGRAPH_LLM_MODEL": value}))
    assert Settings.load().llm_model == value


def test_a_value_of_two_lines_is_refused() -> None:
    with pytest.raises(InvalidInput, match="one line"):
        changed("", {"SOULGRAPH_LLM_MODEL": "m\nSOULGRAPH_HOST=0.0.0.0"})
