"""Numbers, texts and times that no database can hold are refused with a reason, whatever the way in."""

import json

import pytest

from soulgraph.tests.live import new_soul, say, serving

BEYOND = (2**53, 2**63, -(2**63) - 1, 10**30)


def problem(response):
    assert response.headers["content-type"] == "application/problem+json", response.text
    assert response.json()["detail"]
    return response.status_code, response.json()["code"]


async def test_a_number_that_no_row_can_have_is_refused_wherever_it_stands(client):
    soul_id = await new_soul(client)
    await say(client, "hi", soul_id=soul_id, session_id="s")
    for number in BEYOND:
        for path in (
            f"/v1/jobs/{number}/retry",
            f"/v1/sessions/s/persona-versions/{number}/restore",
            f"/v1/souls/{soul_id}/inner-state/versions/{number}/restore",
        ):
            assert problem(await client.post(path)) == (422, "invalid_input"), path
        jobs = await client.get("/v1/jobs", params={"before": number})
        assert problem(jobs) == (422, "invalid_input")


async def test_a_version_that_a_row_could_have_is_not_found(client):
    soul_id = await new_soul(client)
    await say(client, "hi", soul_id=soul_id, session_id="s")
    for path in (
        f"/v1/jobs/{2**53 - 1}/retry",
        f"/v1/sessions/s/persona-versions/{2**31 - 1}/restore",
        f"/v1/souls/{soul_id}/inner-state/versions/{2**31 - 1}/restore",
    ):
        assert problem(await client.post(path)) == (404, "not_found"), path


UNSTORABLE = ("a\x00b", "\ud800", "x\udfff")
JSON = {"content-type": "application/json"}


def encoded(body):
    """As only escapes can say it: half of a surrogate pair has no other way into JSON."""
    return json.dumps(body).encode()


def requests_with(text, soul_id):
    """Requests that have the text in a field, and the field."""
    named = [{"id": "light", "name": text, "match": {"keywords_any": ["light"]}}]
    return (
        ("POST", "/v1/chat", {"soul_id": soul_id, "inputs": [{"text": "hi", "source": text}]}, "inputs.0.source"),
        ("POST", "/v1/sessions", {"soul_id": soul_id, "title": text}, "title"),
        ("POST", "/v1/intents/filter", {"text": "light", "intent_catalog": named}, "intent_catalog.0.name"),
        ("PUT", "/v1/terminals/t/intent-catalog", {"catalog_version": 1, "intent_catalog": named}, "catalog.0.name"),
        ("POST", "/v1/characters", {"name": "x", "extensions": {text: 1}}, "extensions"),
    )


async def test_a_text_that_no_database_can_hold_is_refused_and_the_field_is_named(client):
    soul_id = await new_soul(client)
    for method, path, body, field in (one for text in UNSTORABLE for one in requests_with(text, soul_id)):
        refused = await client.request(method, path, content=encoded(body), headers=JSON)
        assert problem(refused) == (422, "invalid_input"), path
        assert field in refused.json()["detail"], path


async def test_openais_clients_are_told_so_too_but_what_they_said_before_does_no_harm(client):
    soul_id = await new_soul(client)
    said = {"role": "user", "content": "hi"}
    for model, messages, status in (
        *((f"soul:{text}", [said], 400) for text in UNSTORABLE),
        *((f"soul:{soul_id}", [{**said, "content": text}], 400) for text in UNSTORABLE),
        (f"soul:{soul_id}", [*({"role": "assistant", "content": text} for text in UNSTORABLE), said], 200),
    ):
        body = encoded({"model": model, "messages": messages})
        answer = await client.post("/v1/chat/completions", content=body, headers=JSON)
        assert answer.status_code == status, answer.text
    assert (await client.get("/v1/models/soul:a%00b")).status_code in (400, 404)


@pytest.mark.parametrize("year", ["0001", "0998", "9000", "9999"])
async def test_a_time_beyond_all_calendars_is_refused_and_nothing_of_it_is_stored(tmp_path, year):
    async with serving(data_dir=tmp_path) as client:
        await times_are_refused(client, year)


async def times_are_refused(client, year):
    soul_id = await new_soul(client)
    moment = f"{year}-12-31T23:59:59"
    plans = f"/v1/souls/{soul_id}/plans"
    kept = (await client.post(plans, json={"content": "x", "at": "2027-01-15T19:00"})).json()["plan_id"]
    lines = [{"type": "metadata"}, {"role": "user", "content": "tomorrow", "timestamp": f"{moment}+14:00"}]
    begun = [{"type": "metadata", "created_at": f"{moment}-14:00"}]
    catalog = [{"id": "alarm", "name": "alarm", "match": {"keywords_any": ["wake"]}}]
    filtered = {"text": "wake me tomorrow at 7", "intent_catalog": catalog, "options": {"now": moment}}
    for refused in (
        await client.post(plans, json={"content": "x", "at": moment, "grain": "week", "recurs": "yearly"}),
        await client.patch(f"{plans}/{kept}", json={"at": moment, "zone": "Pacific/Kiritimati"}),
        await client.post(f"/v1/sessions/import?soul_id={soul_id}", content="\n".join(map(json.dumps, lines))),
        await client.post(f"/v1/sessions/import?soul_id={soul_id}", content="\n".join(map(json.dumps, begun))),
        await client.post("/v1/intents/filter", json=filtered),
    ):
        assert problem(refused) == (422, "invalid_input"), refused.request.url
        assert "between the years 1000 and 8999" in refused.json()["detail"]
    assert (await client.get("/v1/sessions")).json() == []
    assert len((await client.get(plans)).json()) == 1


async def test_a_body_that_cannot_be_read_is_refused_with_the_reason(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        for content, why in (
            (b"[" * 100_000, "nested too deeply"),
            (b'{"text": ' + b"7" * 10_000 + b"}", "digits"),
            (b'{"text": "\xff"}', "utf-8"),
            (b'{"text": "\xed\xa0\x80"}', "text: must be valid Unicode"),
        ):
            refused = await client.post("/v1/chat", content=content, headers=JSON)
            assert problem(refused) == (422, "invalid_input")
            assert why in refused.json()["detail"]
