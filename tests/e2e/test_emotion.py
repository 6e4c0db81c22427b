"""How a soul feels, now and over time, with a clock of the test's own."""

import pytest

from soulgraph.runtime.ports import open_stores
from soulgraph.settings import Settings
from soulgraph.soul.timestamps import epoch, iso
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stores import samples

INSULT = "我恨你！你这个垃圾！滚！"


@pytest.fixture
async def client(database_url, tmp_path, clock):
    async with serving(clock=clock, database_url=database_url, data_dir=tmp_path) as client:
        yield client


async def history(client, soul_id, **params):
    response = await client.get(f"/v1/souls/{soul_id}/emotion/history", params=params)
    assert response.status_code == 200, response.text
    assert response.json()["soul_id"] == soul_id
    return response.json()["points"]


async def test_what_a_soul_went_through_can_be_plotted_up_to_this_moment(client, clock):
    soul_id = await new_soul(client, mbti_type="INFP")
    answers = []
    for _ in range(4):
        clock.now += 8
        answers.append(await say(client, INSULT, soul_id=soul_id))
    clock.now += 30
    points = await history(client, soul_id)
    for point, answer in zip(points, answers, strict=False):
        assert all(point[name] == answer["soul_emotion"][name] for name in ("p", "a", "d", "boredom", "extreme_memory"))
        assert (point["exec_mode"], point["exec_probability"]) == (answer["exec_mode"], answer["exec_probability"])
        assert epoch(point["at"]) == answer["soul_emotion"]["updated_at"]
    now = (await client.get(f"/v1/souls/{soul_id}/emotion")).json()
    assert len(points) == 5
    assert (points[-1]["at"], points[-1]["shock_load"]) == (now["at"], now["soul_emotion"]["shock_load"])
    assert points[-1]["locked"] is now["gate"]["locked"] is True
    assert (now["gate"]["reason"], now["gate"]["why"]["en"]) == ("hurt", "hurt by what was said")
    assert now["gate"]["helps"]["zh"] == answers[-1]["gate"]["helps"]
    assert points[-2]["p"] < points[-1]["p"]


async def test_a_retried_input_is_one_moment(client, clock):
    soul_id = await new_soul(client)
    for _ in range(2):
        await say(client, "谢谢你", soul_id=soul_id, input_id="in-1")
        clock.now += 60
    assert len(await history(client, soul_id)) == 2


async def test_a_part_of_the_history_is_chosen_by_either_kind_of_time(client, clock):
    soul_id, began = await new_soul(client), clock.now
    for _ in range(5):
        clock.now += 60
        await say(client, "谢谢你", soul_id=soul_id)
    clock.now += 60

    async def minutes(**params):
        return [(epoch(point["at"]) - began) / 60 for point in await history(client, soul_id, **params)]

    assert await minutes() == [1, 2, 3, 4, 5, 6]
    assert await minutes(since=began + 120, until=iso(began + 240)) == [2, 3, 4]
    assert await minutes(since=iso(began + 240)) == [4, 5, 6]
    assert await minutes(since=iso(began + 240).replace("Z", "+00:00"), until=clock.now + 1e6) == [4, 5, 6]
    assert await minutes(until=began) == []
    assert await minutes(since=clock.now + 1) == []
    past = await history(client, soul_id, until=began + 300)
    most_extreme = max(past, key=lambda point: max(abs(point[axis]) for axis in "pad"))
    assert await minutes(points=2) == [(epoch(most_extreme["at"]) - began) / 60, 6]
    assert len(await minutes(points=4)) == 4


async def test_a_part_that_makes_no_sense_is_refused(client):
    soul_id = await new_soul(client)
    for params in (
        {"since": "yesterday"},
        {"until": "2026-13-01"},
        {"since": ""},
        {"since": "nan"},
        {"until": "inf"},
        {"since": 2, "until": 1},
        {"points": 1},
        {"points": 2001},
        {"points": "many"},
    ):
        refused = await client.get(f"/v1/souls/{soul_id}/emotion/history", params=params)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
        assert all(name in refused.json()["detail"] for name in params)


async def test_a_stranger_has_no_history(client):
    missing = await client.get("/v1/souls/nobody/emotion/history")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


async def test_a_clock_that_goes_back_breaks_nothing(client, clock):
    soul_id = await new_soul(client)
    await say(client, INSULT, soul_id=soul_id)
    hurt = (await client.get(f"/v1/souls/{soul_id}/emotion")).json()["soul_emotion"]
    clock.now -= 3600
    later = (await client.get(f"/v1/souls/{soul_id}/emotion")).json()["soul_emotion"]
    assert (later["p"], later["updated_at"]) == (pytest.approx(hurt["p"]), hurt["updated_at"])
    await say(client, INSULT, soul_id=soul_id)
    points = await history(client, soul_id)
    assert [point["at"] for point in points] == [iso(hurt["updated_at"])] * 3


async def test_constants_of_the_persona_file_are_felt_everywhere(tmp_path, clock):
    persona = tmp_path / "persona.yaml"
    persona.write_text("dynamics: {p_base: 0.4, trait_middle: 0.6, neutral_p_empathy: 1.0}")
    async with serving(clock=clock, data_dir=tmp_path, persona_config=persona) as client:
        soul_id = await new_soul(client)
        soul = (await client.get(f"/v1/souls/{soul_id}")).json()
        assert soul["personality_vector"]["empathy"] == pytest.approx(0.77)
        assert soul["emotion_state"]["p"] > 0.17
        answer = await say(client, "你好", soul_id=soul_id)
        emotion = (await client.get(f"/v1/souls/{soul_id}/emotion")).json()
        seen = (await history(client, soul_id))[-1]
    assert answer["exec_probability"] <= 0.4
    assert emotion["gate"]["exec_probability"] <= 0.4
    assert seen["exec_probability"] <= 0.4


async def test_the_history_tells_how_far_each_trait_has_moved(client, clock):
    soul_id = await new_soul(client)
    for _ in range(30):
        await say(client, "你真棒，我爱你！", soul_id=soul_id)
        clock.now += 3600
    points = await history(client, soul_id)
    moved = [sum(map(abs, one["drift"].values())) for one in points]
    assert {*points[-1]["drift"]} == {"empathy", "sensitivity", "stability", "expressiveness", "dominance"}
    assert moved[0] < moved[-1]
    now = (await client.get(f"/v1/souls/{soul_id}/emotion")).json()
    assert points[-1]["drift"] == now["soul_emotion"]["drift"]


async def test_points_from_before_drift_was_kept_have_none(tmp_path, clock):
    async with open_stores(Settings.load(data_dir=tmp_path)) as stores, stores.write() as tx:
        await tx.souls.add(samples.soul())
        await tx.history.add_turn(0, samples.point(clock.now - 60, drift=None))
    async with serving(clock, data_dir=tmp_path) as client:
        points = await history(client, "soul_1")
    assert [one["drift"] is None for one in points] == [True, False]
