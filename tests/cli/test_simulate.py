"""`soulgraph simulate` as people use it, and the page that explains it."""

import csv
import os
import re
from pathlib import Path

import pytest
from matplotlib.image import imread
from typer.testing import CliRunner, Result

from soulgraph.cli.main import app
from soulgraph.cli.plots import figure
from soulgraph.cli.script_files import hear, read_constants, read_script
from soulgraph.cli.simulate import COLUMNS
from soulgraph.errors import InvalidInput
from soulgraph.soul.constants import DEFAULT
from soulgraph.soul.personality import Traits, traits_of
from soulgraph.soul.simulation import play, said

PAGE = Path(__file__).parents[2] / "docs" / "simulating.md"


def simulate(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["simulate", *arguments])


def refused(result: Result, about: str, code: int = 1) -> bool:
    """Whether the command ended with one line about this, and left no file behind."""
    lines = result.stderr.splitlines()
    return result.exit_code == code and len(lines) == 1 and about in lines[0] and not list(Path().glob(".simulate-*"))


def table(path: str = "simulation.csv") -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def plays(line, until, *types):
    return {mbti: play(traits_of(mbti), said(line, hear), until, until / 100) for mbti in types}


def test_without_arguments_four_insults_and_an_apology_are_played_to_an_infp_and_an_estj():
    result = simulate()
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.search(r"1m +I am so sorry\.", result.stdout)
    assert re.search(r"INFP +16s to \w+ +24s to \w+ +", result.stdout)
    assert sorted(os.listdir()) == ["simulation.csv", "simulation.png"]
    rows = table()
    heard = [cue.felt.emotion for cue in read_script(Path("insults"))]
    assert [row["emotion"] for row in rows if row["emotion"]] == heard * 2
    assert {row["type"] for row in rows} == {"INFP", "ESTJ"}
    height, width, _ = imread("simulation.png").shape
    assert height > 900 and width > 1000


def test_the_table_holds_what_was_played():
    simulate("--say", "anger*4@8s", "--types", "intj", "--until", "1m", "--step", "10s", "--out", "run")
    rows = table("run.csv")
    samples = play(traits_of("INTJ"), said("anger*4@8s", hear), 60.0, 10.0)
    assert len(rows) == len(samples)
    assert tuple(rows[0]) == COLUMNS
    for row, (at, felt, state, gate, mood) in zip(rows, samples, strict=True):
        shown = {"time_s": at, "exec_probability": gate.exec_probability, "threshold": gate.threshold}
        shown |= {"lock_remaining_s": gate.lock_remaining_s, "locked": float(gate.locked)}
        shown |= {name: getattr(state, name) for name in ("p", "a", "d", "boredom", "shock_load", "extreme_memory")}
        shown |= {f"drift_{name}": value for name, value in state.drift.to_dict().items()}
        assert {name: float(row[name]) for name in shown} == pytest.approx(shown, rel=1e-5)
        assert (row["exec_mode"], row["reason"], row["mood"]) == (gate.exec_mode, gate.reason or "", mood)
        assert (row["emotion"], row["hostility"], row["repair"]) == (("anger", "0.5", "0") if felt else ("", "", ""))


def test_a_long_run_through_a_pipe_shows_no_progress_and_plays_every_moment():
    result = simulate("--say", "anger*4@8s", "--types", "INFP", "--until", "5h", "--step", "3s")
    assert (result.exit_code, result.stderr) == (0, "")
    assert len(table()) == 6001 + 3 + 4  # the third anger, at 24 s, falls on a look


def test_existing_files_are_replaced_only_when_told_so():
    Path("run.csv").write_text("precious")
    assert refused(simulate("--out", "run"), "run.csv exists")
    assert Path("run.csv").read_text() == "precious"
    assert not Path("run.png").exists()
    assert simulate("--types", "INFP", "--out", "run", "--force").exit_code == 0
    assert len(table("run.csv")) > 100


def test_the_script_is_never_replaced():
    Path("run.csv").write_text("at,emotion\n8,anger\n")
    assert refused(simulate("run.csv", "--out", "run", "--force"), "run.csv is the script itself")


