"""The files of other programs in `programs_*.yaml`, packed as their cases say."""

import json
from base64 import b64encode
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import compress

import yaml
from PIL import Image

from soulgraph.tests.library.cards.samples import charx, chunk, png, text_chunk

Case = Mapping[str, Any]
_HERE = Path(__file__).parent
_COLOURS = {"PNG": "red", "JPEG": "green", "WEBP": "blue"}


def cases(half: str) -> list[Case]:
    return _repeated(yaml.safe_load((_HERE / f"programs_{half}.yaml").read_text("utf-8")))


def _repeated(given: Any) -> Any:
    """What stands as {TIMES: n, of: x} is x n times: a text if x is a text, else a list; #n in it is the number."""
    if isinstance(given, list):
        return [_repeated(one) for one in given]
    if not isinstance(given, dict):
        return given
    if given.keys() != {"TIMES", "of"}:
        return {key: _repeated(value) for key, value in given.items()}
    as_json = json.dumps(given["of"])
    times = [json.loads(as_json.replace("#n", str(n))) for n in range(given["TIMES"])]
    if isinstance(given["of"], list):
        return [one for several in times for one in several]
    return "".join(times) if isinstance(given["of"], str) else times


def picture(kind: str, **options: Any) -> bytes:
    made = BytesIO()
    Image.new("RGB", (3, 2), _COLOURS[kind]).save(made, kind, **options)
    return made.getvalue()


def file_of(case: Case) -> bytes:
    """The file of a case."""
    text = case["raw"].encode() if "raw" in case else _json(case.get("card"))
    raw = text.decode().encode(case.get("encoding", "utf-8"))
    packed = {name: _file(content) for name, content in case.get("files", {}).items()}
    match case["as"]:
        case "yaml":
            return case["card"].encode(case.get("encoding", "utf-8"))
        case "png" | "png3" as kind:
            keyword = b"ccv3" if kind == "png3" else b"chara"
            assets = [
                chunk(b"tEXt", f"chara-ext-asset_:{n}\0".encode() + b64encode(file)) for n, file in packed.items()
            ]
            return png(*assets, text_chunk(keyword, case["card"]))
        case "png23":
            newer = case["card3"] if isinstance(case["card3"], str) else json.dumps(case["card3"])
            chunks = (b"chara", json.dumps(case["card"])), (b"ccv3", newer)
            return png(*(chunk(b"tEXt", keyword + b"\0" + b64encode(text.encode())) for keyword, text in chunks))
        case "itxt":
            return png(chunk(b"iTXt", b"chara\0\0\0\0\0" + b64encode(raw)))
        case "ztxt":
            return png(chunk(b"zTXt", b"chara\0\0" + compress(b64encode(raw))))
        case "zip":
            return charx(packed.items())
        case "charx" | "charx_jpeg" as kind:
            archive = charx([("card.json", raw), *packed.items()])
            return picture("JPEG") + archive if kind == "charx_jpeg" else archive
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
