"""`soulgraph simulate`: plays a script to souls of some MBTI types and writes a plot and a table."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.progress import track

from soulgraph.cli.conversation import console, errors
from soulgraph.cli.script_files import load_script, read_constants
from soulgraph.cli.tables import print_table
from soulgraph.errors import InvalidInput
from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.gate_words import gate_words
from soulgraph.soul.personality import Traits, traits_of
from soulgraph.soul.simulation import (
    AFTERMATH_S,
    DEFAULT_STEPS,
    Sample,
    Script,
    TimelinePoint,
    heard_as,
    live,
    seconds,
    span_name,
    spans,
    timeline,
)

COLUMNS = (
    *("type", "time_s", "emotion", "hostility", "repair"),
    *("p", "a", "d", "mood", "boredom", "shock_load", "extreme_memory"),
    *("exec_probability", "threshold", "exec_mode", "reason", "locked", "lock_remaining_s"),
    *("drift_empathy", "drift_sensitivity", "drift_stability", "drift_expressiveness", "drift_dominance"),
)

_PROGRESS_FROM = 5_000  # samples below which it is over before a progress bar could be read
_SHOWN_SPANS = 3

Runs = Mapping[str, Sequence[Sample]]
"""The samples of each MBTI type."""


def simulate(
    script: Annotated[
        Path | None,
        typer.Argument(help="A YAML or CSV file, or insults, grief, joy, each also as insults_zh …; else insults."),
    ] = None,
    say: Annotated[
        str | None, typer.Option(metavar="LINE", help="The script in one line, like 'insult*4@8s, \"Sorry!\"@60s'.")
    ] = None,
    types: Annotated[str, typer.Option(metavar="LIST", help="MBTI types to compare.")] = "INFP,ESTJ",
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="When to stop; else 3 minutes after the last words.")
    ] = None,
    step: Annotated[str | None, typer.Option(metavar="TIME", help="How often to look; else 600 times in all.")] = None,
    out: Annotated[Path, typer.Option(metavar="BASENAME", help="Where BASENAME.png and .csv go.")] = Path("simulation"),
    force: Annotated[bool, typer.Option("--force", help="Replace the two files if they exist.")] = False,
    constants: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A YAML file of constants of the dynamics to replace.")
    ] = None,
) -> None:
    """Play sentences or emotions to some MBTI types: a picture and a table of what they do to them."""
    targets = _targets(out, force, script)
    values = DEFAULT if constants is None else read_constants(constants)
    souls = {mbti: traits_of(mbti, values) for mbti in _parse_types(types)}
    cues = load_script(script, say)
    end = cues[-1].at + AFTERMATH_S if until is None else seconds(until, "until")
    moments = timeline(cues, end, end / DEFAULT_STEPS if step is None else seconds(step, "step"))
    runs = _play(souls, moments, values)
    _write(runs, targets)
    _print_heard(cues)
    summaries = [(mbti, *_summary(samples)) for mbti, samples in runs.items()]
    print_table(("type", "would not act", "locked", "why"), summaries)
    console.print(f"Drawn in {targets[0]}, listed in {targets[1]}.", soft_wrap=True)


def _parse_types(types: str) -> list[str]:
    return list(dict.fromkeys(mbti.strip().upper() for mbti in types.split(",")))


def _play(souls: Mapping[str, Traits], moments: Sequence[TimelinePoint], constants: Constants) -> Runs:
    """Simulate every soul, with a progress bar if that takes long and somebody watches."""
    runs: dict[str, list[Sample]] = {mbti: [] for mbti in souls}
    total = len(moments) * len(souls)
    quiet = total < _PROGRESS_FROM or not errors.is_terminal
    samples = ((mbti, sample) for mbti, traits in souls.items() for sample in live(traits, moments, constants))
    for mbti, sample in track(samples, "playing", total, console=errors, transient=True, disable=quiet):
        runs[mbti].append(sample)
    return runs


def _print_heard(cues: Script) -> None:
    """Print what the recogniser made of the sentences, if there are any."""
    heard = [(span_name(cue.at), cue.words, heard_as(cue.felt)) for cue in cues if cue.words is not None]
    if heard:
        print_table(("at", "said", "heard as"), heard)


def _summary(samples: Sequence[Sample]) -> tuple[str, str, str]:
    """(when the gate was blocked, when it was locked, why)."""
    blocked = spans(samples, lambda sample: sample.gate.exec_mode == "blocked")
    reasons = dict.fromkeys(gate_words(sample.gate.reason, "en")["why"] for sample in samples if sample.gate.reason)
    locked = spans(samples, lambda sample: sample.gate.locked)
    return _format_spans(blocked), _format_spans(locked), ", ".join(reasons)


def _format_spans(found: Sequence[tuple[float, float]]) -> str:
    """Like "16s to 19s, 24s to 1m52s"; "never" if there are none."""
    shown = [f"{span_name(start)} to {span_name(end)}" for start, end in found[:_SHOWN_SPANS]]
    more = len(found) - len(shown)
    return ", ".join([*shown, *([f"{more} more times"] if more else [])]) or "never"


def _targets(out: Path, force: bool, script: Path | None) -> tuple[Path, Path]:
    """The paths of the plot and the table; InvalidInput if they cannot be written, before any work is done."""
    base = out / "simulation" if out.is_dir() else out.with_suffix("") if out.suffix in (".png", ".csv") else out
    targets = Path(f"{base}.png"), Path(f"{base}.csv")
    if not base.parent.is_dir():
        raise InvalidInput(f"{base.parent} is no folder: make it, or name another --out")
    for target in filter(Path.exists, targets):
        if not force:
            raise InvalidInput(f"{target} exists: name another --out, or replace it with --force")
        if script and script.exists() and target.samefile(script):
            raise InvalidInput(f"{target} is the script itself: name another --out")
    return targets


def _write(runs: Runs, targets: tuple[Path, Path]) -> None:
    """Write the plot and the table into a temporary folder and move them, so that neither is ever half written."""
    from soulgraph.cli.plots import draw  # takes a second to import

    folder = targets[0].parent
    try:
        with TemporaryDirectory(dir=folder, prefix=".simulate-") as temporary:
            picture, table = (Path(temporary) / target.name for target in targets)
            draw(runs, picture)
            table.write_text(_csv(runs), "utf-8", newline="")
            picture.replace(targets[0])
            table.replace(targets[1])
    except OSError as error:
        raise InvalidInput(f"{folder}: cannot be written to: {error.strerror}") from error


def _csv(runs: Runs) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows(_row(mbti, sample) for mbti, samples in runs.items() for sample in samples)
    return text.getvalue()


def _row(mbti: str, sample: Sample) -> list[str]:
    at, felt, state, gate, mood = sample
    heard = ["", "", ""]
    if felt:
        heard = [felt.emotion, _format_number(felt.appraised.hostility), _format_number(felt.appraised.repair)]
    loads = state.boredom, state.shock_load, state.extreme_memory
    return [
        *(mbti, f"{at:.3f}", *heard, *map(_format_number, state.x), mood, *map(_format_number, loads)),
        *(_format_number(gate.exec_probability), _format_number(gate.threshold), gate.exec_mode, gate.reason or ""),
        *(str(int(gate.locked)), _format_number(gate.lock_remaining_s), *map(_format_number, state.drift)),
    ]


def _format_number(value: float) -> str:
    return f"{value:.6g}"
