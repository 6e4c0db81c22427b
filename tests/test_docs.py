"""The pages say what is: drawings, tables, commands and examples are held against the code."""

import asyncio
import inspect
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from fnmatch import fnmatch

import pytest
from pydantic import SecretStr

from soulgraph import errors
from soulgraph.api.metrics import Metrics
from soulgraph.cli.script_files import hear
from soulgraph.errors import Conflict, SoulgraphError
from soulgraph.library.persona_config import DEFAULT_PERSONA
from soulgraph.nodes.context import Context
from soulgraph.runtime.ports import open_stores
from soulgraph.scripts.draw_graph import ROOT, pages
from soulgraph.server import create_app
from soulgraph.settings import PREFIX, Settings
from soulgraph.soul.personality import traits_of
from soulgraph.soul.simulation import play, said
from soulgraph.tests.live import serving

README, DOCS = ROOT / "README.md", ROOT / "docs"
HTTP, ARCHITECTURE = DOCS / "http.md", DOCS / "architecture.md"
PAGES = [README, *sorted(DOCS.glob("*.md"))]
FOLDERS = [path for path in ROOT.glob("[!.]*") if path.is_dir() and path.name not in {"tests", "build"}]
SOURCES = [*ROOT.glob("*.py"), *(path for folder in FOLDERS for path in folder.rglob("*.py"))]


def read(path):
    return path.read_text("utf-8")


def section(page, heading):
    return read(page).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def fenced(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def rows(text):
    """The cells of every table row, without heads and rules."""
    lines = re.findall(r"^\| (.*?) ?\|$", text, re.MULTILINE)
    return [re.split(r" ?(?<!\\)\| ?", line) for line in lines if line.startswith("`")]


def test_the_drawings_are_those_of_the_code():
    for path, text in pages().items():
        assert read(path) == text, "run scripts/draw_graph.py"
        assert "emotion --> pad_update" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_relative_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", read(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        headings = re.findall(r"^#+ (.+)$", read(linked), re.MULTILINE) if anchor else []
        assert not anchor or anchor in {heading.lower().replace(" ", "-") for heading in headings}, target


def test_the_settings_table_says_what_the_settings_say():
    def shown(default):
        default = default.get_secret_value() if isinstance(default, SecretStr) else default
        default = "library/persona.yaml" if default == DEFAULT_PERSONA else default
        default = str(default).lower() if isinstance(default, bool) else default
        return "" if default in ("", None) else f"`{default}`"

    assert rows(read(DOCS / "settings.md")) == [
        [f"`{PREFIX}{name.upper()}`", shown(field.default), field.description]
        for name, field in Settings.model_fields.items()
    ]


def test_the_map_names_everything_at_the_top():
    ignored = [line.strip("/") for line in read(ROOT / ".gitignore").split()]
    there = {
        f"`{path.name}/`" if path.is_dir() else f"`{path.name}`"
        for path in ROOT.glob("[!.]*")
        if not any(fnmatch(path.name, pattern) for pattern in ignored)
    }
    dotted = {"`.ci/`", "`.github/`", "`.env.example`", "`.dockerignore`"}
    listed = [place for place, _ in rows(read(DOCS / "map.md"))]
    assert sorted(listed) == sorted(there | dotted)


def prose(page):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", read(page), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_every_path_in_backticks_exists(page):
    paths = re.findall(r"`([\w.-]+(?:/[\w.-]+)+\.(?:py|md|yaml))`", prose(page))
    assert [path for path in paths if not (ROOT / path).is_file()] == []


def test_every_test_that_a_page_names_exists():
    named = {name for page in PAGES for name in re.findall(r"`(test_\w+)`", prose(page))}
    tests = {name for path in (ROOT / "tests").rglob("*.py") for name in re.findall(r"def (test_\w+)", read(path))}
    assert named
    assert named - tests == set()


def test_the_rooms_are_the_folders_of_the_package():
    rooms = [place.strip("`") for place, _ in rows(section(ARCHITECTURE, "Rooms"))]
    packages = {f"{path.parent.name}/" for path in ROOT.glob("[!.]*/__init__.py")}
    assert sorted(rooms) == sorted(packages | {"server.py"})


def test_every_port_of_the_context_is_listed():
    listed = [port.strip("`") for port, _ in rows(section(ARCHITECTURE, "Ports"))]
    assert listed == [port.name for port in fields(Context)]


def test_the_error_tree_is_the_one_in_the_code():
    assert fenced(read(ARCHITECTURE), "text") == [errors.__doc__.split("\n\n")[1] + "\n"]


def test_every_problem_code_is_explained_with_its_status():
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, SoulgraphError)]
    conflicts = {code for path in SOURCES for code in re.findall(r'Conflict\(\s*"(\w+)"', read(path))}
    assert "turn_superseded" in conflicts
    statuses = {kind.code: kind.status for kind in kinds if kind is not Conflict}
    statuses |= dict.fromkeys(conflicts, Conflict.status) | {"no_such_path": 404, "method_not_allowed": 405}
    explained = {code.strip("`"): int(status) for code, status, _, _ in rows(section(HTTP, "Problems"))}
    assert explained == statuses


def calls():
    """(method, path, scopes) of every endpoint in the table of docs/http.md."""
    table = rows(read(HTTP).partition("\n## ")[0])
    return [(*call.strip("`").split(), scope) for call, scope, _ in table]


