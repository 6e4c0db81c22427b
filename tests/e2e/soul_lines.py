"""A soul that has lived, and its file: what of two files is the same whatever the ids."""

import json

from soulgraph.memory.events import audience_of
from soulgraph.runtime.ports import open_stores
from soulgraph.stores.records import ChatImport, DailyUsage, Provenance
from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.live import new_soul, say
from soulgraph.tests.stores.samples import fact

MESSAGE_IDS = {"message_id", "previous_id", "message_ids", "evidence"}
MESSAGE_IDS |= {"reflected_to", "proposed_to", "facts_to", "facts_asked_to"}


async def exported(client, soul_id):
    response = await client.get(f"/v1/souls/{soul_id}/export")
    assert response.status_code == 200, response.text
    return response


async def imported(client, content, **query):
    response = await client.post("/v1/souls/import", content=content, params=query)
    assert response.status_code == 201, response.text
    return response.json()


def lines_of(response):
    """Not `splitlines`, which breaks at Unicode line separators inside the JSON too."""
    return [json.loads(line) for line in response.text.split("\n") if line]


def rows_of(lines, table):
    return [line["row"] for line in lines if line.get("table") == table]


def aliases(lines):
    """What each id stands for, in words that are the same in every copy."""
    names = {row["soul_id"]: "the soul" for row in rows_of(lines, "souls")}
    names |= {row["session_id"]: f"session {row['created_at']}" for row in rows_of(lines, "sessions")}
    names |= {row["turn_id"]: f"turn {row['created_at']}" for row in rows_of(lines, "turns")}
    names |= {row["id"]: f"summary {row['created_at']}" for row in rows_of(lines, "backgrounds")}
    for table in ("characters", "templates", "library_backgrounds"):
        names |= {row["id"]: f"{table} {row['created_at']}" for row in rows_of(lines, table)}
    names |= {row["event_id"]: f"event {row['created_at']}" for row in rows_of(lines, "event_uses")}
    return names | {row["message_id"]: f"{row['role']} at {row['created_at']}" for row in rows_of(lines, "messages")}


def canonical(lines):
    names = aliases(lines)

    def inside(value, key=""):
        if isinstance(value, dict):
            return {names.get(name, name): inside(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [inside(one, key) for one in value]
        if isinstance(value, str):
            kind, colon, rest = value.partition(":")
            rest = str(names.get(int(rest), rest)) if kind == "episode" else names.get(rest, rest)
            return f"{kind}:{rest}" if colon else "\n".join(names.get(part, part) for part in value.split("\n"))
        return names.get(value, value) if key in MESSAGE_IDS else value

    return sorted(json.dumps(inside(line), sort_keys=True, ensure_ascii=False) for line in lines[1:])


async def live_a_life(client, settings):
    """A soul with a row in every table that a soul may have one in; the settings are those of the server."""
    soul_id = await new_soul(client, user_id="ann", user_name="Annie")
    talk = {"soul_id": soul_id, "user_id": "ann"}
    await say(client, "I keep bees on the roof of the old mill", **talk)
    await say(client, "From now on, please always answer in English", **talk)
    await say(client, "Remind me tomorrow at seven to feed the bees", **talk)
    first = (await say(client, "Do you remember my bees?", **talk))["session_id"]
    messages = (await client.get(f"/v1/sessions/{first}/messages")).json()
    await client.put(
        f"/v1/sessions/{first}/messages/{messages[0]['message_id']}/sharing", json={"shared_with": ["bob"]}
    )
    other = await new_soul(client, "another", user_id="ann")
    group = {"soul_id": soul_id, "user_id": "ann", "people": ["bob"], "souls": [other]}
    group_id = (await client.post("/v1/sessions", json=group)).json()["session_id"]
    await say(client, "Hello both of you", session_id=group_id, user_id="bob")
    await say(client, "And you?", session_id=group_id, user_id="ann", soul_id=other)
    await client.put(f"/v1/souls/{soul_id}/slots/3?user_id=ann", json={"content": "plays the cello"})
    await client.put(f"/v1/souls/{soul_id}/inner-state", json={"inner_state": "I wonder."})
    assert (await client.post(f"/v1/sessions/{first}/update-memory")).status_code == 200
    assert (await client.post(f"/v1/sessions/{first}/summarize")).status_code == 201
    await settled(client)
    async with open_stores(settings) as stores, stores.write() as tx:
        ids = [one["message_id"] for one in messages]
        await tx.events.add("evt_private", 1.5, audience_of(soul_id, ["ann"]))
        await tx.events.trace(Provenance("evt_private", first, soul_id, ids, 2.5))
        await tx.usage.add(DailyUsage(soul_id, "2027-01-15", "turn", 1, 10, 5))
        await tx.proactive_schedules.schedule({(soul_id, "ann"): 3.5})
        await tx.episodes.recalled(ids, 4.5)
        await tx.sessions.reflected(first, ids[-1])
        await tx.chat_imports.put(ChatImport(soul_id, "ann", "claude", "u-1", first, 2, 5.5))
        old = fact(
            "fact_old", soul_id=soul_id, user_id="ann", message_ids=ids[:1], valid_to=6.5, superseded_by="fact_new"
        )
        await tx.facts.put(old)
        await tx.facts.put(
            fact("fact_new", "Ann lives in Cardiff.", soul_id=soul_id, user_id="ann", message_ids=ids[:2])
        )
        await tx.facts.put_vectors("any", [(old, b"\0\1")])
    return soul_id
