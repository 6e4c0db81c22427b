"""The plot of a simulation: one column per MBTI type; rows for mood, load, gate and drift over time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from soulgraph.soul.emotions import POSITIVE
from soulgraph.soul.gate_words import gate_words
from soulgraph.soul.simulation import Cue, Sample, heard_as, is_hostile, makes_good, spans

Samples = Sequence[Sample]
Curves = Mapping[str, Callable[[Sample], float]]

_MOOD: Curves = {
    "pleasure": lambda sample: sample.state.p,
    "arousal": lambda sample: sample.state.a,
    "dominance": lambda sample: sample.state.d,
}
_LOAD: Curves = {
    "boredom": lambda sample: sample.state.boredom,
    "shock load": lambda sample: sample.state.shock_load,
    "extreme memory": lambda sample: sample.state.extreme_memory,
}
_DRIFT: Curves = {
    "empathy": lambda sample: sample.state.drift.empathy,
    "sensitivity": lambda sample: sample.state.drift.sensitivity,
    "stability": lambda sample: sample.state.drift.stability,
    "expressiveness": lambda sample: sample.state.drift.expressiveness,
    "dominance": lambda sample: sample.state.drift.dominance,
}

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#666666")  # safe for people who confuse red and green
_INK, _BLOCKED, _LOCKED = "#222222", "#ffd8a0", "#f3bdb3"
_KINDS = {"unkind": ("#c0392b", "v"), "kind": ("#0072b2", "^"), "neither": ("#888888", "o")}
_HEIGHTS = (1.0, 1.0, 1.0, 0.8)
_MAX_LINES = 60
_LETTER_WIDTH = 0.019  # of a letter of a label, as a share of the time axis
_MIN_DRIFT_RANGE = 0.01  # of the drift axis, so that a drift too small to matter looks flat
_UNITS = (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0))


def draw(runs: Mapping[str, Samples], path: Path) -> None:
    figure(runs).savefig(path, dpi=120)


def figure(runs: Mapping[str, Samples]) -> Figure:
    """The plot of these runs by MBTI type, each of which has at least one sample."""
    result = Figure(figsize=(2.2 + 4.3 * len(runs), 9.0), layout="constrained")
    grid = result.subplots(len(_HEIGHTS), len(runs), squeeze=False, sharex=True, sharey="row", height_ratios=_HEIGHTS)
    unit, size = _unit(max(samples[-1].at for samples in runs.values()))
    for column, (mbti, samples) in zip(grid.T, runs.items(), strict=True):
        _plot_run(column, samples, size)
        column[0].set_title(mbti, fontweight="bold", pad=34)
        column[-1].set_xlabel(f"time in {unit}")
    _label_rows(list(grid[:, 0]), runs.values())
    _add_legends(list(grid[:, -1]))
    result.align_ylabels()
    return result


def _unit(end: float) -> tuple[str, float]:
    """The largest unit of which there are at least five."""
    return next(((name, size) for name, size in _UNITS if end >= 5 * size), ("seconds", 1.0))


def _plot_run(column: Sequence[Axes], samples: Samples, unit: float) -> None:
    mood, load, gate, drift = column
    cues = [Cue(sample.at / unit, sample.felt) for sample in samples if sample.felt is not None]
    times = [sample.at / unit for sample in samples]
    _plot_cues(mood, cues, times[-1])
    for axes, curves in ((mood, _MOOD), (load, _LOAD), (drift, _DRIFT)):
        for (name, value), colour in zip(curves.items(), _COLOURS, strict=False):
            axes.plot(times, [value(sample) for sample in samples], label=name, color=colour, linewidth=1.6)
    _name_changes(mood, 0.03, times, (sample.mood for sample in samples))
    _plot_gate(gate, times, samples, unit)
    for axes in (mood, load, gate, drift):
        _style(axes, cues)


def _plot_cues(axes: Axes, cues: Sequence[Cue], end: float) -> None:
    """Above the axes, mark every emotion, and label it where the label before leaves room."""
    above = axes.get_xaxis_transform()
    for kind, some in groupby(sorted(cues, key=_kind), key=_kind):
        times = [cue.at for cue in some]
        colour, marker = _KINDS[kind]
        axes.plot(times, [1.05] * len(times), marker, color=colour, markersize=7, clip_on=False, transform=above)
    free = 0.0
    for heard, run in groupby(cues, key=_label):
        first, *more = run
        name = f"{heard} ×{len(more) + 1}" if more else heard
        if first.at >= free:
            axes.text(first.at, 1.11, name, transform=above, fontsize=9, color=_INK)
            free = first.at + _width(name, end)


def _width(name: str, end: float) -> float:
    """Of a label, as time."""
    return _LETTER_WIDTH * len(name) * end


def _name_changes(axes: Axes, height: float, times: Sequence[float], names: Iterable[str]) -> None:
    """Write every name where it begins to hold, if there is room until the next one."""
    runs = groupby(zip(times, names, strict=True), key=lambda pair: pair[1])
    starts = [next(run) for name, run in runs if name]
    for (at, name), (limit, _) in pairwise([*starts, (times[-1], "")]):
        if at + _width(name, times[-1]) <= limit:
            axes.text(at, height, name, transform=axes.get_xaxis_transform(), fontsize=9, color=_INK)


def _label(cue: Cue) -> str:
    """What the words are to the soul, or else the emotion."""
    return heard_as(cue.felt).rpartition(", ")[2]


def _kind(cue: Cue) -> str:
    """Suffering that is not aimed at the soul is neither kind nor unkind to it."""
    if is_hostile(cue.felt):
        return "unkind"
    return "kind" if makes_good(cue.felt) or cue.felt.emotion in POSITIVE else "neither"


def _plot_gate(axes: Axes, times: Sequence[float], samples: Samples, unit: float) -> None:
    blocked = spans(samples, lambda sample: sample.gate.exec_mode == "blocked")
    locked = spans(samples, lambda sample: sample.gate.locked)
    for colour, found in ((_BLOCKED, blocked), (_LOCKED, locked)):
        for start, end in found:
            axes.axvspan(start / unit, end / unit, color=colour, linewidth=0, zorder=0)
    reasons = (gate_words(sample.gate.reason, "en")["why"] if sample.gate.reason else "" for sample in samples)
    _name_changes(axes, 0.90, times, reasons)
    axes.plot(times, [sample.gate.exec_probability for sample in samples], label="P_exec", color=_INK, linewidth=1.8)
    axes.plot(times, [sample.gate.threshold for sample in samples], "--", label="threshold", color=_INK, linewidth=1.2)


def _style(axes: Axes, cues: Sequence[Cue]) -> None:
    """Grid, margins, and a line at every cue unless there are too many."""
    for cue in cues if len(cues) <= _MAX_LINES else ():
        axes.axvline(cue.at, color=_KINDS[_kind(cue)][0], alpha=0.4, linewidth=0.8, zorder=0.5)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.margins(x=0.01)
    axes.spines[["top", "right"]].set_visible(False)


def _label_rows(rows: Sequence[Axes], runs: Iterable[Samples]) -> None:
    mood, load, gate, drift = rows
    largest = max(abs(trait) for samples in runs for sample in samples for trait in sample.state.drift)
    limit = 1.1 * max(largest, _MIN_DRIFT_RANGE)
    for axes, name, low, high in (
        (mood, "mood", -1.35, 1.05),
        (load, "load", -0.03, 1.05),
        (gate, "would it act?", -0.03, 1.18),
        (drift, "drift of traits", -limit, limit),
    ):
        axes.set_ylabel(name)
        axes.set_ylim(low, high)


def _add_legends(rows: Sequence[Axes]) -> None:
    mood, load, gate, drift = rows
    for axes in (mood, load, drift):
        _legend(axes)
    _legend(gate, Patch(color=_BLOCKED, label="blocked"), Patch(color=_LOCKED, label="locked"))


def _legend(axes: Axes, *more: Artist) -> None:
    handles = [*axes.get_legend_handles_labels()[0], *more]
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
