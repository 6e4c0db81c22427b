"""Recall on public conversations that nobody here wrote. Run by `bench/recall.py`."""

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from soulgraph.bench.told import index_all, opened, tell
from soulgraph.memory.episodes import passages_of
from soulgraph.memory.ranking import Floats
from soulgraph.memory.recall import Recall
from soulgraph.memory.spreading import Ranking
from soulgraph.scripts.training.dialogues import Asked, Dialogue, own_dialogue, public_dialogues
from soulgraph.scripts.training.doubt import certainties, fit_doubt, judged
from soulgraph.scripts.training.recall import Example, examples, fit, with_own
from soulgraph.senses.ports import Embedder

WAYS = ("soulgraph", "BM25 + preceding message", "plain BM25")
KINDS = ("all", "single-hop", "multi-hop", "temporal", "open")
_SPARE = 9  # as many more as a turn asks for, some of which are shown already


class Shown(NamedTuple):
    """The numbers of the lines that are found: in three windows, in ten, and the ten best alone."""

    three: set[int]
    ten: set[int]
    best: set[int]


async def public(folder: Path, embedder: Embedder) -> None:
    shares: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    rankings = await _rankings(folder, embedder)
    for swapped in (False, True):
        for dialogue in public_dialogues(folder, swapped):
            print(f"asking about {dialogue.name}, {'second' if swapped else 'first'} speaker as the user")
            await _ask(dialogue, rankings[dialogue.name], embedder, shares)
    print("\n| way | questions | 3 windows | 10 windows | single messages in the top 10 | n |")
    print("|---|---|---|---|---|---|")
    for way in WAYS:
        for kind in (*KINDS, *rankings):
            rows = shares[way, kind]
            means = " | ".join(f"{mean:.3f}" for mean in np.mean(rows, axis=0))
            print(f"| {way} | {kind} | {means} | {len(rows)} |")


async def unknown(folder: Path, embedder: Embedder) -> None:
    """Questions that name a speaker: how many without an answer are doubted, for how many with one."""
    rows = {dialogue.name: await judged(dialogue, embedder) for dialogue in public_dialogues(folder)}
    answered: list[float] = []
    unanswerable: list[float] = []
    for name, own in rows.items():
        doubt = fit_doubt([row for other, some in rows.items() if other != name for row in some])
        answered += [value - doubt.threshold for value in certainties(doubt, own, answerable=True)]
        unanswerable += [value - doubt.threshold for value in certainties(doubt, own, answerable=False)]
    print(f"\n{len(answered)} questions with an answer, {len(unanswerable)} without\n")
    print("| doubted: with an answer | without one |\n|---|---|")
    for point in (*(np.quantile(answered, lost) for lost in (0.01, 0.02, 0.03, 0.05, 0.1, 0.2)), 0.0):
        shares = [float(np.mean(np.array(some) < point)) for some in (answered, unanswerable)]
        print(f"| {shares[0]:.3f} | {shares[1]:.3f} |{' in use' if point == 0 else ''}")


async def _rankings(folder: Path, embedder: Embedder) -> dict[str, Ranking]:
    """One for each dialogue, learnt from all others."""
    own = await examples(own_dialogue(), embedder)
    of_dialogue: dict[str, list[Example]] = {}
    for dialogue in public_dialogues(folder):
        print(f"learning from {dialogue.name}")
        of_dialogue[dialogue.name] = await examples(dialogue, embedder)
    return {name: Ranking(fit(with_own(_others(of_dialogue, name), own))) for name in of_dialogue}


def _others(of_dialogue: dict[str, list[Example]], left_out: str) -> list[Example]:
    return [one for name, some in of_dialogue.items() if name != left_out for one in some]


async def _ask(
    dialogue: Dialogue, ranking: Ranking, embedder: Embedder, shares: dict[tuple[str, str], list[list[float]]]
) -> None:
    baselines = {"plain BM25": bm25(dialogue, 0), "BM25 + preceding message": bm25(dialogue, 1)}
    with tempfile.TemporaryDirectory() as folder:
        async with opened(f"sqlite:///{folder}/soulgraph.db") as stores:
            ids = await tell(stores, dialogue)
            recall = Recall(stores, embedder, lambda: dialogue.ends_at, ranking=ranking)
            await index_all(recall)
            for question in dialogue.questions:
                if question.answerable:
                    shown = {way: _best_windows(dialogue, rank(question.text)) for way, rank in baselines.items()}
                    shown["soulgraph"] = await _recalled(recall, question, ids)
                    for way, one in shown.items():
                        found = [len(question.evidence & some) / len(question.evidence) for some in one]
                        for kind in ("all", question.category, dialogue.name):
                            shares[way, kind].append(found)
            await recall.close()


async def _recalled(recall: Recall, question: Asked, ids: Sequence[int]) -> Shown:
    numbers = {message_id: n for n, message_id in enumerate(ids)}
    windows = []
    for count in (3, 10):
        episodes = await recall.episodes("soul_1", question.text, count + _SPARE)
        passages = passages_of(episodes, count)
        windows.append({numbers[line.message_id] for _, lines in passages for line in lines})
    best = await recall.episodes("soul_1", question.text, 10)
    return Shown(windows[0], windows[1], {numbers[one.message.message_id] for one in best})


def bm25(dialogue: Dialogue, preceding: int) -> Callable[[str], Floats]:
    """Okapi BM25 of plain words in lower case, with this many preceding messages of the session as context."""
    words = [re.findall(r"\w+", line.text.lower()) for line in dialogue.lines]
    documents = []
    for n, line in enumerate(dialogue.lines):
        context = [m for m in range(max(0, n - preceding), n) if dialogue.lines[m].session == line.session]
        documents.append(Counter(word for m in (*context, n) for word in words[m]))
    lengths = np.array([document.total() for document in documents])
    frequencies = Counter(word for document in documents for word in document)

    def rank(question: str) -> Floats:
        scores = np.zeros(len(documents))
        for word in set(re.findall(r"\w+", question.lower())):
            rarity = np.log1p((len(documents) - frequencies[word] + 0.5) / (frequencies[word] + 0.5))
            count = np.array([document[word] for document in documents])
            scores += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * lengths / lengths.mean()))
        return scores

    return rank


def _best_windows(dialogue: Dialogue, scores: Floats) -> Shown:
    """Windows of a message, the one before and the one after it; none begins with what is shown already."""
    order = np.argsort(-scores, kind="stable").tolist()
    windows: list[set[int]] = []
    for row in order:
        if len(windows) == 10:
            break
        if not any(row in window for window in windows):
            session = dialogue.lines[row].session
            near = (n for n in (row - 1, row, row + 1) if 0 <= n < len(scores))
            windows.append({n for n in near if dialogue.lines[n].session == session})
    return Shown(set().union(*windows[:3]), set().union(*windows), set(order[:10]))
