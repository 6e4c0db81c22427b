"""What the senses hear and what it costs: public sets, own bilingual sets, CPU a sentence, throughput.

Run with `python bench/senses.py DATA_FOLDER`; it prints Markdown tables. The folder holds EmoBank, GoEmotions and
CLINC150 as `scripts/training/public_sets.py` reads them. In the throughput rounds the encoder alone and both senses
alternate, so that a busy machine slows both alike and their ratio holds.
"""

import asyncio
import csv
import json
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from soulgraph.scripts.training.public_sets import EKMAN_OF_OURS, correlation, ekman_f1, emobank, goemotions
from soulgraph.senses.embedding.local import encode, open_local_embedder
from soulgraph.senses.emotion.local import LocalRecogniser, judge
from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.senses.ports import Embedder
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES, UserEmotion
from soulgraph.tests.senses.stories import played, stories

TESTS = Path(__file__).parent.parent / "tests" / "senses"
NOW = datetime(2026, 11, 16, 15, 30)
CONCURRENT, ROUNDS, CATALOG_SIZE = 32, 5, 50
ONE_A_CALL, BATCHED = "encoder alone, one sentence a call", f"encoder alone, batches of {CONCURRENT}"

Act = Callable[[str], Awaitable[Any]]


def heard(texts: Sequence[str]) -> list[UserEmotion]:
    return [judge(text, vector) for text, vector in zip(texts, encode(list(texts)), strict=True)]


def pad(felt: Iterable[UserEmotion]) -> NDArray[np.float64]:
    return np.array([(each.p, each.a, each.d) for each in felt])


def said(name: str) -> Any:
    return yaml.safe_load((TESTS / name).read_text("utf-8"))


def verdict(value: float, target: float) -> str:
    return f"{value:.3f} | {target} | {'met' if value >= target else 'MISSED'}"


def public_emotions(folder: Path) -> None:
    print("| public sets, dev split | measured | target | |\n|---|---|---|---|")
    rated = emobank(folder, "dev")
    r = correlation(pad(heard([row.text for row in rated])), np.array([row.vad for row in rated]))
    for axis, value, target in zip("VAD", r, (0.65, 0.49, 0.33), strict=True):
        print(f"| EmoBank, r of {axis} | {verdict(value, target)} |")
    labelled = goemotions(folder, "dev")
    groups = [EKMAN_OF_OURS[felt.emotion] for felt in heard([row.text for row in labelled])]
    f1 = ekman_f1(labelled, groups)
    print(f"| GoEmotions in 7 Ekman groups, macro-F1 | {verdict(statistics.fmean(f1.values()), 0.47)} |")
    print("\nF1 per group: " + ", ".join(f"{group} {value:.2f}" for group, value in f1.items()) + "\n")


def macro_f1(truth: Sequence[str], found: Sequence[str]) -> float:
    pairs = list(zip(truth, found, strict=True))
    scores = []
    for label in EMOTIONS:
        hits = sum(t == f == label for t, f in pairs)
        total = sum(t == label for t, _ in pairs) + sum(f == label for _, f in pairs)
        scores.append(2 * hits / total if total else 0.0)
    return statistics.fmean(scores)


def own_emotions() -> None:
    cases = said("emotion/evaluation.yaml")
    felt = heard([case["text"] for case in cases])
    print(f"| own set, {len(cases)} sentences | measured | target | |\n|---|---|---|---|")
    for name, langs in (("zh and en", ("zh", "en")), ("zh", ("zh",)), ("en", ("en",))):
        chosen = [
            (case["emotion"], each.emotion) for case, each in zip(cases, felt, strict=True) if case["lang"] in langs
        ]
        print(f"| macro-F1 over 15 labels, {name} | {verdict(macro_f1(*zip(*chosen, strict=True)), 0.75)} |")
    print(f"| negation pairs whose P changes its sign | {verdict(flipped(cases, felt), 1.0)} |")
    neutral = [each.intensity for case, each in zip(cases, felt, strict=True) if case["emotion"] == "neutral"]
    print(f"\nmean intensity of neutral sentences {statistics.fmean(neutral):.3f}; calibration:\n")
    calibration(cases, felt)
    kinds(cases, felt)
    distances(cases, felt)


def flipped(cases: Sequence[Any], felt: Sequence[UserEmotion]) -> float:
    pairs = defaultdict(list)
    for case, each in zip(cases, felt, strict=True):
        if "pair" in case:
            pairs[case["pair"]].append(each.p)
    return statistics.fmean(one * other < 0 for one, other in pairs.values())


def calibration(cases: Sequence[Any], felt: Sequence[UserEmotion]) -> None:
    print("| confidence | sentences | mean confidence | right |\n|---|---|---|---|")
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        inside = [
            (each.confidence, each.emotion == case["emotion"])
            for case, each in zip(cases, felt, strict=True)
            if low <= (each.confidence or 0) < low + 0.2 or (low == 0.8 and each.confidence == 1)
        ]
        if inside:
            confidence, right = (statistics.fmean(column) for column in zip(*inside, strict=True))
            print(f"| {low:.1f} to {low + 0.2:.1f} | {len(inside)} | {confidence:.2f} | {right:.2f} |")
    print()


