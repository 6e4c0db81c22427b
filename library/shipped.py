"""The data that ships with the package: presets, simulation scripts and the ids of the templates."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

SCRIPTS = Path(__file__).parent / "scripts"
"""The scripts of `soulgraph simulate`."""

TemplateId = Literal["companion_v1", "narrator_v1"]
TEMPLATES: tuple[TemplateId, ...] = get_args(TemplateId)
"""Their content is in `prompts/<id>.yaml`."""


def presets(kind: Literal["characters", "backgrounds"]) -> list[dict[str, Any]]:
    """The presets that fill an empty library."""
    return [json.loads(file.read_text("utf-8")) for file in (files(__package__) / kind).iterdir()]
