"""The ESP32 sketch of the page on bodies: it compiles, and its buffer holds the largest messages there are."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from soulgraph.senses.intents.catalog import CATALOG
from soulgraph.terminals import topics
from soulgraph.terminals.compact_emotion import MAX_ID_LENGTH, MAX_PACKET_BYTES
from soulgraph.terminals.payloads import IntentAction, IntentCall, Invoke
from soulgraph.terminals.reports import SkillReport
from soulgraph.tests.terminals.test_compact_emotion import packet_bytes

PAGE = Path(__file__).parents[2] / "docs" / "bodies.md"
HEADERS = Path(__file__).parent / "arduino"
SKETCH = re.search(r"```cpp\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1]
LONGEST_ID = "x" * MAX_ID_LENGTH
ANY_ID = "y" * 128


def compiled(text, tmp_path):
    compiler = shutil.which("g++")
    if not compiler:
        pytest.skip("g++ is not installed")
    (tmp_path / "sketch.cpp").write_text(text)
    options = ["-std=gnu++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", HEADERS, "-include", "Arduino.h"]
    return subprocess.run([compiler, *options, tmp_path / "sketch.cpp"], capture_output=True, text=True, check=False)


def test_it_compiles_without_a_warning(tmp_path):
    ran = compiled(SKETCH, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("mqtt.setBufferSize(PACKET)", "mqtt.setBuffer(PACKET)"), ('"invoke/+"', "7"), ("byte* payload", "char* payload")],
)
def test_the_headers_are_strict(tmp_path, right, wrong):
    assert right in SKETCH
    assert compiled(SKETCH.replace(right, wrong), tmp_path).returncode != 0


def constant(name):
    return int(re.search(rf"{name} = (\d+);", SKETCH)[1])


def literal(name):
    """The raw strings of a constant, joined as the compiler joins them."""
    declared = re.search(rf"const char\* {name} =\n((?:    R\".*\n)+)", SKETCH)[1]
    return "".join(re.findall(r'R"\((.*)\)"', declared))


def publish_bytes(kind, payload, terminal_id=LONGEST_ID):
    rest = 2 + len(topics.topic(terminal_id, *kind.split("/")).encode()) + 2 + len(payload.encode())
    return 1 + (1 if rest < 128 else 2) + rest


def test_its_reports_are_read_by_the_server_and_fit_into_its_buffer():
    catalog, skills = literal("CATALOG"), literal("SKILLS")
    intents = CATALOG.validate_python(json.loads(catalog))
    assert [intent.id for intent in intents] == ["lamp_on", "lamp_off"]
    texts = {
        "intent_catalog": f'{{"terminal_id":"{LONGEST_ID}","catalog_version":1,"intent_catalog":{catalog}}}',
        "skills": f'{{"terminal_id":"{LONGEST_ID}","skill_version":1,"skills":{skills}}}',
    }
    assert SkillReport.read(texts["skills"].encode()).usable()[1] is None
    # PubSubClient leaves room for the longest header, 5 bytes.
    assert all(publish_bytes(kind, text) + 5 <= constant("PACKET") for kind, text in texts.items())


def test_the_largest_messages_it_is_sent_fit_into_its_buffer():
    intents = json.loads(literal("CATALOG"))
    calls = [
        IntentCall(intent_id=one["id"], intent_name=one["name"], confidence=0.123456789012345678, parameters={})
        for one in intents
    ]
    action = IntentAction(
        request_id="act_" + "f" * 32,
        session_id=ANY_ID,
        terminal_id=LONGEST_ID,
        soul_id=ANY_ID,
        intents=calls,
        exec_probability=0.123456789012345678,
        ts=1_790_000_000.123456,
    )
    request_id = "use_" + "f" * 32
    invoke = Invoke(request_id=request_id, skill="lamp_is_on", arguments={})
    sizes = {
        "intent_action": publish_bytes("intent_action", action.to_json()),
        "invoke": publish_bytes(f"invoke/{request_id}", invoke.to_json()),
        "emotion_compact": MAX_PACKET_BYTES,
    }
    assert max(sizes.values()) <= constant("PACKET"), sizes


def test_what_only_shows_the_mood_needs_no_larger_buffer_than_the_default():
    default = int(re.search(r"MQTT_MAX_PACKET_SIZE (\d+)", (HEADERS / "PubSubClient.h").read_text())[1])
    assert packet_bytes(LONGEST_ID, b"x" * 165) <= MAX_PACKET_BYTES < default


def test_it_listens_to_what_the_server_sends_and_says_what_it_reads():
    heard = set(re.search(r"for \(const char\* kind : \{(.*?)\}\)", SKETCH)[1].replace('"', "").split(", "))
    assert heard == {topics.COMPACT_EMOTION, "intent_action", "invoke/+"}
    said = set(re.findall(r'topic\("([a-z_]+)/?"\)', SKETCH))
    assert said == {"online", "skills", "intent_catalog", "heartbeat", "result"}
    assert len(re.search(r'ME = "(.*?)"', SKETCH)[1]) <= MAX_ID_LENGTH
    assert constant("HEARTBEAT_MS") == 10_000
