"""Valid input of every kind, from which mutants are made."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import yaml

from soulgraph.terminals.mqtt_framing import Kind, Packet
from soulgraph.terminals.mqtt_packets import Connect, Publish, Subscribe, Subscription, Will, puback
from soulgraph.tests.fuzz.mutators import Seed
from soulgraph.tests.library.cards import programs
from soulgraph.tests.library.cards.samples import V1, V2, V3, chunk, png
from soulgraph.tests.terminals.robot import BATTERY, LIGHT

_ROOT = Path(__file__).parents[2]
SOUL = "SOUL"
"""Stands for the soul's id, which is another one each time."""
_CHATS = _ROOT / "tests" / "library" / "chats" / "cases_open.yaml"


def cards() -> list[Seed]:
    as_png = lambda keyword: lambda raw: png(chunk(b"tEXt", keyword + b"\0" + b64encode(raw)))  # noqa: E731
    as_charx = lambda raw: _archive({"card.json": raw, "assets/icon/a.png": png()})  # noqa: E731
    shipped = [json.loads(path.read_text("utf-8")) for path in (_ROOT / "library" / "characters").glob("*.json")]
    plain = [Seed(card) for card in (V1, V2, V3, *shipped)]
    packed = [Seed(V2, as_png(b"chara")), Seed(V3, as_png(b"ccv3")), Seed(V3, as_charx)]
    return [*plain, *packed, *map(_program_seed, programs.cases("open"))]


def _program_seed(case: dict[str, Any]) -> Seed:
    """The card of another program: its fields are changed if it is plain JSON, else the bytes of its file."""
    is_plain = case["as"] == "json" and "raw" not in case
    return Seed(json.loads(programs.file_of(case))) if is_plain else Seed(programs.file_of(case))


def lorebooks() -> list[Seed]:
    entry = {
        "name": "Docks",
        "entry": "They burned.",
        "keywords": ["dock*"],
        "priority": 1,
        "weight": 2,
        "enabled": True,
    }
    risu = {"key": "tide, 潮", "secondkey": "", "content": "It turns.", "alwaysActive": False, "insertorder": 100}
    books = [
        {"entries": {"0": {"uid": 0, "key": ["/re+f/i", "ship"], "keysecondary": [], "content": "Sharp.", "order": 9}}},
        {"kind": "memory", "name": "Harbour", "entries": [entry, entry]},
        {"type": "risu", "ver": 1, "data": [risu]},
        {"spec": "lorebook_v3", "data": {"entries": V3["data"]["character_book"]["entries"]}},
    ]
    return [Seed(book) for book in books]


def packs() -> list[Seed]:
    faces = {"joy.png": programs.picture("PNG"), "Lumen/annoyance-2.webp": programs.picture("WEBP")}
    return [Seed(_archive(faces)), Seed(_archive({"neutral.jpg": programs.picture("JPEG"), "__MACOSX/x": b"?"}))]


def transcripts() -> list[Seed]:
    head = {"type": "metadata", "title": "A talk", "created_at": "2025-10-13T10:30:00Z", "template_id": "companion_v1"}
    said = [
        {"role": "user", "content": "I keep bees.", "archived": False, "timestamp": "2025-10-13T10:30:00Z"},
        {"role": "assistant", "content": "我知道。", "archived": True, "timestamp": "2025-10-13T10:30:05.25+08:00"},
        {"role": "user", "content": "明天要去看牙医。", "timestamp": "2025-10-13T10:31:00Z", "speaker": "bob"},
        {"role": "assistant", "content": "Hm.", "timestamp": "2025-10-14T10:30:00Z", "proactive": True},
    ]
    return [Seed([head, *said], by_line=True), Seed([{"type": "metadata"}, *said[:2]], by_line=True)]


def chats() -> list[Seed]:
    """Of each program, as a file and in an archive."""
    return [seed for case in yaml.safe_load(_CHATS.read_text("utf-8")) for seed in _chat_seeds(case)]


def _chat_seeds(case: dict[str, Any]) -> Iterator[Seed]:
    name, content = case["file"], case["content"]
    try:
        if name.endswith(".jsonl"):
            yield Seed([json.loads(line) for line in content.splitlines() if line.strip()], by_line=True)
        else:
            value = json.loads(content)
            yield Seed(value)
            yield Seed(value, lambda raw: _archive({name: raw}))
    except ValueError:
        yield Seed(content.encode())


def _archive(files: dict[str, bytes]) -> bytes:
    """The same bytes whenever it is made: without a date of its own an entry would get the time."""
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(ZipInfo(name), content)
    return packed.getvalue()