def kinds(cases: Sequence[Any], felt: Sequence[UserEmotion]) -> None:
    right = defaultdict(list)
    for case, each in zip(cases, felt, strict=True):
        right[case["kind"]].append(each.emotion == case["emotion"])
    print("| kind of sentence | right |\n|---|---|")
    for kind, hits in sorted(right.items(), key=lambda item: statistics.fmean(item[1])):
        print(f"| {kind} | {sum(hits)} of {len(hits)} |")
    print()


def distances(cases: Sequence[Any], felt: Sequence[UserEmotion]) -> None:
    """How far sentences of a label land from its prototype, root mean square over the axes."""
    far = defaultdict(list)
    for case, p in zip(cases, pad(felt), strict=True):
        far[case["emotion"]].append(float(np.sqrt(np.mean((p - PROTOTYPES[case["emotion"]]) ** 2))))
    print("| label | mean RMS distance to the prototype | target: at most 0.35 |\n|---|---|---|")
    for label in EMOTIONS:
        mean = statistics.fmean(far[label])
        print(f"| {label} | {mean:.3f} | {'met' if mean <= 0.35 else 'MISSED'} |")
    print()


def appraisals() -> None:
    """Precision, recall and F1 of hostility and repair, from .5 on, over both halves of the set."""
    print("| appraisal | precision | recall | F1 | target | |\n|---|---|---|---|---|---|")
    for name in ("open", "held"):
        file = TESTS / "appraisal" / f"evaluation_{name}.tsv"
        rows = list(csv.DictReader(file.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE))
        felt = [each.appraised for each in heard([row["text"] for row in rows])]
        hostile = [(row["hostile"] == "1", each.hostility >= 0.5) for row, each in zip(rows, felt, strict=True)]
        repair = [(row["repair"] == "1", each.repair >= 0.5) for row, each in zip(rows, felt, strict=True)]
        for what, pairs in (("hostility", hostile), ("repair", repair)):
            print(f"| {what}, {name} set of {len(rows)} | {told_apart(pairs)} |")
    print()


def told_stories() -> None:
    """Of what people expect of the stories, how much holds, over all types they are told to."""
    print("| stories | whole | expectations that hold |\n|---|---|---|")
    for half in ("open", "held"):
        outcomes = [played(story) for story in stories(half)]
        total = sum(each.total for each in outcomes)
        broken = sum(len(each.broken) for each in outcomes)
        whole = sum(not each.broken for each in outcomes)
        print(f"| {half} half | {whole} of {len(outcomes)} | {total - broken} of {total} |")
    print()


def told_apart(pairs: Sequence[tuple[bool, bool]]) -> str:
    hits = sum(truth and found for truth, found in pairs)
    precision, recall = (hits / max(1, sum(column)) for column in (list(zip(*pairs, strict=True))[::-1]))
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return f"{precision:.3f} | {recall:.3f} | {verdict(f1, 0.90)}"


def clinc(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "intents_dev_en.json").read_text("utf-8"))
    return data


def intents_of(examples: dict[str, list[str]]) -> list[Intent]:
    return [
        Intent.model_validate({"id": name, "name": name.replace("_", " "), "match": {"examples": texts}})
        for name, texts in examples.items()
    ]


async def intents(folder: Path) -> None:
    data = clinc(folder)
    print("| intents | measured | target | |\n|---|---|---|---|")
    async with open_local_embedder() as embedder:
        filter_, offers = IntentFilter(embedder), CompiledCatalog(intents_of(data["catalog"]))
        right = [
            [match.intent_id for match in (await filter_.filter(query["text"], offers, NOW)).intents]
            == [query["intent"]]
            for query in data["queries"]
        ]
        away = [not (await filter_.filter(text, offers, NOW)).intents for text in data["out_of_scope"]]
        print(f"| CLINC150, 60 intents, in scope and right | {verdict(statistics.fmean(right), 0.85)} |")
        print(f"| CLINC150, out of scope and fallen back | {verdict(statistics.fmean(away), 0.80)} |")
        for size in (10, 30):
            await sized(filter_, data, size)
        offers = robot()
        exact = [await exactly(filter_, offers, case) for case in said("intents/home_robot_said.yaml")]
        print(f"| home robot, zh, exact decisions of {len(exact)} | {verdict(statistics.fmean(exact), 0.93)} |")
        for who, file in (
            ("in unusual words", "home_robot_unusual"),
            ("by strangers", "home_robot_strangers"),
            ("by strangers, kept aside", "home_robot_kept"),
        ):
            hard = [await exactly(filter_, offers, case) for case in said(f"intents/{file}.yaml")]
            print(f"| the same {who}, exact decisions of {len(hard)} | {verdict(statistics.fmean(hard), 0.92)} |")
        print()


