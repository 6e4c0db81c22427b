"""Lamps and switches as they are announced to Home Assistant: how each is switched, and how its state is read."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

from pydantic_core import from_json

from soulgraph.stores.records import Json
from soulgraph.terminals.home_assistant.configs import Config
from soulgraph.terminals.home_assistant.templates import CommandTemplate, ValueTemplate

MAX_NAME = 40
_MAX_TOPIC, _MAX_SCALE = 1024, 65535
_OWN = ("soul/", "$")
"""Topics on which nobody may make us speak in their name."""

Kind = Literal["light", "switch"]


class Publication(NamedTuple):
    topic: str
    payload: str
    qos: int
    retain: bool


class Reading(NamedTuple):
    """What a message says of an appliance; None is what it does not say."""

    is_on: bool | None = None
    percent: int | None = None


@dataclass(frozen=True, slots=True)
class Plain:
    """Switched by words, on a topic; perhaps dimmed by numbers, on another."""

    topic: str
    on: str
    off: str
    state_on: str
    state_off: str
    command: CommandTemplate
    state: ValueTemplate | None
    brightness_topic: str | None
    brightness_state_topic: str | None
    brightness_command: CommandTemplate
    brightness_state: ValueTemplate | None
    on_by: str

    @classmethod
    def of(cls, options: Json) -> Self | None:
        command = CommandTemplate.parse(options.get("command_template"))
        dimming = CommandTemplate.parse(options.get("brightness_command_template"))
        topic = _topic(options.get("command_topic"))
        if topic is None or command is None:
            return None
        on, off = _word(options.get("payload_on"), "ON"), _word(options.get("payload_off"), "OFF")
        template = options.get("state_value_template", options.get("value_template"))
        return cls(
            topic,
            on,
            off,
            _word(options.get("state_on"), on),
            _word(options.get("state_off"), off),
            command,
            ValueTemplate.parse(template),
            _topic(options.get("brightness_command_topic")) if dimming else None,
            _topic(options.get("brightness_state_topic")),
            dimming or CommandTemplate(),
            ValueTemplate.parse(options.get("brightness_value_template")),
            str(options.get("on_command_type", "last")),
        )

    @property
    def dims(self) -> bool:
        return self.brightness_topic is not None

    def switch(self, on: bool, level: int | None, scale: int) -> list[tuple[str, str]]:
        word = self.command.filled(self.on if on else self.off)
        if on and level is None and self.on_by == "brightness":
            level = scale
        if not on or level is None or self.brightness_topic is None:
            return [(self.topic, word)]
        dimmed = (self.brightness_topic, self.brightness_command.filled(str(level)))
        orders = {"brightness": [dimmed], "first": [(self.topic, word), dimmed]}
        return orders.get(self.on_by, [dimmed, (self.topic, word)])

    def read(self, state_topic: str | None, topic: str, payload: bytes, scale: int) -> Reading:
        is_on, percent = None, None
        if topic == state_topic and self.state:
            is_on = {self.state_on: True, self.state_off: False}.get(self.state.value(payload) or "")
        if topic == self.brightness_state_topic and self.brightness_state:
            percent = _percent(self.brightness_state.value(payload), scale)
        return Reading(is_on, percent)


@dataclass(frozen=True, slots=True)
class InJson:
    """Switched and dimmed by objects, on one topic."""

    topic: str
    dims: bool

    @classmethod
    def of(cls, options: Json) -> Self | None:
        topic = _topic(options.get("command_topic"))
        modes = options.get("supported_color_modes")
        coloured = any(mode != "onoff" for mode in modes) if isinstance(modes, list) else False
        return None if topic is None else cls(topic, options.get("brightness") is True or coloured)

    def switch(self, on: bool, level: int | None, scale: int) -> list[tuple[str, str]]:
        order: Json = {"state": "ON" if on else "OFF"}
        if on and level is not None:
            order["brightness"] = level
        return [(self.topic, json.dumps(order, separators=(",", ":")))]

    def read(self, state_topic: str | None, topic: str, payload: bytes, scale: int) -> Reading:
        try:
            state = from_json(payload)
        except ValueError:
            return Reading()
        if topic != state_topic or not isinstance(state, dict):
            return Reading()
        is_on = {"ON": True, "OFF": False}.get(str(state.get("state")))
        return Reading(is_on, _percent(state.get("brightness"), scale))


@dataclass(frozen=True, slots=True)
class Appliance:
    key: str
    name: str
    kind: Kind
    wiring: Plain | InJson
    state_topic: str | None
    scale: int
    qos: int
    retain: bool

    @classmethod
    def of(cls, config: Config) -> Self | None:
        """None for what cannot be switched from here: settings of a device, what is disabled, programs as templates."""
        options = config.options
        if options.get("entity_category") or options.get("enabled_by_default") is False:
            return None
        schema = options.get("schema", "default") if config.kind == "light" else "default"
        reader = {"default": Plain.of, "basic": Plain.of, "json": InJson.of}.get(str(schema).lower())
        wiring = reader(options) if reader else None
        if wiring is None:
            return None
        state_topic = _topic(options.get("state_topic"), ours=True)
        readable = isinstance(wiring, InJson) or wiring.state is not None
        return cls(
            config.key,
            _name(config),
            "light" if config.kind == "light" else "switch",
            wiring,
            state_topic if readable else None,
            _number(options.get("brightness_scale"), 1, _MAX_SCALE, 255),
            _number(options.get("qos"), 0, 2, 0),
            options.get("retain") is True,
        )

    @property
    def dims(self) -> bool:
        return self.kind == "light" and self.wiring.dims

    @property
    def confirms(self) -> bool:
        """Whether it tells its state, so that one can know what became of an order."""
        return self.state_topic is not None

    @property
    def state_topics(self) -> set[str]:
        dimming = self.wiring.brightness_state_topic if isinstance(self.wiring, Plain) else None
        return {topic for topic in (self.state_topic, dimming) if topic}

    def switched(self, on: bool, percent: int | None = None) -> list[Publication]:
        """What to publish; a brightness of nothing is off."""
        on = on and percent != 0
        level = max(1, round(percent * self.scale / 100)) if percent and self.dims else None
        orders = self.wiring.switch(on, level, self.scale)
        return [Publication(topic, payload, self.qos, self.retain) for topic, payload in orders]

    def read(self, topic: str, payload: bytes) -> Reading:
        return self.wiring.read(self.state_topic, topic, payload, self.scale)


def with_names_apart(appliances: Iterable[Appliance]) -> list[Appliance]:
    """In the order of their keys; of several with one name, all but the first get a number."""
    taken: set[str] = set()
    apart = []
    for one in sorted(appliances, key=lambda one: one.key):
        name, number = one.name, 1
        while name.casefold() in taken:
            number += 1
            name = f"{one.name} {number}"
        taken.add(name.casefold())
        apart.append(replace(one, name=name))
    return apart


def _name(config: Config) -> str:
    """As people say it: the device and what of it is meant, without underscores."""
    own = config.options.get("name")
    own = own.strip() if isinstance(own, str) else ""
    device = (config.device_name or "").strip()
    if own and device and not own.casefold().startswith(device.casefold()):
        own = f"{device} {own}"
    name = " ".join((own or device or config.object_id).replace("_", " ").split())
    printable = "".join(char for char in name if char.isprintable())
    return printable[:MAX_NAME].strip() or config.object_id[:MAX_NAME]


def _topic(value: Any, ours: bool = False) -> str | None:
    """A topic on which one can publish; `ours` if it is only listened to."""
    if not isinstance(value, str) or not value or len(value) > _MAX_TOPIC:
        return None
    if any(char in value for char in "+#\0") or (not ours and value.startswith(_OWN)):
        return None
    return value


def _word(value: Any, default: str) -> str:
    return str(value) if isinstance(value, str | int | float) else default


def _number(value: Any, low: int, high: int, default: int) -> int:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return int(value) if is_number and low <= value <= high else default


def _percent(value: Any, scale: int) -> int | None:
    try:
        level = float(value)
    except (TypeError, ValueError):
        return None
    return round(100 * min(max(level / scale, 0.0), 1.0)) if level == level else None
