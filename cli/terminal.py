"""`soulgraph terminal`: a simulated robot that speaks the terminal protocol, for trying it without hardware."""

import asyncio
import os
import sys
import threading
from dataclasses import replace
from typing import Annotated, NamedTuple
from uuid import uuid4

import typer
from aiomqtt import MqttCodeError, MqttError

from soulgraph.cli.client import Json, own_url, reach, running
from soulgraph.cli.conversation import choose_soul, console, print_error, read_line, strip_controls
from soulgraph.cli.souls import ServerUrl
from soulgraph.cli.terminal_body import CATALOG, SKILLS, VERSION, Body, Face
from soulgraph.errors import SoulgraphError
from soulgraph.settings import Settings, is_loopback
from soulgraph.soul.emotions import EmotionState
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.link import Link, until_one_ends

_RETRY_S, _ANSWER_TIMEOUT_S = 2.0, 30.0
_REFUSALS = {134, 135}
"""Bad user name or password, not authorized; paho gives the codes of MQTT 5 whatever the version."""


def terminal(
    broker: Annotated[
        str | None, typer.Option(metavar="URL", help="The broker; else the one that the server uses.")
    ] = None,
    terminal_id: Annotated[str, typer.Option("--id", metavar="NAME", help="The robot's name.")] = "robot",
    soul: Annotated[str | None, typer.Option(metavar="NAME", help="The soul it carries, by name or id.")] = None,
    server: ServerUrl = None,
) -> None:
    """Be a robot: make faces, do what the soul wants done. What you type is said to it. Ctrl-C ends it."""
    settings = Settings.load()
    if broker is None:
        broker, name = bind_soul(settings, terminal_id, soul, server)
        soul = None
    else:
        name = soul or terminal_id
    try:
        asyncio.run(Robot(with_key(Broker.parse(broker, "--broker"), settings), terminal_id, name, soul).run())
    except KeyboardInterrupt:
        console.print("\nGoodbye.", style="dim")
        os._exit(0)  # a thread is still reading stdin, and Python aborts when it exits normally then


def bind_soul(settings: Settings, terminal_id: str, soul: str | None, server: str | None) -> tuple[str, str]:
    """Have the server bind the soul to the terminal; returns (URL of the server's broker, the soul's name)."""
    url = server or own_url(settings)
    ready = running(url)
    if ready is None:
        raise SoulgraphError(f"no server runs at {url}: start one with `soulgraph serve`, or name a broker")
    if not ready["broker"]:
        raise SoulgraphError(f"the server at {url} has no broker: unset SOULGRAPH_MQTT_URL there, or name one")
    with reach(settings, url) as client:
        chosen = client.soul(soul) if soul else choose_soul(client)
        client.select(terminal_id, chosen["soul_id"])
    return ready["broker"]["mqtt"], chosen["name"]


def with_key(broker: Broker, settings: Settings) -> Broker:
    """With the API key as the password, if the broker is on this machine, as an embedded one is, and none is given."""
    key = settings.api_key.get_secret_value()
    if not key or broker.password is not None or not is_loopback(broker.host):
        return broker
    return replace(broker, username="key", password=key)


class TypedLine(NamedTuple):
    """A line from the keyboard. It keeps its id when it is sent again after the broker was down."""

    input_id: str
    text: str


