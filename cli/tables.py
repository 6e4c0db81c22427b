"""Tables as the `soulgraph` command prints them."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table

from soulgraph.cli.conversation import console


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)
