"""Every setting, read from `SOULGRAPH_*` variables or a `.env` file. A test checks `docs/settings.md` against it."""

import json
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, PrivateAttr, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from soulgraph.errors import ConfigurationError
from soulgraph.library.persona_config import DEFAULT_PERSONA, PersonaConfig
from soulgraph.senses.endpoint import CarrierSetting, Endpoint
from soulgraph.soul.validation import flaws_in

PREFIX = "SOULGRAPH_"
_TOPIC_OR_NONE = r"^(?:[^/+#\s]+(?:/[^/+#\s]+)*)?$"
_ID = re.compile(r"^[\w.:@-]{1,128}$")
_PASSWORD = re.compile(r"(?i)(?:://[^/:@]*:|password=)([^@&/]+)")


@dataclass(frozen=True, slots=True)
class Shared:
    """For one of several processes of a server: its name, and where it finds what only one of them may have."""

    process: str
    mqtt_url: str = field(default="", repr=False)
    mqtt_websocket: str = ""
    memory: str = ""

    @property
    def broker(self) -> tuple[str, str] | None:
        return (self.mqtt_url, self.mqtt_websocket) if self.mqtt_url else None


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    data_dir: Path = Field(Path("data"), description="where the embedded database and the soul's files live")
    database_url: str = Field("", description="`postgresql://user@host/name`; empty: SQLite in the data directory")
    host: str = Field("127.0.0.1", description="address to listen on; any other than loopback needs an API key")
    port: int = Field(8000, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    workers: int = Field(1, ge=1, le=64, description="server processes behind that port; more than one need PostgreSQL")
    cors_origins: str = Field(
        "",
        description="pages of other machines that may use a server with keys: `https://app.example.com`, several by "
        "commas, or `*`; pages of this machine always may, unless it is `none`",
    )

    llm_base_url: str = Field("", description="an OpenAI-compatible endpoint; empty with a key: OpenAI itself")
    llm_api_key: SecretStr = Field(SecretStr(""), description="its key; local servers often need none")
    llm_model: str = Field("", description="its model; empty: the offline voice answers")
    llm_carrier: CarrierSetting = Field(
        "auto",
        description="how a model tells what changed in the soul: in `tags` behind its reply, or by a structured call "
        "after a `plain` one; `auto`: as a probe after the first turn finds best",
    )
    llm_timeout_s: float = Field(60, gt=0, description="longest silence of the model before the turn gives up")
    llm_temperature: float | None = Field(None, ge=0, le=2, description="sampling temperature; empty: the model's own")
    llm_max_tokens: int = Field(
        2000, ge=0, description="most tokens of one answer, a reasoning model's thoughts included; 0: the server's own"
    )

    plain_model: bool = Field(
        True, description="whether OpenAI's clients may use the language model without a soul, as the model `plain`"
    )

    mqtt_url: str = Field(
        "", description="`mqtt://host:1883`, the broker of the terminals; empty: an embedded one; `none`: no MQTT"
    )
    mqtt_port: int | None = Field(
        None, ge=0, le=65535, description="port of the embedded broker; empty: 1883, or the next that is free"
    )
    mqtt_websocket_port: int | None = Field(
        None, ge=0, le=65535, description="the same for browsers; empty: 9001, or the next that is free"
    )
    home_assistant: str = Field(
        "",
        pattern=_TOPIC_OR_NONE,
        description="`homeassistant`, the discovery prefix on that broker: souls are devices there; empty: none",
    )
    chroma_url: str = Field(
        "",
        description="`http://host:8000`, a Chroma server for the event library; empty: embedded, in the data directory",
    )
    embeddings_base_url: str = Field("", description="an OpenAI-compatible endpoint; empty with a key: OpenAI itself")
    embeddings_api_key: SecretStr = Field(SecretStr(""), description="its key; local servers often need none")
    embeddings_model: str = Field("", description="its model; empty: the built-in sentence encoder")
    emotion: Literal["local", "llm", "http"] = Field(
        "local", description="who hears what the user feels: built-in, the model, or the service at `EMOTION_URL`"
    )
    emotion_url: str = Field("", description="an emotion service that answers `{emotion,p,a,d,intensity}`")
    intents: Literal["local", "llm"] = Field("local", description="`llm`: the model decides what intents are unclear")
    stt_base_url: str = Field(
        "",
        description="an OpenAI-compatible endpoint that turns speech into text, or the whole address of whisper.cpp's "
        "`/inference`; empty with a key: OpenAI itself",
    )
    stt_api_key: SecretStr = Field(SecretStr(""), description="its key; local servers often need none")
    stt_model: str = Field("", description="its model; empty: audio is not understood")
    tts_base_url: str = Field(
        "", description="an OpenAI-compatible endpoint that turns text into speech; empty with a key: OpenAI itself"
    )
    tts_api_key: SecretStr = Field(SecretStr(""), description="its key; local servers often need none")
    tts_model: str = Field("", description="its model; empty: `espeak-ng` speaks, where it is installed")
    tts_voice: str = Field("", description="the voice that speaks when a request names none; empty: `alloy`")
    speech_timeout_s: float = Field(
        60, gt=0, allow_inf_nan=False, description="longest time for one recording to be understood, or text to be said"
    )
    speakers: str = Field(
        "", description='which person each voice is that a recogniser names: JSON like `{"voice_7": "ann"}`, or a file'
    )
    mcp: SecretStr = Field(SecretStr(""), description="MCP servers whose tools souls may use: JSON, or a file of it")
    timezone: str = Field("", description="the users' time zone, like `Asia/Shanghai`; empty: this machine's")

    telemetry: str = Field(
        "", description="what personas decide, as JSON lines; empty: `telemetry.jsonl` in the data directory"
    )
    telemetry_words: bool = Field(
        False, description="whether these lines, and the decisions in traces, quote users and models"
    )
    telemetry_max_mb: float = Field(
        20, ge=0, allow_inf_nan=False, description="megabytes at which a new telemetry file is begun; 0: never"
    )
    telemetry_files: int = Field(5, ge=1, description="how many older telemetry files are kept")
    otlp_endpoint: str = Field(
        "", description="`http://host:6006/v1/traces`, a collector that takes OpenTelemetry traces; empty: none"
    )
    trace_redact: Literal["none", "secrets", "content"] = Field(
        "secrets",
        description="what traces leave out: `secrets` and the inner monologue, all `content`, or `none` of these",
    )
    turn_timeout_s: float = Field(
        300, gt=0, description="longest time one turn may take, not counting its wait for earlier ones of its session"
    )
    turn_max_steps: int = Field(6, ge=1, le=50, description="most model calls in one turn's tool loop")
    daily_tokens: int = Field(
        0, ge=0, description="tokens a day and soul after which background calls wait for midnight; 0: no limit"
    )
    max_turns: int = Field(32, ge=1, description="most turns that this server runs at once, before 429")
    session_queue: int = Field(64, ge=1, description="most turns of one session, running and waiting, before 429")
    shutdown_grace_s: float = Field(30, ge=0, description="how long running turns may finish at shutdown")
    job_lease_s: float = Field(
        30,
        ge=1,
        description="after how long the work that a killed server had begun is taken up again",
    )
    job_days: float = Field(
        7, ge=0, allow_inf_nan=False, description="days that finished jobs are kept, failed ones always; 0: for ever"
    )
    max_events: int = Field(0, ge=0, description="most events in the library, the least recalled go first; 0: no limit")
    tick_s: float = Field(
        3, ge=2, le=5, description="seconds between ticks of souls with an online terminal or a listener, 2 to 5"
    )

    persona_config: Path = Field(DEFAULT_PERSONA, description="the persona switches, a YAML file")
    api_key: SecretStr = Field(SecretStr(""), description="the key that the `soulgraph` command sends to a server")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="what is logged")
    log_file: str = Field("", description="where `soulgraph serve` logs to, beside standard error; empty: nowhere")
    log_max_mb: float = Field(
        20, ge=0, allow_inf_nan=False, description="megabytes at which a new log file is begun; 0: never"
    )
    log_files: int = Field(5, ge=1, description="how many older log files are kept")

    _shared: Shared | None = PrivateAttr(None)

    @classmethod
    def load(cls, **overrides: Any) -> Self:
        """Read the environment; raises ConfigurationError with the name of the variable that has an invalid value."""
        try:
            return cls(**overrides)
        except ValidationError as error:
            flaw = flaws_in(error.errors())[0]
            raise ConfigurationError(f"{PREFIX}{flaw.path.replace('.', '_').upper()}", flaw.message) from error

    def refuse_unused(self) -> None:
        """Raise ConfigurationError for a setting that would be ignored because of another one."""
        if self.emotion_url and self.emotion != "http":
            raise ConfigurationError(f"{PREFIX}EMOTION_URL", f"is not used: set {PREFIX}EMOTION=http, or unset it")
        if self.home_assistant and self.mqtt_url in ("", "none"):
            fix = f"set {PREFIX}MQTT_URL to the broker of Home Assistant, or unset this"
            raise ConfigurationError(f"{PREFIX}HOME_ASSISTANT", f"needs a broker that both of them use: {fix}")
        for name in ("mqtt_port", "mqtt_websocket_port"):
            if self.mqtt_url and getattr(self, name) is not None:
                unused = f"is not used: unset it, or {PREFIX}MQTT_URL for an embedded broker"
                raise ConfigurationError(f"{PREFIX}{name.upper()}", unused)

    @property
    def checked_workers(self) -> int:
        """Raise ConfigurationError if there are several and the database is for one."""
        if self.workers > 1 and not self.database_url.startswith("postgres"):
            fix = f"set {PREFIX}DATABASE_URL=postgresql://user@host/name, or leave it at 1"
            raise ConfigurationError(f"{PREFIX}WORKERS", f"{self.workers} processes cannot share SQLite: {fix}")
        return self.workers

    @property
    def shared(self) -> Shared | None:
        """None for a server of one process."""
        return self._shared

    def with_shared(self, shared: Shared) -> Self:
        settings = self.model_copy()
        settings._shared = shared
        return settings

    @property
    def llm(self) -> Endpoint | None:
        """The endpoint of the language model; None if the offline voice is to answer."""
        endpoint = self._endpoint("llm")
        return endpoint and replace(
            endpoint,
            timeout_s=self.llm_timeout_s,
            temperature=self.llm_temperature,
            max_tokens=self.llm_max_tokens,
            carrier=self.llm_carrier,
        )

    @property
    def embeddings(self) -> Endpoint | None:
        """The endpoint of the embeddings; None for the built-in sentence encoder."""
        return self._endpoint("embeddings")

    @property
    def stt(self) -> Endpoint | None:
        """The endpoint that turns speech into text; None if there is none."""
        endpoint = self._endpoint("stt")
        return endpoint and replace(endpoint, timeout_s=self.speech_timeout_s)

    @property
    def tts(self) -> Endpoint | None:
        """The endpoint that turns text into speech; None for the local engine."""
        endpoint = self._endpoint("tts")
        return endpoint and replace(endpoint, timeout_s=self.speech_timeout_s)

    @cached_property
    def speaker_table(self) -> dict[str, str]:
        """The person of each voice that a recogniser names."""
        try:
            text = self.speakers or "{}"
            table = json.loads(text if text.lstrip().startswith("{") else Path(text).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"{PREFIX}SPEAKERS", f"is neither JSON nor a file of JSON: {error}") from error
        if not isinstance(table, dict) or not all(isinstance(who, str) and _ID.match(who) for who in table.values()):
            raise ConfigurationError(f"{PREFIX}SPEAKERS", "must map voices to people: letters, digits and any of .:@_-")
        return {voice.strip(): who for voice, who in table.items()}

    def _endpoint(self, kind: Literal["llm", "embeddings", "stt", "tts"]) -> Endpoint | None:
        """None if nothing is configured. An incomplete configuration raises ConfigurationError: it is no fall-back."""
        url, key, model = (getattr(self, f"{kind}_{part}") for part in ("base_url", "api_key", "model"))
        name = f"{PREFIX}{kind.upper()}"
        if not model and (url or key.get_secret_value()):
            raise ConfigurationError(f"{name}_MODEL", "is empty although an endpoint or a key is set: name the model")
        if model and not url and not key.get_secret_value():
            raise ConfigurationError(
                f"{name}_API_KEY", f"OpenAI needs a key: set it, or set {name}_BASE_URL to another endpoint"
            )
        if url and not url.startswith(("http://", "https://")):
            raise ConfigurationError(f"{name}_BASE_URL", "must start with http:// or https://")
        return Endpoint(model, url, key.get_secret_value()) if model else None

    @property
    def database_file(self) -> Path:
        """The embedded database, if no other is configured."""
        return self.data_dir / "soulgraph.db"

    @property
    def resolved_database_url(self) -> str:
        return self.database_url or f"sqlite:///{self.database_file}"

    @cached_property
    def zone(self) -> ZoneInfo | None:
        try:
            return ZoneInfo(self.timezone) if self.timezone else None
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ConfigurationError(f"{PREFIX}TIMEZONE", f"there is no time zone {self.timezone!r}") from error

    @property
    def checked_emotion_url(self) -> str:
        if not self.emotion_url.startswith(("http://", "https://")):
            raise ConfigurationError(f"{PREFIX}EMOTION_URL", "must name the emotion service, with http:// or https://")
        return self.emotion_url

    @cached_property
    def mcp_servers(self) -> dict[str, Any]:
        """The MCP servers by name, each in the form that langchain-mcp-adapters expects."""
        try:
            value = self.mcp.get_secret_value() or "{}"
            text = value if value.lstrip().startswith("{") else Path(value).read_text("utf-8")
            servers = json.loads(text)
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"{PREFIX}MCP", f"is neither JSON nor a file of JSON: {error}") from error
        servers = servers.get("mcpServers", servers) if isinstance(servers, dict) else None
        if not isinstance(servers, dict) or not all(isinstance(server, dict) for server in servers.values()):
            raise ConfigurationError(f"{PREFIX}MCP", "must map names of servers to how each is reached")
        return {name: _reached(server) for name, server in servers.items() if not server.get("disabled")}

    @property
    def checked_otlp_endpoint(self) -> str:
        if not self.otlp_endpoint.startswith(("http://", "https://")):
            raise ConfigurationError(f"{PREFIX}OTLP_ENDPOINT", "must name the collector, with http:// or https://")
        return self.otlp_endpoint

    @property
    def secrets(self) -> list[str]:
        """All secrets in the settings, for redaction: keys, and passwords inside URLs."""
        values = [getattr(self, name) for name in type(self).model_fields]
        keys = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
        return [*keys, *(found for value in values if isinstance(value, str) for found in _PASSWORD.findall(value))]

    @property
    def telemetry_file(self) -> Path:
        return self.own_file(Path(self.telemetry) if self.telemetry else self.data_dir / "telemetry.jsonl")

    def own_file(self, path: Path) -> Path:
        """The file, with the process in its name if there are several: two cannot rotate the same."""
        return path.with_stem(f"{path.stem}-{self._shared.process}") if self._shared else path

    @property
    def offline(self) -> bool:
        """Whether no model is configured, so that the offline voice answers."""
        return not self.llm_model

    @property
    def alive(self) -> bool:
        """Whether souls may speak on their own; without a model they only ask how something was that lay ahead."""
        return self.persona.life.enabled

    @property
    def on_loopback(self) -> bool:
        return is_loopback(self.host)

    @cached_property
    def persona(self) -> PersonaConfig:
        return PersonaConfig.read(self.persona_config)


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _reached(server: dict[str, Any]) -> dict[str, Any]:
    """The server with its transport, which other programs call `type`; without one it is told by its command."""
    return {"transport": server.get("type", "stdio" if "command" in server else "http"), **server}
