"""A small network from inputs to label logits, a hidden layer beside a direct path, and its fitting."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class Lessons(NamedTuple):
    """Inputs, the share each label should get, and how much each row counts."""

    inputs: Floats
    shares: Floats
    weights: Floats


@dataclass(frozen=True)
class Plan:
    """How the network is fitted."""

    hidden: int = 256
    epochs: int = 8
    batch: int = 160
    rate: float = 1e-3
    decay: float = 1e-3
    dropout: float = 0.5
    seed: int = 7


class Network(NamedTuple):
    inner: Floats
    inner_bias: Floats
    outer: Floats
    direct: Floats
    bias: Floats

    def __call__(self, inputs: Floats) -> Floats:
        hidden = np.maximum(inputs @ self.inner + self.inner_bias, 0)
        logits: Floats = hidden @ self.outer + inputs @ self.direct + self.bias
        return logits


def fit(lessons: Lessons, plan: Plan) -> Network:
    """Adam with decoupled weight decay, the rate falling along half a cosine; the same seed gives the same network."""
    rng = np.random.default_rng(plan.seed)
    network = _blank(lessons.inputs.shape[1], lessons.shares.shape[1], plan, rng)
    moments = [(np.zeros_like(weight), np.zeros_like(weight)) for weight in network]
    steps = plan.epochs * _batches(lessons, plan)
    for step, rows in enumerate(_shuffles(lessons, plan, rng), start=1):
        rate = plan.rate * 0.5 * (1 + np.cos(np.pi * step / steps))
        gradients = _gradients(network, Lessons(*(column[rows] for column in lessons)), plan, rng)
        for weight, gradient, moment in zip(network, gradients, moments, strict=True):
            _adam(weight, gradient, moment, rate, plan.decay, step)
    return network


def softmax(logits: Floats) -> Floats:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares


def _blank(inputs: int, outputs: int, plan: Plan, rng: np.random.Generator) -> Network:
    inner = (rng.normal(size=(inputs, plan.hidden)) * np.sqrt(2 / inputs)).astype(np.float32)
    outer = (rng.normal(size=(plan.hidden, outputs)) * 0.05).astype(np.float32)
    bias, direct = np.zeros(outputs, np.float32), np.zeros((inputs, outputs), np.float32)
    return Network(inner, np.zeros(plan.hidden, np.float32), outer, direct, bias)


def _gradients(network: Network, lessons: Lessons, plan: Plan, rng: np.random.Generator) -> list[Floats]:
    """Of the cross-entropy, with a part of the hidden layer left out at random."""
    kept = np.float32(1 - plan.dropout)
    hidden = np.maximum(lessons.inputs @ network.inner + network.inner_bias, 0)
    hidden *= (rng.random(hidden.shape, dtype=np.float32) < kept) / kept
    logits = hidden @ network.outer + lessons.inputs @ network.direct + network.bias
    error = (softmax(logits) - lessons.shares) * lessons.weights[:, None] / len(logits)
    back = (error @ network.outer.T) * (hidden > 0) / kept
    inputs = lessons.inputs.T
    return [inputs @ back, back.sum(0), hidden.T @ error, inputs @ error, error.sum(0)]


def _adam(
    weight: Floats, gradient: Floats, moment: tuple[Floats, Floats], rate: float, decay: float, step: int
) -> None:
    first, second = moment
    first += 0.1 * (gradient - first)
    second += 0.001 * (gradient * gradient - second)
    move = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    weight -= (rate * (move + decay * weight)).astype(np.float32)


def _batches(lessons: Lessons, plan: Plan) -> int:
    return max(1, len(lessons.inputs) // plan.batch)


def _shuffles(lessons: Lessons, plan: Plan, rng: np.random.Generator) -> Iterator[Rows]:
    for _ in range(plan.epochs):
        order = rng.permutation(len(lessons.inputs))
        for batch in range(_batches(lessons, plan)):
            yield order[batch * plan.batch : (batch + 1) * plan.batch]
