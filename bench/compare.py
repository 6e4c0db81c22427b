"""The CPU of a turn here against that of another checkout: `python bench/compare.py OTHER_CHECKOUT`.

Both run the same conversation with an instant stub model, in processes that take turns, so that a busy machine slows
both alike. The figure is the median of the ratios of neighbouring rounds.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS, TURNS, WARM_UP = 7, 100, 20
ROOT = Path(__file__).parent.parent


async def measure() -> float:
    """Milliseconds of CPU up to the answer, of a turn amid a conversation; what follows each turn is waited for."""
    from soulgraph.bench.turn import cost, soulgraph_turns, stub_model

    with stub_model(chunk_size=4096) as base_url, tempfile.TemporaryDirectory() as folder:
        async with soulgraph_turns(base_url, Path(folder)) as talker:
            costs = [await cost(talker, "one") for _ in range(WARM_UP + TURNS)]
    return statistics.median(one.cpu for one in costs[WARM_UP:])


def run(checkout: Path) -> float:
    """`measure` in a process of its own, with the package of this checkout."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "soulgraph").symlink_to(checkout)
        code = (
            "import asyncio, runpy; bench = runpy.run_path('bench/compare.py'); print(asyncio.run(bench['measure']()))"
        )
        env = {**os.environ, "PYTHONPATH": folder}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True
        )
    return float(done.stdout.split()[-1])


def main(other: Path) -> None:
    rounds = []
    for n in range(1, ROUNDS + 1):
        pair = run(ROOT), run(other)
        rounds.append(pair)
        print(f"round {n} of {ROUNDS}: here {pair[0]:.2f} ms, there {pair[1]:.2f} ms", file=sys.stderr, flush=True)
    here, there = (statistics.median(side) for side in zip(*rounds, strict=True))
    ratio = statistics.median(mine / theirs for mine, theirs in rounds)
    print(f"CPU of a turn: here {here:.2f} ms, there {there:.2f} ms, ratio {ratio:.3f}")


if __name__ == "__main__":
    began = time.perf_counter()
    main(Path(sys.argv[1]).resolve())
    print(f"({time.perf_counter() - began:.0f} s)", file=sys.stderr)
