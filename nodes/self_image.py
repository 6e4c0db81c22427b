"""Who a soul is and whom it talks to, as its own thoughts need it: name, persona and files."""

from typing import Any

from soulgraph.nodes.context import Context
from soulgraph.prompts.budget import cut
from soulgraph.soul.character_words import describe_personality
from soulgraph.soul.language import Lang
from soulgraph.stores.records import Session, Soul

_MAX_TEXT = 2000  # characters of each text


def self_image(soul: Soul, session: Session, context: Context, lang: Lang, user_id: str) -> dict[str, Any]:
    """The data of a task in which the soul thinks of a person: `name`, `persona`, `soul_file` and `user_file`."""
    snapshot = session.snapshot_of(soul.soul_id)
    workspaces = context.memory.workspaces
    files = workspaces.read(soul, None if session.people else user_id) if workspaces else {}
    personality = describe_personality(soul.personality_vector, soul.emotion_state.drift, lang)
    persona = (snapshot["base_persona"], personality, snapshot["evolved_persona"])
    return {
        "name": soul.name,
        "persona": [cut(text, _MAX_TEXT) for text in persona],
        "soul_file": cut(files.get("SOUL.md", ""), _MAX_TEXT),
        "user_file": cut(files.get("USER.md", ""), _MAX_TEXT),
    }
