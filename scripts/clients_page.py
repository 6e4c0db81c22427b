"""Write docs/clients.md from what the tests have of each program: its recordings and the results of driving it."""

import json
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests" / "clients"
PAGE = ROOT / "docs" / "clients.md"
COLUMNS = {
    "chat": ("chat",),
    "stream": (),
    "regenerate": ("regenerate",),
    "edit": ("edit", "all"),
    "continue": ("continue",),
    "stop": ("stop",),
    "new chat": ("new_chat",),
    "titles, summaries, checks": ("summary", "impersonate", "check"),
}
HEAD = """# Programs that talk to souls

A program made for OpenAI needs one URL, `http://127.0.0.1:8000/v1`, and the name of a model: `soul:` and the soul's
name. With [keys](http.md#keys-and-scopes) the API key is one of them; without, anything. What is sent and how it is
understood is told at [OpenAI-compatible](http.md#openai-compatible).

This page is written by `scripts/clients_page.py` from the tests. **live**: the program itself was driven against a
server, in Chromium where it has pages (`make clients`), and its recorded requests are replayed by `make test`.
**recorded**: those requests alone. **source**: requests written as the program's source sends them, replayed by
`make test`. **differs**: it was tried, and a note below says what came of it. An empty cell was not tried, or the
program has nothing of the kind.

"""
TAIL = """
Two lines and a regenerated or changed one are two turns, and the mood moves twice. A stopped reply is kept as far as it
was seen, a continued one stays one turn; titles, tags, suggestions, summaries and health checks are no turns at all.

"""


def page() -> str:
    programs = yaml.safe_load((TESTS / "programs.yaml").read_text("utf-8"))
    results = json.loads((TESTS / "results.json").read_text("utf-8")) if (TESTS / "results.json").exists() else {}
    known = [{**one, "results": results.get(one["folder"], {}), "tapes": _tapes(one["folder"])} for one in programs]
    rows = "\n".join(_row(one) for one in known)
    head = f"| program | version | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 2)}\n"
    return HEAD + head + rows + "\n" + TAIL + "\n".join(_section(one) for one in known)


def _tapes(folder: str) -> dict[str, Any]:
    """Its recordings by the name of the scenario."""
    paths = sorted((TESTS / "recorded" / folder).glob("*.json"))
    return {path.stem: json.loads(path.read_text("utf-8")) for path in paths}


def _row(one: dict[str, Any]) -> str:
    versions = [one["results"].get("version"), *(tape["version"] for tape in one["tapes"].values())]
    version = next(filter(None, versions), "")
    cells = " | ".join(_cell(one, name) for name in COLUMNS)
    return f"| [{one['name']}](#{_anchor(one['name'])}) | {version} | {cells} |"


def _cell(one: dict[str, Any], column: str) -> str:
    if column == "stream":
        return _cell(one, "chat") if any(_streams(tape) for tape in one["tapes"].values()) else ""
    tried = one["results"].get("scenarios", {})
    found = [tried[name] for name in COLUMNS[column] if name in tried]
    if column.startswith("titles") and not found and tried and any(_has_task(tape) for tape in one["tapes"].values()):
        found = [tried["chat"]]
    if found:
        return "live" if all(result["outcome"] == result["expected"] for result in found) else "differs"
    tapes = [one["tapes"][name] for name in COLUMNS[column] if name in one["tapes"]]
    if column.startswith("titles"):
        tapes = [tape for tape in one["tapes"].values() if _has_task(tape)]
    if not tapes:
        return ""
    if any("differs" in tape for tape in tapes):
        return "differs"
    return "recorded" if tapes[0]["recorded"] == "live" else "source"


def _streams(tape: dict[str, Any]) -> bool:
    return any(exchange["request"]["body"].get("stream") for exchange in tape["exchanges"] if not exchange.get("task"))


def _has_task(tape: dict[str, Any]) -> bool:
    return any(exchange.get("task") for exchange in tape["exchanges"])


def _section(one: dict[str, Any]) -> str:
    title = f"## {one['name']}\n\n"
    settings = f"```{one.get('language', 'text')}\n{one['settings']}\n```\n"
    differs = [f"{name}: {tape['differs']}" for name, tape in one["tapes"].items() if "differs" in tape]
    differs += [
        f"{name} differs: {result['outcome']['turns']} turns instead of {result['expected']['turns']}"
        for name, result in one["results"].get("scenarios", {}).items()
        if result["outcome"] != result["expected"]
    ]
    link = [f"[{one['name']}]({one['url']})"] if "url" in one else []
    notes = "".join(f"- {note}\n" for note in [*link, *one.get("notes", []), *differs])
    return title + settings + (f"\n{notes}" if notes else "")


def _anchor(name: str) -> str:
    kept = "".join(letter for letter in name.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
