"""Who a soul is and whom it talks to, as its own thoughts need it: name, persona and files."""

from typing import Any

from soulgraph.nodes.context import Context
from soulgraph.prompts.budget import cut
from soulgraph.stores.records import Session, Soul

_MAX_TEXT = 2000  # characters of each text


def self_image(soul: Soul, session: Session, context: Context) -> dict[str, Any]:
    """The data of a task in which the soul thinks: `name`, `persona`, `soul_file` and `user_file`."""
    snapshot = session.character_snapshot
    workspaces = context.memory.workspaces
    files = workspaces.read(soul.soul_id) if workspaces else {}
    return {
        "name": soul.name,
        "persona": [cut(snapshot["base_persona"], _MAX_TEXT), cut(snapshot["evolved_persona"], _MAX_TEXT)],
        "soul_file": cut(files.get("SOUL.md", ""), _MAX_TEXT),
        "user_file": cut(files.get("USER.md", ""), _MAX_TEXT),
    }
