"""Whose voice was heard: over HTTP, the socket and MQTT, and what a stranger is told."""

import pytest

from soulgraph.runtime.ports import open_stores
from soulgraph.settings import Settings
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stub_speech import StubSpeech
from soulgraph.tests.voices.audio_samples import made

SECRET = "my secret code word is pelican"


def prompts(stub):
    return "\n".join(str(request.body.get("messages")) for request in stub.requests if "messages" in request.body)


@pytest.fixture
async def home(stub, tmp_path):
    """A soul that Ann has confided in."""
    settings = {"speakers": '{"voice_7": "ann"}', "llm_base_url": stub.base_url, "llm_model": "stub"}
    async with serving(data_dir=tmp_path, **settings) as client:
        client.soul_id = await new_soul(client)
        told = await say(client, SECRET, soul_id=client.soul_id, user_id="ann", session_id="anns")
        assert told["session_id"] == "anns"
        stub.requests.clear()
        yield client


async def heard(client, speaker, text="what is my secret code word?", **fields):
    inputs = [{"type": "speech_text", "text": text} | ({} if speaker is None else {"speaker": speaker})]
    answer = await client.post("/v1/chat", json={"inputs": inputs, "soul_id": client.soul_id, **fields})
    assert answer.status_code == 200, answer.text
    session = (await client.get(f"/v1/sessions/{answer.json()['session_id']}")).json()
    return session["user_id"], session["session_id"]


@pytest.mark.parametrize("speaker", ["ann", "Ann", "voice_7"])
async def test_a_voice_that_is_known_is_that_person(home, stub, speaker):
    assert await heard(home, speaker, session_id="anns") == ("ann", "anns")
    assert "pelican" in prompts(stub)


@pytest.mark.parametrize("speaker", ["voice_8", "SPEAKER_00", "unknown", "陌生人", "Ann Smith", 0, "*", "default"])
@pytest.mark.parametrize("fields", [{}, {"session_id": "anns"}, {"user_id": "ann"}], ids=str)
async def test_a_voice_that_is_not_known_is_a_guest_who_is_told_nobodys_secrets(home, stub, speaker, fields):
    person, session_id = await heard(home, speaker, **fields)
    assert person.startswith("guest:")
    assert session_id != "anns"
    assert "pelican" not in prompts(stub)


async def test_who_is_a_guest_stays_one_as_far_as_that_can_be_told(home):
    assert await heard(home, "voice_93af") == await heard(home, "voice_93af")
    first, session_id = await heard(home, "SPEAKER_00")
    again, _ = await heard(home, "SPEAKER_00")
    assert again != first
    assert await heard(home, "SPEAKER_00", session_id=session_id) == (first, session_id)
    assert await heard(home, "SPEAKER_00", input_id="same") == await heard(home, "SPEAKER_00", input_id="same")


async def test_without_a_speaker_everything_is_as_before(home):
    assert await heard(home, None, session_id="anns") == ("ann", "anns")
    assert (await heard(home, "", user_id="ann"))[0] == "ann"
    assert (await heard(home, None))[0] == "default"


async def test_two_speakers_are_two_turns(home):
    inputs = [{"text": "hi", "speaker": "ann"}, {"text": "yo", "speaker": "bob"}]
    answer = await home.post("/v1/chat", json={"inputs": inputs, "soul_id": home.soul_id})
    assert answer.status_code == 422
    assert "one speaker" in answer.json()["detail"]


async def test_a_key_that_is_a_person_stays_that_person(stub, tmp_path):
    async with open_stores(Settings.load(data_dir=tmp_path)) as stores, stores.write() as tx:
        owner = await tx.keys.create("owner", "owner", 1.0)
        bob = await tx.keys.create("bob", "chat", 1.0, user_id="bob")
        robot = await tx.keys.create("robot", "terminal", 1.0)
    async with serving(data_dir=tmp_path, llm_base_url=stub.base_url, llm_model="stub") as client:
        client.headers["Authorization"] = f"Bearer {owner}"
        client.soul_id = await new_soul(client)
        await say(client, SECRET, soul_id=client.soul_id, user_id="ann")
        stub.requests.clear()
        for key, speaker, person in ((bob, "ann", "bob"), (bob, "voice_8", "bob"), (robot, "bob", "bob")):
            inputs = [{"type": "speech_text", "text": "what is my code word?", "speaker": speaker}]
            headers = {"Authorization": f"Bearer {key}"}
            answer = await client.post("/v1/chat", json={"inputs": inputs, "soul_id": client.soul_id}, headers=headers)
            session = (await client.get(f"/v1/sessions/{answer.json()['session_id']}")).json()
            assert session["user_id"] == person
        assert "pelican" not in prompts(stub)


@pytest.mark.parametrize(
    ("speaker", "person"), [("ann", "ann"), ("voice_7", "ann"), ("SPEAKER_01", "guest:"), (None, "default")]
)
async def test_the_recogniser_of_a_recording_says_who_speaks(stub, tmp_path, speaker, person):
    async with StubSpeech() as ears:
        settings = {"stt_base_url": ears.base_url, "stt_model": "w", "speakers": '{"voice_7": "ann"}'}
        async with serving(data_dir=tmp_path, llm_base_url=stub.base_url, llm_model="stub", **settings) as client:
            client.soul_id = await new_soul(client)
            await say(client, SECRET, soul_id=client.soul_id, user_id="ann")
            stub.requests.clear()
            ears.speaker = speaker
            ears.text = "what is my secret code word?"
            async with line(client) as one:
                await one.send(type="audio", action="begin", soul_id=client.soul_id)
                await one.socket.send(made("wav 16000 0.5"))
                await one.send(type="audio", action="end")
                frames = await one.until("done", "error")
    assert frames[0]["data"]["user_id"].startswith(person)
    assert frames[0]["data"]["speakers"] == ([speaker] if speaker else [])
    assert ("pelican" in prompts(stub)) == (person == "ann")
