"""docs/clients.md is what its script makes of the tests."""

import importlib.util
import json
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


def script():
    spec = importlib.util.spec_from_file_location("clients_page", ROOT / "scripts" / "clients_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_script_makes():
    assert (ROOT / "docs" / "clients.md").read_text("utf-8") == script().page()


def test_every_program_that_was_recorded_or_driven_is_on_the_page():
    told = {one["folder"] for one in yaml.safe_load((HERE / "programs.yaml").read_text("utf-8"))}
    recorded = {path.name for path in (HERE / "recorded").iterdir()}
    driven = set(json.loads((HERE / "results.json").read_text("utf-8")))
    assert recorded | driven <= told


def test_what_was_driven_was_as_expected():
    results = json.loads((HERE / "results.json").read_text("utf-8"))
    differing = [
        f"{folder} {name}"
        for folder, one in results.items()
        for name, scenario in one["scenarios"].items()
        if scenario["outcome"] != scenario["expected"]
    ]
    assert differing == []
