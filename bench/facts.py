"""Facts drawn by the rules: what of the expected is found, what is found that must not be, and how much of it is junk.

Run with `python bench/facts.py [CASES.yaml …] [--dialogues FILE.json … --sample N --seed N]`; it prints Markdown.
Cases are conversations with the facts that a careful listener would keep. Dialogues are public conversations of two
people with their sessions and dates; each speaker in turn is taken for the user. Their sample is for judging by hand.
"""

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from soulgraph.senses.facts.reader import Told, statements_in
from soulgraph.senses.facts.subjects import names_in
from soulgraph.soul.facts import Statement, settle

DATA = Path(__file__).parent / "data"
OPEN = [DATA / f"facts_{name}.yaml" for name in ("open", "held", "open2")]
"""The cases that the rules were tuned on; `facts_held2.yaml` is not among them."""
_EARLIER = 6


@dataclass(frozen=True)
class Drawn:
    """A fact as the store would have it."""

    statement: Statement
    at: datetime
    holds: bool = True

    @property
    def subject(self) -> str:
        return self.statement.subject

    @property
    def attribute(self) -> str:
        return self.statement.attribute

    @property
    def value(self) -> str:
        return self.statement.value

    @property
    def content(self) -> str:
        return self.statement.content

    @property
    def said_at(self) -> float:
        return self.at.timestamp()


def draw(messages: Iterable[tuple[datetime, str]], name: str) -> list[Drawn]:
    """All facts of one person, also those that hold no more."""
    facts: list[Drawn] = []
    said: list[str] = []
    for at, text in messages:
        people = names_in([one.subject for one in facts])
        for statement in statements_in(Told(text, at, name, people, said[-_EARLIER:])):
            settled = settle(statement, facts, at.timestamp())
            facts = [replace(one, holds=False) if one in settled.ended else one for one in facts]
            if not settled.same:
                facts.append(Drawn(statement, at, settled.later is None))
        said.append(text)
    return facts


def _is(fact: Drawn, expected: dict[str, Any]) -> bool:
    content = fact.content.casefold()
    said_at = expected.get("said_at")
    return (
        all(any(word.casefold() in content for word in words) for words in expected["about"])
        and (not expected.get("superseded") or not fact.holds)
        and (said_at is None or f"{fact.at:%Y-%m-%d}" == str(said_at)[:10])
    )


def judge(case: dict[str, Any]) -> Counter[str]:
    told = [(datetime.fromisoformat(one["at"]), one["text"]) for one in case["messages"] if one["role"] == "user"]
    facts = draw(told, case["user_name"])
    counts = Counter(expected=len(case["expect"]), drawn=len(facts))
    matched = set()
    for expected in case["expect"]:
        hits = {n for n, fact in enumerate(facts) if _is(fact, expected)}
        matched |= hits
        counts["found"] += bool(hits)
        counts["superseded"] += bool(expected.get("superseded"))
        counts["superseded right"] += bool(expected.get("superseded") and hits)
    counts["as expected"] = len(matched)
    for words in case["forbidden"]:
        counts["forbidden"] += any(all(word.casefold() in one.content.casefold() for word in words) for one in facts)
    return counts


def report(path: Path) -> None:
    cases = yaml.safe_load(path.read_text("utf-8"))
    print(f"\n| {path.stem} | cases | expected | found | recall | drawn | precision | F1 | superseded | forbidden |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for lang in ("en", "zh", "all"):
        some = [case for case in cases if lang in (case["lang"], "all")]
        total = sum((judge(case) for case in some), Counter[str]())
        recall = total["found"] / max(total["expected"], 1)
        precision = total["as expected"] / max(total["drawn"], 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        superseded = f"{total['superseded right']} of {total['superseded']}"
        print(
            f"| {lang} | {len(some)} | {total['expected']} | {total['found']} | {recall:.3f} | {total['drawn']}"
            f" | {precision:.3f} | {f1:.3f} | {superseded} | {total['forbidden']} |"
        )


def dialogue(path: Path) -> Iterator[tuple[str, list[tuple[datetime, str]]]]:
    """Each of the two speakers with what they said."""
    data = json.loads(path.read_text("utf-8"))
    sessions = [key for key in data if re.fullmatch(r"session_\d+", key)]
    for speaker in (data["speaker_a"], data["speaker_b"]):
        said = []
        for key in sorted(sessions, key=lambda one: int(one.split("_")[1])):
            at = datetime.strptime(data[f"{key}_date_time"], "%I:%M %p on %d %B, %Y")
            said += [(at, one["text"]) for one in data[key] if one["speaker"] == speaker]
        yield speaker, said


def audit(paths: Sequence[Path], sample: int, seed: int) -> None:
    drawn: list[tuple[str, Drawn]] = []
    messages = 0
    began = time.process_time()
    for path in paths:
        for speaker, said in dialogue(path):
            messages += len(said)
            drawn += [(speaker, fact) for fact in draw(said, speaker)]
    took_ms = (time.process_time() - began) * 1000 / max(messages, 1)
    print(f"\n{messages} messages, {len(drawn)} facts, {100 * len(drawn) / max(messages, 1):.1f} per 100 messages,")
    print(f"{sum(not fact.holds for _, fact in drawn)} of them superseded; {took_ms:.2f} ms of CPU a message")
    print("\n| attribute | facts |\n|---|---|")
    for attribute, count in Counter(fact.attribute.partition(":")[0] for _, fact in drawn).most_common():
        print(f"| {attribute} | {count} |")
    print("\n| fact | attribute |\n|---|---|")
    for _, fact in random.Random(seed).sample(drawn, min(sample, len(drawn))):
        print(f"| {fact.content}{'' if fact.holds else ' (ended)'} | {fact.attribute} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", type=Path, default=[*OPEN, DATA / "facts_held2.yaml"])
    parser.add_argument("--dialogues", nargs="*", type=Path, default=[])
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for path in given.cases:
        report(path)
    if given.dialogues:
        audit(given.dialogues, given.sample, given.seed)


if __name__ == "__main__":
    main()
