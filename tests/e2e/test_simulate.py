"""`POST /v1/simulate`: the same simulation as `soulgraph simulate`, bounded, and nobody waits for it."""

import asyncio

import pytest

from soulgraph.api.simulate import MAX_SAMPLES, SimulationOut
from soulgraph.cli.script_files import hear
from soulgraph.soul.mood import describe
from soulgraph.soul.personality import MBTI_TYPES, traits_of
from soulgraph.soul.simulation import play, said
from soulgraph.tests.live import serving

INSULTS = 'insult*4@8s, "I am so sorry. Please forgive me."@60s'


@pytest.fixture
async def client(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        yield client


async def simulate(client, **body):
    response = await client.post("/v1/simulate", json=body)
    assert response.status_code == 200, response.text
    SimulationOut.model_validate(response.json())
    return response.json()


def refused(response):
    assert (response.status_code, response.json()["code"]) == (422, "invalid_input"), response.text
    return response.json()["detail"]


async def test_it_plays_what_the_command_plays(client):
    seen = await simulate(client, mbti_types=["infp", "ESTJ"], script=INSULTS)
    script = said(INSULTS, hear)
    assert [run["mbti_type"] for run in seen["runs"]] == ["INFP", "ESTJ"]
    for run in seen["runs"]:
        traits = traits_of(run["mbti_type"])
        assert run["personality_vector"] == traits.to_dict()
        expected = play(traits, script, 60 + 180, 240 / 600)
        assert len(run["samples"]) == len(expected)
        for shown, sample in zip(run["samples"], expected, strict=True):
            state, gate = sample.state, sample.gate
            assert (shown["at"], shown["exec_mode"], shown["reason"]) == (sample.at, gate.exec_mode, gate.reason)
            assert (shown["p"], shown["threshold"]) == pytest.approx((state.p, gate.threshold), abs=1e-5)
            assert shown["drift"] == pytest.approx(state.drift.to_dict(), abs=1e-8)
            assert shown["mood"] == {"zh": describe(state, "zh"), "en": describe(state, "en")}
    assert any(sample["locked"] for sample in seen["runs"][0]["samples"])


async def test_the_cues_say_what_was_heard(client):
    seen = await simulate(client, mbti_types=["INFP"], script=INSULTS)
    assert [cue["at"] for cue in seen["cues"]] == [8, 16, 24, 32, 60]
    assert {(cue["emotion"], cue["heard_as"], cue["words"]) for cue in seen["cues"][:4]} == {
        ("anger", "anger, hostile", None)
    }
    assert seen["cues"][4]["words"] == "I am so sorry. Please forgive me."
    assert seen["cues"][4]["heard_as"].endswith(", making good")


async def test_entries_are_the_same_script_as_a_line(client):
    entries = [{"at": 8 * (n + 1), "emotion": "insult"} for n in range(4)]
    entries.append({"at": "1m", "say": "I am so sorry. Please forgive me."})
    line = await simulate(client, mbti_types=["INFP"], script=INSULTS, until="4m", step="2s")
    assert await simulate(client, mbti_types=["INFP"], entries=entries, until=240, step=2) == line
    exact = {"at": 1, "emotion": "joy", "intensity": 0.4, "confidence": 0.8, "p": 0.1, "a": 0, "d": 0, "repair": 0.9}
    seen = await simulate(client, mbti_types=["INFP"], entries=[exact])
    assert seen["cues"] == [{"at": 1.0, "words": None, "emotion": "joy", "heard_as": "joy, making good"}]


async def test_it_leaves_no_soul_behind(client):
    await simulate(client, script="joy@1s")
    assert (await client.get("/v1/souls")).json() == []


async def test_others_are_served_while_it_computes(client):
    running = asyncio.create_task(simulate(client, mbti_types=[*MBTI_TYPES], script="insult*50@1s/1s"))
    served = 0
    while not running.done():
        assert (await client.get("/healthz")).status_code == 200
        served += 1
    await running
    assert served >= 10


async def test_it_stays_within_its_limits(client):
    most = await simulate(client, mbti_types=["INFJ"], script="joy*399@0.5s/1s", until="20m", step="1s")
    assert MAX_SAMPLES - 2 <= len(most["runs"][0]["samples"]) <= MAX_SAMPLES
    for body, message in [
        ({"script": "joy*400@0.5s/1s", "until": "20m", "step": "1s"}, "2,001 samples, at most 2,000"),
        ({"script": "joy@1s", "until": "1h", "step": "1s"}, "step must be longer"),
        ({"script": "joy@1s", "step": "0"}, "step must be longer"),
        ({"script": "joy*501@1s/1s"}, "more than 500 entries"),
        ({"script": ", ".join(["joy*99999@1s"] * 200)}, "more than 500 entries"),
        ({"script": ", ".join(f'"number {n}"@{n}s' for n in range(51))}, "51 different sentences, at most 50"),
        ({"entries": [{"at": n, "emotion": "joy"} for n in range(501)]}, "at most 500 items"),
        ({"mbti_types": ["INFJ"] * 17, "script": "joy@1s"}, "at most 16 items"),
        ({"script": "joy@1s," * 1000}, "at most 4000 characters"),
    ]:
        assert message in refused(await client.post("/v1/simulate", json=body))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "send either `script`"),
        ({"script": "joy@1s", "entries": []}, "send either `script`"),
        ({"entries": []}, "the script is empty"),
        ({"script": ""}, "expected EMOTION"),
        ({"script": '"unclosed@8s, joy@9s'}, "expected EMOTION"),
        ({"script": "joy@yesterday"}, "must be a time like 8"),
        ({"script": "joy@-3"}, "must be a time like 8"),
        ({"script": "hunger@1s"}, "emotion must be one of"),
        ({"script": "joy:1.5@1s"}, "intensity must be a number in 0..1"),
        ({"script": "joy@1s\x00"}, "NUL"),
        ({"script": 7}, "valid string"),
        ({"script": "joy@10s", "until": "5s"}, "until must not be before the last emotion"),
        ({"script": "joy@1s", "until": "soon"}, "until must be a time"),
        ({"script": "joy@1s", "mbti_types": ["INFX"]}, "'INFX' is no MBTI type"),
        ({"script": "joy@1s", "mbti_types": []}, "at least 1 item"),
        ({"script": "joy@1s", "mbti_types": "INFP"}, "valid list"),
        ({"script": "joy@1s", "speed": 2}, "not permitted"),
        ({"entries": [{"emotion": "joy"}]}, "entries.0.at"),
        ({"entries": [{"at": 1}]}, "entries.0: the field 'say' or 'emotion' is missing"),
        ({"entries": [{"at": 1, "say": "hi", "emotion": "joy"}]}, "entries.0: the recogniser hears"),
        ({"entries": [{"at": 1, "emotion": "joy", "p": 3}]}, "entries.0: p must be a number"),
        ({"entries": [{"at": 1, "emotion": "joy", "volume": 3}]}, "entries.0.volume"),
        ({"entries": ["joy@1s"]}, "entries.0"),
    ],
)
async def test_a_script_that_cannot_be_played_is_refused_with_its_place(client, body, message):
    assert message in refused(await client.post("/v1/simulate", json=body))


async def test_unicode_is_heard_and_quoted(client):
    seen = await simulate(client, mbti_types=["INFJ"], script='"你真的好笨 🙃, 走开！"@5s')
    assert seen["cues"][0]["words"] == "你真的好笨 🙃, 走开！"
    assert seen["cues"][0]["heard_as"].endswith("hostile")
