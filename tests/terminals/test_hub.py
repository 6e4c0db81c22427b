"""The hub against a real Mosquitto, with an independent client as the terminal."""

import asyncio
import base64
import gc
import hashlib
import json
import logging
import signal
import subprocess
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from urllib.parse import quote
from uuid import uuid4

import pytest

from soulgraph.errors import ConfigurationError
from soulgraph.soul.dynamics import born
from soulgraph.soul.gate import judge
from soulgraph.soul.personality import traits_of
from soulgraph.terminals import broker as brokers
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.compact_emotion import Feeling
from soulgraph.terminals.hub import MqttHub
from soulgraph.terminals.payloads import EmotionUpdate, IntentAction, Invoke, Proactive, Reply, Status
from soulgraph.tests.live import free_port
from soulgraph.tests.terminals.brokers import eventually, independent, program, running

SETTING = "SOULGRAPH_MQTT_URL"
PASSWORD = "p@ss/wörd#1"
JOY = {"emotion": "joy", "p": 0.8, "a": 0.5, "d": 0.4, "intensity": 0.7, "confidence": 0.9}


@pytest.fixture
async def broker(tmp_path):
    async with running(tmp_path) as broker:
        yield broker


@pytest.fixture
def terminal_id():
    return f"test-{uuid4().hex}"


@asynccontextmanager
async def listening(url, *terminal_ids, **options):
    async with independent(url, **options) as terminal:
        for terminal_id in terminal_ids:
            await terminal.subscribe(f"soul/terminal/{terminal_id}/#", qos=1)
        yield terminal


async def next_message(terminal, timeout_s=5):
    async with asyncio.timeout(timeout_s):
        return await anext(terminal.messages)


async def timestamps(terminal, count):
    return [json.loads((await next_message(terminal)).payload)["ts"] for _ in range(count)]


async def delivered(hub, wanted, timeout_s=5):
    """Send the action until the broker has it, which may be down when this begins."""
    async with asyncio.timeout(timeout_s):
        while not await hub.intent_action(wanted):
            await asyncio.sleep(0.02)


def update(terminal_id, ts=1.0, **fields):
    return EmotionUpdate(
        session_id="sess_1",
        terminal_id=terminal_id,
        soul_id="soul_1",
        soul_emotion={"p": 0.1, "a": -0.2, "d": 0.3, "lock_until": None},
        exec_probability=0.75,
        exec_mode="auto_execute",
        gate={"exec_mode": "auto_execute", "reason": None, "why": None, "helps": None, "lock_remaining_s": 0.0},
        ts=ts,
        **fields,
    )


def action(terminal_id, ts=1.0):
    intent = {"intent_id": "light_on", "intent_name": "开灯", "confidence": 0.8, "parameters": {"room": "客厅"}}
    return IntentAction(
        request_id="req_1",
        session_id="sess_1",
        terminal_id=terminal_id,
        soul_id="soul_1",
        intents=[intent],
        exec_probability=0.75,
        ts=ts,
    )


async def test_an_emotion_update_arrives_as_the_protocol_says(mqtt_url, terminal_id):
    async with listening(mqtt_url, terminal_id) as terminal, MqttHub.open(mqtt_url) as hub:
        hub.emotion_update(update(terminal_id, user_emotion=JOY))
        message = await next_message(terminal)
    assert (message.topic.value, message.qos) == (f"soul/terminal/{terminal_id}/emotion_update", 1)
    assert not message.retain
    assert json.loads(message.payload) == {
        "session_id": "sess_1",
        "terminal_id": terminal_id,
        "soul_id": "soul_1",
        "user_emotion": JOY,
        "soul_emotion": {"p": 0.1, "a": -0.2, "d": 0.3, "lock_until": None},
        "exec_probability": 0.75,
        "exec_mode": "auto_execute",
        "gate": {"exec_mode": "auto_execute", "lock_remaining_s": 0.0},
        "ts": 1.0,
    }


