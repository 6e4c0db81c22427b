"""Who a soul is, to whom it talks and what it knows now, and its pieces that a prompt is filled with.

The persona is plain data, and none of it is trusted. Every piece has its source, and the budget can shorten it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from soulgraph.library.cards.headings import heading_of, split_parts
from soulgraph.prompts.budget import Budget, Piece, Values, cut, first_paragraph, fit_pieces
from soulgraph.prompts.defuse import defuse, one_line
from soulgraph.prompts.gate_lines import gate_lines
from soulgraph.prompts.lookalikes import visible
from soulgraph.prompts.lore import Lore
from soulgraph.prompts.quotation import speaker_name
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
_KNOWN: Mapping[Lang, Mapping[str, str]] = {
    "en": {"since": "You have known {name} since {since}.", "bond": " {bond}.", "person": "this person"},
    "zh": {"since": "你从{since}起认识{name}。", "bond": "{bond}。", "person": "对方"},
}
BULLETED = frozenset(
    {"preferences", "slots", "wishes", "skills", "events", "episodes", "summaries", "scratch_area", "plans", "lore"}
)
"""Variables that are lists, told with a bullet each."""
_MAX_NAME, _MAX_ITEM = 80, 500


@dataclass(frozen=True, slots=True)
class Memory:
    """What was recalled: an event, a summary, a fact, or an episode, whose `id` is its message's.

    The lowest score is left out first.
    """

    id: str
    text: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Persona:
    """`lang` is the language of the reply, in which mood, personality and gate are told.

    `told` is what was noted of plans and is to be confirmed, `plans` are those that lie ahead or are over, by id.
    `gate_reason` is why the soul cannot act, None if it can. `no_device`: it is asked to do what it has no device for.
    `nothing_known`: it is asked for what nobody has told it.
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
    relation: str = ""
    profile: Profile = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    preferences: Mapping[str, str] = field(default_factory=dict)
    slots: Mapping[int | str, str] = field(default_factory=dict)
    wishes: Mapping[str, str] = field(default_factory=dict)
    skills: Sequence[str] = ()
    gate_reason: GateReason | None = None
    blocked_intents: Sequence[str] = ()
    no_device: bool = False
    nothing_known: bool = False
    question: str = ""
    told: Sequence[str] = ()
    plans: Mapping[str, str] = field(default_factory=dict)
    events: Sequence[Memory] = ()
    episodes: Sequence[Memory] = ()
    facts: Sequence[Memory] = ()
    summaries: Sequence[Memory] = ()
    scratch_area: str = ""
    lore: Sequence[Lore] = ()


def known_since(since: str, name: str | None, bond: str, lang: Lang) -> str:
    """Since when a soul knows somebody, and what they are to each other, in a sentence or two."""
    words = _KNOWN[lang]
    known = words["since"].format(since=since, name=speaker_name(name) if name else words["person"])
    return known + (words["bond"].format(bond=one_line(bond).rstrip(".。")) if bond else "")


def values_of(persona: Persona, budget: Budget) -> Values:
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
        "relation": _text_piece(persona.relation, "relation"),
        "profile": _list_pieces(_profile_pieces(persona.profile, budget.profile_items)),
        "mood": _text_piece(persona.mood),
        "user_file": _text_piece(persona.files.get("USER.md", ""), "USER.md"),
        "preferences": _list_pieces((Piece(f"{key}: {text}", f"preference:{key}") for key, text in preferences)),
        "slots": _list_pieces(_slot_pieces(persona.slots)),
        "mode": [Piece(MODES[persona.lang][persona.mode])],
        "wishes": _list_pieces((Piece(f"{key}: {text}") for key, text in persona.wishes.items())),
        "skills": _best_pieces(map(Piece, persona.skills), budget.persona),
        "gate": _text_piece("\n".join(_gate_lines(persona))),
        "events": _best_pieces(_memory_pieces("event", persona.events), budget.memories),
        "episodes": [
            *_best_pieces(_memory_pieces("fact", persona.facts), budget.memories // 2),
            *_best_pieces(_memory_pieces("episode", persona.episodes), budget.memories),
        ],
        "summaries": _best_pieces(_memory_pieces("summary", persona.summaries), budget.memories),
        "scratch_area": _best_pieces(_note_pieces(persona.scratch_area), budget.memories),
        "plans": _best_pieces((Piece(text, f"plan:{key}") for key, text in persona.plans.items()), budget.memories),
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


def _slot_pieces(slots: Mapping[int | str, str]) -> Iterator[Piece]:
    return (Piece(text, f"slot:{n}", rank=-place) for place, (n, text) in enumerate(slots.items()))


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
    """What the gate refused, what was noted, and the question to ask, if there is one."""
    blocked = [*map(one_line, persona.blocked_intents)]
    closed = gate_lines(persona.gate_reason, blocked, persona.lang)
    asked = [ASK[persona.lang].format(question=one_line(persona.question))] if persona.question else []
    return [*closed, *map(one_line, persona.told), *asked]
