"""LangSmith's variables as a server's environment has them; the SDK reads each once and remembers it."""

import pytest
from langsmith import utils


@pytest.fixture
def langsmith_env(monkeypatch):
    def ask(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(f"LANGSMITH_{name.upper()}", value)
        _forget()

    yield ask
    monkeypatch.undo()
    _forget()


def _forget():
    utils.get_env_var.cache_clear()
    utils.get_tracer_project.cache_clear()
