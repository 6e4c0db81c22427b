"""Recall: how much of what was said is found again, and how fast. Prints the tables of bench/RESULTS.md.

    python bench/recall.py [FOLDER] [own] [speed]

FOLDER holds public conversations (LoCoMo) with questions and the messages that answer them. The ranking is learnt anew
for each of them from the others and our own, and asked once with either speaker as the user; plain BM25, and BM25 with
the preceding message as context, answer the same questions. Own: our bilingual conversation, on each database; then
what is asked that has no answer; then eight short talks by an author who had not seen the code. Speed: 100,000 episodes
of one soul and 100,000 events.
"""

import asyncio
import statistics
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from soulgraph.bench.recall_public import public, unknown
from soulgraph.bench.recall_speed import speed
from soulgraph.bench.recall_talks import talks
from soulgraph.bench.told import databases, index_all, opened, tell
from soulgraph.memory.recall import Recall
from soulgraph.memory.spreading import RANKING, Ranking
from soulgraph.scripts.training.dialogues import Dialogue, own_dialogue
from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.ports import Embedder
from soulgraph.stores.records import Json

NOTHING = Path(__file__).parent / "data" / "nothing_to_recall.yaml"
TOP = 10
WAYS = {"hybrid": RANKING, "meaning alone": Ranking({"meaning": 10.0}), "words alone (BM25)": Ranking({"words": 10.0})}


class Found(NamedTuple):
    """Mean shares of evidence in the top 10, by half and language, and within the lines that are shown with them."""

    shares: dict[str, float]
    silent: int
    """Questions without an answer for which nothing is found."""


async def own(embedder: Embedder) -> None:
    dialogue = own_dialogue()
    print(f"\n{len(dialogue.lines)} messages, {len(dialogue.questions)} questions\n")
    print("| database | ranking | evidence in the top 10 | 1st half | 2nd half | zh | en | … or beside it |")
    print("|---|---|---|---|---|---|---|---|")
    silence = ""
    with databases() as urls:
        for backend, url in urls.items():
            async with opened(url) as stores:
                ids = await tell(stores, dialogue)
                recalls = {way: Recall(stores, embedder, lambda: dialogue.ends_at, ranking=WAYS[way]) for way in WAYS}
                await index_all(recalls["hybrid"])
                for way, recall in recalls.items():
                    found = await evidence_found(recall, dialogue, ids)
                    print(f"| {backend} | {way} | {' | '.join(f'{share:.3f}' for share in found.shares.values())} |")
                silence = await _silence(recalls["hybrid"], dialogue, ids)
    print(f"\nNothing comes to mind: {silence}")


async def _silence(recall: Recall, dialogue: Dialogue, ids: Sequence[int]) -> str:
    nothing: Json = yaml.safe_load(NOTHING.read_text("utf-8"))
    found = await evidence_found(recall, dialogue, ids)
    counts = [f"{found.silent} of {sum(not one.answerable for one in dialogue.questions)} without an answer"]
    for kind, texts in nothing.items():
        hits = [await recall.episodes("soul_1", text, TOP) for text in texts]
        counts.append(f"{hits.count([])} of {len(hits)} {kind.replace('_', ' ')}")
    return ", ".join(counts)


async def evidence_found(recall: Recall, dialogue: Dialogue, ids: Sequence[int]) -> Found:
    shares: dict[str, list[float]] = defaultdict(list)
    silent = 0
    for n, question in enumerate(dialogue.questions):
        found = await recall.episodes("soul_1", question.text, TOP)
        if not question.answerable:
            silent += not found
            continue
        evidence = {ids[one] for one in question.evidence}
        share = len(evidence & {one.message.message_id for one in found}) / len(evidence)
        for name in ("all", f"{n % 2}", question.lang):
            shares[name].append(share)
        beside = {line.message_id for one in found for line in one.lines}
        shares["beside"].append(len(evidence & beside) / len(evidence))
    order = ("all", "0", "1", "zh", "en", "beside")
    return Found({name: statistics.mean(shares[name]) for name in order}, silent)


async def main(parts: Sequence[str]) -> None:
    threadpool_limits(limits=1, user_api="blas")  # as the built-in encoder has it
    folders = [Path(part) for part in parts if part not in ("own", "speed")]
    async with open_local_embedder() as embedder:
        for folder in folders:
            await public(folder, embedder)
            await unknown(folder, embedder)
        if "own" in parts:
            await own(embedder)
            await talks(embedder)
    if "speed" in parts:
        await speed()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["own", "speed"]))
