"""A small network and its fitting: a hidden layer beside a direct path, to labels and to pleasure/arousal/dominance."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class Batch(NamedTuple):
    """Inputs with what they should give; a weight of 0 says "unknown here"."""

    inputs: Floats
    labels: Floats
    label_weights: Floats
    pad: Floats
    pad_weights: Floats

    def rows(self, index: NDArray[np.int64]) -> "Batch":
        return Batch(*(column[index] for column in self))


@dataclass(frozen=True)
class Plan:
    """How the network is fitted."""

    hidden: int = 192
    epochs: int = 12
    batch: int = 160
    rate: float = 1e-3
    decay: float = 1e-3
    dropout: float = 0.5
    pad_share: float = 0.3
    seed: int = 7


@dataclass
class Network:
    """`labels` columns of logits, then three of P, A, D."""

    inner: Floats
    inner_bias: Floats
    outer: Floats
    direct: Floats
    bias: Floats
    labels: int = field(default=15)

    @classmethod
    def blank(cls, inputs: int, outputs: int, plan: Plan, rng: np.random.Generator) -> "Network":
        inner = rng.normal(size=(inputs, plan.hidden)) * np.sqrt(2 / inputs)
        outer = rng.normal(size=(plan.hidden, outputs)) * 0.05
        zeros = np.zeros
        return cls(
            inner.astype("f"),
            zeros(plan.hidden, "f"),
            outer.astype("f"),
            zeros((inputs, outputs), "f"),
            zeros(outputs, "f"),
        )

    @property
    def weights(self) -> list[Floats]:
        return [self.inner, self.inner_bias, self.outer, self.direct, self.bias]

    def __call__(self, inputs: Floats) -> Floats:
        hidden = np.maximum(inputs @ self.inner + self.inner_bias, 0)
        return hidden @ self.outer + inputs @ self.direct + self.bias

    def gradients(self, batch: Batch, plan: Plan, rng: np.random.Generator) -> list[Floats]:
        hidden = np.maximum(batch.inputs @ self.inner + self.inner_bias, 0)
        hidden *= (rng.random(hidden.shape, dtype=np.float32) >= plan.dropout) / np.float32(1 - plan.dropout)
        error = self._error(hidden @ self.outer + batch.inputs @ self.direct + self.bias, batch, plan)
        back = (error @ self.outer.T) * (hidden > 0) / np.float32(1 - plan.dropout)
        inputs = batch.inputs.T
        return [inputs @ back, back.sum(0), hidden.T @ error, inputs @ error, error.sum(0)]

    def _error(self, outputs: Floats, batch: Batch, plan: Plan) -> Floats:
        """The gradient of cross-entropy (labels) and of squared error (PAD) at the outputs."""
        labels = (softmax(outputs[:, : self.labels]) - batch.labels) * batch.label_weights[:, None]
        pad = (outputs[:, self.labels :] - batch.pad) * batch.pad_weights * plan.pad_share
        return np.hstack([labels, pad]) / len(outputs)


def fit(batch: Batch, plan: Plan) -> Network:
    """Adam with decoupled weight decay, the rate falling along half a cosine."""
    rng = np.random.default_rng(plan.seed)
    network = Network.blank(batch.inputs.shape[1], batch.labels.shape[1] + batch.pad.shape[1], plan, rng)
    network.labels = batch.labels.shape[1]
    moments = [(np.zeros_like(w), np.zeros_like(w)) for w in network.weights]
    steps = plan.epochs * max(1, len(batch.inputs) // plan.batch)
    for step, rows in enumerate(_shuffles(len(batch.inputs), plan, rng, steps), start=1):
        rate = plan.rate * 0.5 * (1 + np.cos(np.pi * step / steps))
        gradients = network.gradients(batch.rows(rows), plan, rng)
        for weight, gradient, moment in zip(network.weights, gradients, moments, strict=True):
            _adam(weight, gradient, moment, rate, plan.decay, step)
    return network


def softmax(logits: Floats) -> Floats:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares


def _adam(
    weight: Floats, gradient: Floats, moment: tuple[Floats, Floats], rate: float, decay: float, step: int
) -> None:
    first, second = moment
    first += 0.1 * (gradient - first)
    second += 0.001 * (gradient * gradient - second)
    move = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    weight -= rate * (move + decay * weight)


def _shuffles(size: int, plan: Plan, rng: np.random.Generator, steps: int) -> Iterator[NDArray[np.int64]]:
    per_epoch = max(1, size // plan.batch)
    for step in range(steps):
        if step % per_epoch == 0:
            order = rng.permutation(size)
        at = step % per_epoch * plan.batch
        yield order[at : at + plan.batch]
