"""Assembles the messages of a turn. The order of layers is fixed, and stable text comes before volatile text:

    system   1 safety · 2 persona core · 3 user preferences · 4 session mode · 5 skills · 6 the output contract
    history  6 the conversation                                                               grows at its end
    user     the volatile sections of layers 2 to 5, in their order
             6 the user's input, what must not be overlooked, and in which language to answer

The system's text is the same in every turn, so a server's prompt cache covers everything up to the last round.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from soulgraph.prompts.context import PersonaContext
from soulgraph.prompts.contract import Carrier
from soulgraph.prompts.cues import cued
from soulgraph.prompts.defuse import defuse, one_line
from soulgraph.prompts.gate_lines import go_on_line
from soulgraph.prompts.render import load, render
from soulgraph.soul.language import Lang

History = Sequence[tuple[str, str]]
"""Role and text of each message."""

_EXAMPLE = re.compile(r"<narrative>(.+?)</narrative>")
_INPUT: Mapping[Lang, str] = {"en": "User Input", "zh": "用户输入"}
_LAST_LINE: Mapping[Lang, str] = {"en": "({reminder}Answer in {language}.)", "zh": "（{reminder}用{language}回答。）"}
_LANGUAGE: Mapping[Lang, str] = {"en": "the language of this input", "zh": "中文"}


def assemble(
    context: PersonaContext,
    history: History,
    user_text: str,
    cues: Mapping[str, Any],
    carrier: Carrier = "tags",
    language: str = "",
    begun: str = "",
) -> list[AnyMessage]:
    """The messages of a turn; `cues` carry the same information for the offline voice.

    `language` is the one that the user wants to be answered in, if it is another than that of the prompt. With `begun`
    the answer is to go on where that ends.
    """
    lang = context.lang
    system = [load("safety", lang), *context.stable, contract(carrier, context.soul_name, lang)]
    reminder = f"{context.reminder} " if context.reminder and lang == "en" else context.reminder
    last_line = _LAST_LINE[lang].format(reminder=reminder, language=defuse(one_line(language)) or _LANGUAGE[lang])
    last = [*context.volatile, f"---{_INPUT[lang]}---\n{defuse(user_text)}", last_line]
    return [
        cued("\n\n".join(system), cues),
        *[_as_message(role, content, carrier) for role, content in _alternating(history)],
        HumanMessage("\n\n".join(last)),
        *([_as_message("assistant", begun, carrier), HumanMessage(go_on_line(lang))] if begun else []),
    ]


def last_line_of(messages: Sequence[AnyMessage]) -> str:
    """What stands behind the user's input in the messages of a turn."""
    return messages[-1].text.rpartition("\n\n")[2]


def contract(carrier: Carrier, name: str, lang: Lang) -> str:
    """How the model is to answer."""
    if carrier == "plain":
        return load("contract_plain", lang)
    return render(load("contract_tags", lang), name=name)


def instructions(lang: Lang) -> list[str]:
    """The fixed texts of a prompt, which no reply may recite."""
    return [load("safety", lang), load("contract_tags", lang), load("contract_plain", lang)]


@cache
def example_replies() -> tuple[str, ...]:
    """The replies in the contract's examples, which weak models give as their own."""
    contracts = [load("contract_tags", lang) for lang in _INPUT]
    return tuple(reply for text in contracts for reply in _EXAMPLE.findall(text))


def _alternating(history: History) -> History:
    """The history in alternating messages that begin with the user's, as many models require.

    A soul also speaks proactively: messages of one role in a row are joined, and "…" opens for a silent user.
    """
    groups = groupby(history, lambda message: message[0])
    turns = [(role, "\n\n".join(text for _, text in messages)) for role, messages in groups]
    return [("user", "…"), *turns] if turns and turns[0][0] != "user" else turns


def _as_message(role: str, content: str, carrier: Carrier) -> AnyMessage:
    """A message of the history; replies take the form of the contract, because models imitate what they see."""
    if role == "user":
        return HumanMessage(defuse(content))
    if carrier == "plain":
        return AIMessage(defuse(content))
    return AIMessage(f"<narrative>{defuse(content)}</narrative>\n<state_update_json>{{}}</state_update_json>")