async def test_an_intent_action_is_delivered_as_the_protocol_says(mqtt_url, terminal_id):
    async with listening(mqtt_url, terminal_id) as terminal, MqttHub.open(mqtt_url) as hub:
        assert await hub.intent_action(action(terminal_id)) is True
        message = await next_message(terminal)
    assert (message.topic.value, message.qos) == (f"soul/terminal/{terminal_id}/intent_action", 1)
    assert not message.retain
    assert json.loads(message.payload) == {
        "request_id": "req_1",
        "session_id": "sess_1",
        "terminal_id": terminal_id,
        "soul_id": "soul_1",
        "intents": [
            {"intent_id": "light_on", "intent_name": "开灯", "confidence": 0.8, "parameters": {"room": "客厅"}}
        ],
        "exec_probability": 0.75,
        "ts": 1.0,
    }


async def test_while_the_broker_is_there_every_update_arrives_in_order(mqtt_url, terminal_id):
    async with listening(mqtt_url, terminal_id) as terminal, MqttHub.open(mqtt_url) as hub:
        for ts in range(100):
            hub.emotion_update(update(terminal_id, ts))
        assert await timestamps(terminal, 100) == list(range(100))


async def test_many_actions_at_once_are_all_delivered(mqtt_url, terminal_id):
    async with listening(mqtt_url, terminal_id) as terminal, MqttHub.open(mqtt_url) as hub:
        outcomes = await asyncio.gather(*(hub.intent_action(action(terminal_id, ts)) for ts in range(50)))
        assert outcomes == [True] * 50
        assert sorted(await timestamps(terminal, 50)) == list(range(50))


async def test_what_waits_at_shutdown_still_goes_out(mqtt_url, terminal_id):
    async with listening(mqtt_url, terminal_id) as terminal:
        async with MqttHub.open(mqtt_url) as hub:
            for ts in range(50):
                hub.emotion_update(update(terminal_id, ts))
        assert await timestamps(terminal, 50) == list(range(50))
        assert await hub.intent_action(action(terminal_id)) is False


async def test_two_servers_share_a_broker(mqtt_url, terminal_id, caplog):
    async with MqttHub.open(mqtt_url) as one, MqttHub.open(mqtt_url) as other:
        for hub in (one, other, one, other):
            assert await hub.intent_action(action(terminal_id))
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_broker_that_goes_away_and_comes_back(broker, caplog):
    """Actions fail at once, updates wait without blocking, and only the newest of each terminal is sent in the end."""
    caplog.set_level(logging.INFO, "soulgraph.terminals.hub")
    stays = {"identifier": "terminal", "clean_session": False}
    async with listening(broker.url, "lamp", "fan", **stays):
        await broker.remember()
    async with MqttHub.open(broker.url) as hub:
        broker.kill()
        assert await hub.intent_action(action("lamp", -1)) is False
        await eventually(lambda: "lost" in caplog.text)
        began = time.monotonic()
        for ts in range(500):
            hub.emotion_update(update("lamp", ts))
            hub.emotion_update(update("fan", 1000 + ts))
        assert await hub.intent_action(action("lamp", -2)) is False
        assert time.monotonic() - began < 0.3
        await broker.start()
        await delivered(hub, action("lamp", 2000))
        async with listening(broker.url, **stays) as terminal:
            assert sorted(await timestamps(terminal, 3)) == [499, 1499, 2000]
            hub.emotion_update(update("fan", 3000))
            assert await timestamps(terminal, 1) == [3000]
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING", "INFO"]


async def test_an_update_that_was_not_acknowledged_is_sent_again(broker):
    stays = {"identifier": "terminal", "clean_session": False}
    async with listening(broker.url, "lamp", **stays):
        await broker.remember()
    async with MqttHub.open(broker.url) as hub:
        broker.signal(signal.SIGSTOP)
        hub.emotion_update(update("lamp", 7))
        await asyncio.sleep(0.1)
        broker.kill()
        await broker.start()
        async with listening(broker.url, **stays) as terminal:
            assert await timestamps(terminal, 1) == [7]


