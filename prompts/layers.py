"""Assembles the messages of a turn. The order of layers is fixed, and stable text comes before volatile text:

    system   1 safety · 2 persona core · 3 user preferences · 4 session mode · 5 skills      the same in every turn
    history  6 the conversation                                                               grows at its end
    user     the volatile sections of layers 2 to 5, in their order
             6 the user's input, then the output contract

So a provider's prompt cache covers everything up to the last round.
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
"""Role and text of each message."""


def assemble(context: PersonaContext, history: History, user_text: str, cues: Mapping[str, Any]) -> list[AnyMessage]:
    """The messages of a turn; `cues` carry the same information for the offline voice."""
    system = [load("safety"), *context.stable]
    contract = render(load("output_contract"), name=context.soul_name)
    last = [*context.volatile, f"---User Input---\n{defuse(user_text)}", contract]
    return [
        cued("\n\n".join(system), cues),
        *[_as_message(role, content) for role, content in _alternating(history)],
        HumanMessage("\n\n".join(last)),
    ]


def _alternating(history: History) -> History:
    """The history in alternating messages that begin with the user's, as many models require.

    A soul also speaks proactively: messages of one role in a row are joined, and "…" opens for a silent user.
    """
    groups = groupby(history, lambda message: message[0])
    turns = [(role, "\n\n".join(text for _, text in messages)) for role, messages in groups]
    return [("user", "…"), *turns] if turns and turns[0][0] != "user" else turns


def _as_message(role: str, content: str) -> AnyMessage:
    """A message of the history; replies take the form of the contract, because models imitate what they see."""
    if role == "user":
        return HumanMessage(defuse(content))
    return AIMessage(f"<narrative>{defuse(content)}</narrative>\n<state_update_json>{{}}</state_update_json>")
