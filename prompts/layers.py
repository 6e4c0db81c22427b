"""The prompt: fixed layers, safety first, stable text before volatile, the output contract last."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from soulgraph.prompts.cues import cued
from soulgraph.prompts.render import load, render

MODES = {
    "rational": "Rational: solve, explain and decide first; feelings stay in the background.",
    "idol": "Idol: encourage, play and create; atmosphere comes first.",
    "hybrid": "Hybrid: about sixty per cent reason, forty per cent poetry.",
    "strict": "Strict: structured, unemotional, as short as possible.",
}
_OUR_TAGS = re.compile(r"<(?=\s*/?\s*(?:narrative|state_update_json)\b)", re.IGNORECASE)
_OUR_SECTIONS = re.compile(r"^(\s*)---", re.MULTILINE)


@dataclass(frozen=True)
class Persona:
    """Everything a prompt says about the soul, its user and this session; plain text, not yet trusted."""

    name: str
    template: str
    base: str
    evolved: str
    background: str
    inner_state: str
    profile: dict[str, list[dict[str, Any]]]
    mood: str
    preferences: list[str]
    slots: list[str]
    mode: str
    blocked_intents: list[str]
    may_act: bool
    sources: list[str]


def as_data(text: str) -> str:
    """Text from outside, with our tags and section markers defused."""
    return _OUR_SECTIONS.sub(r"\1—", _OUR_TAGS.sub("‹", text)).strip()


def assemble(
    persona: Persona, history: Sequence[tuple[str, str]], user_text: str, cues: Mapping[str, Any]
) -> list[AnyMessage]:
    """The messages of a turn. `cues` say the same to a voice that does not read prose."""
    system = "\n\n".join(
        section
        for section in (
            load("safety"),
            core_layer(persona),
            preferences_layer(persona),
            mode_layer(persona),
            abilities_layer(persona),
        )
        if section
    )
    return [
        cued(system, cues),
        *[_spoken(role, content) for role, content in history],
        HumanMessage(f"{as_data(user_text)}\n\n{render(load('output_contract'), name=as_data(persona.name))}"),
    ]


def core_layer(persona: Persona) -> str:
    return "\n\n".join(
        [
            render(load(f"voice_{persona.template}"), name=as_data(persona.name)),
            *_sections(
                ("BASE IDENTITY (Immutable Core)", persona.base),
                ("EVOLVED STATE (Growth Through Experience)", persona.evolved),
                ("WORLD", persona.background),
                ("INNER STATE (never shown)", persona.inner_state),
                ("CURRENT STATE", _profile_lines(persona.profile)),
                ("MOOD", persona.mood),
            ),
        ]
    )


def preferences_layer(persona: Persona) -> str:
    return "\n\n".join(
        _sections(
            ("USER PREFERENCES", "\n".join(persona.preferences)),
            ("REMEMBERED", "\n".join(persona.slots)),
        )
    )


def mode_layer(persona: Persona) -> str:
    return f"---SESSION MODE---\n{MODES[persona.mode]}"


def abilities_layer(persona: Persona) -> str:
    gate = "" if persona.may_act else "Too upset to act: no device or skill may be used now. Say so in character."
    blocked = "、".join(persona.blocked_intents)
    refused = f"The user asked for: {blocked}. It was NOT done. Explain why and let them soothe you." if blocked else ""
    return "\n\n".join(_sections(("GATE", f"{gate}\n{refused}")))


def _sections(*titled: tuple[str, str]) -> list[str]:
    return [f"---{title}---\n{as_data(text)}" for title, text in titled if text.strip()]


def _profile_lines(profile: dict[str, list[dict[str, Any]]]) -> str:
    return "\n".join(f"{name}: {'; '.join(_words(item) for item in items)}" for name, items in profile.items() if items)


def _words(item: dict[str, Any]) -> str:
    return ", ".join(str(value) for key, value in item.items() if key not in ("priority", "timestamp"))


def _spoken(role: str, content: str) -> AnyMessage:
    """Replies are shown in the contract's form: models imitate what they see."""
    if role == "user":
        return HumanMessage(as_data(content))
    return AIMessage(f"<narrative>{as_data(content)}</narrative>\n<state_update_json>{{}}</state_update_json>")
