"""`soulgraph terminal`: a simulated robot, to see a body move before there is one."""

import asyncio
import os
import sys
import threading
from typing import Annotated, NamedTuple
from uuid import uuid4

import typer
from aiomqtt import MqttError

from soulgraph.cli.client import Json, own_url, reach, running
from soulgraph.cli.conversation import ask, complain, console, some_soul, visible
from soulgraph.cli.souls import ServerUrl
from soulgraph.cli.terminal_body import CATALOG, SKILLS, VERSION, Body, Face
from soulgraph.cli.terminal_link import Link
from soulgraph.errors import SoulgraphError
from soulgraph.settings import Settings
from soulgraph.soul.emotions import EmotionState
from soulgraph.terminals.broker import Broker

_RETRY_S, _ANSWER_S = 2.0, 30.0


def terminal(
    broker: Annotated[
        str | None, typer.Option(metavar="URL", help="The broker; else the one that the server uses.")
    ] = None,
    terminal_id: Annotated[str, typer.Option("--id", metavar="NAME", help="The robot's name.")] = "robot",
    soul: Annotated[str | None, typer.Option(metavar="NAME", help="The soul it carries, by name or id.")] = None,
    server: ServerUrl = None,
) -> None:
    """Be a robot: make faces, do what the soul wants done. What you type is said to it. Ctrl-C ends it."""
    if broker is None:
        broker, name = _carrying(terminal_id, soul, server)
        soul = None
    else:
        name = soul or terminal_id
    try:
        asyncio.run(Robot(Broker.parse(broker, "--broker"), terminal_id, name, soul).live())
    except KeyboardInterrupt:
        console.print("\nGoodbye.", style="dim")
        os._exit(0)  # the thread that reads what is typed holds stdin, and Python would abort over it


def _carrying(terminal_id: str, soul: str | None, server: str | None) -> tuple[str, str]:
    """(the server's broker, the soul's name) after the server has given the soul to the terminal."""
    settings = Settings.load()
    url = server or own_url(settings)
    ready = running(url)
    if ready is None:
        raise SoulgraphError(f"no server runs at {url}: start one with `soulgraph serve`, or name a broker")
    if not ready["broker"]:
        raise SoulgraphError(f"the server at {url} has no broker: unset SOULGRAPH_MQTT_URL there, or name one")
    with reach(settings, url) as client:
        chosen = client.soul(soul) if soul else some_soul(client)
        client.select(terminal_id, chosen["soul_id"])
    return ready["broker"]["mqtt"], chosen["name"]


class Said(NamedTuple):
    """A line that was typed. Said again because the broker was away, it is still the same input."""

    input_id: str
    text: str


class Robot:
    """Connects, reports, and shows what it hears; a broker that is away is asked again and told everything anew."""

    def __init__(self, broker: Broker, terminal_id: str, name: str, soul_hint: str | None) -> None:
        self._broker = broker
        self._terminal_id = terminal_id
        self._name = name
        self._soul_hint = soul_hint
        self._body = Body()
        self._face: Face | None = None
        self._asked: set[str] = set()
        self._lines: asyncio.Queue[Said | None] = asyncio.Queue()
        self._unsaid: Said | None = None

    async def live(self) -> None:
        _read_lines(self._lines, asyncio.get_running_loop())
        while True:
            try:
                async with Link.open(self._broker, self._terminal_id, self._body.use) as link:
                    console.print(f"{self._terminal_id} is online at {self._broker}. Ctrl-C ends it.", style="dim")
                    await link.report(CATALOG, SKILLS, VERSION, self._soul_hint)
                    await self._converse(link)
                    return
            except (MqttError, ExceptionGroup) as error:
                complain(SoulgraphError(f"no broker at {self._broker} ({error}); trying again"))
                await asyncio.sleep(_RETRY_S)

    async def _converse(self, link: Link) -> None:
        """Until there is nothing more to say and all has been answered."""
        sides = [asyncio.create_task(self._listen(link)), asyncio.create_task(self._speak(link))]
        try:
            ended, _ = await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
            for side in ended:
                side.result()
        finally:
            for side in sides:
                side.cancel()
            await asyncio.gather(*sides, return_exceptions=True)

    async def _speak(self, link: Link) -> None:
        while (said := self._unsaid or await self._lines.get()) is not None:
            self._unsaid = said
            await link.say(*said)
            self._asked.add(said.input_id)
            self._unsaid = None
        for _ in range(int(_ANSWER_S * 10)):
            if not self._asked:
                return
            await asyncio.sleep(0.1)

    async def _listen(self, link: Link) -> None:
        async for kind, payload in link.messages():
            self._show(kind, payload)

    def _show(self, kind: str, payload: Json) -> None:
        match kind:
            case "emotion_update":
                self._make_face(payload)
            case "intent_action":
                for intent in payload["intents"]:
                    _aside(f"{intent['intent_name']}: {self._body.do(intent)}")
            case "invoke":
                _aside(f"uses {payload['skill']} {payload['arguments'] or ''}")
            case "reply":
                self._asked.discard(payload["input_id"])
                self._say(payload.get("text") or payload["problem"]["detail"])
            case "proactive":
                self._say(payload["text"])
            case "status":
                self._know(payload)

    def _make_face(self, update: Json) -> None:
        """Only when it changes: a tick comes every few seconds."""
        face = Face.of(EmotionState.from_dict(update["soul_emotion"]), update["exec_mode"] == "auto_execute")
        if face != self._face:
            console.print(face.drawn(self._name, update["exec_probability"]))
        self._face = face

    def _say(self, words: str) -> None:
        console.print(f"{self._name}: ", style="bold", end="")
        console.print(visible(words))

    def _know(self, status: Json) -> None:
        if status["bound"]:
            self._name = status["soul_name"]
        if problem := status.get("problem"):
            _aside(f"the server says: {problem['detail']}")
        elif not status["bound"]:
            _aside("no soul yet: give it one with --soul, or POST /v1/souls/select")


def _aside(note: str) -> None:
    console.print(f"  {visible(note)}", style="dim", soft_wrap=True)


def _read_lines(lines: "asyncio.Queue[Said | None]", loop: asyncio.AbstractEventLoop) -> None:
    """In a thread that is left behind: nobody can wait for a person who does not type."""

    def read() -> None:
        said = False
        while True:
            try:
                line = ask("")
            except (EOFError, OSError):
                break
            said = True
            if line:
                loop.call_soon_threadsafe(lines.put_nowait, Said(f"input_{uuid4().hex}", line))
        if said or sys.stdin.isatty():  # without anybody at the keyboard it stays until it is stopped
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
