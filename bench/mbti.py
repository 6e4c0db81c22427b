"""How often the type that a character's text suggests is the one that a reader gives it, by axis.

Run: python -m soulgraph.bench.mbti [open|held|third|fourth]
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from soulgraph.senses.mbti.leaning import leaning_of
from soulgraph.senses.mbti.suggestion import UNSURE, CharacterText, Suggestion, suggest_mbti
from soulgraph.senses.mbti.traits import AXES

_CASES = Path(__file__).parents[1] / "tests" / "senses" / "mbti"

Case = Mapping[str, Any]


def cases(half: str) -> list[Case]:
    listed: list[Case] = yaml.safe_load((_CASES / f"cases_{half}.yaml").read_text("utf-8"))
    return listed


def suggested(case: Case) -> Suggestion:
    card = case["card"]
    about = "\n".join(filter(None, (card.get("description"), card.get("personality"))))
    return suggest_mbti(
        CharacterText(card.get("name", ""), about, card.get("tags", ()), card.get("mes_example", "")), leaning_of
    )


def is_right(case: Case) -> bool:
    """Whether every axis that the reader could tell is as the reader says, or the doubt is said if none could be."""
    found = suggested(case)
    if case["kind"] == "nothing":
        return found.confidence < UNSURE
    if case["kind"] == "stated" and found.confidence < UNSURE:
        return False
    return all(wanted in (".", letter) for wanted, letter in zip(case["mbti"], found.mbti_type, strict=True))


def axis_hits(listed: Iterable[Case]) -> dict[str, tuple[int, int]]:
    """For each axis how many were right, and of how many that a reader could tell."""
    hits = dict.fromkeys(AXES, (0, 0))
    for case in listed:
        for axis, wanted, letter in zip(AXES, case["mbti"], suggested(case).mbti_type, strict=True):
            right, told = hits[axis]
            if wanted != ".":
                hits[axis] = (right + (wanted == letter), told + 1)
    return hits


def report(half: str) -> None:
    listed = cases(half)
    for kind in ("stated", "implied", "nothing"):
        some = [case for case in listed if case["kind"] == kind]
        print(f"{half} {kind}: {sum(map(is_right, some))} of {len(some)} right")
    implied = [case for case in listed if case["kind"] == "implied"]
    print("  axes of the implied:", ", ".join(f"{axis} {n}/{of}" for axis, (n, of) in axis_hits(implied).items()))


def main(halves: Sequence[str]) -> None:
    for half in halves or ("open", "held", "third"):
        report(half)
        for case in cases(half):
            if half == "open" and not is_right(case):
                print("  wrong:", case["name"], case["mbti"], suggested(case))


if __name__ == "__main__":
    main(sys.argv[1:])
