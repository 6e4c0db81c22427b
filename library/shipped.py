"""What ships with the package: presets for an empty library, scripts to simulate, and the names of the templates."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

SCRIPTS = Path(__file__).parent / "scripts"
"""For `soulgraph simulate`."""

TemplateId = Literal["companion_v1", "narrator_v1"]
TEMPLATES: tuple[TemplateId, ...] = get_args(TemplateId)
"""Their texts are prompts: `prompts/<id>.yaml`."""


def presets(kind: Literal["characters", "backgrounds"]) -> list[dict[str, Any]]:
    return [json.loads(file.read_text("utf-8")) for file in (files(__package__) / kind).iterdir()]
