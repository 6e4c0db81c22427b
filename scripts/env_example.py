"""Writes .env.example: every setting, with what it does and its default. Run it after changing a setting."""

from pathlib import Path
from typing import Any

from pydantic import SecretStr

from soulgraph.library.persona_config import DEFAULT_PERSONA
from soulgraph.settings import PREFIX, Settings

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / ".env.example"

_HEAD = """\
# Every setting, at its default. Copy this file to `.env`, and take the `# ` from the lines you change.
# A variable of the environment wins over its line here, and an empty one is as good as none.
"""


def shown(default: Any) -> str:
    """A default as people write it; what is in the package is named from its root."""
    if default == DEFAULT_PERSONA:
        return DEFAULT_PERSONA.relative_to(ROOT).as_posix()
    value = default.get_secret_value() if isinstance(default, SecretStr) else default
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def text() -> str:
    """The file as it should be."""
    settings = [
        f"# {field.description}\n# {PREFIX}{name.upper()}={shown(field.default)}\n"
        for name, field in Settings.model_fields.items()
    ]
    return "\n".join([_HEAD, *settings])


def main() -> None:
    EXAMPLE.write_text(text(), "utf-8")


if __name__ == "__main__":
    main()
