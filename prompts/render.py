"""Loads and renders prompt files; a missing or an unused variable is an error."""

import re
from functools import cache
from importlib.resources import files

from soulgraph.errors import PromptError
from soulgraph.soul.language import Lang

VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@cache
def load(name: str, lang: Lang) -> str:
    """The text of `prompts/<name>.<lang>.md`."""
    return (files(__package__) / f"{name}.{lang}.md").read_text("utf-8").strip()


@cache
def variables_of(template: str) -> frozenset[str]:
    return frozenset(VARIABLE.findall(template))


def render(template: str, **values: str) -> str:
    """Fills every `{{name}}` once; inserted text is never expanded again."""
    wanted = variables_of(template)
    if missing := sorted(wanted - values.keys()):
        raise PromptError(f"missing variables: {', '.join(missing)}")
    if unused := sorted(values.keys() - wanted):
        raise PromptError(f"unused variables: {', '.join(unused)}")
    return VARIABLE.sub(lambda match: values[match[1]], template)
