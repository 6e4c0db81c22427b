"""What of a character will not fit into every prompt, told to the person who brings it."""

from dataclasses import replace

from soulgraph.prompts.budget import GIVEN, Budget
from soulgraph.prompts.context import build
from soulgraph.prompts.persona import Persona
from soulgraph.prompts.templates import Template


def fit_notes(template: Template, persona: Persona, budget: Budget) -> list[str]:
    """A note on each given text that is cut once the soul has grown as much as the budget lets it."""
    grown = replace(persona, evolved_persona="x" * budget.persona)
    sizes = build(template, grown, budget).cut_sizes
    return [
        f"{name}: {size.whole:,} characters; a prompt shows about {size.shown:,} of them once the soul has grown: "
        f"put what matters most first, shorten it, or raise persona_budget ({budget.persona:,})"
        for name, size in sizes.items()
        if name in GIVEN
    ]