async def test_a_broker_that_hangs_costs_an_action_one_second(broker):
    async with MqttHub.open(broker.url) as hub:
        broker.signal(signal.SIGSTOP)
        began = time.monotonic()
        assert await hub.intent_action(action("lamp")) is False
        assert 0.9 < time.monotonic() - began < 1.5
        broker.signal(signal.SIGCONT)
        await delivered(hub, action("lamp"))


async def test_shutdown_waits_no_longer_than_a_second_for_a_broker_that_is_away(broker):
    async with MqttHub.open(broker.url) as hub:
        broker.kill()
        hub.emotion_update(update("lamp"))
        began = time.monotonic()
    assert 0.9 < time.monotonic() - began < 1.5


async def test_shutdown_is_immediate_when_nothing_waits(broker):
    async with MqttHub.open(broker.url):
        broker.kill()
        began = time.monotonic()
    assert time.monotonic() - began < 0.3


async def test_a_broker_that_dies_as_we_part_or_before_it_has_heard_us_leaves_no_error_behind(
    broker, monkeypatch, caplog
):
    async def welcome_and_go(reader, writer):
        await reader.read(1000)
        writer.write(b"\x20\x02\x00\x00")
        await reader.read(1000)
        writer.close()

    async with MqttHub.open(broker.url):
        broker.kill()
    monkeypatch.setattr(brokers, "_TIMEOUT_S", 0.2)
    async with await asyncio.start_server(welcome_and_go, "127.0.0.1", broker.port):
        with pytest.raises(ConfigurationError, match="timed out"):
            async with MqttHub.open(broker.url, lambda topic, payload: None):
                pass
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


async def test_nothing_of_the_hub_is_left_when_it_is_closed(mqtt_url):
    before = asyncio.all_tasks()
    async with MqttHub.open(mqtt_url):
        assert asyncio.all_tasks() > before
    await eventually(lambda: asyncio.all_tasks() == before)


async def test_a_broker_that_cannot_be_reached_is_a_configuration_error():
    before = asyncio.all_tasks()
    with pytest.raises(ConfigurationError, match=f"^{SETTING}: cannot use the broker at 127.0.0.1:.*start it"):
        async with MqttHub.open(f"mqtt://127.0.0.1:{free_port()}"):
            pass
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("host", ["a..b", "x" * 64, "nowhere.invalid"])
async def test_a_host_that_does_not_exist_is_a_configuration_error(host):
    with pytest.raises(ConfigurationError, match=SETTING):
        async with MqttHub.open(f"mqtt://{host}"):
            pass


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost",
        "localhost:1883",
        "http://localhost",
        "tcp://localhost:1883",
        "mqtt:localhost",
        "mqtt://",
        "mqtt://:1883",
        "mqtt://user:secret@",
        "mqtt://localhost:0",
        "mqtt://localhost:65536",
        "mqtt://localhost:secret",
        "mqtt://user:se/secret@localhost",
        "mqtt://user:1#secret@localhost",
        "mqtt://user:1?secret@localhost",
        "mqtt://[::1",
        "mqtt://localhost/secret",
    ],
)
async def test_a_url_we_cannot_use_is_refused_without_showing_it(url):
    with pytest.raises(ConfigurationError, match=f"^{SETTING}: must look like mqtt://") as refused:
        async with MqttHub.open(url):
            pass
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_a_url_says_all_about_the_broker():
    plain = Broker.parse("mqtt://localhost/")
    full = Broker.parse(f"mqtts://me:{quote(PASSWORD, '')}@[::1]:99")
    assert (plain.host, plain.port, plain.username, plain.password, plain.tls) == ("localhost", 1883, None, None, None)
    assert (full.host, full.port, full.username, full.password) == ("::1", 99, "me", PASSWORD)
    assert full.tls
    assert Broker.parse("mqtts://localhost").port == 8883
    assert PASSWORD not in repr(full) + str(full)
    assert plain.client_id != Broker.parse("mqtt://localhost/").client_id


