"""Builds the persona context: all a prompt says about a soul, its user and this session, within a budget.

The input (`Persona`) is plain data, and none of it is trusted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from typing_extensions import TypedDict

from soulgraph.library.cards.headings import heading_of, split_parts
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

MODES: Mapping[Lang, Mapping[Mode, str]] = {
    "en": {
        "rational": "Rational: solve, explain and decide first; feelings stay in the background.",
        "idol": "Idol: encourage, play and create; atmosphere comes first.",
        "hybrid": "Hybrid: about sixty per cent reason, forty per cent poetry.",
        "strict": "Strict: structured, unemotional, as short as possible.",
    },
    "zh": {
        "rational": "理性：先解决、解释、判断，感受放在后面。",
        "idol": "偶像：鼓励、玩耍、创作，气氛第一。",
        "hybrid": "混合：六分理性，四分诗意。",
        "strict": "严格：有条理，不带感情，越短越好。",
    },
}
ASK: Mapping[Lang, str] = {
    "en": "Before anything else, ask the user in your own words: {question}",
    "zh": "先用自己的话问用户：{question}",
}
_MAX_NAME, _MAX_ITEM = 80, 500
_BULLETED = ("preferences", "slots", "wishes", "skills", "events", "episodes", "summaries", "scratch_area", "lore")


@dataclass(frozen=True, slots=True)
class Memory:
    """A recalled event or summary, or an episode, whose `id` is its message's; the lowest score is left out first."""

    id: str
    text: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Persona:
    """`lang` is the language of the reply, in which mood, personality and gate are told.

    `gate_reason` is why the soul cannot act, None if it can. `no_device`: it is asked to do what it has no device for.
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
    evolved_version: int = 0
    background_id: str | None = None
    background: str = ""
    background_description: str = ""
    world_rules: str = ""
    inner_state: str = ""
    profile: Profile = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    preferences: Mapping[str, str] = field(default_factory=dict)
    slots: Mapping[int, str] = field(default_factory=dict)
    wishes: Mapping[str, str] = field(default_factory=dict)
    skills: Sequence[str] = ()
    gate_reason: GateReason | None = None
    blocked_intents: Sequence[str] = ()
    no_device: bool = False
    question: str = ""
    events: Sequence[Memory] = ()
    episodes: Sequence[Memory] = ()
    summaries: Sequence[Memory] = ()
    scratch_area: str = ""
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
    whole = _values(persona, budget)
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
    )


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
    bullet = "- " if name in _BULLETED else ""
    line_break = "\n\n" if name == "base_persona" else "\n"
    return line_break.join(f"{bullet}{piece.text}" for piece in pieces)


def _values(persona: Persona, budget: Budget) -> Values:
    """The pieces of every variable; only those of layer 5 are within their limits already."""
    preferences = persona.preferences.items()
    return {
        "soul_name": [Piece(defuse(one_line(persona.soul_name))[:_MAX_NAME])],
        "soul_file": _text_piece(persona.files.get("SOUL.md", ""), "SOUL.md"),
        "identity_file": _text_piece(persona.files.get("IDENTITY.md", ""), "IDENTITY.md"),
        "base_persona": _base_persona(persona, budget.persona // 2),
        "personality": _text_piece(persona.personality, "personality"),
        "style_examples": _text_piece("\n\n".join(persona.style_examples), _source("character", persona.character_id)),
        "background": _text_piece(persona.background, _source("background", persona.background_id)),
        "background_description": _text_piece(
            persona.background_description, _source("background", persona.background_id)
        ),
        "world_rules": _text_piece(persona.world_rules, _source("background", persona.background_id)),
        "evolved_persona": _text_piece(persona.evolved_persona, f"evolved_persona:v{persona.evolved_version}"),
        "inner_state": _text_piece(persona.inner_state, "inner_state"),
        "profile": _list_pieces(_profile_pieces(persona.profile, budget.profile_items)),
        "mood": _text_piece(persona.mood),
        "user_file": _text_piece(persona.files.get("USER.md", ""), "USER.md"),
        "preferences": _list_pieces((Piece(f"{key}: {text}", f"preference:{key}") for key, text in preferences)),
        "slots": _list_pieces((Piece(text, f"slot:{n}", rank=-n) for n, text in sorted(persona.slots.items()))),
        "mode": [Piece(MODES[persona.lang][persona.mode])],
        "wishes": _list_pieces((Piece(f"{key}: {text}") for key, text in persona.wishes.items())),
        "skills": _best_pieces(map(Piece, persona.skills), budget.persona),
        "gate": _text_piece("\n".join(_gate_lines(persona))),
        "events": _best_pieces(_memory_pieces("event", persona.events), budget.memories),
        "episodes": _best_pieces(_memory_pieces("episode", persona.episodes), budget.memories),
        "summaries": _best_pieces(_memory_pieces("summary", persona.summaries), budget.memories),
        "scratch_area": _best_pieces(_note_pieces(persona.scratch_area), budget.memories),
        "lore": [Piece(one_line(entry.content), f"lore:{entry.id}") for entry in persona.lore],
        "unarchived_messages": [],
    }


def _text_piece(text: str, source: str = "") -> list[Piece]:
    shown = visible(text).strip()
    return [Piece(shown, source)] if shown else []


def _list_pieces(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces on one line each."""
    lines = (replace(piece, text=one_line(piece.text)) for piece in pieces)
    return [piece for piece in lines if piece.text]


