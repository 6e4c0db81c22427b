"""What is built from the tree: the package whole, and nothing beside it."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]
SHIPPED = {".py", ".md", ".yaml", ".json"}


def folder_of(package):
    return ROOT.joinpath(*package.split(".")[1:])


# A studio as it is built, and what lies beside it.
STUDIO = {"web/dist/index.html", "web/dist/icon.svg", "web/dist/assets/main-1a2b.js", "web/dist/assets/main-1a2b.js.gz"}
BESIDE = {"web/index.html", "web/package.json", "web/src/main.tsx", "web/node_modules/react/index.js"}


def build(source, target):
    """The files as a wheel of this tree holds them. Built outside of the tree, which stays as it is."""
    places = ["build", "--build-base", target / "base", "--build-lib", target / "lib"]
    command = [sys.executable, "-c", "import setuptools; setuptools.setup()", "--quiet", *places]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    return {path.relative_to(target / "lib").as_posix() for path in (target / "lib").rglob("*") if path.is_file()}


def copy(target):
    """The package without a studio, whether one has been built here or not."""
    shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns("web", "tests", "docs", ".*", "__pycache__", "data"))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """With a studio, and all that is there when one has been built."""
    target = tmp_path_factory.mktemp("built")
    copy(target / "tree")
    for name in STUDIO | BESIDE:
        path = target / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return build(target / "tree", target)


def test_a_wheel_carries_the_studio_that_was_built_and_nothing_else_of_it(built):
    assert {name for name in built if "/web/" in name} == {f"soulgraph/{name}" for name in STUDIO}


def test_a_wheel_can_be_built_without_a_studio(tmp_path):
    copy(tmp_path / "tree")
    assert not {name for name in build(tmp_path / "tree", tmp_path) if "/web/" in name}


def test_every_package_folder_is_listed():
    outside = {"tests", "bench", "build", "scripts", "web"}
    inits = [path.relative_to(ROOT).parts[:-1] for path in ROOT.glob("[!.]*/**/__init__.py")]
    found = {".".join(["soulgraph", *parts]) for parts in inits if parts[0] not in outside}
    assert found | {"soulgraph"} == set(PACKAGES)


def test_only_the_package_is_built(built):
    assert {Path(name).parts[0] for name in built} == {"soulgraph"}
    folders = {Path(name).parts[1] for name in built if len(Path(name).parts) > 2}
    assert folders == {package.split(".")[1] for package in PACKAGES if "." in package} | {"web"}
    assert not {"tests", "bench", "docs", "scripts"} & folders


def test_everything_a_package_needs_is_built(built):
    data = [path for name in ("prompts", "senses", "voices", "stores", "library") for path in (ROOT / name).rglob("*")]
    modules = [path for package in PACKAGES for path in folder_of(package).glob("*.py")]
    needed = {f"soulgraph/{p.relative_to(ROOT).as_posix()}" for p in [*data, *modules] if p.suffix in SHIPPED}
    assert needed - built == set()
    assert "soulgraph/py.typed" in built
    for name in ("safety.en.md", "safety.zh.md", "companion_v1.yaml", "companion_v1.zh.yaml"):
        assert f"soulgraph/prompts/{name}" in built
    assert "soulgraph/library/characters/xiaoman.json" in built
    assert "soulgraph/library/scripts/insults.yaml" in built
    assert "soulgraph/stores/migrations/versions/r0001_frame.py" in built
