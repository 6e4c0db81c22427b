"""A soul as a device of Home Assistant: what is announced of it, and its state, as MQTT discovery has them."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, get_args
from zlib import crc32

from soulgraph.soul.constants import Constants
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.gate import Gate
from soulgraph.soul.language import Lang, lang_of
from soulgraph.soul.mood import Mood, mood_of, mood_words
from soulgraph.stores.records import Json

AVAILABILITY = "soul/home_assistant/online"
_LOCK_STEP_S = 10
"""A lock's time is told in such steps, or Home Assistant would note a value with every tick."""
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]")
_NAMES: Mapping[str, dict[Lang, str]] = {
    "mood": {"en": "Mood", "zh": "心情"},
    "gate": {"en": "Would act", "zh": "愿意动手"},
    "probability": {"en": "Willingness", "zh": "意愿"},
    "lock": {"en": "Locked", "zh": "赌气锁"},
    "lock_remaining": {"en": "Lock remaining", "zh": "锁剩余时间"},
    "pleasure": {"en": "Pleasure", "zh": "愉悦"},
    "arousal": {"en": "Arousal", "zh": "激动"},
    "dominance": {"en": "Dominance", "zh": "掌控"},
}


def object_id(soul_id: str) -> str:
    """The soul's id in the letters that Home Assistant takes; two souls never have the same."""
    clean = _NOT_IN_IDS.sub("_", soul_id)
    return clean if clean == soul_id else f"{clean}_{crc32(soul_id.encode()):08x}"


def config_topic(prefix: str, soul_id: str) -> str:
    return f"{prefix}/device/soulgraph/{object_id(soul_id)}/config"


def state_topic(soul_id: str) -> str:
    return f"soul/home_assistant/{object_id(soul_id)}/state"


def filters(prefix: str) -> list[str]:
    """Everything that is announced of souls, and all their states."""
    return [config_topic(prefix, "+").replace(object_id("+"), "+"), state_topic("+").replace(object_id("+"), "+")]


def config(soul_id: str, name: str, version: str) -> str:
    """The retained message that makes the soul a device; the same for the same soul."""
    unique = f"soulgraph_{object_id(soul_id)}"
    lang = lang_of(name)
    components = {key: _component(key, unique, lang, **about) for key, about in _components(soul_id).items()}
    message = {
        "dev": {"ids": [unique], "name": name, "mf": "soulgraph", "mdl": "soul", "sw": version},
        "o": {"name": "soulgraph", "sw": version},
        "cmps": components,
        "state_topic": state_topic(soul_id),
        "availability": [{"topic": AVAILABILITY}],
        "qos": 1,
    }
    return json.dumps(message, ensure_ascii=False)


def _component(key: str, unique: str, lang: Lang, **about: Any) -> Json:
    template = f"{{{{ value_json.{key} }}}}"
    return {"unique_id": f"{unique}_{key}", "name": _NAMES[key][lang], "value_template": template, **about}


def _components(soul_id: str) -> dict[str, Json]:
    """By their keys in the state. A lock has no device class: of a door's, `on` is open."""
    measured = {"p": "sensor", "state_class": "measurement"}
    axis = {**measured, "enabled_by_default": False, "suggested_display_precision": 2}
    mood = {"p": "sensor", "device_class": "enum", "options": list(get_args(Mood)), "icon": "mdi:emoticon-outline"}
    return {
        "mood": {**mood, "json_attributes_topic": state_topic(soul_id)},
        "gate": {"p": "binary_sensor", "icon": "mdi:gate"},
        "probability": {**measured, "unit_of_measurement": "%", "icon": "mdi:percent-outline"},
        "lock": {"p": "binary_sensor", "icon": "mdi:lock-clock"},
        "lock_remaining": {**measured, "device_class": "duration", "unit_of_measurement": "s"},
        "pleasure": axis,
        "arousal": axis,
        "dominance": axis,
    }


def state(emotion: EmotionState, gate: Gate, constants: Constants) -> str:
    """Rounded, and without the time: it changes when something has."""
    mood = mood_of(emotion, constants)
    values = {
        "mood": mood,
        "words_en": mood_words(mood, emotion, "en", constants),
        "words_zh": mood_words(mood, emotion, "zh", constants),
        **{name: round(at, 2) + 0.0 for name, at in zip(("pleasure", "arousal", "dominance"), emotion.x, strict=True)},
        "gate": _on_off(gate.exec_mode == "auto_execute"),
        "reason": gate.reason,
        "probability": round(100 * gate.exec_probability),
        "lock": _on_off(gate.locked),
        "lock_remaining": _LOCK_STEP_S * math.ceil(gate.lock_remaining_s / _LOCK_STEP_S),
    }
    return json.dumps(values, ensure_ascii=False)


def _on_off(is_on: bool) -> str:
    return "ON" if is_on else "OFF"
