import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from soulgraph.errors import ConfigurationError
from soulgraph.library.persona_config import DEFAULT_PERSONA, HintConfig, PersonaConfig, ProactiveConfig
from soulgraph.scripts.env_example import EXAMPLE, text
from soulgraph.settings import Settings
from soulgraph.soul.constants import DEFAULT

ROOT = Path(__file__).parent.parent


def refusal(setting, **overrides):
    with pytest.raises(ConfigurationError) as refused:
        Settings.load(**overrides).persona  # noqa: B018
    assert refused.value.problem()["setting"] == setting
    assert refused.value.detail.startswith(f"{setting}: ")
    return refused.value.detail


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "70000"),
        ("PORT", "http"),
        ("LLM_TIMEOUT_S", "0"),
        ("LLM_TEMPERATURE", "3"),
        ("TURN_TIMEOUT_S", "-1"),
        ("TURN_MAX_STEPS", "0"),
        ("TURN_MAX_STEPS", "51"),
        ("SESSION_QUEUE", "0"),
        ("SHUTDOWN_GRACE_S", "soon"),
        ("TICK_S", "1.9"),
        ("TICK_S", "5.1"),
        ("TICK_S", "nan"),
        ("TICK_S", "often"),
        ("TELEMETRY_MAX_MB", "nan"),
        ("TELEMETRY_FILES", "0"),
        ("JOB_DAYS", "-1"),
        ("JOB_DAYS", "inf"),
        ("LOG_LEVEL", "loud"),
        ("LOG_MAX_MB", "-1"),
        ("LOG_FILES", "0"),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_variable(name, value, monkeypatch):
    monkeypatch.setenv(f"SOULGRAPH_{name}", value)
    refusal(f"SOULGRAPH_{name}")


def test_a_bad_value_in_the_env_file_is_refused_too():
    Path(".env").write_text("SOULGRAPH_PORT=http\n")
    refusal("SOULGRAPH_PORT")


def test_the_environment_wins_over_the_env_file_and_foreign_variables_are_ignored(monkeypatch):
    Path(".env").write_text("SOULGRAPH_PORT=1\nSOULGRAPH_HOST=::1\nOTHER=x\n")
    monkeypatch.setenv("SOULGRAPH_PORT", "2")
    settings = Settings.load()
    assert (settings.port, settings.host) == (2, "::1")


@pytest.mark.parametrize("name", Settings.model_fields)
def test_an_empty_variable_is_as_good_as_none(name, monkeypatch):
    unset = Settings.load()
    monkeypatch.setenv(f"SOULGRAPH_{name.upper()}", "")
    assert Settings.load() == unset


def test_without_any_setting_everything_is_embedded():
    settings = Settings.load()
    assert settings.resolved_database_url == "sqlite:///data/soulgraph.db"
    assert settings.offline
    assert settings.on_loopback
    assert settings.persona == PersonaConfig()


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("example.org", False),
    ],
)
def test_loopback_is_told_from_the_rest(host, loopback):
    assert Settings.load(host=host).on_loopback is loopback


def test_keys_are_never_printed():
    assert "sk-x" not in repr(Settings.load(llm_api_key="sk-x", api_key="sk-x"))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"defualt_mode: idol", "defualt_mode: Extra inputs are not permitted"),
        (b"default_mode: cheerful", "default_mode: Input should be"),
        (b"mode_ttl_turns: many", "mode_ttl_turns: Input should be a valid integer"),
        (b"mode_ttl_turns: 0", "mode_ttl_turns: Input should be greater"),
        (b"default_template: mine", "default_template: Input should be"),
        (b"dynamics: {lock_frist: 60}", "dynamics: lock_frist: there is no such constant"),
        (b"dynamics: {lock_first: -1}", "dynamics: lock_first: must lie in 0..1e+08, not -1"),
        (b"dynamics: {lock_first: soon}", "dynamics: lock_first: must be a number"),
        (b"dynamics: {x_bored: [0.1]}", "dynamics: x_bored: must be a list of 3 numbers"),
        (b"dynamics: {tau_min: 0.9}", "dynamics: tau_min: must not exceed tau_max"),
        (b"dynamics: 60", "dynamics: must be a mapping"),
        (b"life: {enabeld: true}", "life.enabeld: Extra inputs are not permitted"),
        (b"life: {daily_cap: -1}", "life.daily_cap: Input should be greater"),
        (b"life: {min_interval_minutes: 0}", "life.min_interval_minutes: Input should be greater"),
        (b"life: {max_interval_minutes: .inf}", "life.max_interval_minutes: Input should be a finite number"),
        (b"life: {min_interval_minutes: 300}", "life: min_interval_minutes must not exceed max"),
        (b"life: {quiet_hours: 22-8}", 'life.quiet_hours: must look like "22:00-08:00"'),
        (b"life: {quiet_hours: 22:00}", 'life.quiet_hours: must look like "22:00-08:00"'),
        (b"- a list", "Input should be a valid dictionary"),
        (b"a: [", "is not YAML"),
        (b"default_mode: \xff\xfe", "persona.yaml"),
    ],
)
def test_a_bad_persona_file_is_refused_with_the_key_that_is_wrong(content, complaint, tmp_path):
    path = tmp_path / "persona.yaml"
    path.write_bytes(content)
    detail = refusal("SOULGRAPH_PERSONA_CONFIG", persona_config=path)
    assert complaint in detail
    assert str(path) in detail


