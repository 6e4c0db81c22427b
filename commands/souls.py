"""`soulgraph soul`: make souls and look at them."""

from typing import Annotated

import typer
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from soulgraph.commands.client import reach
from soulgraph.commands.conversation import console, feeling
from soulgraph.commands.tables import print_table
from soulgraph.settings import Settings

_BAR = 20

soul_app = typer.Typer(no_args_is_help=True, help="Make souls and look at them.")

ServerUrl = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", help="The server; else that of the settings, or one for this call alone."),
]


@soul_app.command("create")
def create_soul(
    name: str,
    mbti: Annotated[str, typer.Option(help="Its type, like INFJ.")],
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
def show_soul(name: Annotated[str, typer.Argument(help="A soul's name or id.")], server: ServerUrl = None) -> None:
    """Who a soul is and how it feels now."""
    with reach(Settings.load(), server) as client:
        soul = client.soul(name)
        emotion = client.emotion(soul["soul_id"])
    traits = Table.grid(padding=(0, 2))
    for trait, value in soul["personality_vector"].items():
        full = round(value * _BAR)
        traits.add_row(trait, Text("█" * full + "░" * (_BAR - full), style="cyan"), f"{value:.2f}")
    facts = f"{soul['mbti_type']}, soul of {soul['user_id']}, {soul['turns']} turns, made {soul['created_at']}\n"
    body = Table.grid()
    for part in (facts, traits, "", feeling(emotion)):
        body.add_row(part)
    console.print(Panel(body, title=Text(soul["name"]), subtitle=soul["soul_id"], expand=False))
