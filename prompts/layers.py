"""The messages of a turn. The order of the layers is fixed, and stable text comes before volatile text:

    system   1 safety · 2 persona core · 3 user preferences · 4 session mode · 5 skills      the same in every turn
    history  6 the conversation                                                               grows at its end
    user     what of layers 2 to 5 is true at this moment only, in their order
             6 the user's input, then the output contract

So a provider's prompt cache finds everything up to the last round again.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from soulgraph.prompts.context import PersonaContext
from soulgraph.prompts.cues import cued
from soulgraph.prompts.defuse import defuse
from soulgraph.prompts.render import load, render

History = Sequence[tuple[str, str]]
"""Role and words of each message."""


def assemble(context: PersonaContext, history: History, user_text: str, cues: Mapping[str, Any]) -> list[AnyMessage]:
    """`cues` say the same to a voice that does not read prose."""
    system = [load("safety"), *context.stable]
    contract = render(load("output_contract"), name=context.soul_name)
    last = [*context.volatile, f"---User Input---\n{defuse(user_text)}", contract]
    return [
        cued("\n\n".join(system), cues),
        *[_spoken(role, content) for role, content in _in_turns(history)],
        HumanMessage("\n\n".join(last)),
    ]


def _in_turns(history: History) -> History:
    """Many models only take a conversation that the user opens and in which the two alternate.

    A soul also speaks by itself, so what one of them said in a row becomes one message, and a silence may open.
    """
    turns = [(role, "\n\n".join(text for _, text in said)) for role, said in groupby(history, lambda one: one[0])]
    return [("user", "…"), *turns] if turns and turns[0][0] != "user" else turns


def _spoken(role: str, content: str) -> AnyMessage:
    """Replies are shown in the contract's form: models imitate what they see."""
    if role == "user":
        return HumanMessage(defuse(content))
    return AIMessage(f"<narrative>{defuse(content)}</narrative>\n<state_update_json>{{}}</state_update_json>")
