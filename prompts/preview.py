"""What a turn would send, before it is sent, and how much each module of the template takes of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AnyMessage

from soulgraph.prompts.budget import Budget
from soulgraph.prompts.context import Persona, PersonaContext, build
from soulgraph.prompts.layers import History, assemble
from soulgraph.prompts.templates import Template
from soulgraph.prompts.tokens import tokens_of


@dataclass(frozen=True, slots=True)
class Measured:
    """A module and what it takes; nothing, if it is disabled or has nothing to say."""

    name: str
    layer: int
    characters: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Preview:
    messages: list[AnyMessage]
    modules: list[Measured]
    characters: int
    tokens: int
    context: PersonaContext


def preview(
    template: Template, persona: Persona, history: History = (), user_text: str = "", budget: Budget | None = None
) -> Preview:
    context = build(template, persona, budget)
    messages = assemble(context, history, user_text, {})
    texts = [message.text for message in messages]
    said = {section.module.name: section.text for section in context.sections}
    return Preview(
        messages=messages,
        modules=[_measured(m.name, m.layer, said.get(m.name, "")) for m in template.modules],
        characters=sum(map(len, texts)),
        tokens=_total(texts),
        context=context,
    )


def _total(texts: Sequence[str]) -> int:
    return sum(map(tokens_of, texts))


def _measured(name: str, layer: int, text: str) -> Measured:
    return Measured(name, layer, len(text), tokens_of(text))