@pytest.mark.parametrize("path", ["missing.yaml", "."])
def test_a_persona_file_that_cannot_be_read_is_refused(path):
    assert f"cannot read {path}" in refusal("SOULGRAPH_PERSONA_CONFIG", persona_config=path)


def test_an_empty_persona_file_means_the_defaults(tmp_path):
    (tmp_path / "persona.yaml").write_text("# nothing\n")
    assert Settings.load(persona_config=tmp_path / "persona.yaml").persona == PersonaConfig()


@pytest.mark.parametrize("nothing", ["dynamics:", "dynamics: {}"])
def test_without_a_constant_the_dynamics_are_the_default(nothing, tmp_path):
    (tmp_path / "persona.yaml").write_text(nothing)
    assert Settings.load(persona_config=tmp_path / "persona.yaml").persona.dynamics == DEFAULT


def test_constants_of_the_dynamics_can_be_replaced_by_name(tmp_path):
    (tmp_path / "persona.yaml").write_text("dynamics: {lock_first: 60, x_bored: [-0.1, -0.2, 0]}")
    dynamics = Settings.load(persona_config=tmp_path / "persona.yaml").persona.dynamics
    assert dynamics == replace(DEFAULT, lock_first=60, x_bored=(-0.1, -0.2, 0))


@pytest.mark.parametrize(
    ("model", "enabled", "alive"), [("m", "true", True), ("m", "false", False), ("", "true", True)]
)
def test_souls_live_by_themselves_unless_that_is_turned_off(model, enabled, alive, tmp_path):
    (tmp_path / "persona.yaml").write_text(f"life: {{enabled: {enabled}, quiet_hours: ''}}")
    settings = Settings.load(llm_model=model, persona_config=tmp_path / "persona.yaml")
    assert settings.alive is alive
    assert str(settings.persona.life.quiet_hours) == ""


def test_the_shipped_persona_file_lists_every_switch_at_its_default():
    written = re.findall(r"^(\w+):", DEFAULT_PERSONA.read_text("utf-8"), re.MULTILINE)
    assert written == list(PersonaConfig.model_fields)
    nested = re.findall(r"^  (\w+):", DEFAULT_PERSONA.read_text("utf-8"), re.MULTILINE)
    assert nested == [*HintConfig.model_fields, *ProactiveConfig.model_fields]
    assert PersonaConfig.read(DEFAULT_PERSONA) == PersonaConfig()


def test_every_setting_is_on_its_page_and_the_page_has_no_other():
    listed = re.findall(r"^\| `SOULGRAPH_(\w+)", (ROOT / "docs" / "settings.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(name.upper() for name in Settings.model_fields)


def test_the_example_of_an_env_file_says_what_the_settings_say():
    assert EXAMPLE.read_text("utf-8") == text(), "run scripts/env_example.py"
    assert re.findall(r"^# SOULGRAPH_(\w+)=", text(), re.MULTILINE) == [name.upper() for name in Settings.model_fields]


def test_the_example_of_an_env_file_changes_nothing_even_when_every_line_counts():
    Path(".env").write_text(re.sub(r"^# (?=SOULGRAPH_)", "", EXAMPLE.read_text("utf-8"), flags=re.MULTILINE))
    written, unset = Settings.load(), Settings.load(_env_file=None)
    assert written.model_fields_set >= {"data_dir", "port", "log_level"}
    assert written.persona_config == Path("library/persona.yaml")
    assert written.model_copy(update={"persona_config": DEFAULT_PERSONA}) == unset


def test_every_setting_is_described():
    assert all(field.description for field in Settings.model_fields.values())


def test_mcp_servers_are_given_as_json_or_in_a_file(tmp_path):
    local, remote = {"command": "room-server"}, {"url": "http://127.0.0.1:9000/mcp"}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"room": local}}))
    assert Settings.load(mcp=str(file)).mcp_servers == {"room": {"transport": "stdio", **local}}
    assert Settings.load(mcp=json.dumps({"far": remote})).mcp_servers == {"far": {"transport": "http", **remote}}
    assert Settings.load().mcp_servers == {}


@pytest.mark.parametrize("given", ["{", "no-such-file.json", '{"room": "room-server"}', '{"mcpServers": []}'])
def test_what_names_no_mcp_servers_is_refused(given):
    with pytest.raises(ConfigurationError, match="SOULGRAPH_MCP: "):
        Settings.load(mcp=given).mcp_servers  # noqa: B018