@pytest.mark.parametrize("out", ["run", "run.png", "run.csv"])
def test_out_names_both_files(out):
    simulate("--say", "joy@1", "--types", "INFP", "--out", out)
    assert sorted(os.listdir()) == ["run.csv", "run.png"]


def test_a_folder_receives_the_usual_names():
    Path("plots").mkdir()
    simulate("--say", "joy@1", "--types", "INFP", "--out", "plots")
    assert sorted(os.listdir("plots")) == ["simulation.csv", "simulation.png"]


def test_a_place_that_cannot_be_written_to_is_refused():
    assert refused(simulate("--out", "nowhere/run"), "nowhere is no folder")
    Path("run.png").mkdir()
    assert refused(simulate("--out", "run", "--force"), "cannot be written to")
    assert os.listdir() == ["run.png"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.yaml", "- {at: 1m, emotion: gratitude, confidence: 0.5}\n- at: 8\n  emotion: anger\n  p: -0.9\n"),
        ("s.CSV", "\ufeffat,emotion,p,confidence\r\n1m,gratitude,,0.5\r\n\r\n8,anger,-0.9,\r\n"),
        (
            "s.json",
            '[{"at": "1m", "emotion": "gratitude", "confidence": 0.5}, {"at": 8, "emotion": "anger", "p": -0.9}]',
        ),
    ],
)
def test_a_script_is_a_list_or_a_table(name, text):
    Path(name).write_text(text, "utf-8")
    anger, gratitude = read_script(Path(name))
    assert (anger.at, anger.felt.emotion, anger.felt.p, anger.felt.confidence) == (8.0, "anger", -0.9, None)
    assert (gratitude.at, gratitude.felt.emotion, gratitude.felt.confidence) == (60.0, "gratitude", 0.5)


@pytest.mark.parametrize(
    ("name", "text", "about"),
    [
        ("s.yaml", b"- {at: 8, emotion: anger}\n# why not\n- {at: soon, emotion: joy}\n", "line 3: at must be a time"),
        ("s.yaml", b"- {at: 8, emotion: anger}\n- {at: 9, emotion: rage}\n", "line 2: emotion must be one of"),
        ("s.yaml", b"- {at: 8, emotion: anger\n", "line 2: expected ',' or '}'"),
        ("s.yaml", b"at: 8\n", "expected a list"),
        ("s.yaml", b"", "expected a list"),
        ("s.yaml", b"- \xff\n", "'utf-8' codec"),
        ("s.csv", b"at,emotion\n8,anger\n9,\n", "line 3: the field 'say' or 'emotion' is missing"),
        ("s.csv", b"at,emotion\n8,anger,0.9\n", "line 2: there is no field 'beyond the last column'"),
        ("s.csv", b"at,mood\n8,anger\n", "line 2: there is no field 'mood'"),
        ("s.csv", b"at,say,p\n8,Hello,1\n", "line 2: the recogniser hears what 'say' feels like: leave out 'p'"),
        ("s.csv", b"at,emotion\n", "the script is empty"),
    ],
)
def test_a_bad_script_is_refused_in_one_line_with_the_line_and_the_field(name, text, about):
    Path(name).write_bytes(text)
    assert refused(simulate(name), about)
    assert os.listdir() == [name]


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (["missing.yaml"], "missing.yaml: cannot be read"),
        (["missing.yaml", "--say", "joy@1"], "--say and missing.yaml are two scripts"),
        (["--say", "rage@8s"], "'rage@8s': emotion must be one of"),
        (["--types", "INFP,ABCD"], "'ABCD' is no MBTI type"),
        (["--until", "30s"], "until must not be before the last emotion, which is at 60 s"),
        (["--until", "later"], "until must be a time"),
        (["--step", "0"], "step must be longer"),
        (["--until", "30d", "--step", "1s"], "step must be longer"),
    ],
)
def test_a_bad_option_is_refused_in_one_line_by_name(arguments, about):
    assert refused(simulate(*arguments), about)
    assert os.listdir() == []


