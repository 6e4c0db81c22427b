"""Builds the persona context: all a prompt says about a soul, its user and this session, within a budget.

The input (`Persona`) is plain data, and none of it is trusted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from typing_extensions import TypedDict

from soulgraph.prompts.budget import Budget, Piece, Values, cut, first_paragraph, fit, fit_pieces
from soulgraph.prompts.defuse import defuse, one_line
from soulgraph.prompts.gate_lines import gate_lines
from soulgraph.prompts.lookalikes import visible
from soulgraph.prompts.lore import Lore
from soulgraph.prompts.render import render
from soulgraph.prompts.templates import VARIABLES, Module, Template
from soulgraph.soul.gate import GateReason
from soulgraph.soul.language import Lang
from soulgraph.soul.modes import Mode
from soulgraph.soul.profile import Item, Profile, rank, top

MODES: Mapping[Mode, str] = {
    "rational": "Rational: solve, explain and decide first; feelings stay in the background.",
    "idol": "Idol: encourage, play and create; atmosphere comes first.",
    "hybrid": "Hybrid: about sixty per cent reason, forty per cent poetry.",
    "strict": "Strict: structured, unemotional, as short as possible.",
}
ASK = "Before anything else, ask the user in your own words: {question}"
_MAX_NAME, _MAX_ITEM = 80, 500
_BULLETED = ("preferences", "slots", "wishes", "skills", "events", "episodes", "lore")


@dataclass(frozen=True, slots=True)
class Memory:
    """A recalled event, or an episode, whose `id` is that of its message; the lowest score is left out first."""

    id: str
    text: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Persona:
    """`lang` is the language of the reply, in which mood, personality and gate are told.

    `gate_reason` is why the soul cannot act, None if it can.
    """

    soul_name: str
    mode: Mode
    lang: Lang = "en"
    mood: str = ""
    personality: str = ""
    character_id: str | None = None
    base_persona: str = ""
    style_examples: Sequence[str] = ()
    evolved_persona: str = ""
    background_id: str | None = None
    background: str = ""
    inner_state: str = ""
    profile: Profile = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    preferences: Mapping[str, str] = field(default_factory=dict)
    slots: Mapping[int, str] = field(default_factory=dict)
    wishes: Mapping[str, str] = field(default_factory=dict)
    skills: Sequence[str] = ()
    gate_reason: GateReason | None = None
    blocked_intents: Sequence[str] = ()
    question: str = ""
    events: Sequence[Memory] = ()
    episodes: Sequence[Memory] = ()
    lore: Sequence[Lore] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A rendered module with its title."""

    module: Module
    text: str

    @property
    def layer(self) -> int:
        return self.module.layer


class Meta(TypedDict):
    """`memory_hits`: how many recalled events and episodes are in the prompt."""

    mode: Mode
    memory_hits: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class PersonaContext:
    """Layers 2 to 5 of a prompt, the sources of their content, and whether something was left out."""

    soul_name: str
    sections: list[Section]
    sources: list[str]
    meta: Meta

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
        """The sections with the inner monologue, which must not be shown to users."""
        return [section.text for section in self.sections if "inner_state" in section.module.variables]

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
    core = [module for module in modules if module.layer < 5]
    values, truncated = fit(
        _values(persona, budget), budget.persona, lambda values: len(_join_layers(_sections(core, values), 2, 3, 4))
    )
    used = frozenset[str]().union(*(module.variables for module in modules))
    pieces = [piece for name in VARIABLES if name in used for piece in values[name]]
    return PersonaContext(
        soul_name=values["soul_name"][0].text,
        sections=_sections(modules, values),
        sources=list(dict.fromkeys(piece.source for piece in pieces if piece.source)),
        meta={
            "mode": persona.mode,
            "memory_hits": sum(len(values[name]) for name in ("events", "episodes") if name in used),
            "truncated": truncated,
        },
    )


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
    return defuse(render(module.text, **{name: texts[name] for name in module.variables}))


def _formatted(name: str, pieces: Sequence[Piece]) -> str:
    if name == "profile":
        lines: dict[str, list[str]] = {}
        for piece in pieces:
            lines.setdefault(piece.label, []).append(piece.text)
        return "\n".join(f"{label}: {'; '.join(texts)}" for label, texts in lines.items())
    bullet = "- " if name in _BULLETED else ""
    return "\n".join(f"{bullet}{piece.text}" for piece in pieces)