def test_every_endpoint_is_listed_and_no_other():
    paths = create_app(Settings.load()).openapi()["paths"]
    served = [(method.upper(), path) for path, methods in paths.items() for method in methods]
    assert sorted(call[:2] for call in calls()) == sorted(served)


async def test_every_endpoint_lets_in_the_scopes_it_lists(tmp_path):
    async with open_stores(Settings.load(data_dir=tmp_path)) as stores, stores.write() as tx:
        keys = {scope: await tx.keys.create(scope, scope, 1.0) for scope in ("owner", "chat", "terminal")}
    async with serving(data_dir=tmp_path) as client:
        for method, path, scopes in calls():
            path = re.sub(r"\{\w+\}", "x", path)
            bare = await client.request(method, path)
            assert (bare.status_code == 401) == (scopes != "none"), path
            for scope, key in keys.items():
                response = await client.request(method, path, headers={"Authorization": f"Bearer {key}"})
                refused = scope != "owner" and scope not in scopes and scopes != "none"
                assert (response.status_code == 403) == refused, (method, path, scope)


NUMBER, IDENTITY, MOMENT = r"-?\d+\.\d+", r"(soul|sess|turn)_[0-9a-f]+…?", r"\d{4}-\d\d-\d\dT[\d:.]+Z"
SHOWN = re.compile(rf"(?P<moment>{MOMENT})|(?P<identity>{IDENTITY})|(?P<number>{NUMBER})|(?P<more>,?…,?)|(?P<gap> +)")


def samples(text):
    """The lines that a page shows as what is printed; `…` stands for anything."""
    return [line for block in fenced(text, "text") for line in block.splitlines() if line.strip() not in ("", "…")]


def as_pattern(sample):
    """A pattern of the lines that are as the sample says, with its numbers as groups."""
    patterns = {"moment": MOMENT, "identity": r"\w+", "number": f"({NUMBER})", "more": ".*", "gap": " *"}
    parts, at = [], 0
    for found in SHOWN.finditer(sample):
        parts += [re.escape(sample[at : found.start()]), patterns[found.lastgroup]]
        at = found.end()
    return re.compile("".join([*parts, re.escape(sample[at:])]))


def is_among(sample, lines):
    told = [float(found["number"]) for found in SHOWN.finditer(sample) if found["number"]]
    matches = (as_pattern(sample).fullmatch(line) for line in lines)
    return any(told == pytest.approx([*map(float, match.groups())], abs=0.006) for match in matches if match)


async def test_the_quick_start_runs_as_it_is_written(tmp_path):
    if not (shutil.which("curl") and shutil.which("bash")):
        pytest.skip("curl or bash is not installed")
    quick_start = section(README, "Quick start")
    # Time stands still: moods would recover while a slow machine works.
    async with serving(lambda: 1_800_000_000.0, data_dir=tmp_path) as client:
        script = "echo;".join(fenced(quick_start, "bash")).replace("localhost:8000", client.base_url.netloc.decode())
        bash = ["bash", "-euc", script.replace("curl -s", r"curl -w '\n' -s")]  # an answer a line
        ran = await asyncio.to_thread(subprocess.run, bash, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "urn:soulgraph:problem" not in ran.stdout
    for reply in re.findall(r'"reply": ?"([^"]+)"', quick_start):
        assert reply in ran.stdout
    assert ran.stdout.count('{"role": ') == 6
    assert [line for line in samples(quick_start) if not is_among(line, ran.stdout.splitlines())] == []
    for shown in re.findall(r'"mood":\{[^}]+\}|"user_emotion": ?\{"emotion": ?"\w+"', quick_start):
        assert shown in ran.stdout
    for number in (r'"soul_emotion": \{"p": (-?[\d.]+)', r'"exec_probability": (-?[\d.]+)'):
        told, seen = (float(re.search(number, text)[1]) for text in (quick_start, ran.stdout))
        assert told == pytest.approx(seen, abs=0.006)


def test_the_embedding_example_prints_what_the_page_says(tmp_path):
    page = read(DOCS / "embedding.md")
    [program], [printed] = fenced(page, "python"), fenced(page, "text")
    ran = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60)
    assert (ran.stderr, ran.stdout) == ("", printed)


@pytest.mark.parametrize("mbti", ["INFJ", "ESTJ"])
def test_the_gate_closes_after_as_many_insults_as_the_readme_says(mbti):
    every, insult = re.search(r"Said every (\d+) seconds, `([^`]+)`", read(README)).groups()
    times = int(re.search(rf"an {mbti} the (\d+)", read(README))[1])
    script = said(f'"{insult}"*{times}@0s/{every}s', hear)
    modes = [sample.gate.exec_mode for sample in play(traits_of(mbti), script, script[-1].at, 60.0) if sample.felt]
    assert modes == ["auto_execute"] * (times - 1) + ["blocked"]


def test_every_metric_is_listed():
    kinds = re.findall(r"^# TYPE (\w+) (\w+)$", Metrics().text().decode(), re.MULTILINE)
    listed = [
        (name.strip("`").partition("{")[0], kind) for name, kind, _ in rows(section(DOCS / "tracing.md", "Metrics"))
    ]
    assert sorted(listed) == sorted((name, kind) for name, kind in kinds if not name.endswith("_created"))


def test_the_readme_is_short_and_leads_to_every_page():
    text = read(README)
    assert len(text.splitlines()) <= 130
    linked = set(re.findall(r"\]\(([^)#]+)", text))
    assert {page.relative_to(ROOT).as_posix() for page in DOCS.glob("*.md")} <= linked
