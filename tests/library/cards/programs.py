"""The files of other programs in `programs_open.yaml` and `programs_held.yaml`, packed as their cases say."""

import json
from base64 import b64encode
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from soulgraph.tests.library.cards.samples import charx, chunk, png, text_chunk

Case = Mapping[str, Any]
_HERE = Path(__file__).parent
_COLOURS = {"PNG": "red", "JPEG": "green", "WEBP": "blue"}


def cases(half: str) -> list[Case]:
    return yaml.safe_load((_HERE / f"programs_{half}.yaml").read_text("utf-8"))


def picture(kind: str, **options: Any) -> bytes:
    made = BytesIO()
    Image.new("RGB", (3, 2), _COLOURS[kind]).save(made, kind, **options)
    return made.getvalue()


def file_of(case: Case) -> bytes:
    """The file of a case."""
    raw = case["raw"].encode() if "raw" in case else _json(case["card"])
    packed = {name: _file(content) for name, content in case.get("files", {}).items()}
    match case["as"]:
        case "yaml":
            return case["card"].encode()
        case "png" | "png3" as kind:
            keyword = b"ccv3" if kind == "png3" else b"chara"
            assets = [
                chunk(b"tEXt", f"chara-ext-asset_:{n}\0".encode() + b64encode(file)) for n, file in packed.items()
            ]
            return png(*assets, text_chunk(keyword, case["card"]))
        case "charx":
            return charx([("card.json", raw), *packed.items()])
        case "jpeg" | "webp" as kind:
            exif = Image.Exif()
            exif.get_ifd(0x8769)[0x9286] = b"ASCII\0\0\0" + raw
            return picture(kind.upper(), exif=exif)
    return raw


def _json(card: Any) -> bytes:
    """The card; the words PNG and WEBP in the address of a picture stand for one."""
    text = json.dumps(card, ensure_ascii=False)
    for kind in ("PNG", "WEBP"):
        text = text.replace(f"base64,{kind}", f"base64,{b64encode(picture(kind)).decode()}")
    return text.encode()


def _file(content: str) -> bytes:
    return picture(content) if content in _COLOURS else content.encode()
