"""Long conversations with questions and what answers them: our own, and public ones (LoCoMo) from a folder."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

OWN = Path(__file__).parents[2] / "bench" / "data" / "long_conversation.yaml"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "unanswerable"}

_EVIDENCE = re.compile(r"D(\d+):0*(\d+)")


@dataclass(frozen=True, slots=True)
class Line:
    session: str
    role: str
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the numbers of the lines that answer it; in an unanswerable one they only seem to."""

    text: str
    evidence: frozenset[int]
    category: str
    lang: str = "en"

    @property
    def answerable(self) -> bool:
        return bool(self.evidence) and self.category != "unanswerable"


@dataclass(frozen=True, slots=True)
class Dialogue:
    name: str
    lines: list[Line]
    questions: list[Asked]

    @property
    def ends_at(self) -> float:
        return max(line.at for line in self.lines)


def own_dialogue() -> Dialogue:
    data = yaml.safe_load(OWN.read_text("utf-8"))
    numbers = {said["id"]: n for n, said in enumerate(data["messages"])}
    lines = [Line(f"{said['session']}", said["role"], said["text"], _epoch(said["at"])) for said in data["messages"]]
    questions = [
        Asked(
            asked["text"],
            frozenset(numbers[one] for one in asked["evidence"]),
            "own" if asked["answerable"] else "unanswerable",
            asked["lang"],
        )
        for asked in data["questions"]
    ]
    return Dialogue("own", lines, questions)


def written_dialogues(path: Path) -> list[Dialogue]:
    """Short talks of a soul and a person, written by an author who has not seen the code."""
    return [_written(talk) for talk in yaml.safe_load(path.read_text("utf-8"))]


def _written(talk: dict[str, Any]) -> Dialogue:
    numbers = {said["id"]: n for n, said in enumerate(talk["messages"])}
    lines = [Line(f"{said['at']}"[:10], said["role"], said["text"], _epoch(said["at"])) for said in talk["messages"]]
    questions = [
        Asked(
            one["text"],
            frozenset(numbers[said] for said in one["evidence"]),
            "own" if one["evidence"] else "unanswerable",
            talk["lang"],
        )
        for one in talk["questions"]
    ]
    return Dialogue(talk["id"], lines, questions)


def public_dialogues(folder: Path, swapped: bool = False) -> list[Dialogue]:
    """The dialogues of a folder; the first speaker is the user, or the second if `swapped`."""
    return [_public(path, swapped) for path in sorted(folder.glob("*.json"))]


def _public(path: Path, swapped: bool) -> Dialogue:
    data = json.loads(path.read_text("utf-8"))
    user = data["speaker_b" if swapped else "speaker_a"]
    said = list(_said(data))
    numbers = {one["dia_id"]: n for n, (_, _, one) in enumerate(said)}
    lines = [
        Line(session, "user" if one["speaker"] == user else "assistant", one["text"], at) for session, at, one in said
    ]
    return Dialogue(path.stem, lines, [_asked(one, numbers) for one in data["qa"]])


def _said(data: dict[str, Any]) -> Iterator[tuple[str, float, dict[str, Any]]]:
    """Every message with its session and the time of it, a minute after the one before."""
    sessions = (n for n in range(1, 1000) if isinstance(data.get(f"session_{n}"), list))
    for n in sessions:
        began = datetime.strptime(data[f"session_{n}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for minute, one in enumerate(data[f"session_{n}"]):
            yield f"s{n}", began.timestamp() + 60 * minute, one


def _asked(question: dict[str, Any], numbers: dict[str, int]) -> Asked:
    found = (f"D{session}:{line}" for text in question["evidence"] for session, line in _EVIDENCE.findall(text))
    evidence = frozenset(numbers[one] for one in found if one in numbers)
    return Asked(question["question"], evidence, CATEGORIES[question["category"]])


def _epoch(at: object) -> float:
    return datetime.fromisoformat(str(at)).replace(tzinfo=UTC).timestamp()
