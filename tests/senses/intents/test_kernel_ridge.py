"""The regression by blocks of rows is the plain one, whatever the number of rows."""

import numpy as np
import pytest

from soulgraph.senses.intents import kernel_ridge
from soulgraph.senses.intents.kernel_ridge import solve
from soulgraph.senses.intents.pieces import at_once

RIDGE = 0.1


def problem(size):
    vectors = np.random.default_rng(size).normal(size=(size, 5)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    classes = np.repeat(np.arange(-(-size // 3)), 3)[:size]
    return np.clip(vectors @ vectors.T, 0, 1) ** 3, classes


def solved(kernel, classes):
    return at_once(solve(lambda start, end: kernel[start:end, :end], classes, RIDGE))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(kernel_ridge, "BLOCK", 16)


@pytest.mark.parametrize("size", [1, 15, 16, 17, 70])
def test_the_weights_are_those_of_the_inverse(size):
    kernel, classes = problem(size)
    plain = np.linalg.inv(kernel + RIDGE * np.eye(size)) @ np.eye(classes[-1] + 1)[classes]
    assert solved(kernel, classes).weights == pytest.approx(plain, abs=1e-4)


def test_a_row_is_scored_as_if_it_had_not_been_learned():
    kernel, classes = problem(40)
    left_out = solved(kernel, classes).left_out
    for row in (0, 17, 39):
        others = np.arange(40) != row
        among = kernel[np.ix_(others, others)] + RIDGE * np.eye(39)
        weights = np.linalg.inv(among) @ np.eye(classes[-1] + 1)[classes[others]]
        assert left_out[row] == pytest.approx(kernel[row, others] @ weights, abs=1e-3)


def test_each_block_is_a_piece():
    kernel, classes = problem(70)
    assert sum(1 for _ in solve(lambda start, end: kernel[start:end, :end], classes, RIDGE)) == 5