def _values(persona: Persona, budget: Budget) -> Values:
    """The pieces of every variable; texts longer than the whole budget are cut already."""
    limit = budget.persona
    preferences = persona.preferences.items()
    return {
        "soul_name": [Piece(defuse(one_line(persona.soul_name))[:_MAX_NAME])],
        "soul_file": _text_piece(persona.files.get("SOUL.md", ""), limit, "SOUL.md"),
        "identity_file": _text_piece(persona.files.get("IDENTITY.md", ""), limit, "IDENTITY.md"),
        "base_persona": _base_persona(persona, limit),
        "personality": _text_piece(persona.personality, limit, "personality"),
        "style_examples": _text_piece(
            "\n\n".join(persona.style_examples), limit, _source("character", persona.character_id)
        ),
        "background": _text_piece(persona.background, limit, _source("background", persona.background_id)),
        "evolved_persona": _text_piece(persona.evolved_persona, limit),
        "inner_state": _text_piece(persona.inner_state, limit),
        "profile": _profile_pieces(persona.profile, budget.profile_items),
        "mood": _text_piece(persona.mood, limit),
        "user_file": _text_piece(persona.files.get("USER.md", ""), limit, "USER.md"),
        "preferences": _list_pieces((Piece(f"{key}: {text}", f"preference:{key}") for key, text in preferences), limit),
        "slots": _list_pieces((Piece(text, f"slot:{n}", rank=-n) for n, text in sorted(persona.slots.items())), limit),
        "mode": [Piece(MODES[persona.mode])],
        "wishes": _list_pieces((Piece(f"{key}: {text}") for key, text in persona.wishes.items()), limit),
        "skills": _list_pieces(map(Piece, persona.skills), limit),
        "gate": _text_piece("\n".join(_gate_lines(persona)), limit),
        "events": _list_pieces(_memory_pieces("event", persona.events), budget.memories),
        "episodes": _list_pieces(_memory_pieces("episode", persona.episodes), budget.memories),
        "lore": [Piece(one_line(entry.content), f"lore:{entry.id}") for entry in persona.lore],
    }


def _text_piece(text: str, limit: int, source: str = "") -> list[Piece]:
    shown = visible(cut(text.strip(), limit + 1)).strip()
    return [Piece(shown, source)] if shown else []


def _list_pieces(pieces: Iterable[Piece], limit: int) -> list[Piece]:
    """The pieces on one line each, as many as fit."""
    kept = fit_pieces((Piece(cut(p.text.strip(), _MAX_ITEM), p.source, rank=p.rank) for p in pieces), limit)
    return [Piece(one_line(p.text), p.source, rank=p.rank) for p in kept]


def _source(kind: str, key: str | None) -> str:
    return f"{kind}:{key}" if key else ""


def _base_persona(persona: Persona, limit: int) -> list[Piece]:
    text = visible(persona.base_persona).strip()
    first = first_paragraph(text)
    shown = first + cut(text[len(first) :], limit)
    return _text_piece(shown, len(shown), _source("character", persona.character_id))


def _memory_pieces(kind: str, memories: Sequence[Memory]) -> Iterator[Piece]:
    return (Piece(memory.text, f"{kind}:{memory.id}", rank=memory.score) for memory in memories)


def _profile_pieces(profile: Profile, count: int) -> list[Piece]:
    """The core identity, which outranks every item (priorities end at 10), then the items by field."""
    core = [
        Piece(one_line(_joined(value)), label=one_line(name), rank=(11, ""))
        for name, value in profile.get("core_identity", {}).items()
        if value
    ]
    fields = top(profile, count)
    return core + [
        Piece(one_line(_joined(_item_texts(item))), label=one_line(name), rank=rank(item))
        for name, items in fields.items()
        for item in items
    ]


def _item_texts(item: Item) -> list[str]:
    return [str(value) for key, value in item.items() if key not in ("priority", "timestamp")]


def _joined(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _gate_lines(persona: Persona) -> list[str]:
    """What the gate refused, and the question to ask, if there is one."""
    closed = gate_lines(persona.gate_reason, [*map(one_line, persona.blocked_intents)], persona.lang)
    asked = [ASK.format(question=one_line(persona.question))] if persona.question else []
    return [*closed, *asked]
