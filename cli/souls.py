"""`soulgraph soul`: make souls, look at them, and move them."""

from pathlib import Path
from typing import Annotated

import typer
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from soulgraph.cli.client import Json, reach
from soulgraph.cli.conversation import console, emotion_table
from soulgraph.cli.tables import print_table
from soulgraph.cli.transfers import download, opened, uploading
from soulgraph.settings import Settings

_BAR_WIDTH = 20

soul_app = typer.Typer(no_args_is_help=True, help="Make souls, look at them, and move them.")

ServerUrl = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", help="The server; else that of the settings, or one for this call alone."),
]
SoulName = Annotated[str, typer.Argument(help="A soul's name or id.")]


@soul_app.command("create")
def create_soul(
    name: str,
    mbti: Annotated[
        str | None, typer.Option(help="Its type, like INFJ; without it that which the character's text suggests.")
    ] = None,
    character: Annotated[
        str | None, typer.Option(metavar="ID", help="A character of the library to grow from.")
    ] = None,
    user: Annotated[str | None, typer.Option(metavar="ID", help="Whose soul it is.")] = None,
    server: ServerUrl = None,
) -> None:
    """Make a soul."""
    with reach(Settings.load(), server) as client:
        soul = client.create_soul(name, mbti, character_id=character, user_id=user)
        console.print(f"{soul['name']} ({soul['mbti_type']}) is there: {soul['soul_id']}", soft_wrap=True)


@soul_app.command("list")
def list_souls(server: ServerUrl = None) -> None:
    """All souls."""
    with reach(Settings.load(), server) as client:
        souls = client.souls()
    rows = [(s["name"], s["mbti_type"], s["user_id"], str(s["turns"]), s["soul_id"]) for s in souls]
    print_table(("name", "type", "user", "turns", "id"), rows)


@soul_app.command("show")
def show_soul(name: SoulName, server: ServerUrl = None) -> None:
    """Who a soul is and how it feels now."""
    with reach(Settings.load(), server) as client:
        soul = client.soul(name)
        emotion = client.emotion(soul["soul_id"])
    traits = Table.grid(padding=(0, 2))
    for trait, value in soul["personality_vector"].items():
        full = round(value * _BAR_WIDTH)
        traits.add_row(trait, Text("█" * full + "░" * (_BAR_WIDTH - full), style="cyan"), f"{value:.2f}")
    facts = f"{soul['mbti_type']}, soul of {soul['user_id']}, {soul['turns']} turns, made {soul['created_at']}\n"
    body = Table.grid()
    for part in (facts, traits, "", emotion_table(emotion)):
        body.add_row(part)
    console.print(Panel(body, title=Text(soul["name"]), subtitle=soul["soul_id"], expand=False))


@soul_app.command("usage")
def show_usage(
    name: SoulName,
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days back, today included.")] = 30,
    server: ServerUrl = None,
) -> None:
    """What a soul's model calls have cost, and how its budget stands."""
    with reach(Settings.load(), server) as client:
        usage = client.usage(client.soul(name)["soul_id"], days)
    rows = [_usage_row(row["day"], row["kind"], row) for row in usage["days"]]
    rows += [_usage_row("total", kind, total) for kind, total in usage["totals"].items()]
    print_table(("day", "kind", "calls", "input tokens", "output tokens"), rows)
    console.print(_budget_line(usage["budget"]), soft_wrap=True)


@soul_app.command("save-as-character")
def save_as_character(
    name: SoulName,
    character: Annotated[str | None, typer.Option("--id", metavar="ID", help="The new character's id.")] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Whose evolved persona to save too; else none.")
    ] = None,
    server: ServerUrl = None,
) -> None:
    """Save a grown soul as a character of the library, without anything that belongs to people."""
    with reach(Settings.load(), server) as client:
        saved = client.save_as_character(client.soul(name)["soul_id"], character, session)
    console.print(f"{saved['name']} is in the library: {saved['id']}", soft_wrap=True, markup=False)


@soul_app.command("export")
def export_soul(
    name: SoulName,
    file: Annotated[
        Path | None, typer.Argument(dir_okay=False, help="Where to write it; else NAME.jsonl here.")
    ] = None,
    server: ServerUrl = None,
) -> None:
    """Write everything that a soul is to one file, with which it can move to any server."""
    with reach(Settings.load(), server) as client:
        soul = client.soul(name)
        file = file or Path(f"{soul['name'].replace('/', '_')}.jsonl")
        size = download(client, "GET", f"/v1/souls/{soul['soul_id']}/export", file, "the soul is read")
    console.print(f"{soul['name']} is in {file} ({size:,} bytes).", soft_wrap=True, markup=False)


@soul_app.command("import")
def import_soul(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A file that the export wrote.")],
    name: Annotated[str | None, typer.Option(help="What it is called here; else as in the file.")] = None,
    server: ServerUrl = None,
) -> None:
    """Make a soul from such a file: all of it, or nothing."""
    with (
        reach(Settings.load(), server) as client,
        opened(file) as content,
        uploading(client, "/v1/souls/import", {"name": name}, content, file.name) as sent,
    ):
        sent.response.read()
        soul = sent.response.json()
    console.print(f"{soul['name']} is there: {soul['soul_id']}", soft_wrap=True, markup=False)


def _usage_row(day: str, kind: str, usage: Json) -> tuple[str, ...]:
    return day, kind, *(f"{usage[name]:,}" for name in ("calls", "input_tokens", "output_tokens"))


def _budget_line(budget: Json) -> str:
    spent, limit = budget["spent_today"], budget["daily_tokens"]
    if not limit:
        return f"{spent:,} tokens today, without a limit."
    state = "goes on" if budget["background"] == "open" else f"is stopped until {budget['resets_at']}"
    return f"{spent:,} of {limit:,} tokens today; background work {state}."
