"""The lamps and switches of a home: what is announced of them, how they are, and orders to them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from soulgraph.stores.records import Json
from soulgraph.terminals.home_assistant import configs
from soulgraph.terminals.home_assistant.appliances import Appliance, Publication, Reading, with_names_apart
from soulgraph.terminals.home_assistant.configs import Config
from soulgraph.terminals.home_assistant.offers import ALSO, MAX_APPLIANCES, Offer, Order

Publish = Callable[[Publication], Awaitable[None]]

CONFIRM_S = 2.0
_MAX_TOPICS = 5000
"""Whoever may announce lamps may announce any number of them."""

_log = logging.getLogger(__name__)


class Home:
    """`publish` sends an order to the appliances' broker."""

    def __init__(self, prefix: str, publish: Publish) -> None:
        self._prefix = prefix
        self._publish = publish
        self._configs: dict[str, list[Config]] = {}
        self._appliances: dict[str, Appliance] = {}
        self._readings: dict[str, Reading] = {}
        self._news = asyncio.Event()
        self.offer = Offer.of(())

    @property
    def names(self) -> list[str]:
        return list(self._appliances)

    @property
    def state_topics(self) -> set[str]:
        return {topic for one in self._appliances.values() for topic in one.state_topics}

    def hear(self, topic: str, payload: bytes) -> bool:
        """Take in a message; returns whether it changed what there is in the home."""
        if not configs.is_config(self._prefix, topic):
            self._note_state(topic, payload)
            return False
        before = self._configs.pop(topic, [])
        if (announced := configs.read(self._prefix, topic, payload)) and len(self._configs) < _MAX_TOPICS:
            self._configs[topic] = announced
        return announced != before

    def arrange(self) -> None:
        """Make an offer of what is announced now."""
        announced = (Appliance.of(one) for each in self._configs.values() for one in each)
        there = with_names_apart(filter(None, announced))
        if len(there) > MAX_APPLIANCES:
            _log.warning(
                "home assistant: of %d lamps and switches the first %d are offered", len(there), MAX_APPLIANCES
            )
        self._appliances = {one.name: one for one in there[:MAX_APPLIANCES]}
        keys = {one.key for one in there}
        self._readings = {key: reading for key, reading in self._readings.items() if key in keys}
        self.offer = Offer.of(list(self._appliances.values()))

    async def do(self, intent: Json) -> list[str]:
        """Carry out an intent that the soul sends; returns what became of it, in words."""
        order, parameters = self.offer.orders.get(intent["intent_id"]), intent["parameters"]
        if order is None:
            return [f"{intent['intent_id']}: is not known here"]
        names = self._meant(order, parameters)
        results = [(name, await self._carry_out(order.action, name, parameters.get("percent"))) for name in names]
        return [f"{name}: {_in_words(result)}" for name, result in results]

    async def use(self, skill: str, arguments: Json) -> Json:
        """Use a skill; returns its result."""
        name, percent = arguments.get("name"), arguments.get("percent")
        match skill:
            case "states":
                return {"ok": True, "output": self._states()}
            case "turn_on" | "turn_off":
                return await self._carry_out(skill.removeprefix("turn_"), str(name))
            case "set_brightness":
                return await self._carry_out("brightness", str(name), percent)
        return {"ok": False, "error": f"there is no skill {skill!r}"}

    def _meant(self, order: Order, parameters: Mapping[str, object]) -> list[str]:
        if order.of_all:
            return [one.name for one in self._appliances.values() if one.kind == "light"]
        return [str(name) for name in (order.name or parameters.get("name"), parameters.get(ALSO)) if name]

    async def _carry_out(self, action: str, name: str, percent: int | float | None = None) -> Json:
        one = self._appliances.get(name)
        if one is None:
            return {"ok": False, "error": f"there is no {name[:80]!r}; there are: {', '.join(self._appliances)}"[:500]}
        if action == "brightness" and (percent is None or not one.dims):
            return {"ok": False, "error": f"{name} cannot be dimmed" if percent is not None else "percent is missing"}
        level = None if percent is None else round(percent)
        wanted = action != "off" and level != 0
        self._readings.pop(one.key, None)  # only what it says from now on confirms anything
        for publication in one.switched(wanted, level):
            await self._publish(publication)
        return await self._confirmed(one, wanted)

    async def _confirmed(self, one: Appliance, wanted: bool) -> Json:
        """Honest about what is known: an order that was sent is not yet a lamp that is on."""
        if not one.confirms:
            return {"ok": True, "output": {"sent": True, "confirmed": False, "why": "it does not tell its state"}}
        with suppress(TimeoutError):
            async with asyncio.timeout(CONFIRM_S):
                while self._reading(one).is_on is not wanted:
                    self._news.clear()
                    await self._news.wait()
        reading = self._reading(one)
        if reading.is_on is None:
            return {"ok": True, "output": {"sent": True, "confirmed": False, "why": "it has not answered"}}
        if reading.is_on is not wanted:
            return {"ok": False, "error": f"it was told, and still says that it is {_word(reading.is_on)}"}
        return {"ok": True, "output": {"sent": True, "confirmed": True, "state": _word(wanted)}}

    def _note_state(self, topic: str, payload: bytes) -> None:
        for one in self._appliances.values():
            if topic in one.state_topics:
                read, before = one.read(topic, payload), self._reading(one)
                is_on = before.is_on if read.is_on is None else read.is_on
                percent = before.percent if read.percent is None else read.percent
                self._readings[one.key] = Reading(is_on, percent)
        self._news.set()

    def _reading(self, one: Appliance) -> Reading:
        return self._readings.get(one.key, Reading())

    def _states(self) -> Json:
        return {name: _described(self._reading(one)) for name, one in self._appliances.items()}


def _described(reading: Reading) -> str:
    if reading.is_on is None:
        return "unknown"
    level = f", {reading.percent} %" if reading.is_on and reading.percent is not None else ""
    return _word(reading.is_on) + level


def _word(is_on: bool) -> str:
    return "on" if is_on else "off"


def _in_words(result: Json) -> str:
    if not result["ok"]:
        return str(result["error"])
    output = result["output"]
    return f"{output['state']}" if output["confirmed"] else f"sent, not confirmed: {output['why']}"
