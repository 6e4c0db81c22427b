"""Plans in a real server, with the offline voice: found in passing, confirmed, moved, called off and said."""

import asyncio
import json
from contextlib import asynccontextmanager
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from soulgraph.runtime import proactive_scheduler, reminders
from soulgraph.tests.live import new_soul, say, serving

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2027, 1, 15, 12, tzinfo=BERLIN).timestamp()  # a Friday


class Clock:
    now = NOON

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def client(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(reminders, "POLL_S", 0.02)
    monkeypatch.setattr(proactive_scheduler, "POLL_S", 0.02)
    async with serving(clock=clock, data_dir=tmp_path, timezone="Europe/Berlin") as client:
        yield client


async def plans(client, soul_id, user_id="default", **filters):
    answer = await client.get(f"/v1/souls/{soul_id}/plans", params={"user_id": user_id, **filters})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_reminder_is_noted_confirmed_and_kept_with_its_evidence(client):
    soul_id = await new_soul(client)
    answer = await say(client, "remind me at seven to take my pills", soul_id=soul_id)
    assert "I'll remind you today at 19:00: take your pills." in answer["reply"]
    (plan,) = await plans(client, soul_id)
    assert (plan["kind"], plan["content"], plan["status"]) == ("reminder", "take my pills", "open")
    assert (plan["local_due"], plan["zone"]) == ("2027-01-15T19:00:00", "Europe/Berlin")
    messages = (await client.get(f"/v1/sessions/{answer['session_id']}/messages")).json()
    assert plan["evidence"] == [messages[0]["message_id"]]


async def test_in_passing_in_chinese_and_the_soul_knows_it_on_the_day(client, clock):
    soul_id = await new_soul(client)
    answer = await say(client, "我下周三考试，书还没翻开", soul_id=soul_id)
    assert "1月20日星期三" in answer["reply"]
    (plan,) = await plans(client, soul_id)
    assert (plan["kind"], plan["local_due"][:10]) == ("plan", "2027-01-20")
    clock.now += 4 * 86400
    answer = await say(client, "早上好呀", soul_id=soul_id)
    assert f"plan:{plan['plan_id']}" in answer["persona"]["sources"]


async def test_what_is_unsure_is_asked_about_and_the_answer_settles_it(client):
    soul_id = await new_soul(client)
    asked = await say(client, "remind me later to call the bank", soul_id=soul_id)
    assert "When shall I remind you: call the bank?" in asked["reply"]
    assert [one["status"] for one in await plans(client, soul_id)] == ["unsure"]
    settled = await say(client, "at eight, please", soul_id=soul_id)
    assert "today at 20:00" in settled["reply"]
    (plan,) = await plans(client, soul_id)
    assert (plan["status"], plan["local_due"]) == ("open", "2027-01-15T20:00:00")


async def test_a_maybe_becomes_a_plan_by_yes_and_nothing_by_no(client):
    soul_id = await new_soul(client)
    asked = await say(client, "maybe we go hiking tomorrow, depends on my knee", soul_id=soul_id)
    assert "Is it settled" in asked["reply"]
    await say(client, "yes, it is!", soul_id=soul_id)
    assert [one["status"] for one in await plans(client, soul_id)] == ["open"]
    await say(client, "周日可能去游泳", soul_id=soul_id)
    await say(client, "不，算了", soul_id=soul_id)
    assert {one["status"] for one in await plans(client, soul_id)} == {"open", "cancelled"}


async def test_it_is_moved_and_called_off_by_what_is_said(client):
    soul_id = await new_soul(client)
    await say(client, "remind me tomorrow at seven in the evening to take my pills", soul_id=soul_id)
    moved = await say(client, "make it eight instead", soul_id=soul_id)
    assert "tomorrow at 20:00" in moved["reply"]
    assert [one["local_due"] for one in await plans(client, soul_id)] == ["2027-01-16T20:00:00"]
    off = await say(client, "you needn't remind me of the pills any more", soul_id=soul_id)
    assert "let go" in off["reply"]
    assert [one["status"] for one in await plans(client, soul_id)] == ["cancelled"]


async def test_an_exam_is_moved_and_then_cancelled(client):
    soul_id = await new_soul(client)
    await say(client, "我下周三考试", soul_id=soul_id)
    await say(client, "考试改到周四了", soul_id=soul_id)
    assert [one["local_due"][:10] for one in await plans(client, soul_id)] == ["2027-01-21"]
    await say(client, "考试取消了", soul_id=soul_id)
    assert [one["status"] for one in await plans(client, soul_id)] == ["cancelled"]


async def test_what_was_due_while_nobody_was_there_is_said_first_in_the_next_conversation(client, clock):
    soul_id = await new_soul(client)
    await say(client, "remind me at one to feed the cat", soul_id=soul_id)
    clock.now += 3 * 3600
    answer = await say(client, "hello, how are you?", soul_id=soul_id)
    assert answer["reply"].startswith(
        "Before anything else: you wanted me to remind you (today at 13:00): feed the cat."
    )
    assert [one["status"] for one in await plans(client, soul_id)] == ["delivered"]
    assert "Before anything else" not in (await say(client, "thank you", soul_id=soul_id))["reply"]


async def test_it_is_said_over_an_open_stream_and_after_a_restart(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(reminders, "POLL_S", 0.02)

    @asynccontextmanager
    async def server():
        async with serving(clock=clock, data_dir=tmp_path, timezone="Europe/Berlin") as client:
            yield client

    async with server() as client:
        soul_id = await new_soul(client)
        await say(client, "remind me in ten minutes to take my pills", soul_id=soul_id)
    clock.now += 600
    async with server() as client, client.stream("GET", f"/v1/souls/{soul_id}/stream") as response:
        lines = response.aiter_lines()
        event = ""
        while event != "event: proactive":
            event = await anext(lines)
        data = json.loads((await anext(lines)).removeprefix("data: "))
    assert "take your pills" in data["text"]
    assert data["delivery_id"].startswith("life_")


async def test_what_another_person_plans_is_never_seen(client, clock):
    soul_id = await new_soul(client)
    await say(client, "remind me at one to buy a ring for Bob", user_id="ann", soul_id=soul_id)
    clock.now += 2 * 3600
    answer = await say(client, "hello, what is planned with the ring for Bob today?", user_id="bob", soul_id=soul_id)
    assert "ring" not in answer["reply"].replace("“hello, what is planned with the ring for Bob today?”", "")
    assert not [one for one in answer["persona"]["sources"] if one.startswith("plan:")]
    assert await plans(client, soul_id, "bob") == []
    (plan,) = await plans(client, soul_id, "ann")
    assert (await client.get(f"/v1/souls/{soul_id}/plans/{plan['plan_id']}?user_id=bob")).status_code == 404


async def test_plans_are_made_changed_filtered_and_deleted_over_http(client):
    soul_id = await new_soul(client)
    path = f"/v1/souls/{soul_id}/plans"
    wanted = {"content": "water the plants", "at": "2027-01-16T08:30", "recurs": "weekly"}
    made = (await client.post(path, json=wanted)).json()
    assert (made["kind"], made["due"], made["zone"]) == ("reminder", "2027-01-16T07:30:00.000Z", "Europe/Berlin")
    one = f"{path}/{made['plan_id']}"
    moved = (await client.patch(one, json={"at": "2027-01-16T10:00", "zone": "Asia/Shanghai"})).json()
    assert (moved["due"], moved["recurs"]) == ("2027-01-16T02:00:00.000Z", "weekly")
    assert (await client.patch(one, json={"status": "done"})).json()["status"] == "done"
    assert await plans(client, soul_id, status="open") == []
    assert len(await plans(client, soul_id, **{"from": "2027-01-16T00:00:00Z", "to": "2027-01-17T00:00:00Z"})) == 1
    assert (await client.delete(one)).status_code == 204
    assert (await client.delete(one)).status_code == 404
    for wrong in ({"content": "x", "at": "soon"}, {"content": "x", "at": "2027-01-16T10:00", "zone": "Mars/Olympus"}):
        assert (await client.post(path, json=wrong)).status_code == 422


async def test_a_person_lives_in_their_own_time_zone(client):
    soul_id = await new_soul(client)
    await client.put(f"/v1/souls/{soul_id}/preferences/time_zone", json={"value": "Asia/Shanghai"})
    await say(client, "remind me at nine to call home", soul_id=soul_id)  # it is 19:00 there
    (plan,) = await plans(client, soul_id)
    assert (plan["zone"], plan["local_due"]) == ("Asia/Shanghai", "2027-01-15T21:00:00")
    assert plan["due"] == "2027-01-15T13:00:00.000Z"


async def test_what_is_said_anew_is_planned_once(client):
    soul_id = await new_soul(client)
    first = await say(client, "remind me at seven to take my pills", soul_id=soul_id)
    message = (await client.get(f"/v1/sessions/{first['session_id']}/messages")).json()[0]["message_id"]
    body = {"session_id": first["session_id"], "replaces": message}
    await say(client, "remind me at nine to take my pills", **body, soul_id=soul_id)
    assert [one["local_due"] for one in await plans(client, soul_id)] == ["2027-01-15T21:00:00"]


async def test_what_is_over_is_asked_about_once_by_the_soul_itself(client, clock):
    soul_id = await new_soul(client)
    session_id = (await say(client, "我明天上午考试", soul_id=soul_id))["session_id"]
    async with client.stream("GET", f"/v1/souls/{soul_id}/stream"):
        said = []
        for _ in range(40):
            clock.now += 3600
            await asyncio.sleep(0.1)
            messages = (await client.get(f"/v1/sessions/{session_id}/messages")).json()
            said = [one for one in messages if one["proactive"]]
    (asked,) = said
    assert "考试" in asked["content"]
    asked_at = datetime.fromisoformat(asked["timestamp"]).astimezone(BERLIN)
    assert asked_at >= datetime(2027, 1, 16, 15, tzinfo=BERLIN)
    assert 8 <= asked_at.hour < 22
    assert [one["status"] for one in await plans(client, soul_id)] == ["done"]


async def test_what_the_person_tells_by_themself_is_not_asked_about(client, clock):
    soul_id = await new_soul(client)
    await say(client, "my chemistry exam is tomorrow at ten", soul_id=soul_id)
    clock.now += 26 * 3600
    answer = await say(client, "the chemistry exam went really well!", soul_id=soul_id)
    assert [one["status"] for one in await plans(client, soul_id)] == ["done"]
    assert answer["persona"]["sources"]
