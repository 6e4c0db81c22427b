"""`soulgraph simulate`: plays a script of emotions to souls of some MBTI types and writes a plot and a table."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
import yaml
from rich.progress import track

from soulgraph.cli.conversation import console, errors
from soulgraph.cli.tables import print_table
from soulgraph.errors import InvalidInput
from soulgraph.library.shipped import SCRIPTS
from soulgraph.soul.constants import DEFAULT, Constants
from soulgraph.soul.personality import Traits, traits_of
from soulgraph.soul.simulation import (
    Sample,
    Script,
    TimelinePoint,
    live,
    said,
    script_of,
    seconds,
    span_name,
    spans,
    timeline,
)

INSULTS = SCRIPTS / "insults.yaml"
COLUMNS = (
    *("type", "time_s", "emotion", "p", "a", "d", "boredom", "shock_load", "extreme_memory"),
    *("exec_probability", "threshold", "exec_mode", "locked", "lock_remaining_s"),
    *("drift_empathy", "drift_sensitivity", "drift_stability", "drift_expressiveness", "drift_dominance"),
)

_AFTERMATH_S = 180.0
_DEFAULT_STEPS = 600
_PROGRESS_FROM = 5_000  # samples below which it is over before a progress bar could be read
_SHOWN_SPANS = 3

Runs = Mapping[str, Sequence[Sample]]
"""The samples of each MBTI type."""


def simulate(
    script: Annotated[
        Path | None, typer.Argument(help="A YAML or CSV file; else --say, else four insults and an apology.")
    ] = None,
    say: Annotated[
        str | None, typer.Option(metavar="LINE", help='The script in one line, like "anger*4@8s, gratitude@60s".')
    ] = None,
    types: Annotated[str, typer.Option(metavar="LIST", help="MBTI types to compare.")] = "INFP,ESTJ",
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="When to stop; else 3 minutes after the last emotion.")
    ] = None,
    step: Annotated[str | None, typer.Option(metavar="TIME", help="How often to look; else 600 times in all.")] = None,
    out: Annotated[Path, typer.Option(metavar="BASENAME", help="Where BASENAME.png and .csv go.")] = Path("simulation"),
    force: Annotated[bool, typer.Option("--force", help="Replace the two files if they exist.")] = False,
    constants: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A YAML file of constants of the dynamics to replace.")
    ] = None,
) -> None:
    """Play emotions to some MBTI types: a picture and a table of what it does to them."""
    targets = _targets(out, force, script)
    cues = _load_script(script, say)
    values = DEFAULT if constants is None else read_constants(constants)
    end = cues[-1].at + _AFTERMATH_S if until is None else seconds(until, "until")
    moments = timeline(cues, end, end / _DEFAULT_STEPS if step is None else seconds(step, "step"))
    runs = _play({mbti: traits_of(mbti, values) for mbti in _parse_types(types)}, moments, values)
    _write(runs, targets)
    print_table(("type", "would not act", "locked"), [(mbti, *_summary(samples)) for mbti, samples in runs.items()])
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


def _summary(samples: Sequence[Sample]) -> tuple[str, str]:
    """(when the gate was blocked, when it was locked)."""
    blocked = spans(samples, lambda sample: sample.gate.exec_mode == "blocked")
    locked = spans(samples, lambda sample: sample.gate.locked)
    return _format_spans(blocked), _format_spans(locked)


def _format_spans(found: Sequence[tuple[float, float]]) -> str:
    """Like "16s to 19s, 24s to 1m52s"; "never" if there are none."""
    shown = [f"{span_name(start)} to {span_name(end)}" for start, end in found[:_SHOWN_SPANS]]
    more = len(found) - len(shown)
    return ", ".join([*shown, *([f"{more} more times"] if more else [])]) or "never"


def _load_script(path: Path | None, say: str | None) -> Script:
    """The script of the file or of the line; the one that ships if neither is given."""
    if say is None:
        return read_script(path or INSULTS)
    if path is not None:
        raise InvalidInput(f"--say and {path} are two scripts: give one")
    return said(say)


def read_script(path: Path) -> Script:
    """Read CSV if the file's name ends with .csv, else YAML. InvalidInput names the line and field of a bad entry."""
    entries = _csv_entries(path) if path.suffix.lower() == ".csv" else _yaml_entries(path)
    return script_of((f"{path}, line {line}", entry) for line, entry in entries)


def read_constants(path: Path) -> Constants:
    """The default constants with those of the file replaced. An unknown name or a bad value is an error."""
    with _translate_errors(path):
        values = yaml.safe_load(_text(path)) or {}
    if not isinstance(values, Mapping):
        raise InvalidInput(f"{path}: expected names and values, like `tau_up: 300`")
    return DEFAULT.override(values)


def _yaml_entries(path: Path) -> list[tuple[int, Any]]:
    """(line, entry) of every item of a YAML list."""
    with _translate_errors(path):
        loader = yaml.BaseLoader(_text(path))  # leaves every value a string, as in CSV
        node = loader.get_single_node()
        if not isinstance(node, yaml.SequenceNode):
            raise InvalidInput(f"{path}: expected a list of entries like `- {{at: 8, emotion: anger}}`")
        return [(item.start_mark.line + 1, loader.construct_document(item)) for item in node.value]


def _csv_entries(path: Path) -> list[tuple[int, Any]]:
    """(line, entry) of every row of a table whose first row names the fields."""
    with _translate_errors(path):
        reader = csv.DictReader(io.StringIO(_text(path), newline=""), restkey="beyond the last column")
        return [(reader.line_num, row) for row in reader]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from error


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Raise errors of the parsers as InvalidInput with the file and, if known, the line."""
    try:
        yield
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InvalidInput(f"{path}{line}: {error.problem}") from error
    except (yaml.YAMLError, csv.Error, ValueError) as error:
        raise InvalidInput(f"{path}: {error}") from error


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
    at, felt, state, gate = sample
    values = *state.x, state.boredom, state.shock_load, state.extreme_memory
    return [
        *(mbti, f"{at:.3f}", felt.emotion if felt else "", *map(_format_number, values)),
        *(_format_number(gate.exec_probability), _format_number(gate.threshold), gate.exec_mode),
        *(str(int(gate.locked)), _format_number(gate.lock_remaining_s), *map(_format_number, state.drift)),
    ]


def _format_number(value: float) -> str:
    return f"{value:.6g}"
