"""What a terminal for lamps and switches offers: skills for models, and intents in both languages."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from soulgraph.soul.language import Lang, lang_of
from soulgraph.stores.records import Json
from soulgraph.terminals.home_assistant.appliances import Appliance
from soulgraph.terminals.home_assistant.phrases import NO_WISHES, to_dim, to_switch

MAX_APPLIANCES = 60
"""More would make the catalog larger than it may be."""

ALSO = "also"
"""The slot for a second appliance that is switched in the same breath."""

Action = Literal["on", "off", "brightness"]
_MAX_ENUM = 7000
_PERCENT = {"type": "integer", "minimum": 0, "maximum": 100}
_ON_WORDS = ("打开", "开启", "点亮", "开一下")
_OFF_WORDS = ("关掉", "关上", "关闭", "关了", "关一下", "熄掉")
_LEVEL_WORDS = ("亮度", "调到", "调成", "调为", "设为", "设成", "调亮", "调暗")
_ALL_ON = [
    "打开所有灯",
    "打开所有的灯",
    "把所有的灯都打开",
    "把灯全打开",
    "turn on all the lights",
    "turn all the lights on",
    "all lights on",
]
_ALL_OFF = [
    "关掉所有灯",
    "关掉所有的灯",
    "把所有的灯都关",
    "把灯全关",
    "turn off all the lights",
    "turn all the lights off",
    "all lights off",
    "lights off everywhere",
]
_A_LIGHT: Mapping[Action, list[str]] = {
    "on": ["开灯", "把灯打开", "打开灯", "turn on the light", "turn the light on", "light on"],
    "off": ["关灯", "把灯关了", "关掉灯", "turn off the light", "turn the light off", "light off"],
}
_A_LIGHT_TOLD: Mapping[Lang, Sequence[str]] = {
    "zh": ("开灯", "关灯", "打开所有灯", "关掉所有灯"),
    "en": ("turn on the light", "turn off the light", "turn on all lights", "turn off all lights"),
}
_WHICH = "哪一盏？ Which one?"


@dataclass(frozen=True, slots=True)
class Order:
    """What an intent or a skill asks for; without a name, of all lights or of the one in its parameters."""

    action: Action
    name: str | None = None
    of_all: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """What is reported, and what each intent means."""

    skills: list[Json]
    catalog: list[Json]
    orders: Mapping[str, Order]

    @classmethod
    def of(cls, appliances: Sequence[Appliance]) -> "Offer":
        names = [one.name for one in appliances]
        intents = [intent for one in appliances for intent in _intents(one, names)]
        intents += _of_lights([one.name for one in appliances if one.kind == "light"])
        orders = {intent["id"]: order for intent, order in intents}
        return cls(_skills(appliances), [intent for intent, _ in intents], orders)


def _skills(appliances: Sequence[Appliance]) -> list[Json]:
    names = [one.name for one in appliances]
    dimmable = [one.name for one in appliances if one.dims]
    if not names:
        return []
    one = {"name": _one_of(names)}
    skills = [
        _skill("turn_on", "Turn on a lamp or switch of this home.", one),
        _skill("turn_off", "Turn off a lamp or switch of this home.", one),
        _skill("states", "Which lamps and switches of this home are on, as far as they tell.", {}),
    ]
    if dimmable:
        level = {"name": _one_of(dimmable), "percent": _PERCENT}
        skills.append(_skill("set_brightness", "Make a lamp of this home brighter or darker.", level))
    return skills


def _one_of(names: Sequence[str]) -> Json:
    """The schema of a name; if all of them together would be too long for a report, any text."""
    named: Json = {"type": "string", "enum": list(names)}
    if len(json.dumps(named)) <= _MAX_ENUM:
        return named
    return {"type": "string", "description": "a name that `states` lists"}


def _skill(name: str, description: str, properties: Json) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "input_schema": schema}


def _intents(one: Appliance, names: Sequence[str]) -> list[tuple[Json, Order]]:
    name = one.name
    # In "the lamp and the fan" only the first has the verb.
    others = [other for other in names if other != name]
    also = {"slots": [{"name": ALSO, "values": others}]} if others else {}
    found = [
        ({**_switching(name, "on", _ON_WORDS), **also}, Order("on", name)),
        ({**_switching(name, "off", _OFF_WORDS), **also}, Order("off", name)),
    ]
    if one.dims:
        found.append((_dimming(name), Order("brightness", name)))
    return found


def _switching(name: str, way: str, words: Sequence[str]) -> Json:
    """One name in a sentence with a word for the way, in whatever order."""
    keywords = [f"{word}{name}" for word in words] + [f"{name}{word}" for word in words]
    keywords += [f"{name}{'开' if way == 'on' else '关'}", f"{'开' if way == 'on' else '关'}{name}"]
    keywords += [f"{turn} {way} {the}{name}" for turn in ("turn", "switch") for the in ("", "the ")]
    keywords += [f"{turn} {the}{name} {way}" for turn in ("turn", "switch") for the in ("", "the ")]
    told = f"{words[0]}{name}" if lang_of(name) == "zh" else f"turn {way} {name}"
    return _intent(f"turn_{way} {name}", told, keywords, to_switch(name, way))


def _dimming(name: str) -> Json:
    keywords = [f"{name}{word}" for word in _LEVEL_WORDS] + [f"{name}的亮度"]
    # Both ways, or it would be taken for an intent of one of them.
    verbs = ("set", "dim", "brighten", "turn up", "turn down")
    keywords += [f"{verb} {the}{name}" for verb in verbs for the in ("", "the ")]
    question = "多亮，百分之几？ How bright, in percent?"
    percent = {"name": "percent", "type": "percent", "required": True, "question": question}
    told = f"调{name}的亮度" if lang_of(name) == "zh" else f"dim {name}"
    return {**_intent(f"set_brightness {name}", told, keywords, to_dim(name)), "slots": [percent]}


def _of_lights(names: Sequence[str]) -> list[tuple[Json, Order]]:
    """Of "the light": the only one, or the one that is named when the soul asks."""
    if not names:
        return []
    which = {"name": "name", "values": list(names), "required": True, "question": _WHICH}
    if len(names) == 1:
        which["default"] = names[0]
    # One name for a person of either language: that of what is switched, as its owner wrote it.
    told = _A_LIGHT_TOLD[lang_of(" ".join(names))]
    return [
        ({**_intent("light_on", told[0], _A_LIGHT["on"]), "slots": [which]}, Order("on")),
        ({**_intent("light_off", told[1], _A_LIGHT["off"]), "slots": [which]}, Order("off")),
        (_intent("all_lights_on", told[2], _ALL_ON), Order("on", of_all=True)),
        (_intent("all_lights_off", told[3], _ALL_OFF), Order("off", of_all=True)),
    ]


def _intent(intent_id: str, name: str, keywords: Sequence[str], patterns: Sequence[str] = ()) -> Json:
    match: Json = {"keywords_any": list(dict.fromkeys(keywords))}
    if patterns:
        match |= {"regex_any": list(patterns), "negative_keywords": NO_WISHES}
    return {"id": intent_id, "name": name, "match": match}
