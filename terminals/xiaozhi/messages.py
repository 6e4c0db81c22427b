"""The messages of xiaozhi devices: those they send, read leniently, and those they are sent."""

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic_core import from_json

from soulgraph.errors import InvalidInput
from soulgraph.stores.records import Json
from soulgraph.terminals.xiaozhi.faces import EMOJI

MAX_FRAME = 64 * 1024


@dataclass(frozen=True, slots=True)
class Hello:
    """How a device begins. `audio` is what it says of its sound, to be given back as it came."""

    has_mcp: bool
    audio: Json


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said to the device: the words that woke it, or what somebody typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Listening:
    """It begins or ends to send sound."""

    state: Literal["start", "stop"]


@dataclass(frozen=True, slots=True)
class Abort:
    """Somebody has heard enough."""


@dataclass(frozen=True, slots=True)
class Things:
    """What the device has, and how that is now, in the protocol of older firmware."""

    descriptors: list[Json] = field(default_factory=list)
    states: list[Json] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Mcp:
    """A JSON-RPC message of the device, which is an MCP server."""

    payload: Json


@dataclass(frozen=True, slots=True)
class Unknown:
    """What concerns nobody here."""

    type: str


Message = Hello | Heard | Listening | Abort | Things | Mcp | Unknown


def read(text: str) -> Message:
    """Raise InvalidInput for what is no JSON object with a `type`."""
    if len(text) > MAX_FRAME:
        raise InvalidInput(f"a message may have {MAX_FRAME} characters at most")
    try:
        message = from_json(text)
    except ValueError as error:
        raise InvalidInput(f"this is no JSON: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise InvalidInput("a message is an object with a `type`, such as `hello` or `listen`")
    return _read(message["type"], message)


def _read(kind: str, message: Json) -> Message:
    match kind:
        case "hello":
            return _hello(message)
        case "listen":
            return _listen(message)
        case "abort":
            return Abort()
        case "iot":
            return Things(_objects(message.get("descriptors")), _objects(message.get("states")))
        case "mcp" if isinstance(message.get("payload"), dict):
            return Mcp(message["payload"])
    return Unknown(kind)


def _hello(message: Json) -> Hello:
    features = message.get("features")
    # An object in the firmware, a list in some of its copies.
    has_mcp = features.get("mcp") is True if isinstance(features, dict) else "mcp" in (features or ())
    audio = message.get("audio_params")
    return Hello(has_mcp, audio if isinstance(audio, dict) else {})


def _listen(message: Json) -> Message:
    state, text = message.get("state"), message.get("text")
    if state in ("start", "stop"):
        return Listening(state)
    if state == "detect" and isinstance(text, str) and text.strip():
        return Heard(text.strip())
    return Unknown(f"listen {str(state)[:40]}")


def _objects(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the messages of one session."""

    session_id: str

    def hello(self, audio: Json) -> str:
        sound = {"audio_params": audio} if audio else {}
        return self._message("hello", version=1, transport="websocket", **sound)

    def stt(self, text: str) -> str:
        """What was understood, for the display."""
        return self._message("stt", text=text)

    def face(self, emotion: str) -> str:
        return self._message("llm", emotion=emotion, text=EMOJI[emotion])

    def tts(self, state: Literal["start", "stop", "sentence_start"], text: str | None = None) -> str:
        return self._message("tts", state=state, **({} if text is None else {"text": text}))

    def alert(self, status: str, message: str) -> str:
        return self._message("alert", status=status, message=message, emotion="sad")

    def mcp(self, payload: Json) -> str:
        return self._message("mcp", payload=payload)

    def command(self, thing: str, method: str, parameters: Json) -> str:
        return self._message("iot", commands=[{"name": thing, "method": method, "parameters": parameters}])

    def _message(self, kind: str, **fields: Any) -> str:
        return json.dumps({"session_id": self.session_id, "type": kind, **fields}, ensure_ascii=False)