class Robot:
    """Connects, reports what it can do, and shows what it receives. A lost connection is made again."""

    def __init__(self, broker: Broker, terminal_id: str, name: str, soul_hint: str | None) -> None:
        self._broker = broker
        self._terminal_id = terminal_id
        self._name = name
        self._soul_hint = soul_hint
        self._body = Body()
        self._face: Face | None = None
        self._unanswered: set[str] = set()
        self._lines: asyncio.Queue[TypedLine | None] = asyncio.Queue()
        self._unsent: TypedLine | None = None

    async def run(self) -> None:
        """Until the input ends and every line was answered."""
        _read_lines(self._lines, asyncio.get_running_loop())
        while True:
            try:
                async with Link.open(self._broker, self._terminal_id, self._body.use) as link:
                    console.print(f"{self._terminal_id} is online at {self._broker}. Ctrl-C ends it.", style="dim")
                    await link.report(CATALOG, SKILLS, VERSION, self._soul_hint)
                    await self._serve(link)
                    return
            except (MqttError, ExceptionGroup) as error:
                if is_refusal(error):
                    raise SoulgraphError(
                        f"the broker at {self._broker} refuses this terminal ({error}): set SOULGRAPH_API_KEY to a key "
                        "with the scope terminal or owner; for a broker of your own put user and password into --broker"
                    ) from error
                print_error(SoulgraphError(f"no broker at {self._broker} ({error}); trying again"))
                await asyncio.sleep(_RETRY_S)

    async def _serve(self, link: Link) -> None:
        """Receive and send until one of the two ends; MqttError if the connection is lost."""
        await until_one_ends(asyncio.create_task(self._receive(link)), asyncio.create_task(self._send_lines(link)))

    async def _send_lines(self, link: Link) -> None:
        """Send what is typed; after the end of input, wait a while for the answers."""
        while (line := self._unsent or await self._lines.get()) is not None:
            self._unsent = line  # sent again by the next connection if this one is lost meanwhile
            await link.send_input(*line)
            self._unanswered.add(line.input_id)
            self._unsent = None
        for _ in range(int(_ANSWER_TIMEOUT_S * 10)):
            if not self._unanswered:
                return
            await asyncio.sleep(0.1)

    async def _receive(self, link: Link) -> None:
        async for kind, payload in link.messages():
            self._show(kind, payload)

    def _show(self, kind: str, payload: Json) -> None:
        match kind:
            case "emotion_update":
                self._show_face(payload)
            case "intent_action":
                for intent in payload["intents"]:
                    _print_note(f"{intent['intent_name']}: {self._body.do(intent)}")
            case "invoke":
                _print_note(f"uses {payload['skill']} {payload['arguments'] or ''}")
            case "reply":
                self._unanswered.discard(payload["input_id"])
                self._print_words(payload.get("text") or payload["problem"]["detail"])
            case "proactive":
                self._print_words(payload["text"])
            case "status":
                self._show_status(payload)

    def _show_face(self, update: Json) -> None:
        """Draw the face, but only when it has changed: updates come every few seconds."""
        face = Face.of(EmotionState.from_dict(update["soul_emotion"]), update["exec_mode"] == "auto_execute")
        if face != self._face:
            console.print(face.drawn(self._name, update["exec_probability"]))
        self._face = face

    def _print_words(self, words: str) -> None:
        console.print(f"{self._name}: ", style="bold", end="")
        console.print(strip_controls(words))

    def _show_status(self, status: Json) -> None:
        if status["bound"]:
            self._name = status["soul_name"]
        if problem := status.get("problem"):
            _print_note(f"the server says: {problem['detail']}")
        elif not status["bound"]:
            _print_note("no soul yet: give it one with --soul, or POST /v1/souls/select")


def is_refusal(error: Exception) -> bool:
    """Whether trying again is of no use, because the broker does not accept who we are."""
    return isinstance(error, MqttCodeError) and getattr(error.rc, "value", error.rc) in _REFUSALS


def _print_note(note: str) -> None:
    console.print(f"  {strip_controls(note)}", style="dim", soft_wrap=True)


def _read_lines(lines: "asyncio.Queue[TypedLine | None]", loop: asyncio.AbstractEventLoop) -> None:
    """Queue the lines of stdin, and None at its end. In a daemon thread, because reading cannot be cancelled."""

    def read() -> None:
        any_line = False
        while True:
            try:
                line = read_line("")
            except (EOFError, OSError):
                break
            any_line = True
            if line:
                loop.call_soon_threadsafe(lines.put_nowait, TypedLine(f"input_{uuid4().hex}", line))
        if any_line or sys.stdin.isatty():  # started without a keyboard, the robot runs until it is stopped
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
