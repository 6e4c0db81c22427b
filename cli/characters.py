"""`soulgraph character`: character cards in and out of the library."""

from pathlib import Path
from typing import Annotated

import typer

from soulgraph.cli.client import reach
from soulgraph.cli.conversation import console
from soulgraph.cli.souls import ServerUrl
from soulgraph.errors import InvalidInput
from soulgraph.settings import Settings

character_app = typer.Typer(no_args_is_help=True, help="Character cards in and out of the library.")


@character_app.command("import")
def import_card(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A card: JSON, YAML, a picture or charx.")],
    server: ServerUrl = None,
) -> None:
    """Make a character from a card."""
    with reach(Settings.load(), server) as client:
        character = client.import_card(file.read_bytes())
    console.print(f"{character['name']} is in the library: {character['id']}", soft_wrap=True, markup=False)
    for note in character["notes"]:
        console.print(note, style="dim", soft_wrap=True, markup=False)


@character_app.command("export")
def export_card(
    character: Annotated[str, typer.Argument(metavar="ID", help="A character of the library.")],
    file: Annotated[Path, typer.Argument(dir_okay=False, help="Where to write the card: a .json or .png file.")],
    v2: Annotated[bool, typer.Option("--v2", help="V2 alone, for programs that cannot read V3.")] = False,
    server: ServerUrl = None,
) -> None:
    """Write a character as a card."""
    kind = "png" if file.suffix.lower() == ".png" else "json"
    with reach(Settings.load(), server) as client:
        card = client.export_card(character, kind, "v2" if v2 else "v3")
    try:
        file.write_bytes(card)
    except OSError as error:
        raise InvalidInput(f"{file}: cannot be written to: {error.strerror}") from error
    console.print(f"{file} is written.", soft_wrap=True, markup=False)
