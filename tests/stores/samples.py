"""Rows for the conformance suite: valid as they are, each field open to change."""

from typing import Any

from soulgraph.soul.dynamics import born
from soulgraph.soul.personality import traits_of
from soulgraph.stores.records import (
    ChatImport,
    DailyUsage,
    EmotionPoint,
    EpisodeVector,
    Fact,
    Json,
    NewMessage,
    Plan,
    Preference,
    Provenance,
    Relation,
    Session,
    Slot,
    Soul,
)
from soulgraph.stores.stores import Stores

NOW = 1_800_000_000.125
INFJ = traits_of("INFJ")
ANY_JSON: Json = {
    "text": "我听见你了，别怕 🫶🏽",
    "quotes": "'single' \"double\" back\\slash\nnew line",
    "nested": [{"deep": [1, -2.5, 1e-9, True, False, None, {}, []]}],
    "nothing": None,
    "": "an empty key",
    "键": 2**53,
}


def soul(soul_id: str = "soul_1", **fields: Any) -> Soul:
    values = {
        "user_id": "user_1",
        "name": soul_id,
        "mbti_type": "INFJ",
        "character_id": None,
        "personality_vector": INFJ,
        "emotion_state": born(INFJ, NOW),
        "model_version": "persona-pad-v3",
        "dynamic_profile": {"dynamic_state": {}},
        "inner_state": "",
        "turns": 0,
        "version": 1,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Soul(soul_id=soul_id, **(values | fields))


def session(session_id: str = "sess_1", soul_id: str = "soul_1", **fields: Any) -> Session:
    values = {
        "user_id": "user_1",
        "title": "",
        "background_id": None,
        "template_id": "companion_v1",
        "character_snapshot": snapshot(),
        "persona_state": persona_state(),
        "turn": 0,
        "continued_from": None,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Session(session_id=session_id, soul_id=soul_id, **(values | fields))


def persona_state(mode: str = "hybrid") -> Any:
    return {"mode": mode, "mode_source": "default", "since": "2027-01-15T08:00:00Z", "ttl_turns": 0, "notes": ""}


def snapshot(**fields: Any) -> Any:
    empty = {"source_preset": None, "snapshot_created_at": "", "base_persona": "", "evolved_persona": ""}
    return {**empty, **fields}


def message(content: str = "hello", **fields: Any) -> NewMessage:
    values = {"turn_id": "turn_1", "role": "user", "created_at": NOW, "user_id": "user_1", "soul_id": "soul_1"}
    return NewMessage(content=content, **(values | fields))


def preference(key: str = "tea", soul_id: str = "soul_1", **fields: Any) -> Preference:
    values = {
        "user_id": "user_1",
        "value": "green",
        "confidence": 0.5,
        "source": "said",
        "evidence": [],
        "updated_at": NOW,
    }
    return Preference(soul_id=soul_id, key=key, **(values | fields))


def slot(n: int = 1, content: str = "likes rain", soul_id: str = "soul_1", **fields: Any) -> Slot:
    return Slot(**({"soul_id": soul_id, "user_id": "user_1", "n": n, "content": content, "updated_at": NOW} | fields))


def fact(fact_id: str = "fact_1", content: str = "Ann lives in Bristol.", **fields: Any) -> Fact:
    values = {
        "soul_id": "soul_1",
        "user_id": "user_1",
        "subject": "self",
        "attribute": "home",
        "value": "Bristol",
        "message_ids": [],
        "said_at": NOW,
        "valid_from": None,
        "valid_to": None,
        "superseded_by": None,
        "source": "pattern",
        "updated_at": NOW,
    }
    return Fact(fact_id=fact_id, content=content, **(values | fields))


def point(at: float = NOW, soul_id: str = "soul_1", **fields: Any) -> EmotionPoint:
    values = dict.fromkeys(("p", "a", "d", "boredom", "shock_load", "extreme_memory"), 0.1)
    verdict = {"exec_probability": 0.75, "exec_mode": "auto_execute", "locked": False}
    drift = dict.fromkeys(INFJ.to_dict(), 0.01)
    return EmotionPoint(soul_id=soul_id, at=at, **(values | verdict | {"drift": drift} | fields))


async def live(stores: Stores, n: int = 1) -> None:
    """A soul with a row in every table that follows its life: `soul_<n>`, `sess_<n>`, `turn_<n>`, `term_<n>`."""
    soul_id, session_id, turn_id = f"soul_{n}", f"sess_{n}", f"turn_{n}"
    async with stores.write() as tx:
        await tx.souls.add(soul(soul_id))
        await tx.sessions.add(session(session_id, soul_id))
        await tx.messages.append(session_id, [message(turn_id=turn_id, input_id="in_1", soul_id=soul_id)])
        [said] = await tx.messages.page(session_id)
        await tx.vectors.put([EpisodeVector(said.message_id, soul_id, "model_1", b"\0\1")])
        await tx.episodes.recalled([said.message_id], NOW)
        await tx.personas.evolve(session_id, "grown", "manual", NOW)
        await tx.events.add(f"evt_{n}", NOW)
        await tx.events.trace(Provenance(f"evt_{n}", session_id, soul_id, [said.message_id], NOW))
        await tx.turns.heard(session_id, "in_1", turn_id, soul_id, {}, NOW)
        await tx.history.add_turn(0, point(soul_id=soul_id))
        await tx.preferences.put(preference(soul_id=soul_id))
        await tx.slots.put(slot(1, "likes rain", soul_id=soul_id))
        await tx.facts.put(fact(soul_id=soul_id, message_ids=[said.message_id]))
        await tx.plans.put(plan(soul_id=soul_id))
        await tx.chat_imports.put(ChatImport(soul_id, "user_1", "claude", "chat_1", session_id, 2, NOW))
        await tx.relations.ensure(Relation.new(soul_id, "user_1", NOW))
        await tx.monologues.think(soul_id, "I wonder", "edited", NOW)
        await tx.usage.add(DailyUsage(soul_id, "2027-01-15", "turn", 1, 10, 5))
        await tx.proactive_schedules.schedule({(soul_id, "user_1"): NOW})
        await tx.outbox.add("reflect", soul_id, session_id, turn_id, {}, NOW)
        await tx.terminals.report_catalog(f"term_{n}", 3, [{"id": "wave"}], NOW)
        await tx.terminals.bind(f"term_{n}", soul_id, NOW)


def plan(plan_id: str = "plan_1", soul_id: str = "soul_1", **fields: Any) -> Plan:
    values = {
        "user_id": "user_1",
        "kind": "reminder",
        "content": "take the pills",
        "status": "open",
        "due": NOW + 60,
        "ends": NOW + 120,
        "local_due": "2027-01-15T09:01:00",
        "zone": "Europe/Berlin",
        "grain": "minute",
        "recurs": "",
        "source": "pattern",
        "session_id": "sess_1",
        "evidence": [],
        "next_at": NOW + 60,
        "follow_up_at": None,
        "delivered_at": None,
        "delivery_id": "",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Plan(soul_id=soul_id, plan_id=plan_id, **(values | fields))
