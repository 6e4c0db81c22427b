"""Recall in short talks that were written by an author who had not seen the code. Run by `bench/recall.py`."""

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from soulgraph.bench.told import index_all, opened, tell
from soulgraph.memory.episodes import passages_of
from soulgraph.memory.recall import Recall
from soulgraph.scripts.training.dialogues import Asked, Dialogue, written_dialogues
from soulgraph.senses.ports import Embedder

DATA = Path(__file__).parent / "data"
COLUMNS = ("all", "zh", "en", "said by the user", "said by the soul", "doubted: with an answer", "without one")
_SPARE = 9  # as many more as a turn asks for

Shares = dict[str, list[float]]


async def talks(embedder: Embedder) -> None:
    print(f"\n| half | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 1)}")
    for half in ("open", "held"):
        shares: Shares = defaultdict(list)
        for dialogue in written_dialogues(DATA / f"talks_{half}.yaml"):
            await _ask(dialogue, embedder, shares)
        print(f"| {half} | {' | '.join(f'{np.mean(shares[name]):.3f} ({len(shares[name])})' for name in COLUMNS)} |")


async def _ask(dialogue: Dialogue, embedder: Embedder, shares: Shares) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with opened(f"sqlite:///{folder}/soulgraph.db") as stores:
            ids = await tell(stores, dialogue)
            recall = Recall(stores, embedder, lambda: dialogue.ends_at)
            await index_all(recall)
            for question in dialogue.questions:
                await _count(question, dialogue, recall, ids, shares)
            await recall.close()


async def _count(question: Asked, dialogue: Dialogue, recall: Recall, ids: Sequence[int], shares: Shares) -> None:
    """How much of the evidence is in three windows, and whether the soul would say that it does not know."""
    found = await recall.episodes("soul_1", question.text, 3 + _SPARE)
    doubted = not found or found[0].doubtful
    if not question.answerable:
        shares["without one"].append(doubted)
        return
    shown = {line.message_id for _, lines in passages_of(found, 3) for line in lines}
    share = len({ids[n] for n in question.evidence} & shown) / len(question.evidence)
    own = all(dialogue.lines[n].role == "assistant" for n in question.evidence)
    for name in ("all", question.lang, "said by the soul" if own else "said by the user"):
        shares[name].append(share)
    shares["doubted: with an answer"].append(doubted)
