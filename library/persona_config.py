"""The settings of `persona.yaml`, as pydantic models."""

from datetime import time
from pathlib import Path
from typing import Annotated, Any, Self

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

    default_mode: Mode = "hybrid"
    dynamic_modes: bool = True
    mode_ttl_turns: int = Field(20, ge=1)
    default_template: TemplateId = "companion_v1"
    history_rounds: int = Field(20, ge=1)
    top_profile_items: int = Field(5, ge=1)
    persona_budget: int = Field(1500, ge=200)
    write_back: bool = True
    maintain_every: int = Field(10, ge=1)
    recalled: int = Field(3, ge=0, le=20)
    memory_hint: HintConfig = HintConfig()
    life: ProactiveConfig = ProactiveConfig()
    dynamics: Annotated[Constants, BeforeValidator(_parse_constants)] = DEFAULT

    @classmethod
    def read(cls, path: Path) -> Self:
        """The settings of a file; raises ConfigurationError when it cannot be used."""
        try:
            return cls.model_validate(yaml.safe_load(path.read_text("utf-8")) or {})
        except OSError as error:
            raise ConfigurationError(_SETTING_NAME, f"cannot read {path}: {error.strerror}") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise ConfigurationError(_SETTING_NAME, f"{path} is not YAML: {error}") from error
        except ValidationError as error:
            raise ConfigurationError(_SETTING_NAME, f"{path}: {explain(error)}") from error
        except ConfigurationError as error:
            raise ConfigurationError(_SETTING_NAME, f"{path}: dynamics: {error.detail}") from error