_VOLUME = {
    "id": "volume",
    "name": "调音量",
    "priority": 3,
    "match": {
        "keywords_any": ["音量", "volume"],
        "keywords_all": [],
        "negative_keywords": ["no"],
        "regex_any": [r"(?:set|turn) .*? to \d+"],
        "regex_all": [],
        "examples": ["make it louder", "大声一点"],
        "min_confidence": 0.4,
    },
    "slots": [
        {"name": "level", "type": "percent", "required": True, "min": 0, "max": 80, "question": "How loud?"},
        {"name": "room", "values": ["kitchen", "卧室"], "default": "kitchen"},
        {"name": "at", "type": "time", "regex": r"at (\d+)"},
    ],
}


def catalogs() -> list[Seed]:
    texts = ("Turn on the light, please", "把卧室的音量调到百分之二十，然后开灯", "Don't turn on the light")
    options = {"now": "2027-01-15T12:00:00"}
    return [Seed({"text": text, "intent_catalog": [LIGHT, _VOLUME], "options": options}) for text in texts]


def mqtt_messages() -> list[Seed]:
    """The topic, a line break and the payload."""
    return [Seed(seed.value, _addressed(kind)) for kind, seeds in _payloads().items() for seed in seeds]


def _addressed(kind: str) -> Callable[[bytes], bytes]:
    return lambda raw: f"soul/terminal/lamp/{kind}\n".encode() + raw


def _payloads() -> dict[str, list[Seed]]:
    """By the kind of topic."""
    skills = {"terminal_id": "lamp", "soul_hint": "fuzzed", "skill_version": 1, "skills": [BATTERY, _MOVE]}
    catalog = {"terminal_id": "lamp", "catalog_version": 1, "intent_catalog": [LIGHT, _VOLUME]}
    said = {"input_id": "in-1", "type": "speech_text", "text": "你好", "ts": 1.5, "user_id": "ann", "session_id": "s"}
    return {
        "online": [Seed(b"online"), Seed(b"offline")],
        "heartbeat": [Seed(b"1")],
        "skills": [Seed(skills)],
        "intent_catalog": [Seed(catalog)],
        "input": [Seed(said), Seed({"input_id": "in-2", "text": "Turn on the light"})],
        "result/use_1": [Seed({"request_id": "use_1", "ok": True, "output": {"percent": 3}, "error": None})],
    }


_MOVE = {
    "name": "move",
    "description": "Go somewhere.",
    "input_schema": {
        "type": "object",
        "required": ["x"],
        "properties": {
            "x": {"type": "number", "minimum": 0},
            "how": {"enum": ["walk", "run"]},
            "tag": {"pattern": "^a"},
        },
    },
}


def chat_frames() -> list[Seed]:
    chat = {
        "type": "chat",
        "text": "你好",
        "soul_id": SOUL,
        "session_id": "talk",
        "input_id": "i1",
        "user_id": "ann",
    }
    inputs = [{"input_id": "a", "type": "keyboard_text", "source": "desk", "ts": 1.5, "text": "hello"}]
    frames = [
        chat,
        {"type": "chat", "inputs": inputs, "soul_id": SOUL, "template_id": "companion_v1"},
        {"type": "chat", "session_id": "talk", "replaces": 1, "text": "again"},
        {"type": "stop", "session_id": "talk", "input_id": "i1"},
        {"type": "listen", "soul_id": SOUL, "user_id": "ann", "after": "abc-1", "nodes": True},
        {"type": "unlisten", "soul_id": SOUL},
        {"type": "ping"},
    ]
    return [Seed(frame) for frame in frames]


def tunnel_packets() -> list[Seed]:
    """Each is sent after a CONNECT, unless it is one."""
    will = Will("soul/terminal/page/online", b"offline", 1, True)
    packets = [
        Connect("page", 60, will=will, username="a", password=b"b").encode(),
        Subscribe(7, (Subscription("soul/terminal/page/#", 1), Subscription("soul/terminal/+/reply", 0))).encode(),
        Packet(Kind.UNSUBSCRIBE, 2, b"\0\7\0\1a").encode(),
        Packet(Kind.PINGREQ, 0, b"").encode(),
        Packet(Kind.DISCONNECT, 0, b"").encode(),
        puback(3),
    ]
    published = [Seed(seed.value, _publish(kind)) for kind, seeds in _payloads().items() for seed in seeds]
    return [*map(Seed, packets), *published]


def _publish(kind: str) -> Callable[[bytes], bytes]:
    return lambda raw: Publish(f"soul/terminal/lamp/{kind}", raw, qos=1, packet_id=5, retain=kind == "skills").encode()


def soul_files() -> list[Seed]:
    """A file of a soul that has a row in every table."""
    lines = (Path(__file__).parent / "soul.jsonl").read_text("utf-8").split("\n")
    return [Seed([json.loads(line) for line in lines if line], by_line=True)]
