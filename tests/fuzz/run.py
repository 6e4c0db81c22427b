"""Fuzzes a server for as long as you like.

    python -m soulgraph.tests.fuzz.run [--count 20000] [--seed 1] [--target cards …] [--at n]

`--at` feeds one mutant alone, which is how a finding is looked at: everything about it follows from target, seed and n.
"""

import argparse
import asyncio
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from soulgraph.tests.fuzz.harness import Finding, Report, fuzz
from soulgraph.tests.fuzz.targets import TARGETS
from soulgraph.tests.fuzz.world import fuzzed_server


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def _run(name: str, numbers: range, seed: int) -> Report:
    shown_at = time.monotonic()

    def progress(report: Report) -> None:
        nonlocal shown_at
        if time.monotonic() - shown_at > 10:
            shown_at = time.monotonic()
            _say(f"  {name}: {report.count} of {len(numbers)}, {len(report.findings)} findings")

    report = Report(name)
    try:
        with TemporaryDirectory() as folder:
            async with fuzzed_server(Path(folder)) as world:
                report = await fuzz(TARGETS[name], world, numbers, seed, progress)
    except AssertionError as error:  # of the server as a whole, in the end
        report.findings.append(Finding(name, seed, -1, str(error), b""))
    return report


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=20_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--at", type=int)
    options.add_argument("--target", nargs="+", default=[*TARGETS], choices=[*TARGETS])
    asked = options.parse_args()
    numbers = range(asked.count) if asked.at is None else range(asked.at, asked.at + 1)
    reports = []
    for name in asked.target:
        began = time.monotonic()
        report = asyncio.run(_run(name, numbers, asked.seed))
        reports.append(report)
        taken = sum(count for outcome, count in report.outcomes.items() if outcome.startswith("taken"))
        _say(
            f"| {name} | {report.count} | {taken} | {report.count - taken} | {report.worst_stall_s * 1000:.0f} ms | "
            f"{len(report.findings)} | {time.monotonic() - began:.0f} s |"
        )
        for finding in report.findings:
            _say(str(finding))
    return any(report.findings for report in reports)


if __name__ == "__main__":
    sys.exit(main())
