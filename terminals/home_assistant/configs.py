"""Discovery messages of Home Assistant, as lamps and switches are announced: abbreviations, base topic, components."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from soulgraph.stores.records import Json

COMPONENTS = ("light", "switch")
DEVICE = "device"

_TOPIC = re.compile(r"(light|switch|device)/(?:[\w-]+/)?([\w-]+)/config", re.ASCII)
_BASE = "~"
_LONG = {
    "bri_cmd_t": "brightness_command_topic",
    "bri_cmd_tpl": "brightness_command_template",
    "bri_scl": "brightness_scale",
    "bri_stat_t": "brightness_state_topic",
    "bri_val_tpl": "brightness_value_template",
    "cmd_t": "command_topic",
    "cmd_tpl": "command_template",
    "cmps": "components",
    "dev": "device",
    "en": "enabled_by_default",
    "ent_cat": "entity_category",
    "on_cmd_type": "on_command_type",
    "p": "platform",
    "pl_off": "payload_off",
    "pl_on": "payload_on",
    "ret": "retain",
    "stat_off": "state_off",
    "stat_on": "state_on",
    "stat_t": "state_topic",
    "stat_val_tpl": "state_value_template",
    "sup_clrm": "supported_color_modes",
    "uniq_id": "unique_id",
    "val_tpl": "value_template",
}
"""Of the abbreviations that Home Assistant knows, those of what is read here."""
_OF_COMPONENT = ("name", "platform", "unique_id")
"""What of a device's message is not for all its components."""


@dataclass(frozen=True, slots=True)
class Config:
    """What is announced of one lamp or switch. `key` tells it from all others, `object_id` is its name in the topic."""

    key: str
    kind: str
    object_id: str
    options: Json

    @property
    def device_name(self) -> str | None:
        device = self.options.get("device")
        name = device.get("name") if isinstance(device, dict) else None
        return name if isinstance(name, str) and name.strip() else None


def filters(prefix: str) -> list[str]:
    """What to subscribe to."""
    return [f"{prefix}/{kind}/{levels}/config" for kind in (*COMPONENTS, DEVICE) for levels in ("+", "+/+")]


def is_config(prefix: str, topic: str) -> bool:
    return _TOPIC.fullmatch(topic.removeprefix(f"{prefix}/")) is not None and topic.startswith(f"{prefix}/")


def read(prefix: str, topic: str, payload: bytes) -> list[Config]:
    """The lamps and switches of a message; none if it is about something else, or makes no sense."""
    found = _TOPIC.fullmatch(topic.removeprefix(f"{prefix}/"))
    message = _object(payload)
    if found is None or not message:
        return []
    kind, object_id = found.groups()
    options = _spelled_out(message)
    if kind != DEVICE:
        return [Config(topic, kind, object_id, options)]
    return list(_components(topic, options))


def _components(topic: str, options: Json) -> Iterator[Config]:
    """Those of a device's message, each with what all of them share."""
    components = options.pop("components", None)
    shared = {name: value for name, value in options.items() if name not in _OF_COMPONENT}
    for name, component in components.items() if isinstance(components, dict) else ():
        own = _spelled_out(component, options.get(_BASE)) if isinstance(component, dict) else {}
        if own.get("platform") in COMPONENTS:
            yield Config(f"{topic} {name}", own["platform"], name, shared | own)


def _object(payload: bytes) -> Json:
    try:
        value = from_json(payload)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _spelled_out(options: Json, base: Any = None) -> Json:
    """With long names, and the base topic where `~` begins or ends a topic."""
    full = {_LONG.get(name, name): value for name, value in options.items()}
    base = full.get(_BASE, base)
    if isinstance(base, str):
        topics = [name for name in full if name.endswith("_topic")]
        full |= {name: _with_base(full[name], base) for name in topics}
    return full


def _with_base(topic: Any, base: str) -> Any:
    if not isinstance(topic, str) or not topic:
        return topic
    if topic.startswith(_BASE):
        topic = base + topic[1:]
    return topic[:-1] + base if topic.endswith(_BASE) else topic
