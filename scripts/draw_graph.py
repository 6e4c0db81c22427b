"""Draws the graphs as Mermaid into docs/graph.md and the README. Run it after changing a graph."""

import re
from pathlib import Path

from soulgraph.graph.afterglow import afterglow_graph
from soulgraph.graph.proactive import proactive_graph
from soulgraph.graph.tool_loop import tool_loop_graph
from soulgraph.graph.turn import turn_graph

ROOT = Path(__file__).resolve().parent.parent
README, GRAPH_PAGE = ROOT / "README.md", ROOT / "docs" / "graph.md"

_BLOCK = re.compile(r"(?<=<!-- graph -->\n).*?(?=<!-- /graph -->)", re.DOTALL)
_PAGE = """\
# The graphs

Written by `scripts/draw_graph.py` from the files in `graph/`. A dotted arrow is a choice.

## The turn

{turn}
## The tool loop

{tool_loop}
## After the turn

{afterglow}
## Proactive speech

{proactive}"""


def pages() -> dict[Path, str]:
    """Every file with a drawing, with its up-to-date text."""
    turn, tool_loop, afterglow, proactive = (
        _fenced(graph.compile().get_graph().draw_mermaid(with_styles=False))
        for graph in (turn_graph(), tool_loop_graph(), afterglow_graph(), proactive_graph())
    )
    return {
        README: _BLOCK.sub(lambda _: turn, README.read_text("utf-8")),
        GRAPH_PAGE: _PAGE.format(turn=turn, tool_loop=tool_loop, afterglow=afterglow, proactive=proactive),
    }


def _fenced(mermaid: str) -> str:
    return f"```mermaid\n{mermaid.strip()}\n```\n"


def main() -> None:
    for path, text in pages().items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
