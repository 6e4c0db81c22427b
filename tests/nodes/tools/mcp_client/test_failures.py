"""What operators are told of a server that fails: the innermost reason, and no secret."""

import asyncio

import pytest

from soulgraph.nodes.tools.mcp_client.failures import Secrets, reason_of, with_variables


@pytest.mark.parametrize(
    ("settings", "hidden"),
    [
        ({"env": {"KEY": "abcd1234"}}, "abcd1234"),
        ({"headers": {"Authorization": "Bearer abcd1234"}}, "abcd1234"),
        ({"url": "https://me:abcd1234@host/mcp"}, "abcd1234"),
        ({"args": ["postgresql://me:abcd1234@host/db"]}, "abcd1234"),
        ({"args": ["--password", "abcd1234"]}, "abcd1234"),
    ],
)
def test_secrets_of_its_settings_are_hidden(settings, hidden):
    assert Secrets(settings).hide(f"no entry with {hidden}") == "no entry with ***"


def test_the_innermost_error_of_groups_is_told():
    inner = ExceptionGroup("sub", [ConnectionError("refused")])
    assert reason_of(BaseExceptionGroup("TaskGroup", [asyncio.CancelledError(), inner])) == "refused"


def test_plain_words_among_its_settings_stay_legible():
    secrets = Secrets({"env": {"DEBUG": "true", "MODE": "production", "N": "1"}, "args": ["-m", "room_server"]})
    told = "true, 1: room_server in production"
    assert secrets.hide(told) == told


def test_a_reason_is_one_line_of_bearable_length():
    told = Secrets({}).hide("a\nb " + "x" * 1000)
    assert told.startswith("a b xxx")
    assert len(told) < 600


def test_variables_of_the_environment_are_filled_in(monkeypatch):
    monkeypatch.setenv("ROOM_KEY", "abcd")
    assert with_variables({"a": "Bearer ${ROOM_KEY}", "b": "${NO_SUCH_KEY}"}) == {
        "a": "Bearer abcd",
        "b": "${NO_SUCH_KEY}",
    }
