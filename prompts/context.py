"""Builds the persona context: all a prompt says about a soul, its user and this session, within a budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from typing_extensions import TypedDict

from soulgraph.prompts.budget import Budget, Piece, Values, fit
from soulgraph.prompts.defuse import defuse
from soulgraph.prompts.gate_lines import no_device_line, nothing_known_line
from soulgraph.prompts.persona import BULLETED, Persona, values_of
from soulgraph.prompts.render import render
from soulgraph.prompts.templates import VARIABLES, Module, Template
from soulgraph.soul.language import Lang
from soulgraph.soul.modes import Mode

_MONOLOGUES = frozenset({"inner_state", "relation"})


@dataclass(frozen=True, slots=True)
class Section:
    """A rendered module with its title."""

    module: Module
    text: str

    @property
    def layer(self) -> int:
        return self.module.layer


class Meta(TypedDict):
    """`memory_hits`: how many recalled events, episodes and summaries are in the prompt.

    `cut` names the variables that were shortened or left out, `truncated` says whether there are any.
    """

    mode: Mode
    memory_hits: int
    truncated: bool
    cut: list[str]


class CutSize(NamedTuple):
    """The characters of a shortened variable, and how many of them are shown."""

    whole: int
    shown: int


@dataclass(frozen=True, slots=True)
class PersonaContext:
    """Layers 2 to 5 of a prompt, the sources of their content, and what of it was left out."""

    soul_name: str
    lang: Lang
    sections: list[Section]
    sources: list[str]
    meta: Meta
    cut_sizes: Mapping[str, CutSize]
    reminder: str = ""
    """What the model must not overlook: it stands behind the user's input, because weak models forget the rest."""

    @property
    def core_prompt(self) -> str:
        return _join_layers(self.sections, 2)

    @property
    def user_pref_prompt(self) -> str:
        return _join_layers(self.sections, 3)

    @property
    def mode_prompt(self) -> str:
        return _join_layers(self.sections, 4)

    @property
    def private(self) -> list[str]:
        """The sections with inner monologues, which must not be shown to users."""
        return [section.text for section in self.sections if _MONOLOGUES & section.module.variables]

    @property
    def stable(self) -> list[str]:
        """The sections that are the same from turn to turn."""
        return [section.text for section in self.sections if not section.module.volatile]

    @property
    def volatile(self) -> list[str]:
        return [section.text for section in self.sections if section.module.volatile]


def build(template: Template, persona: Persona, budget: Budget | None = None) -> PersonaContext:
    """The context of a persona, rendered with the modules of a template."""
    budget = budget or Budget()
    modules = template.spoken
    whole = values_of(persona, budget)
    values, shortened = _fitted(modules, whole, budget.persona)
    used = _used_by(modules)
    pieces = [piece for name in VARIABLES if name in used for piece in values[name]]
    return PersonaContext(
        soul_name=values["soul_name"][0].text,
        lang=persona.lang,
        sections=_sections(modules, values),
        sources=list(dict.fromkeys(piece.source for piece in pieces if piece.source)),
        meta={
            "mode": persona.mode,
            "memory_hits": sum(len(values[name]) for name in ("events", "episodes", "summaries") if name in used),
            "truncated": bool(shortened),
            "cut": shortened,
        },
        cut_sizes={name: CutSize(*(len(_formatted(name, one[name])) for one in (whole, values))) for name in shortened},
        reminder=_reminder(persona),
    )


def _reminder(persona: Persona) -> str:
    if persona.no_device:
        return no_device_line(persona.lang)
    return nothing_known_line(persona.lang) if persona.nothing_known else ""


def _fitted(modules: Sequence[Module], values: Values, limit: int) -> tuple[Values, list[str]]:
    """The values with those of layers 2 to 4 within the limit, and the names of those that had to be shortened."""
    core = [module for module in modules if module.layer < 5]
    used = _used_by(core)
    limited = {name: values[name] for name in VARIABLES if name in used}
    fitted, shortened = fit(limited, limit, lambda some: len(_join_layers(_sections(core, some), 2, 3, 4)))
    return values | fitted, shortened


def _used_by(modules: Sequence[Module]) -> frozenset[str]:
    return frozenset[str]().union(*(module.variables for module in modules))


def _join_layers(sections: Sequence[Section], *layers: int) -> str:
    return "\n\n".join(section.text for section in sections if section.layer in layers)


def _sections(modules: Sequence[Module], values: Values) -> list[Section]:
    texts = {name: _formatted(name, pieces) for name, pieces in values.items()}
    bodies = [(module, _body(module, texts)) for module in modules]
    return [Section(module, f"---{module.name}---\n{body}") for module, body in bodies if body]


def _body(module: Module, texts: Mapping[str, str]) -> str:
    """The rendered text of a module; empty if it has variables beside the name and all of them are empty."""
    data = [texts[name] for name in module.variables if name != "soul_name"]
    if data and not any(data):
        return ""
    # Defused as a whole, here and only here: two harmless values side by side may make a tag.
    return defuse(render(module.text, **{name: texts[name] for name in module.variables})).strip()


def _formatted(name: str, pieces: Sequence[Piece]) -> str:
    if name == "profile":
        lines: dict[str, list[str]] = {}
        for piece in pieces:
            lines.setdefault(piece.label, []).append(piece.text)
        return "\n".join(f"{label}: {'; '.join(texts)}" for label, texts in lines.items())
    bullet = "- " if name in BULLETED else ""
    line_break = "\n\n" if name == "base_persona" else "\n"
    return line_break.join(f"{bullet}{piece.text}" for piece in pieces)
