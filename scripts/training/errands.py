"""Trains the head of the sense of errands: `python -m soulgraph.scripts.training.errands [OUTPUT]`.

`errands.jsonl` has requests that several authors made up who knew nothing of the code: of programs (`task`) and of
people (`speech`). With them go the opened cases of `tests/clients`, and plain sentences of the other senses' training.
To check the head, each author is held out in turn.
"""

import json
import random
import sys
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from scipy.sparse import csr_array  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from soulgraph.api.errands import asked_in
from soulgraph.api.openai_request import CompletionRequest
from soulgraph.senses.arrays import Floats
from soulgraph.senses.errands.head import BUCKETS, FILE, Sparse, features_of

HERE = Path(__file__).parent
CASES = Path(__file__).parents[2] / "tests" / "clients"
OPENED = ("open", "held", "third")
STORIES = ("held", "third", "fourth")
BEFORE = [{"role": "user", "content": "I slept badly."}, {"role": "assistant", "content": "Was it the storm again?"}]
PLAIN = 800  # sentences of other trainings, each a request of its own
COST = 4.0  # of what is on the wrong side; 1 to 16 did as well
THRESHOLDS = (0.5, 0.8, 0.9, 0.95)
STEPS = 127  # of a weight in the file


class Example(NamedTuple):
    author: str
    is_errand: bool
    features: Sparse


def examples() -> list[Example]:
    told = [json.loads(line) for line in (HERE / "errands.jsonl").read_text("utf-8").splitlines()]
    found = [_example(one["author"], one["label"] == "task", one["messages"], one.get("body", {})) for one in told]
    return [*found, *_opened(), *_stories(), *_plain()]


def _example(author: str, is_errand: bool, messages: list[Any], body: dict[str, Any]) -> Example:
    request = CompletionRequest.model_validate({**body, "model": "soul:Mo", "messages": messages})
    return Example(author, is_errand, features_of(asked_in(request, request.messages)))


def _opened() -> Iterable[Example]:
    for half in OPENED:
        for kind in ("tasks", "speech"):
            for case in yaml.safe_load((CASES / f"{kind}_{half}.yaml").read_text("utf-8")):
                messages = case.get("messages") or [{"role": "user", "content": case["text"]}]
                yield _example(half, kind == "tasks", messages, case.get("body", {}))


def _stories() -> Iterable[Example]:
    """What is said in the stories of resent histories, at the beginning of a talk and later."""
    for half in STORIES:
        for story in yaml.safe_load((CASES / f"histories_{half}.yaml").read_text("utf-8")):
            for text in (step["text"] for step in story["steps"] if "text" in step):
                line = {"role": "user", "content": text}
                yield _example("stories", False, [line], {})
                yield _example("stories", False, [*BEFORE, line], {})


def _plain() -> Iterable[Example]:
    lines = [line for name in ("plans", "told") for line in (HERE / f"{name}.tsv").read_text("utf-8").splitlines()]
    for line in random.Random(1).sample(lines, PLAIN):
        yield _example("plain", False, [{"role": "user", "content": line.rpartition("\t")[2]}], {})


def fit(known: Sequence[Example]) -> tuple[Floats, Floats]:
    model = LogisticRegression(C=COST, max_iter=3000).fit(_matrix(known), [one.is_errand for one in known])
    return model.coef_[0].astype(np.float32), model.intercept_.astype(np.float32)


def _matrix(some: Sequence[Example]) -> csr_array:
    rows = [row for row, one in enumerate(some) for _ in one.features.places]
    columns = [place for one in some for place in one.features.places]
    values = [value for one in some for value in one.features.values]
    return csr_array((values, (rows, columns)), shape=(len(some), BUCKETS))


def report(name: str, some: Sequence[Example], head: tuple[Floats, Floats]) -> None:
    likely = 1 / (1 + np.exp(-(_matrix(some) @ head[0] + head[1])))
    is_errand = np.array([one.is_errand for one in some])
    told = [
        f"above {limit}: {(likely[is_errand] > limit).sum()} errands, {(likely[~is_errand] > limit).sum()} speech"
        for limit in THRESHOLDS
    ]
    sys.stdout.write(f"{name} held out ({is_errand.sum()} errands, {(~is_errand).sum()} speech): {'; '.join(told)}\n")


def main(output: Path) -> None:
    known = examples()
    for author in dict.fromkeys(one.author for one in known):
        rest = [one for one in known if one.author != author]
        report(author, [one for one in known if one.author == author], fit(rest))
    weights, bias = fit(known)
    step = np.abs(weights).max() / STEPS
    whole = np.round(weights / step).astype(np.int8)
    np.savez_compressed(output, weights=whole, weights_step=np.float32(step), bias=bias)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(str(files("soulgraph.senses.errands") / FILE)))