def test_constants_of_a_file_change_the_story():
    Path("tough.yaml").write_text("impact_max: 0.1\nx_bored: [-0.1, -0.2, -0.1]\n")
    assert re.search(r"INFP +never +never", simulate("--constants", "tough.yaml").stdout)
    Path("nothing.yaml").write_text("# all as it is\n")
    assert read_constants(Path("nothing.yaml")) == DEFAULT


@pytest.mark.parametrize(
    ("text", "about", "code"),
    [
        ("tau_down: 1\n", "tau_down: there is no such constant", 2),
        ("tau_up: -1\n", "tau_up: must lie in", 2),
        ("x_bored: low\n", "x_bored: must be a list of 3 numbers", 2),
        ("- tau_up\n", "expected names and values", 1),
        ("tau_up: [\n", "c.yaml, line 2", 1),
    ],
)
def test_a_bad_constant_is_refused_by_name(text, about, code):
    Path("c.yaml").write_text(text)
    assert refused(simulate("--constants", "c.yaml"), about, code)


def test_a_missing_file_of_constants_is_refused():
    with pytest.raises(InvalidInput, match=r"missing\.yaml: cannot be read"):
        read_constants(Path("missing.yaml"))


def test_the_picture_has_a_column_for_each_type_and_a_row_for_each_question():
    sheet = figure(plays("insult*4@8s, apology@60s", 240.0, "INFP", "ESTJ", "INTJ"))
    first, second, third = sheet.axes[:3]
    assert len(sheet.axes) == 12
    assert [axes.get_title() for axes in (first, second, third)] == ["INFP", "ESTJ", "INTJ"]
    assert [axes.get_ylabel() for axes in sheet.axes[::3]] == ["mood", "load", "would it act?", "drift of traits"]
    explained = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in sheet.axes[2::3]]
    assert explained == [
        ["pleasure", "arousal", "dominance"],
        ["boredom", "shock load", "extreme memory"],
        ["P_exec", "threshold", "blocked", "locked"],
        list(Traits._fields),
    ]


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_the_picture_shades_when_the_gate_was_blocked_and_locked_and_says_why():
    infp, isfp, estj = figure(plays("insult*3@8s, apology@60s", 300.0, "INFP", "ISFP", "ESTJ")).axes[6:9]
    assert [len(axes.patches) for axes in (infp, isfp, estj)] == [2, 2, 0]
    assert [texts(axes) for axes in (infp, isfp, estj)] == [["hurt by what was said"]] * 2 + [[]]


def test_the_picture_names_moods_where_there_is_room():
    sheet = figure(plays("insult*4@8s, apology@60s", 240.0, "INFP", "ESTJ"))
    assert [texts(axes)[2:] for axes in sheet.axes[:2]] == [["hurt"], ["angry", "sulky"]]


def test_what_is_heard_is_named_once_a_run_and_only_where_there_is_room():
    def names(line):
        return [text for text, _ in zip(texts(figure(plays(line, 100.0, "INFP")).axes[0]), range(2), strict=False)]

    assert names("insult*4@8s, apology@60s") == ["hostile ×4", "making good"]
    assert names("joy@8s, surprise@9s, gratitude@60s") == ["joy", "gratitude"]


@pytest.mark.parametrize(
    ("until", "unit"), [(240.0, "seconds"), (600.0, "minutes"), (2 * 86400.0, "hours"), (6 * 86400.0, "days")]
)
def test_time_is_counted_in_a_unit_that_fits(until, unit):
    assert figure(plays("joy@1s", until, "INFP")).axes[-1].get_xlabel() == f"time in {unit}"


def test_the_page_explains_every_column_of_the_table():
    columns = re.findall(r"^\| (`.+?) \|", PAGE.read_text("utf-8").partition("## The table")[2], re.MULTILINE)
    assert [name for cell in columns for name in re.findall(r"`(\w+)`", cell)] == list(COLUMNS)


def test_the_page_tells_what_the_command_prints():
    [printed] = re.findall(r"^```text\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)[:1]
    told = simulate("--out", "insults").stdout
    assert printed.split() == told.split()
