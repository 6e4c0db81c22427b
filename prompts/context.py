"""The persona context: everything a prompt says about a soul, its user and this session, within a budget.

Input is plain data that somebody else gathered (`Persona`), and none of it is trusted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from typing_extensions import TypedDict

from soulgraph.prompts.budget import Budget, Piece, Values, cut, first_paragraph, fit, within
from soulgraph.prompts.defuse import defuse, one_line
from soulgraph.prompts.lookalikes import visible
from soulgraph.prompts.lore import Lore
from soulgraph.prompts.render import render
from soulgraph.prompts.templates import VARIABLES, Module, Template
from soulgraph.soul.modes import Mode
from soulgraph.soul.profile import Item, Profile, rank, top

MODES: Mapping[Mode, str] = {
    "rational": "Rational: solve, explain and decide first; feelings stay in the background.",
    "idol": "Idol: encourage, play and create; atmosphere comes first.",
    "hybrid": "Hybrid: about sixty per cent reason, forty per cent poetry.",
    "strict": "Strict: structured, unemotional, as short as possible.",
}
UPSET = "Too upset to act: no device or skill may be used now. Say so in character."
ASK = "Before anything else, ask the user in your own words: {question}"
REFUSED = "The user asked for: {intents}. It was NOT done. Explain why and let them soothe you."
_NAME, _ITEM = 80, 500
_SHOWN_AS_LIST = ("preferences", "slots", "wishes", "skills", "events", "episodes", "lore")


@dataclass(frozen=True, slots=True)
class Memory:
    """An event, by its id, or an episode, by the id of its message; the least score is left out first."""

    id: str
    text: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Persona:
    soul_name: str
    mode: Mode
    mood: str = ""
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
    may_act: bool = True
    blocked_intents: Sequence[str] = ()
    question: str = ""
    events: Sequence[Memory] = ()
    episodes: Sequence[Memory] = ()
    lore: Sequence[Lore] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A module as it is said, under its title."""

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
    """Layers 2 to 5 of a prompt, where they come from, and whether something had to be left out."""

    soul_name: str
    sections: list[Section]
    sources: list[str]
    meta: Meta

    @property
    def core_prompt(self) -> str:
        return _layers(self.sections, 2)

    @property
    def user_pref_prompt(self) -> str:
        return _layers(self.sections, 3)

    @property
    def mode_prompt(self) -> str:
        return _layers(self.sections, 4)

    @property
    def private(self) -> list[str]:
        """What only the soul itself may read."""
        return [section.text for section in self.sections if "inner_state" in section.module.variables]

    @property
    def stable(self) -> list[str]:
        """What stays the same from turn to turn."""
        return [section.text for section in self.sections if not section.module.volatile]

    @property
    def volatile(self) -> list[str]:
        return [section.text for section in self.sections if section.module.volatile]


def build(template: Template, persona: Persona, budget: Budget | None = None) -> PersonaContext:
    budget = budget or Budget()
    modules = template.spoken
    core = [module for module in modules if module.layer < 5]
    values, truncated = fit(
        _values(persona, budget), budget.persona, lambda values: len(_layers(_sections(core, values), 2, 3, 4))
    )
    said = frozenset[str]().union(*(module.variables for module in modules))
    pieces = [piece for name in VARIABLES if name in said for piece in values[name]]
    return PersonaContext(
        soul_name=values["soul_name"][0].text,
        sections=_sections(modules, values),
        sources=list(dict.fromkeys(piece.source for piece in pieces if piece.source)),
        meta={
            "mode": persona.mode,
            "memory_hits": sum(len(values[name]) for name in ("events", "episodes") if name in said),
            "truncated": truncated,
        },
    )


def _layers(sections: Sequence[Section], *layers: int) -> str:
    return "\n\n".join(section.text for section in sections if section.layer in layers)


def _sections(modules: Sequence[Module], values: Values) -> list[Section]:
    texts = {name: _shown(name, pieces) for name, pieces in values.items()}
    bodies = [(module, _body(module, texts)) for module in modules]
    return [Section(module, f"---{module.name}---\n{body}") for module, body in bodies if body]


def _body(module: Module, texts: Mapping[str, str]) -> str:
    """Empty if the module has nothing to say but its own words around missing data."""
    data = [texts[name] for name in module.variables if name != "soul_name"]
    if data and not any(data):
        return ""
    # Defused as a whole, here and only here: two harmless values side by side may make a tag.
    return defuse(render(module.text, **{name: texts[name] for name in module.variables}))


