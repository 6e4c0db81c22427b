"""The house keeps its order: imports point down, graphs are wiring, every node has its test, tests mirror the tree."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TABLE = (ROOT / "docs" / "architecture.md").read_text("utf-8").partition("\n## Rooms\n")[2].partition("\n## ")[0]
ROOMS = [name.rstrip("/").removesuffix(".py") for name in re.findall(r"^\| `([\w.]+/?)` \|", TABLE, re.MULTILINE)]
"""From top to bottom, as the page lists them."""
EVERYBODYS = {"errors", "compat"}
READ_SETTINGS = {"cli", "server", "api", "runtime"}


def room_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


SOURCES = [path for room in ROOMS for path in [*ROOT.glob(f"{room}.py"), *(ROOT / room).rglob("*.py")]]


def imports_of(path):
    """The rooms that a file imports from, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("soulgraph."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("soulgraph."))


def test_the_page_lists_every_room_once():
    packages = {path.parent.name for path in ROOT.glob("[!.]*/__init__.py")} - {"build"}
    assert len(ROOMS) == len(set(ROOMS))
    assert set(ROOMS) == packages | {"server"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_down(path):
    place = ROOMS.index(room_of(path))
    for room in imports_of(path):
        if room == "settings":
            assert room_of(path) in READ_SETTINGS
        elif room not in EVERYBODYS:
            assert ROOMS.index(room) >= place, f"{room} stands above {room_of(path)}"


def test_what_everybody_may_import_imports_nothing_of_ours():
    for name in EVERYBODYS:
        assert not set(imports_of(ROOT / f"{name}.py"))


@pytest.mark.parametrize("path", [*(ROOT / "graph").glob("[!_]*.py")], ids=lambda path: path.stem)
def test_a_graph_is_wiring_on_one_screen(path):
    """One function that builds it, and no logic: no branch, loop or await."""
    text = path.read_text("utf-8")
    logic = (ast.For, ast.While, ast.Await, ast.AsyncFunctionDef, ast.Try, ast.With, ast.Lambda)
    assert not [node for node in ast.walk(ast.parse(text)) if isinstance(node, logic)]
    assert len(text.splitlines()) <= 70


NODES = [path for path in (ROOT / "nodes").rglob("*.py") if path.stem not in ("__init__", "state", "answer", "context")]


@pytest.mark.parametrize("path", NODES, ids=lambda path: path.stem)
def test_every_node_has_a_direct_test(path):
    test = ROOT / "tests" / path.relative_to(ROOT).with_name(f"test_{path.name}")
    assert test.exists(), f"write {test.relative_to(ROOT)}"


def test_the_tests_mirror_the_tree():
    rooms = {path.name for path in (ROOT / "tests").iterdir() if [*path.rglob("*.py")]}
    assert rooms - {"e2e", "fuzz", "clients"} <= {*ROOMS, "bench", "scripts", "web"}
