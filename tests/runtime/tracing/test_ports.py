"""What is asked for and cannot be had stops the start, with a word about what to do."""

import sys

import pytest

from soulgraph.errors import ConfigurationError
from soulgraph.runtime.tracing.ports import open_tracing
from soulgraph.settings import Settings


async def test_without_its_packages_a_collector_is_refused_with_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "soulgraph.runtime.tracing.otlp", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(ConfigurationError, match=r"OTLP_ENDPOINT.*soulgraph\[trace\]"):
        async with open_tracing(Settings.load(otlp_endpoint="http://127.0.0.1:1/v1/traces")):
            pass


async def test_an_address_that_is_none_is_refused():
    with pytest.raises(ConfigurationError, match="OTLP_ENDPOINT"):
        async with open_tracing(Settings.load(otlp_endpoint="127.0.0.1:4317")):
            pass


async def test_by_default_nothing_is_imported_for_traces(monkeypatch):
    monkeypatch.delitem(sys.modules, "soulgraph.runtime.tracing.otlp", raising=False)
    async with open_tracing(Settings.load()):
        assert "soulgraph.runtime.tracing.otlp" not in sys.modules


def test_keys_and_passwords_of_the_settings_are_secrets():
    settings = Settings.load(llm_api_key="llm-key", database_url="postgresql://me:pass-word@host/db?password=other")
    assert {"llm-key", "pass-word", "other"} <= {*settings.secrets}
