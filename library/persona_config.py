"""The settings of `persona.yaml`, as pydantic models, and the file that is read again when it has changed."""

import logging
import os
from collections.abc import Callable
from datetime import time
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from soulgraph.errors import ConfigurationError, InvalidInput
from soulgraph.library.shipped import TemplateId
from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.modes import Mode
from soulgraph.soul.quiet_hours import QuietHours
from soulgraph.soul.validation import explain

DEFAULT_PERSONA = Path(__file__).parent / "persona.yaml"
_SETTING_NAME = "SOULGRAPH_PERSONA_CONFIG"
_STATIC = {"dynamic_modes": False, "write_back": False, "recalled": 0, "persona_budget": 1500}
_log = logging.getLogger(__name__)


def _parse_constants(given: Any) -> Constants:
    """The constants of the dynamics, with those that the file names replaced."""
    if isinstance(given, Constants):
        return given
    if not isinstance(given, dict | None):
        raise ValueError("must be a mapping of constants to numbers")
    return DEFAULT.override(given or {})


def _parse_quiet_hours(given: Any) -> QuietHours:
    if isinstance(given, QuietHours):
        return given
    try:
        return QuietHours.parse(str(given))
    except InvalidInput as error:
        raise ValueError(error.detail) from error


def _parse_switch(given: Any) -> Any:
    """YAML reads a bare `off` as false."""
    return "off" if given is False else given


EventScope = Literal["global", "soul", "off"]
"""For whom events are drawn from conversations."""


class ProactiveConfig(BaseModel):
    """When a soul may send proactive messages."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    enabled: bool = True
    min_interval_minutes: float = Field(90, ge=1)
    max_interval_minutes: float = Field(240, ge=1)
    daily_cap: int = Field(4, ge=0)
    quiet_hours: Annotated[QuietHours, BeforeValidator(_parse_quiet_hours)] = QuietHours(time(22), time(8))

    @model_validator(mode="after")
    def _check_intervals(self) -> Self:
        if self.min_interval_minutes > self.max_interval_minutes:
            raise ValueError("min_interval_minutes must not exceed max_interval_minutes")
        return self


class HintConfig(BaseModel):
    """How much must have happened in a session before it is suggested to update its memory."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    turns: int = Field(20, ge=1)
    state_changes: int = Field(3, ge=1)
    events: int = Field(4, ge=1)
    strong_emotions: int = Field(6, ge=1)
    strong_intensity: float = Field(0.7, ge=0, le=1)


class PersonaConfig(BaseModel):
    """The settings of `library/persona.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    static: bool = False
    default_mode: Mode = "hybrid"
    dynamic_modes: bool = True
    mode_ttl_turns: int = Field(20, ge=1)
    default_template: TemplateId = "companion_v1"
    history_rounds: int = Field(20, ge=1)
    top_profile_items: int = Field(5, ge=1)
    persona_budget: int = Field(6000, ge=200)
    write_back: bool = True
    strict_output: bool = False
    maintain_every: int = Field(10, ge=1)
    events: Annotated[EventScope, BeforeValidator(_parse_switch)] = "global"
    recalled: int = Field(3, ge=0, le=20)
    memory_hint: HintConfig = HintConfig()
    life: ProactiveConfig = ProactiveConfig()
    dynamics: Annotated[Constants, BeforeValidator(_parse_constants)] = DEFAULT

    @model_validator(mode="before")
    @classmethod
    def _switch_off(cls, given: Any) -> Any:
        """`static` turns off everything that changes by what is said, whatever else the file says of it."""
        return {**given, **_STATIC} if isinstance(given, dict) and given.get("static") is True else given

    @classmethod
    def read(cls, path: Path) -> Self:
        """The settings of a file; raises ConfigurationError when it cannot be used."""
        try:
            return cls.model_validate(yaml.load(path.read_text("utf-8"), yaml.CSafeLoader) or {})
        except OSError as error:
            raise ConfigurationError(_SETTING_NAME, f"cannot read {path}: {error.strerror}") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise ConfigurationError(_SETTING_NAME, f"{path} is not YAML: {error}") from error
        except ValidationError as error:
            raise ConfigurationError(_SETTING_NAME, f"{path}: {explain(error)}") from error
        except ConfigurationError as error:
            raise ConfigurationError(_SETTING_NAME, f"{path}: dynamics: {error.detail}") from error


class PersonaFile:
    """The settings of a file that people edit while the server runs: as they were when they could last be used."""

    def __init__(self, path: Path, report: Callable[[str], None] = lambda problem: None) -> None:
        """Raises ConfigurationError if the file cannot be used; later, `report` is told why an edit cannot."""
        self._path = path
        self._name = str(path)
        self._report = report
        self._seen = self._stamp()
        self._config = PersonaConfig.read(path)

    def __call__(self) -> PersonaConfig:
        if (stamp := self._stamp()) != self._seen:
            self._seen = stamp
            self._read_again()
        return self._config

    def _stamp(self) -> tuple[int, int, int]:
        try:
            found = os.stat(self._name)  # noqa: PTH116 - asked for many times in a turn, and a path takes thrice as long
        except OSError:
            return 0, 0, 0
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read_again(self) -> None:
        try:
            self._config = PersonaConfig.read(self._path)
        except ConfigurationError as error:
            _log.warning("the last good persona settings stay in force: %s", error.detail)
            self._report(error.detail)
        else:
            _log.info("persona settings were read again from %s", self._path)
