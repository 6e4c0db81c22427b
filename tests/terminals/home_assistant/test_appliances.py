"""What is announced to Home Assistant, in files, and what is made of it."""

from pathlib import Path

import pytest
import yaml

from soulgraph.terminals.home_assistant import configs
from soulgraph.terminals.home_assistant.appliances import Appliance, with_names_apart


def cases(name):
    loaded = yaml.safe_load((Path(__file__).parent / name).read_text("utf-8"))
    return [pytest.param(case, id=case["title"]) for case in loaded]


def appliances(messages):
    found = [
        config
        for topic, payload in messages.items()
        for config in configs.read("homeassistant", topic, payload.encode())
    ]
    return {one.name: one for one in with_names_apart(filter(None, map(Appliance.of, found)))}


def check(case):
    found = appliances(case["says"] | case.get("then", {}))
    described = {name: {"kind": one.kind, "dims": one.dims, "confirms": one.confirms} for name, one in found.items()}
    assert {name: {key: described[name][key] for key in about} for name, about in case["has"].items()} == case["has"]
    assert described.keys() == case["has"].keys()
    for order in case.get("does", ()):
        sent = found[order["name"]].switched(order["order"] != "off", order.get("percent"))
        assert {one.topic: one.payload for one in sent} == order["publishes"]
        assert all(one.retain == order.get("retain", False) for one in sent)
    for told in case.get("state", ()):
        reading = found[told["name"]].read(told["topic"], told["payload"].encode())
        assert reading._asdict() == reading._asdict() | {key: told[key] for key in ("is_on", "percent") if key in told}


@pytest.mark.parametrize("case", cases("appliances_open.yaml"))
def test_what_programs_announce(case):
    check(case)


@pytest.mark.parametrize("case", [*cases("appliances_held.yaml"), *cases("appliances_fourth.yaml")])
def test_what_other_programs_announce(case):
    check(case)