async def test_only_the_right_password_opens_the_broker(tmp_path):
    salt = b"0123456789ab"
    digest = hashlib.pbkdf2_hmac("sha512", PASSWORD.encode(), salt, 101)
    entry = "$".join(["soul:", "7", "101", base64.b64encode(salt).decode(), base64.b64encode(digest).decode()])
    (tmp_path / "passwords").write_text(entry + "\n")
    options = "allow_anonymous false", f"password_file {tmp_path / 'passwords'}"
    async with running(tmp_path, *options) as broker:
        for who in ("", "soul:wrong@", f"{quote(PASSWORD, '')}@"):
            with pytest.raises(ConfigurationError, match=f"^{SETTING}: .*authori[sz]ed.*password") as refused:
                async with MqttHub.open(broker.url.replace("//", f"//{who}")):
                    pass
            assert "wrong" not in str(refused.value)
        async with MqttHub.open(broker.url.replace("//", f"//soul:{quote(PASSWORD, '')}@")) as hub:
            assert await hub.intent_action(action("lamp"))


# The MQTT library leaves a socket open when the handshake fails: it is collected here, not in some later test.
@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
async def test_tls_is_spoken_only_with_a_broker_we_trust(tmp_path, monkeypatch):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = f"req -x509 -newkey rsa:2048 -nodes -days 1 -keyout {key} -out {certificate}"
    names = ["-subj", "/CN=broker", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([program("openssl"), *command.split(), *names], check=True, capture_output=True)
    options = "allow_anonymous true", f"certfile {certificate}", f"keyfile {key}"
    async with running(tmp_path, *options) as broker:
        url = broker.url.replace("mqtt", "mqtts")
        with pytest.raises(ConfigurationError, match=f"{SETTING}: .*certificate"):
            async with MqttHub.open(url):
                pass
        gc.collect()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        async with MqttHub.open(url) as hub:
            assert await hub.intent_action(action("lamp"))


async def test_what_terminals_say_is_heard_also_after_the_broker_was_away(broker):
    received = []
    async with listening(broker.url) as terminal:
        await terminal.publish("soul/terminal/lamp/online", "online", qos=1, retain=True)
        await terminal.publish("soul/terminal/lamp/skills", "{}", qos=1, retain=True)
        await broker.remember()
        async with MqttHub.open(broker.url, lambda topic, payload: received.append((topic, payload))):
            retained = {("soul/terminal/lamp/online", b"online"), ("soul/terminal/lamp/skills", b"{}")}
            await eventually(lambda: set(received) == retained)
            await terminal.publish("soul/terminal/fan/heartbeat", "1")
            await eventually(lambda: received[2:] == [("soul/terminal/fan/heartbeat", b"1")])
            received.clear()
            broker.kill()
            await broker.start()
            await eventually(lambda: set(received) == retained)


async def test_a_soul_that_speaks_first_knows_whether_the_broker_has_it(broker, terminal_id):
    words = Proactive(session_id="sess_1", soul_id="soul_1", text="下雨了", delivery_id="life_1", ts=1.0)
    async with listening(broker.url, terminal_id) as terminal, MqttHub.open(broker.url) as hub:
        assert await hub.proactive(terminal_id, words) is True
        message = await next_message(terminal)
        assert message.topic.value == f"soul/terminal/{terminal_id}/proactive"
        sent = {"session_id": "sess_1", "soul_id": "soul_1", "text": "下雨了", "delivery_id": "life_1", "ts": 1.0}
        assert json.loads(message.payload) == sent
    async with MqttHub.open(broker.url) as hub:
        broker.kill()
        assert await hub.proactive(terminal_id, words) is False


async def test_every_reply_outlives_the_broker_but_only_the_newest_status_does(broker, caplog):
    stays = {"identifier": "terminal", "clean_session": False}
    async with listening(broker.url, "lamp", **stays):
        await broker.remember()
    async with MqttHub.open(broker.url) as hub:
        broker.kill()
        await eventually(lambda: "lost" in caplog.text)
        for ts in range(3):
            hub.reply(Reply(input_id=f"in-{ts}", terminal_id="lamp", text="x", ts=ts))
            hub.status(Status(terminal_id="lamp", bound=False, skill_version=0, catalog_version=0, ts=10 + ts))
        await broker.start()
        async with listening(broker.url, **stays) as terminal:
            assert sorted(await timestamps(terminal, 4)) == [0, 1, 2, 12]


async def test_a_skill_of_a_terminal_that_cannot_be_reached_fails_at_once(broker):
    async with MqttHub.open(broker.url) as hub:
        broker.kill()
        result = await hub.invoke("lamp", Invoke(request_id="use_1", skill="is_on", arguments={}))
    assert (result.ok, result.error) == (False, "the terminal cannot be reached")


def felt(soul_id="soul_1", at=1000.0, **changes):
    traits = traits_of("INFJ")
    state = replace(born(traits, at), **changes)
    return Feeling(soul_id, state, judge(traits, state, at), at)


async def kept(url, terminal_id):
    """What a controller that connects now is told at once; None if nothing is retained."""
    async with listening(url, terminal_id) as controller:
        with suppress(TimeoutError):
            return (await next_message(controller, 0.5)).payload
    return None


async def test_two_controllers_that_come_twice_hear_the_last_compact_emotion_at_once(broker, terminal_id):
    async with MqttHub.open(broker.url) as hub:
        hub.compact_emotion(terminal_id, felt(p=0.5))
        for name in ("first", "second", "first", "second"):
            async with listening(broker.url, terminal_id, identifier=f"{name}-{terminal_id}") as controller:
                message = await next_message(controller)
                assert (message.retain, json.loads(message.payload)["p"]) == (True, 0.5)
                hub.compact_emotion(terminal_id, felt(p=0.1))
                assert json.loads((await next_message(controller)).payload)["p"] == 0.1
                hub.compact_emotion(terminal_id, felt(p=0.5))
                assert json.loads((await next_message(controller)).payload)["p"] == 0.5


async def test_two_servers_that_tell_in_turns_leave_the_newest(broker, terminal_id):
    """The second does not know what the first has told; it knows that the state is not the one it told itself."""
    async with (
        MqttHub.open(broker.url) as one,
        MqttHub.open(broker.url) as other,
        listening(broker.url, terminal_id) as controller,
    ):
        for hub, at, p, before in (
            (one, 3.0, 0.5, None),
            (other, 6.0, 0.4, 3.0),
            (one, 9.0, 0.5, 6.0),
            (one, 12.0, 0.5, 9.0),
            (other, 15.0, 0.4, 12.0),
        ):
            hub.compact_emotion(terminal_id, felt(at=at, p=p), before)
            if at != 12.0:
                assert json.loads((await next_message(controller)).payload)["p"] == p
    assert json.loads(await kept(broker.url, terminal_id))["p"] == 0.4


async def test_a_broker_that_forgets_is_told_again_and_what_is_cleared_stays_away(broker, terminal_id, tmp_path):
    async with MqttHub.open(broker.url) as hub:
        hub.compact_emotion(terminal_id, felt(at=3.0))
        while not await kept(broker.url, terminal_id):
            pass
        broker.kill()
        (tmp_path / "mosquitto.db").unlink(missing_ok=True)
        await broker.start()
        await delivered(hub, action(terminal_id))
        assert await kept(broker.url, terminal_id) is None
        hub.compact_emotion(terminal_id, felt(at=6.0), 3.0)
        while not await kept(broker.url, terminal_id):
            pass
        hub.clear_emotion(terminal_id)
        while await kept(broker.url, terminal_id):
            pass
        hub.compact_emotion(terminal_id, felt(at=9.0), 6.0)
        while not await kept(broker.url, terminal_id):
            pass
        assert await hub.forget(terminal_id)
        assert await kept(broker.url, terminal_id) is None
