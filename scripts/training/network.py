"""A small network from inputs to label logits, with one hidden layer and a skip connection, and its training."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class TrainingSet(NamedTuple):
    """Inputs, target shares of the labels, and the weight of each row."""

    inputs: Floats
    shares: Floats
    weights: Floats


@dataclass(frozen=True)
class TrainingConfig:
    """The hyperparameters of the training."""

    hidden: int = 256
    epochs: int = 12
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


def fit(data: TrainingSet, config: TrainingConfig) -> Network:
    """Trains with AdamW and cosine decay of the learning rate; the same seed gives the same network."""
    rng = np.random.default_rng(config.seed)
    network = _initial_network(data.inputs.shape[1], data.shares.shape[1], config, rng)
    moments = [(np.zeros_like(weight), np.zeros_like(weight)) for weight in network]
    steps = config.epochs * _batch_count(data, config)
    for step, rows in enumerate(_shuffled_batches(data, config, rng), start=1):
        rate = config.rate * 0.5 * (1 + np.cos(np.pi * step / steps))
        gradients = _gradients(network, TrainingSet(*(column[rows] for column in data)), config, rng)
        for weight, gradient, moment in zip(network, gradients, moments, strict=True):
            _adam(weight, gradient, moment, rate, config.decay, step)
    return network


def softmax(logits: Floats) -> Floats:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares


def _initial_network(inputs: int, outputs: int, config: TrainingConfig, rng: np.random.Generator) -> Network:
    inner = (rng.normal(size=(inputs, config.hidden)) * np.sqrt(2 / inputs)).astype(np.float32)
    outer = (rng.normal(size=(config.hidden, outputs)) * 0.05).astype(np.float32)
    bias = np.zeros(outputs, np.float32)
    direct = np.zeros((inputs, outputs), np.float32)
    return Network(inner, np.zeros(config.hidden, np.float32), outer, direct, bias)


def _gradients(network: Network, data: TrainingSet, config: TrainingConfig, rng: np.random.Generator) -> list[Floats]:
    """The gradients of the cross-entropy, with dropout in the hidden layer."""
    kept = np.float32(1 - config.dropout)
    hidden = np.maximum(data.inputs @ network.inner + network.inner_bias, 0)
    hidden *= (rng.random(hidden.shape, dtype=np.float32) < kept) / kept
    logits = hidden @ network.outer + data.inputs @ network.direct + network.bias
    error = (softmax(logits) - data.shares) * data.weights[:, None] / len(logits)
    back = (error @ network.outer.T) * (hidden > 0) / kept
    inputs = data.inputs.T
    return [inputs @ back, back.sum(0), hidden.T @ error, inputs @ error, error.sum(0)]


def _adam(
    weight: Floats, gradient: Floats, moment: tuple[Floats, Floats], rate: float, decay: float, step: int
) -> None:
    first, second = moment
    first += 0.1 * (gradient - first)
    second += 0.001 * (gradient * gradient - second)
    move = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    weight -= (rate * (move + decay * weight)).astype(np.float32)


def _batch_count(data: TrainingSet, config: TrainingConfig) -> int:
    return max(1, len(data.inputs) // config.batch)


def _shuffled_batches(data: TrainingSet, config: TrainingConfig, rng: np.random.Generator) -> Iterator[Rows]:
    for _ in range(config.epochs):
        order = rng.permutation(len(data.inputs))
        for batch in range(_batch_count(data, config)):
            yield order[batch * config.batch : (batch + 1) * config.batch]
