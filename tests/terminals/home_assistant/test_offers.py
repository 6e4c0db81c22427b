"""What is said to a soul with lamps and switches, in files, and what is done."""

from datetime import datetime
from pathlib import Path

import pytest
import yaml

from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.intents.catalog import CATALOG
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.terminals.home_assistant import configs
from soulgraph.terminals.home_assistant.appliances import Appliance
from soulgraph.terminals.home_assistant.offers import ALSO, MAX_APPLIANCES, Offer
from soulgraph.terminals.reports import SkillReport

HERE = Path(__file__).parent
NOW = datetime(2026, 11, 16, 15, 30)


@pytest.fixture
async def intent_filter():
    async with open_local_embedder() as embedder:
        yield IntentFilter(embedder)


def appliance(name, kind="light"):
    payload = f'{{"name":"{name}","schema":"json","brightness":true,"cmd_t":"x/set","stat_t":"x"}}'
    if kind == "switch":
        payload = f'{{"name":"{name}","cmd_t":"x/set"}}'
    [config] = configs.read("homeassistant", f"homeassistant/{kind}/x/config", payload.encode())
    return Appliance.of(config)


def home_of(home):
    return [appliance(name) for name in home["lights"]] + [appliance(name, "switch") for name in home["switches"]]


def cases(name):
    loaded = yaml.safe_load((HERE / name).read_text("utf-8"))
    return [pytest.param(loaded["home"], case, id=case["text"]) for case in loaded["cases"]]


async def understood(intent_filter, home, text):
    offer = Offer.of(home_of(home))
    catalog = CompiledCatalog(CATALOG.validate_python(offer.catalog))
    found = await intent_filter.filter(text, catalog, NOW)
    done = []
    for intent in found.intents:
        order = offer.orders[intent.intent_id]
        name = "all" if order.of_all else order.name or intent.parameters.get("name")
        level = [intent.parameters["percent"]] if order.action == "brightness" and intent.status == "ready" else []
        done.append((intent.status, [order.action, name, *level]))
        if also := intent.parameters.get(ALSO):
            done.append((intent.status, [order.action, also]))
    return done


async def is_right(intent_filter, home, case):
    done = await understood(intent_filter, home, case["text"])
    if case.get("asks"):
        return [status for status, _ in done] == ["need_clarification"]
    return done == [("ready", order) for order in case["does"]]


async def check(intent_filter, home, case):
    assert await is_right(intent_filter, home, case), await understood(intent_filter, home, case["text"])


@pytest.mark.parametrize(("home", "case"), cases("said_open.yaml"))
async def test_what_people_say(intent_filter, home, case):
    await check(intent_filter, home, case)


async def test_what_is_offered_fits_into_a_report_however_much_there_is():
    home = [appliance(f"{'很长的名字' * 7}{number}") for number in range(MAX_APPLIANCES)]
    offer = Offer.of(home)
    CATALOG.validate_python(offer.catalog)
    report = SkillReport.model_validate({"terminal_id": "home", "skill_version": 1, "skills": offer.skills})
    usable, problem = report.usable()
    assert (len(usable), problem) == (4, None)


async def test_nothing_is_offered_in_an_empty_home_and_no_brightness_where_nothing_dims():
    assert (Offer.of([]).skills, Offer.of([]).catalog) == ([], [])
    offer = Offer.of([appliance("Fan", "switch")])
    assert [skill["name"] for skill in offer.skills] == ["turn_on", "turn_off", "states"]
    assert [intent["id"] for intent in offer.catalog] == ["turn_on Fan", "turn_off Fan"]


async def test_of_one_light_alone_nobody_asks_which(intent_filter):
    home = {"lights": ["Desk"], "switches": []}
    assert await understood(intent_filter, home, "开灯") == [("ready", ["on", "Desk"])]
    assert await understood(intent_filter, home, "turn the light off") == [("ready", ["off", "Desk"])]


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("turn on the desk lamp, I mean, it is dark", [("ready", ["on", "Desk lamp"])]),
        ("turn on the desk lamp, no wait, the kettle", []),
        ("帮人家把风扇关了嘛", [("ready", ["off", "风扇"])]),
        ("把他家风扇关了", []),
    ],
)
async def test_a_correction_is_left_to_the_model_and_a_filler_word_is_none(intent_filter, text, done):
    home = {"lights": ["Desk lamp"], "switches": ["Kettle", "风扇"]}
    assert await understood(intent_filter, home, text) == done


@pytest.mark.parametrize(("home", "case"), cases("said_held.yaml"))
async def test_what_others_say(intent_filter, home, case):
    await check(intent_filter, home, case)


@pytest.mark.parametrize("half", ["third", "fourth", "fifth"])
async def test_most_of_what_strangers_say_is_understood_and_nothing_is_done_unasked(intent_filter, half):
    loaded = yaml.safe_load((HERE / f"said_{half}.yaml").read_text("utf-8"))
    right = {case["text"]: await is_right(intent_filter, loaded["home"], case) for case in loaded["cases"]}
    assert sum(right.values()) / len(right) >= 0.8
    assert [case["text"] for case in loaded["cases"] if not case["does"] and not right[case["text"]]] == []