async def sized(filter_: IntentFilter, data: dict[str, Any], size: int) -> None:
    """The mean over three random catalogs of this size: the bar must fit small catalogs too."""
    right, away = [], []
    for seed in range(3):
        names = random.Random(seed).sample(sorted(data["catalog"]), size)
        offers = CompiledCatalog(intents_of({name: data["catalog"][name] for name in names}))
        for query in data["queries"]:
            if query["intent"] in names:
                found = (await filter_.filter(query["text"], offers, NOW)).intents
                right.append([match.intent_id for match in found] == [query["intent"]])
        away += [not (await filter_.filter(text, offers, NOW)).intents for text in data["out_of_scope"]]
    print(f"| CLINC150, {size} intents, in scope and right | {verdict(statistics.fmean(right), 0.85)} |")
    print(f"| CLINC150, {size} intents, out of scope and fallen back | {verdict(statistics.fmean(away), 0.80)} |")


def robot() -> CompiledCatalog:
    return CompiledCatalog([Intent.model_validate(intent) for intent in said("intents/home_robot.yaml")])


async def exactly(filter_: IntentFilter, offers: CompiledCatalog, case: Any) -> bool:
    result = await filter_.filter(case["text"], offers, NOW)
    got = [(match.intent_id, match.parameters, match.status) for match in result.intents]
    want = [(each["id"], each["parameters"], each["status"]) for each in case["intents"]]
    return (result.decision.action, got) == (case["action"], want)


async def speed(folder: Path) -> None:
    """Fresh texts in every round, so that nothing is remembered."""
    catalog = CompiledCatalog((robot().intents + intents_of(clinc(folder)["catalog"]))[:CATALOG_SIZE])
    zh = [case["text"] for case in [*said("intents/home_robot_said.yaml"), *said("emotion/evaluation.yaml")]]
    texts = [*zh, *(query["text"] for query in clinc(folder)["queries"])]
    async with open_local_embedder() as embedder:
        recogniser, filter_ = LocalRecogniser(embedder), IntentFilter(embedder)

        async def both(text: str) -> None:
            filter_.expect(text)
            await recogniser.recognise(text)
            await filter_.filter(text, catalog, NOW)

        await both("你好，把灯打开")
        await one_by_one(both, random.Random(7).sample(texts, 600))
        await together(both, embedder, random.Random(8).sample(texts, len(texts)))


async def one_by_one(both: Act, texts: Sequence[str]) -> None:
    took = [await cpu(both, fresh(text, str(n))) for n, text in enumerate(texts)]
    p50 = statistics.median(took)
    print("| emotion and intents over 50 intents, one by one | CPU ms | target: at most 8 at p50 |\n|---|---|---|")
    print(f"| p50 | {p50:.2f} | {'met' if p50 <= 8 else 'MISSED'} |")
    print(f"| p95 | {statistics.quantiles(took, n=20)[-1]:.2f} | |\n")


async def together(both: Act, embedder: Embedder, texts: Sequence[str]) -> None:
    """Each ratio is that of two neighbours in time; of the rounds the median."""
    rates = defaultdict(list)
    for n in range(ROUNDS):
        rates[ONE_A_CALL].append(rate(texts, f"s{n}", 1))
        rates["through the embedder"].append(await concurrently(lambda text: embedder.embed([text]), texts, f"b{n}"))
        rates[BATCHED].append(rate(texts, f"a{n}", CONCURRENT))
        rates["emotion and intents"].append(await concurrently(both, texts, f"c{n}"))
    print(
        f"| {CONCURRENT} concurrent | sentences a second | of the {ONE_A_CALL} | of the {BATCHED} |\n|---|---|---|---|"
    )
    for what, each in rates.items():
        single, batched = (share(each, rates[of]) for of in (ONE_A_CALL, BATCHED))
        print(f"| {what} | {statistics.median(each):.0f} | {single:.2f} | {batched:.2f} |")
    told = " and ".join("met" if ratio >= 0.8 else "MISSED" for ratio in (single, batched))
    print(f"\nTarget of emotion and intents: 0.8 of the encoder's own; {told}")


def share(rates: Sequence[float], own: Sequence[float]) -> float:
    return statistics.median(rate / whole for rate, whole in zip(rates, own, strict=True))


def fresh(text: str, mark: str) -> str:
    """In front: at the end it would often be a clause of its own."""
    return f"{mark} {text}"


async def cpu(act: Act, text: str) -> float:
    began = time.process_time()
    await act(text)
    return (time.process_time() - began) * 1000


def rate(texts: Sequence[str], mark: str, batch: int) -> float:
    marked, began = [fresh(text, mark) for text in texts], time.perf_counter()
    for at in range(0, len(marked), batch):
        encode(marked[at : at + batch])
    return len(texts) / (time.perf_counter() - began)


async def concurrently(act: Act, texts: Sequence[str], mark: str) -> float:
    waiting, began = iter(texts), time.perf_counter()

    async def worker() -> None:
        for text in waiting:
            await act(fresh(text, mark))

    await asyncio.gather(*(worker() for _ in range(CONCURRENT)))
    return len(texts) / (time.perf_counter() - began)


def main(folder: Path) -> None:
    public_emotions(folder)
    own_emotions()
    appraisals()
    told_stories()
    asyncio.run(intents(folder))
    asyncio.run(speed(folder))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python bench/senses.py DATA_FOLDER (see scripts/training/public_sets.py)")
    main(Path(sys.argv[1]))
