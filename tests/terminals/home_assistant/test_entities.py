"""A soul as a device of Home Assistant, by the rules of its MQTT discovery."""

import json
import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.soul.constants import DEFAULT
from soulgraph.soul.dynamics import born
from soulgraph.soul.gate import judge
from soulgraph.soul.mood import Mood
from soulgraph.soul.personality import traits_of
from soulgraph.terminals.home_assistant import configs, entities

PLATFORMS = {"sensor", "binary_sensor"}


def device(soul_id="soul_1", name="Lumen"):
    return json.loads(entities.config(soul_id, name, "1.0"))


@given(st.lists(st.text(min_size=1, max_size=20), min_size=2, max_size=5, unique=True))
def test_ids_have_the_letters_that_are_taken_and_stay_apart(soul_ids):
    ids = [entities.object_id(soul_id) for soul_id in soul_ids]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", one) for one in ids)
    assert len(set(ids)) == len(soul_ids)


def test_it_is_device_discovery_with_its_origin_and_unique_ids():
    config = device()
    assert config["o"]["name"] == "soulgraph"
    assert config["dev"] == {
        "ids": ["soulgraph_soul_1"],
        "name": "Lumen",
        "mf": "soulgraph",
        "mdl": "soul",
        "sw": "1.0",
    }
    components = config["cmps"]
    assert {one["p"] for one in components.values()} == PLATFORMS
    assert len({one["unique_id"] for one in components.values()}) == len(components) == 8
    assert components["mood"]["options"] == list(get_args(Mood))
    assert not {"unit_of_measurement", "state_class"} & components["mood"].keys(), "an enum has neither"
    assert config["availability"] == [{"topic": entities.AVAILABILITY}]


@pytest.mark.parametrize(("name", "mood"), [("小满", "心情"), ("Lumen", "Mood"), ("Ωλ/#+ 🌿", "Mood")])
def test_entities_are_named_in_the_language_of_the_souls_name(name, mood):
    config = device(name=name)
    assert (config["dev"]["name"], config["cmps"]["mood"]["name"]) == (name, mood)


def test_every_template_finds_its_value_in_the_state():
    traits = traits_of("INFJ")
    emotion = born(traits, 1000.0)
    state = json.loads(entities.state(emotion, judge(traits, emotion, 1000.0), DEFAULT))
    for key, one in device()["cmps"].items():
        assert one["value_template"] == f"{{{{ value_json.{key} }}}}"
        assert state[key] is not None
    for key in ("gate", "lock"):
        assert state[key] in ("ON", "OFF"), "what a binary sensor expects without words of its own"


def test_our_own_devices_are_no_appliances_for_the_home_bridge():
    topic = entities.config_topic("homeassistant", "soul_1")
    assert topic == "homeassistant/device/soulgraph/soul_1/config"
    assert configs.read("homeassistant", topic, entities.config("soul_1", "Lumen", "1").encode()) == []
