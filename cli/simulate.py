"""`soulgraph simulate`: a script of emotions, what it does to some types of soul, and the files that show it."""

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
    Moment,
    Sample,
    Script,
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
_LOOKS = 600
_LONG = 5_000  # moments from which on a progress bar is worth its flicker
_SHOWN_SPANS = 3

Plays = Mapping[str, Sequence[Sample]]


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
    told, numbers = _script(script, say), DEFAULT if constants is None else read_constants(constants)
    end = told[-1].at + _AFTERMATH_S if until is None else seconds(until, "until")
    moments = timeline(told, end, end / _LOOKS if step is None else seconds(step, "step"))
    plays = _play({mbti: traits_of(mbti, numbers) for mbti in _listed(types)}, moments, numbers)
    _write(plays, targets)
    print_table(("type", "would not act", "locked"), [(mbti, *_story(played)) for mbti, played in plays.items()])
    console.print(f"Drawn in {targets[0]}, listed in {targets[1]}.", soft_wrap=True)


def _listed(types: str) -> list[str]:
    return list(dict.fromkeys(mbti.strip().upper() for mbti in types.split(",")))


def _play(souls: Mapping[str, Traits], moments: Sequence[Moment], constants: Constants) -> Plays:
    plays: dict[str, list[Sample]] = {mbti: [] for mbti in souls}
    total = len(moments) * len(souls)
    quiet = total < _LONG or not errors.is_terminal
    samples = ((mbti, sample) for mbti, traits in souls.items() for sample in live(traits, moments, constants))
    for mbti, sample in track(samples, "playing", total, console=errors, transient=True, disable=quiet):
        plays[mbti].append(sample)
    return plays


def _story(played: Sequence[Sample]) -> tuple[str, str]:
    blocked = spans(played, lambda sample: sample.gate.exec_mode == "blocked")
    return _told(blocked), _told(spans(played, lambda sample: sample.gate.locked))


def _told(found: Sequence[tuple[float, float]]) -> str:
    shown = [f"{span_name(start)} to {span_name(end)}" for start, end in found[:_SHOWN_SPANS]]
    more = len(found) - len(shown)
    return ", ".join([*shown, *([f"{more} more times"] if more else [])]) or "never"


def _script(path: Path | None, say: str | None) -> Script:
    if say is None:
        return read_script(path or INSULTS)
    if path is not None:
        raise InvalidInput(f"--say and {path} are two scripts: give one")
    return said(say)


def read_script(path: Path) -> Script:
    """A table if the file's name ends with .csv, else YAML; a bad entry is refused with its line and field."""
    entries = _rows(path) if path.suffix.lower() == ".csv" else _items(path)
    return script_of((f"{path}, line {line}", entry) for line, entry in entries)


def read_constants(path: Path) -> Constants:
    """The constants with those of the file replaced; a bad name or value is refused by name."""
    with _legible(path):
        values = yaml.safe_load(_text(path)) or {}
    if not isinstance(values, Mapping):
        raise InvalidInput(f"{path}: expected names and values, like `tau_up: 300`")
    return DEFAULT.override(values)


def _items(path: Path) -> list[tuple[int, Any]]:
    """(line, entry) of every item of a YAML list."""
    with _legible(path):
        loader = yaml.BaseLoader(_text(path))  # leaves every value as it is written
        node = loader.get_single_node()
        if not isinstance(node, yaml.SequenceNode):
            raise InvalidInput(f"{path}: expected a list of entries like `- {{at: 8, emotion: anger}}`")
        return [(item.start_mark.line + 1, loader.construct_document(item)) for item in node.value]


def _rows(path: Path) -> list[tuple[int, Any]]:
    """(line, entry) of every row of a table whose first row names the fields."""
    with _legible(path):
        reader = csv.DictReader(io.StringIO(_text(path), newline=""), restkey="beyond the last column")
        return [(reader.line_num, row) for row in reader]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from error


@contextmanager
def _legible(path: Path) -> Iterator[None]:
    try:
        yield
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InvalidInput(f"{path}{line}: {error.problem}") from error
    except (yaml.YAMLError, csv.Error, ValueError) as error:
        raise InvalidInput(f"{path}: {error}") from error


def _targets(out: Path, force: bool, script: Path | None) -> tuple[Path, Path]:
    """The picture and the table, refused before any work if something is in their way."""
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


def _write(plays: Plays, targets: tuple[Path, Path]) -> None:
    """Drafted beside their places and then moved there, so that neither file is ever half written."""
    from soulgraph.cli.plots import draw  # takes a second to import

    folder = targets[0].parent
    try:
        with TemporaryDirectory(dir=folder, prefix=".simulate-") as desk:
            picture, table = (Path(desk) / target.name for target in targets)
            draw(plays, picture)
            table.write_text(_table(plays), "utf-8", newline="")
            picture.replace(targets[0])
            table.replace(targets[1])
    except OSError as error:
        raise InvalidInput(f"{folder}: cannot be written to: {error.strerror}") from error


def _table(plays: Plays) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows(_row(mbti, sample) for mbti, played in plays.items() for sample in played)
    return text.getvalue()


def _row(mbti: str, sample: Sample) -> list[str]:
    at, felt, state, gate = sample
    feels = *state.x, state.boredom, state.shock_load, state.extreme_memory
    return [
        *(mbti, f"{at:.3f}", felt.emotion if felt else "", *map(_short, feels)),
        *(_short(gate.exec_probability), _short(gate.threshold), gate.exec_mode),
        *(str(int(gate.locked)), _short(gate.lock_remaining_s), *map(_short, state.drift)),
    ]


def _short(value: float) -> str:
    return f"{value:.6g}"
