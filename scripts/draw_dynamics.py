"""Draws docs/images/insults.png and docs/images/v2_v3.png. Run it after changing the dynamics or the recogniser.

What persona-pad-v2 made of the same sentences is in scripts/data/dynamics_v2.csv, as its code computed it.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from soulgraph.cli.plots import draw
from soulgraph.cli.script_files import read_script
from soulgraph.soul.personality import traits_of
from soulgraph.soul.simulation import Sample, Script, heard_as, play

ROOT = Path(__file__).resolve().parent.parent
IMAGES, V2 = ROOT / "docs" / "images", ROOT / "scripts" / "data" / "dynamics_v2.csv"

_UNTIL_S = 270.0
_SCRIPTS = {
    "grief": "six sentences of grief, then “turn on the light”",
    "insults": "four insults, then an apology",
}
_V2_COLOUR, _V3_COLOUR, _CUE_COLOUR, _INK = "#b8860b", "#0072b2", "#999999", "#222222"


class Point(NamedTuple):
    """What is drawn of a soul at one moment."""

    time_s: float
    p: float
    exec_probability: float
    threshold: float
    lock_remaining_s: float


def v2_points(name: str) -> list[Point]:
    with V2.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["script"] == name]
    return [Point(*(float(row[field]) for field in Point._fields)) for row in rows]


def v3_points(script: Script) -> list[Point]:
    return [_point(sample) for sample in play(traits_of("INFP"), script, _UNTIL_S, 1.0)]


def _point(sample: Sample) -> Point:
    gate = sample.gate
    return Point(sample.at, sample.state.p, gate.exec_probability, gate.threshold, gate.lock_remaining_s)


def comparison() -> Figure:
    """An INFP of v2 and one of v3 hear the same sentences: a column for each script."""
    result = Figure(figsize=(12.5, 7.6), layout="constrained")
    grid = result.subplots(3, len(_SCRIPTS), sharex=True, sharey="row", height_ratios=(1.0, 1.0, 0.8))
    for column, (name, title) in zip(grid.T, _SCRIPTS.items(), strict=True):
        _plot_script(column, read_script(Path(name)), v2_points(name))
        column[0].set_title(title, fontweight="bold", pad=26)
        column[-1].set_xlabel("time in seconds")
    for axes, label in zip(grid[:, 0], ("pleasure", "would it act?", "lock, seconds left"), strict=True):
        axes.set_ylabel(label)
    for axes, low, high in zip(grid[:, 0], (-1.05, -0.03, -6.0), (0.35, 1.0, 230.0), strict=True):
        axes.set_ylim(low, high)
    _legend(result, grid[1, 0])
    result.align_ylabels()
    return result


def _plot_script(column: Sequence[Axes], script: Script, v2: Sequence[Point]) -> None:
    pleasure, gate, lock = column
    for points, colour, name in (
        (v2, _V2_COLOUR, "an INFP of persona-pad-v2"),
        (v3_points(script), _V3_COLOUR, "an INFP of persona-pad-v3"),
    ):
        times = [point.time_s for point in points]
        pleasure.plot(times, [point.p for point in points], color=colour, linewidth=2.0, label=name)
        gate.plot(times, [point.exec_probability for point in points], color=colour, linewidth=2.0, label=name)
        remaining = [point.lock_remaining_s for point in points]
        lock.plot(times, remaining, color=colour, linewidth=2.0)
        lock.fill_between(times, remaining, color=colour, alpha=0.18, linewidth=0)
    gate.axhline(v2[0].threshold, linestyle="--", color=_INK, linewidth=1.1, label="threshold: below it, no")
    for cue in script:
        for axes in column:
            axes.axvline(cue.at, color=_CUE_COLOUR, alpha=0.5, linewidth=0.8, zorder=0.5)
    _name_cue(pleasure, script, 0)
    _name_cue(pleasure, script, -1)
    for axes in column:
        _style(axes)


def _name_cue(axes: Axes, script: Script, index: int) -> None:
    """Above the axes, say how the first or the last sentence was heard."""
    cue = script[index]
    axes.text(cue.at, 1.03, heard_as(cue.felt), transform=axes.get_xaxis_transform(), fontsize=9, color=_INK, ha="left")


def _style(axes: Axes) -> None:
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.margins(x=0.01)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)


def main() -> None:
    insults = read_script(Path("insults"))
    draw({mbti: play(traits_of(mbti), insults, 240.0, 0.4) for mbti in ("INFP", "ESTJ")}, IMAGES / "insults.png")
    comparison().savefig(IMAGES / "v2_v3.png", dpi=120)


if __name__ == "__main__":
    main()
