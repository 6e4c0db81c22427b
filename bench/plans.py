"""How well plans, reminders and promises are found: F1 on sets of sentences, by the sense and by its rules alone.

    python bench/plans.py [FILE …]

A plan counts as found if its kind is right and its content has one of the words; strictly, if its time is right too.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.plans.finding import FoundPlan
from soulgraph.senses.plans.sense import PlanSense

SETS = Path(__file__).parent.parent / "tests" / "senses" / "plans"


async def judge(case: Mapping[str, Any], sense: PlanSense) -> tuple[Counter[str], list[str]]:
    """What was found, expected and right, and what was wrong, in words."""
    now = datetime.fromisoformat(case["now"])
    found = await sense.find(case["text"], now, case["speaker"], case.get("before") or ())
    left, faults = list(found), []
    counts = Counter(found=len(found), expected=len(case["expect"]))
    for wanted in case["expect"]:
        plan = next((one for one in left if _is_meant(one, wanted)), None)
        if plan is None:
            faults.append(f"missed {wanted['kind']} {wanted['about']}")
            continue
        left.remove(plan)
        counts["right"] += 1
        counts["strict"] += _is_timely(plan, wanted)
        counts["unsure"] += plan.unsure == bool(wanted.get("unsure"))
        if not _is_timely(plan, wanted):
            faults.append(f"{plan.begins} to {plan.ends} {plan.recurs} in place of {wanted['begins']}")
    return counts, [*faults, *(f"made up {one.kind} {one.content!r}" for one in left)]


def _is_meant(plan: FoundPlan, wanted: Mapping[str, Any]) -> bool:
    content = plan.content.lower()
    return plan.kind == wanted["kind"] and any(word.lower() in content for word in wanted["about"])


def _is_timely(plan: FoundPlan, wanted: Mapping[str, Any]) -> bool:
    times = plan.begins and plan.begins.isoformat(), plan.ends and plan.ends.isoformat(), plan.recurs
    return times == (wanted["begins"], wanted["ends"], wanted.get("recurs", ""))


def f1(counts: Mapping[str, int], right: str) -> float:
    return 2 * counts[right] / max(1, counts["found"] + counts["expected"])


async def score(path: Path, sense: PlanSense) -> tuple[dict[str, Counter[str]], list[str]]:
    """The counts by language and of all, and every fault with its sentence."""
    total: dict[str, Counter[str]] = {"zh": Counter(), "en": Counter(), "all": Counter()}
    faults: list[str] = []
    cases = yaml.safe_load(path.read_text("utf-8"))  # noqa: ASYNC240
    for case in cases:
        counts, wrong = await judge(case, sense)
        total[case["lang"]] += counts
        total["all"] += counts
        faults += [f"{case['id']} {case['text']}: {one}" for one in wrong]
    return total, faults


async def main(names: Sequence[str]) -> None:
    paths = [Path(name) for name in names] or sorted(SETS.glob("plans_*.yaml"))
    print("| set | way | language | expected | found | F1 | F1 with time | unsure right |")
    print("|---|---|---|---|---|---|---|---|")
    async with open_local_embedder() as embedder:
        for path in paths:
            for way, sense in {"rules": PlanSense(), "sense": PlanSense(embedder)}.items():
                total, faults = await score(path, sense)
                for lang, counts in total.items():
                    print(f"| {path.stem} | {way} | {lang} | {_row(counts)} |")
            print("\n".join(faults), file=sys.stderr)


def _row(counts: Mapping[str, int]) -> str:
    figures = f"{counts['expected']} | {counts['found']} | {f1(counts, 'right'):.3f} | {f1(counts, 'strict'):.3f}"
    return f"{figures} | {counts['unsure']} of {counts['right']}"


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
