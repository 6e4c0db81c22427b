"""The rows that thousands of turns leave behind, without the time it takes to have them."""

from typing import Any

import numpy as np
from sqlalchemy import Table, insert, text

from soulgraph.bench.made_up import talk
from soulgraph.senses.tokenizer import fingerprints
from soulgraph.stores import schema, schema_memory
from soulgraph.stores.database import Database

Rows = dict[Table, list[dict[str, Any]]]


async def live_through(
    database: Database, model: str, turns: int, *, soul_id: str, session_id: str, now: float, dimensions: int = 512
) -> None:
    """Write what is left of this many turns of person `u`: messages, their index, answers and jobs that are done."""
    async with database.write() as connection:
        last = (await connection.execute(text("SELECT coalesce(max(message_id), 0) FROM messages"))).scalar()
        for table, rows in _rows(model, turns, soul_id, session_id, now, last, dimensions).items():
            await connection.execute(insert(table), rows)
        if connection.dialect.name == "postgresql":
            sequence = "pg_get_serial_sequence('messages', 'message_id')"
            await connection.execute(text(f"SELECT setval({sequence}, max(message_id)) FROM messages"))
            await connection.execute(text("ANALYZE"))  # as PostgreSQL does by itself, and SQLite does not


def _rows(model: str, turns: int, soul_id: str, session_id: str, now: float, last: int, dimensions: int) -> Rows:
    own = {"session_id": session_id, "created_at": now}
    ids = [f"{session_id} {n}" for n in range(turns)]
    said = [
        {"message_id": last + n + 1, "turn_id": ids[n // 2], "role": ("user", "assistant")[n % 2], "content": words}
        for n, words in enumerate(talk(2 * turns))
    ]
    of_soul = [{"message_id": one["message_id"], "soul_id": soul_id} for one in said]
    job = {"kind": "afterglow", "payload": {}, "status": "done", "attempts": 1, "run_at": now, "soul_id": soul_id}
    heard = {"soul_id": soul_id, "user_emotion": {}, "answer": None}
    vectors = np.random.default_rng(3).normal(size=(len(said), dimensions))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    return {
        schema.turns: [{"turn_id": one, "input_id": one, **heard, **own} for one in ids],
        schema_memory.outbox: [{"turn_id": one, **job, **own} for one in ids],
        schema.messages: [{**one, **own, "archived": True, "user_id": "u", "soul_id": soul_id} for one in said],
        schema.episodes: [
            {**row, "by_user": one["role"] == "user", "at": now, "terms": fingerprints(one["content"]), "user_id": "u"}
            for row, one in zip(of_soul, said, strict=True)
        ],
        schema.episode_vectors: [
            {**row, "model": model, "vector": one.astype("<f2").tobytes()}
            for row, one in zip(of_soul, vectors, strict=True)
        ],
    }