def _best_pieces(pieces: Iterable[Piece], limit: int) -> list[Piece]:
    """As many pieces as fit, on one line each."""
    short = (replace(piece, text=cut(piece.text.strip(), _MAX_ITEM)) for piece in pieces)
    return fit_pieces(_list_pieces(short), limit)


def _source(kind: str, key: str | None) -> str:
    return f"{kind}:{key}" if key else ""


def _base_persona(persona: Persona, most_kept: int) -> list[Piece]:
    """The parts of the base persona; its first paragraph is to be kept, but for an endless one."""
    parts = split_parts(visible(persona.base_persona))
    source = _source("character", persona.character_id)
    kept = min(len(first_paragraph(parts[0])), most_kept) if parts else 0
    return [Piece(part, source, heading_of(part), keep=0 if n else kept) for n, part in enumerate(parts)]


def _note_pieces(scratch_area: str) -> Iterator[Piece]:
    return (Piece(line, "scratch_area", rank=n) for n, line in enumerate(scratch_area.splitlines()) if line.strip())


def _memory_pieces(kind: str, memories: Sequence[Memory]) -> Iterator[Piece]:
    return (Piece(memory.text, f"{kind}:{memory.id}", rank=memory.score) for memory in memories)


def _profile_pieces(profile: Profile, count: int) -> list[Piece]:
    """The core identity, which outranks every item (priorities end at 10), then the items by field."""
    core = [
        Piece(_joined(value), "profile", one_line(name), (11, ""))
        for name, value in profile.get("core_identity", {}).items()
        if value
    ]
    fields = top(profile, count)
    return core + [
        Piece(
            f"{_joined(_item_texts(item))} (priority {item['priority']})",
            "profile",
            one_line(name),
            rank(item),
        )
        for name, items in fields.items()
        for item in items
    ]


def _item_texts(item: Item) -> list[str]:
    return [str(value) for key, value in item.items() if key not in ("priority", "timestamp")]


def _joined(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _gate_lines(persona: Persona) -> list[str]:
    """What the gate refused, and the question to ask, if there is one."""
    blocked = [*map(one_line, persona.blocked_intents)]
    closed = gate_lines(persona.gate_reason, blocked, persona.no_device, persona.lang)
    asked = [ASK[persona.lang].format(question=one_line(persona.question))] if persona.question else []
    return [*closed, *asked]
