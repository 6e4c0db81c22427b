"""Trains the head of the sense of plans: `python -m soulgraph.scripts.training.plans [OUTPUT]`.

`plans.tsv` has what many authors made up who knew nothing of the code: author, language, speaker, what is to be kept
(each kind with a word of what it is about, `?` for what is not certain) and the sentence. To check the head, some
authors at a time are held out.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array  # type: ignore[import-untyped]
from sklearn.svm import LinearSVC

from soulgraph.senses.arrays import Floats
from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.plans.clauses import Clause
from soulgraph.senses.plans.finding import FoundPlan, Heard, Judge, plans_in
from soulgraph.senses.plans.grammar import Speaker
from soulgraph.senses.plans.sense import FILE, KINDS, Head, inputs_of
from soulgraph.senses.ports import Embedder
from soulgraph.soul.plan_times import PlanKind

SENTENCES = Path(__file__).parent / "plans.tsv"
NOW = datetime(2026, 11, 18, 9, 30)  # a Wednesday
COST = 0.3  # of a sentence on the wrong side; .1 to .4 did as well
FOLDS = 5
STEPS = 127  # of a weight in the file


class Sentence(NamedTuple):
    author: str
    lang: str
    speaker: Speaker
    expected: list[tuple[str, str]]
    """Kinds, each with a word of what it is about."""
    text: str


class Example(NamedTuple):
    """A clause that may be something to keep, and what it is."""

    sentence: Sentence
    start: int
    inputs: Floats
    kind: PlanKind | None


def sentences(path: Path = SENTENCES) -> list[Sentence]:
    return [_sentence(*line.split("\t")) for line in path.read_text("utf-8").splitlines()]


def _sentence(author: str, lang: str, speaker: str, labels: str, text: str) -> Sentence:
    pairs = [label.replace("?:", ":").partition(":") for label in labels.split(";") if label != "none"]
    return Sentence(
        author, lang, "soul" if speaker == "soul" else "user", [(kind, word) for kind, _, word in pairs], text
    )


async def examples(told: Sequence[Sentence], embedder: Embedder) -> list[Example]:
    found: list[Example] = []
    for sentence in told:
        heard = Heard.of(sentence.text, NOW, sentence.speaker)
        clauses = heard.candidates
        whole, *own = await embedder.embed([heard.text, *(clause.text for clause in clauses)])
        kinds = _kinds(sentence, clauses)

        def noted(heard: Heard, clause: Clause, ruled: FoundPlan | None) -> PlanKind | None:
            place = clauses.index(clause)  # noqa: B023
            inputs = inputs_of(heard, clause, ruled, whole, own[place])  # noqa: B023
            found.append(Example(sentence, clause.start, inputs, kinds[place]))  # noqa: B023
            return None

        plans_in(heard, judge=noted)
    return found


def _kinds(sentence: Sentence, clauses: Sequence[Clause]) -> list[PlanKind | None]:
    """What each clause is: the one that has the word, else the first that is nothing else."""
    kinds: list[PlanKind | None] = [None] * len(clauses)
    for kind, word in sentence.expected:
        free = [place for place, found in enumerate(kinds) if found is None]
        named = [place for place in free if word.lower() in clauses[place].text.lower()]
        for place in (named or free)[:1]:
            kinds[place] = kind  # type: ignore[call-overload]
    return kinds


def fit(known: Iterable[Example], speaker: Speaker) -> Head:
    own = [one for one in known if one.sentence.speaker == speaker]
    kinds = KINDS[speaker]
    labels = [kinds.index(one.kind) for one in own]
    model = LinearSVC(C=COST)
    model.fit(csr_array(np.array([one.inputs for one in own])), labels)
    weights, bias = model.coef_.T.astype(np.float32), model.intercept_.astype(np.float32)
    if len(kinds) == 2:  # one column against the other
        weights, bias = np.hstack([-weights, weights]) / 2, np.array([-bias[0], bias[0]]) / 2
    return Head(weights, bias)


def judged(test: Sequence[Example], heads: Mapping[Speaker, Head]) -> Counter[str]:
    """What is found of the sentences of these examples, from beginning to end."""
    inputs = {(one.sentence.text, one.start): one.inputs for one in test}
    counts: Counter[str] = Counter()
    for sentence in {one.sentence.text: one.sentence for one in test}.values():
        counts += right_in(sentence, _judge_of(sentence, inputs, heads[sentence.speaker]))
    return counts


def _judge_of(sentence: Sentence, inputs: Mapping[tuple[str, int], Floats], head: Head) -> Judge:
    def judge(heard: Heard, clause: Clause, ruled: FoundPlan | None) -> PlanKind | None:
        scores = inputs[sentence.text, clause.start] @ head.weights + head.bias
        return KINDS[sentence.speaker][int(np.argmax(scores))]

    return judge


def right_in(sentence: Sentence, judge: Judge | None) -> Counter[str]:
    left = plans_in(Heard.of(sentence.text, NOW, sentence.speaker), judge=judge)
    counts = Counter(found=len(left), expected=len(sentence.expected))
    for kind, word in sentence.expected:
        plan = next((one for one in left if one.kind == kind and word.lower() in one.content.lower()), None)
        if plan:
            left.remove(plan)
            counts["right"] += 1
    return counts


def f1(counts: Counter[str]) -> float:
    return 2 * counts["right"] / max(1, counts["found"] + counts["expected"])


def hold_out(told: Sequence[Sentence], known: Sequence[Example]) -> None:
    """Print how well each author's sentences are read by a head that has seen none of them."""
    authors = sorted({one.author for one in told})
    for fold in range(FOLDS):
        heads = {
            speaker: fit([one for one in known if one.sentence.author not in authors[fold::FOLDS]], speaker)
            for speaker in KINDS
        }
        for author in authors[fold::FOLDS]:
            own = [one for one in told if one.author == author]
            ruled = sum((right_in(one, None) for one in own), Counter[str]())
            counts = judged([one for one in known if one.sentence.author == author], heads)
            counts["expected"] = ruled["expected"]  # also of sentences in which nothing could be found
            figures = f"rules {f1(ruled):.3f}, head {f1(counts):.3f}"
            sys.stdout.write(f"{author}: {len(own)} sentences, {figures} ({dict(counts)})\n")


def stored(heads: Mapping[Speaker, Head]) -> dict[str, Floats]:
    """The arrays of the data file, the weights in steps of their greatest."""
    arrays = {}
    for speaker, head in heads.items():
        step = np.abs(head.weights).max() / STEPS
        arrays[f"{speaker}_weights"] = np.round(head.weights / step).astype(np.int8)
        arrays[f"{speaker}_weights_step"] = np.float32(step)
        arrays[f"{speaker}_bias"] = head.bias.astype(np.float32)
    return arrays


async def main(output: Path) -> None:
    told = sentences()
    async with open_local_embedder() as embedder:
        known = await examples(told, embedder)
    hold_out(told, known)
    np.savez_compressed(output, **stored({speaker: fit(known, speaker) for speaker in KINDS}))


if __name__ == "__main__":
    default = Path(str(files("soulgraph.senses.plans") / FILE))
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else default))
