"""Cards to read: a full one of each version, and the files they come in."""

import json
import struct
import zlib
from base64 import b64encode
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

V1 = {
    "name": "Lumen",
    "description": "{{char}} keeps a lighthouse and waits for {{user}}.",
    "personality": "dry, patient",
    "scenario": "A storm. <BOT> lets <USER> in.",
    "first_mes": "The lamp is lit, {{user}}. Sit.",
    "mes_example": "<START>\n{{user}}: Hello?\n{{char}}: Hm.\n<START>\n{{char}}: Short. Like waves.",
}
ENTRY = {
    "keys": ["reef", "暗礁"],
    "content": "The reef took three ships of {{char}}'s.",
    "extensions": {"depth": 4, "other/app": {"x": [1, None]}},
    "enabled": True,
    "insertion_order": 70,
    "case_sensitive": False,
    "name": "the reef",
    "id": 3,
    "comment": "written in spring",
    "selective": True,
    "secondary_keys": ["ship"],
    "constant": False,
    "position": "before_char",
}
SILENT = {"keys": ["note"], "content": "", "extensions": {}, "enabled": True, "insertion_order": 5}
V2 = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {
        **V1,
        "creator_notes": "NOTE-OF-THE-CREATOR: best with tea, {{user}}",
        "system_prompt": "{{original}}\nNever leave the tower.",
        "post_history_instructions": "Answer as {{char}}.{{// a remark}}",
        "alternate_greetings": ["Fog today, {{user}}.", ""],
        "tags": ["sea", "海"],
        "creator": "CREATOR-NAME",
        "character_version": "1.2",
        "extensions": {"fav": True, "agnai/voice": {"a": 1.5}},
        "character_book": {
            "name": "Coast",
            "scan_depth": 50,
            "extensions": {"book": 1},
            "entries": [SILENT, ENTRY],
        },
        "x_unknown": {"kept": ["as", "it", "is"]},
    },
}
DECORATED = {
    "keys": [r"/gh?ost\s+ship/i"],
    "content": "@@depth 4\n@@@role system\n@@activate_only_after 2\n\nThe ghost ship has no crew.",
    "extensions": {},
    "enabled": True,
    "insertion_order": 10,
    "use_regex": True,
}
V3 = {
    "spec": "chara_card_v3",
    "spec_version": "3.0",
    "data": {
        **V2["data"],
        "nickname": "Lu",
        "assets": [{"type": "icon", "uri": "ccdefault:", "name": "main", "ext": "png"}],
        "creator_notes_multilingual": {"zh": "NOTE-OF-THE-CREATOR 备注"},
        "source": ["https://example.org/lumen"],
        "group_only_greetings": ["Hello, all."],
        "creation_date": 1700000000,
        "character_book": {
            **V2["data"]["character_book"],
            "entries": [{"use_regex": False, **SILENT}, {"use_regex": False, **ENTRY}, DECORATED],
        },
    },
}


def as_bytes(card):
    return json.dumps(card, ensure_ascii=False).encode()


def chunk(kind, content):
    return struct.pack(">I4s", len(content), kind) + content + struct.pack(">I", zlib.crc32(kind + content))


def text_chunk(keyword, card):
    return chunk(b"tEXt", keyword + b"\0" + b64encode(as_bytes(card)))


def png(*chunks):
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"\0\0\0\0"))
    return b"\x89PNG\r\n\x1a\n" + b"".join([header, *chunks, pixels, chunk(b"IEND", b"")])


def charx(files):
    """A zip archive of these (name, content)."""
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return packed.getvalue()
