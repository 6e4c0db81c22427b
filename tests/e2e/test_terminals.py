"""A terminal on a real broker hears what its soul feels and does."""

import json
from uuid import uuid4

import aiomqtt
import pytest

from soulgraph.terminals.broker import Broker
from soulgraph.tests.live import new_soul, say, serving

LIGHT = {"id": "light_on", "name": "开灯", "match": {"keywords_any": ["开灯"]}}


@pytest.fixture
async def robot(mqtt_url, tmp_path):
    """(client, terminal id, the terminal's messages) of a terminal that carries a soul and can switch a light."""
    terminal_id, broker = f"robot-{uuid4().hex}", Broker.parse(mqtt_url)
    async with (
        serving(data_dir=tmp_path, mqtt_url=mqtt_url) as client,
        aiomqtt.Client(broker.host, broker.port) as body,
    ):
        await body.subscribe(f"soul/terminal/{terminal_id}/#", qos=1)
        soul_id = await new_soul(client)
        await client.post("/v1/souls/select", json={"terminal_id": terminal_id, "soul_id": soul_id})
        catalog = {"catalog_version": 1, "intent_catalog": [LIGHT]}
        await client.put(f"/v1/terminals/{terminal_id}/intent-catalog", json=catalog)
        yield client, terminal_id, body.messages


async def heard(messages):
    """(kind, payload) of the next message of a turn; ticks come in between."""
    while True:
        message = await anext(messages)
        kind, payload = message.topic.value.rsplit("/", 1)[1], json.loads(message.payload)
        if kind != "emotion_update" or "user_emotion" in payload:
            return kind, payload


async def test_a_turn_is_felt_by_the_terminal(robot):
    client, terminal_id, messages = robot
    answer = await say(client, "谢谢你！", terminal_id=terminal_id)
    kind, update = await heard(messages)
    assert (kind, update["terminal_id"], update["session_id"]) == ("emotion_update", terminal_id, answer["session_id"])
    assert update["user_emotion"]["emotion"] == "gratitude"
    assert update["soul_emotion"]["p"] == answer["soul_emotion"]["p"]
    assert update["exec_mode"] == "auto_execute"


async def test_an_intent_reaches_the_terminal_with_its_parameters(robot):
    client, terminal_id, messages = robot
    answer = await say(client, "开灯", terminal_id=terminal_id)
    assert answer["intent_action_publish_ok"] is True
    assert answer["executed_skills"] == ["light_on"]
    topics = dict([await heard(messages), await heard(messages)])
    assert topics["intent_action"]["intents"] == [
        {"intent_id": "light_on", "intent_name": "开灯", "confidence": 1.0, "parameters": {}}
    ]
    assert topics["intent_action"]["session_id"] == answer["session_id"]
