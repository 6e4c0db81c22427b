"""`soulgraph home-assistant`: the lamps and switches that Home Assistant knows by MQTT, as a body of a soul."""

import asyncio
from typing import Annotated

import typer
from aiomqtt import Client, MqttError

from soulgraph.cli.conversation import console, print_error, strip_controls
from soulgraph.cli.souls import ServerUrl
from soulgraph.cli.terminal import bind_soul, is_refusal, with_key
from soulgraph.errors import SoulgraphError
from soulgraph.settings import Settings
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.home_assistant import configs
from soulgraph.terminals.home_assistant.appliances import Publication
from soulgraph.terminals.home_assistant.home import Home
from soulgraph.terminals.link import Link, stop, until_one_ends
from soulgraph.terminals.topics import valid_terminal_id

_VERSION, _QOS, _SUBACK_FAILURE = 1, 1, 0x80
_RETRY_S, _SETTLE_S = 2.0, 0.5


def home_assistant(
    home: Annotated[
        str | None, typer.Option(metavar="URL", help="Home Assistant's broker; else the one that the server uses.")
    ] = None,
    broker: Annotated[
        str | None, typer.Option(metavar="URL", help="The soul's broker; else the one that the server uses.")
    ] = None,
    prefix: Annotated[str, typer.Option(help="Where discovery messages begin.")] = "homeassistant",
    terminal_id: Annotated[str, typer.Option("--id", metavar="NAME", help="The terminal's name.")] = "home",
    soul: Annotated[str | None, typer.Option(metavar="NAME", help="The soul it carries, by name or id.")] = None,
    server: ServerUrl = None,
) -> None:
    """Let a soul switch what is announced by MQTT discovery: zigbee2mqtt, Tasmota, ESPHome … Ctrl-C ends it."""
    settings = Settings.load()
    valid_terminal_id(terminal_id)
    if broker is None:
        broker, _ = bind_soul(settings, terminal_id, soul, server)
        soul = None
    of_soul = with_key(Broker.parse(broker, "--broker"), settings)
    of_home = Broker.parse(home, "--home") if home else with_key(Broker.parse(broker, "--broker"), settings)
    try:
        asyncio.run(Bridge(of_home, of_soul, prefix, terminal_id, soul).run())
    except KeyboardInterrupt:
        console.print("\nGoodbye.", style="dim")


class Bridge:
    """Two connections, each of which is made again when it is lost: to the home's broker, and to the soul's."""

    def __init__(self, of_home: Broker, of_soul: Broker, prefix: str, terminal_id: str, soul_hint: str | None) -> None:
        self._of_home = of_home
        self._of_soul = of_soul
        self._prefix = prefix
        self._terminal_id = terminal_id
        self._soul_hint = soul_hint
        self._client: Client | None = None
        self._home = Home(prefix, self._publish)
        self._changed = asyncio.Event()
        self._doing: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        while True:
            try:
                # A new home each time: what was taken away meanwhile is not told any more.
                self._home = Home(self._prefix, self._publish)
                async with self._of_home.client() as self._client:
                    await self._subscribe(configs.filters(self._prefix))
                    await self._live()
            except (MqttError, ExceptionGroup) as error:
                if is_refusal(error):
                    why = f"the broker refuses this program ({error}): put user and password into the URL"
                    raise SoulgraphError(why) from error
                print_error(SoulgraphError(f"lost a broker ({error}); trying again"))
                await asyncio.sleep(_RETRY_S)

    async def _live(self) -> None:
        """Be online as soon as the home is known: an order that comes earlier could not be carried out."""
        listening = asyncio.create_task(self._listen_to_home())
        try:
            await asyncio.sleep(_SETTLE_S)
            self._home.arrange()
            async with Link.open(self._of_soul, self._terminal_id, self._use) as link:
                console.print(f"{self._terminal_id} is online at {self._of_soul}. Ctrl-C ends it.", style="dim")
                await self._serve(link, listening)
        finally:
            await stop(listening)

    async def _serve(self, link: Link, listening: asyncio.Task[None]) -> None:
        """Until one of the connections is lost, which raises MqttError."""
        loops = (self._report(link), self._listen_to_soul(link))
        try:
            await until_one_ends(listening, *(asyncio.create_task(loop) for loop in loops))
        finally:
            await stop(*self._doing)

    async def _subscribe(self, filters: list[str]) -> None:
        assert self._client
        codes = await self._client.subscribe([(one, _QOS) for one in filters])
        if any(getattr(code, "value", code) >= _SUBACK_FAILURE for code in codes):
            raise SoulgraphError(
                f"the broker at {self._of_home} does not carry {filters[0]}: name Home Assistant's own with --home; "
                "the one that is built into the server is for terminals alone"
            )

    async def _listen_to_home(self) -> None:
        assert self._client
        self._changed.set()
        async for message in self._client.messages:
            payload = message.payload if isinstance(message.payload, bytes) else b""
            if self._home.hear(message.topic.value, payload):
                self._changed.set()

    async def _report(self, link: Link) -> None:
        """Report what there is whenever it has changed, once no more comes for a moment."""
        listened: set[str] = set()
        while True:
            await self._changed.wait()
            while self._changed.is_set():
                self._changed.clear()
                await asyncio.sleep(_SETTLE_S)
            self._home.arrange()
            if new := sorted(self._home.state_topics - listened):
                await self._subscribe(new)
                listened.update(new)
            offer = self._home.offer
            await link.report(offer.catalog, offer.skills, _VERSION, self._soul_hint)
            found = ", ".join(self._home.names) or "nothing so far"
            console.print(f"  offers {strip_controls(found)}", style="dim", soft_wrap=True)

    async def _listen_to_soul(self, link: Link) -> None:
        async for kind, payload in link.messages():
            if kind == "intent_action":
                for intent in payload["intents"]:
                    doing = asyncio.create_task(self._do(intent))
                    self._doing.add(doing)
                    doing.add_done_callback(self._doing.discard)
            elif kind == "status" and (problem := payload.get("problem")):
                console.print(f"  the server says: {strip_controls(problem['detail'])}", style="dim", soft_wrap=True)

    async def _do(self, intent: dict[str, object]) -> None:
        for line in await self._home.do(intent):
            console.print(f"  {strip_controls(str(intent['intent_name']))} → {strip_controls(line)}", style="dim")

    async def _use(self, skill: str, arguments: dict[str, object]) -> dict[str, object]:
        return await self._home.use(skill, arguments)

    async def _publish(self, publication: Publication) -> None:
        assert self._client
        await self._client.publish(*publication)