def _shown(name: str, pieces: Sequence[Piece]) -> str:
    if name == "profile":
        lines: dict[str, list[str]] = {}
        for piece in pieces:
            lines.setdefault(piece.label, []).append(piece.text)
        return "\n".join(f"{label}: {'; '.join(texts)}" for label, texts in lines.items())
    bullet = "- " if name in _SHOWN_AS_LIST else ""
    return "\n".join(f"{bullet}{piece.text}" for piece in pieces)


def _values(persona: Persona, budget: Budget) -> Values:
    """Every variable in pieces. Texts longer than the whole budget are cut here: they could not stay anyway."""
    most, preferences = budget.persona, persona.preferences.items()
    return {
        "soul_name": [Piece(defuse(one_line(persona.soul_name))[:_NAME])],
        "soul_file": _text(persona.files.get("SOUL.md", ""), most, "SOUL.md"),
        "identity_file": _text(persona.files.get("IDENTITY.md", ""), most, "IDENTITY.md"),
        "base_persona": _base(persona, most),
        "style_examples": _text("\n\n".join(persona.style_examples), most, _named("character", persona.character_id)),
        "background": _text(persona.background, most, _named("background", persona.background_id)),
        "evolved_persona": _text(persona.evolved_persona, most),
        "inner_state": _text(persona.inner_state, most),
        "profile": _profile(persona.profile, budget.profile_items),
        "mood": _text(persona.mood, most),
        "user_file": _text(persona.files.get("USER.md", ""), most, "USER.md"),
        "preferences": _items((Piece(f"{key}: {text}", f"preference:{key}") for key, text in preferences), most),
        "slots": _items((Piece(text, f"slot:{n}", rank=-n) for n, text in sorted(persona.slots.items())), most),
        "mode": [Piece(MODES[persona.mode])],
        "wishes": _items((Piece(f"{key}: {text}") for key, text in persona.wishes.items()), most),
        "skills": _items(map(Piece, persona.skills), most),
        "gate": _text("\n".join(_gate(persona)), most),
        "events": _items(_memories("event", persona.events), budget.memories),
        "episodes": _items(_memories("episode", persona.episodes), budget.memories),
        "lore": [Piece(one_line(entry.content), f"lore:{entry.id}") for entry in persona.lore],
    }


def _text(text: str, most: int, source: str = "") -> list[Piece]:
    said = visible(cut(text.strip(), most + 1)).strip()
    return [Piece(said, source)] if said else []


def _items(pieces: Iterable[Piece], most: int) -> list[Piece]:
    """Lines of a list, as many as fit."""
    kept = within((Piece(cut(p.text.strip(), _ITEM), p.source, rank=p.rank) for p in pieces), most)
    return [Piece(one_line(p.text), p.source, rank=p.rank) for p in kept]


def _named(kind: str, key: str | None) -> str:
    return f"{kind}:{key}" if key else ""


def _base(persona: Persona, most: int) -> list[Piece]:
    text = visible(persona.base_persona).strip()
    first = first_paragraph(text)
    said = first + cut(text[len(first) :], most)
    return _text(said, len(said), _named("character", persona.character_id))


def _memories(kind: str, memories: Sequence[Memory]) -> Iterator[Piece]:
    return (Piece(memory.text, f"{kind}:{memory.id}", rank=memory.score) for memory in memories)


def _profile(profile: Profile, count: int) -> list[Piece]:
    """Who the soul is at its core, which outranks every item, then its items by field."""
    core = [
        Piece(one_line(_words(value)), label=one_line(name), rank=(11, ""))
        for name, value in profile.get("core_identity", {}).items()
        if value
    ]
    fields = top(profile, count)
    return core + [
        Piece(one_line(_words(_said(item))), label=one_line(name), rank=rank(item))
        for name, items in fields.items()
        for item in items
    ]


def _said(item: Item) -> list[str]:
    return [str(value) for key, value in item.items() if key not in ("priority", "timestamp")]


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _gate(persona: Persona) -> list[str]:
    intents = "、".join(map(one_line, persona.blocked_intents))
    upset = [] if persona.may_act else [UPSET]
    refused = [REFUSED.format(intents=intents)] if intents else []
    asked = [ASK.format(question=one_line(persona.question))] if persona.question else []
    return [*upset, *refused, *asked]
