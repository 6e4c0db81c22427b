"""Fits the head of pleasure, arousal and dominance: RBF landmarks, words and label shares, then word pieces."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]
from sklearn.linear_model import Ridge  # type: ignore[import-untyped]

from soulgraph.scripts.training.text_inputs import Floats, TextInputs
from soulgraph.senses.emotion.heads import rbf_kernel

Arrays = dict[str, NDArray[np.generic]]

AXES, LANDMARKS, REACH = 128, 4096, 2.0
PENALTY, PIECE_PENALTY = 1.5, 4.0
WORDS_SCALE, SHARES_SCALE = 0.3, 0.4  # larger: less regularised by the common penalty
FOLDS = 5


class PadTrainingSet(NamedTuple):
    """Texts with their label shares and known p, a, d, and the weight of each."""

    texts: TextInputs
    shares: Floats
    pad: Floats
    weights: Floats


def fit_pad(data: PadTrainingSet, vectors: Floats, seed: int) -> Arrays:
    """Landmarks are drawn from `vectors`; the word pieces are fitted to the held-out residuals of the rest."""
    centre, axes = principal_axes(vectors)
    points: Floats = np.dot(vectors - centre, axes)
    rated_points: Floats = np.dot(data.texts.vectors - centre, axes)
    landmarks, step = as_bytes(points[np.random.default_rng(seed).permutation(len(points))[:LANDMARKS]])
    centres = landmarks.astype(np.float32) * step
    similarities = rbf_kernel(rated_points, centres, REACH)
    dense = np.hstack([similarities, data.texts.words * WORDS_SCALE, data.shares * SHARES_SCALE])
    level = np.average(data.pad, axis=0, weights=data.weights).astype(np.float32)
    target = data.pad - level
    penalty = _penalty_matrix(centres, dense.shape[1])
    solved = _ridge(dense, target, data.weights, penalty)
    residual = target - _held_out_predictions(dense, target, data.weights, penalty)
    echo, words, shares = np.split(solved, [len(centres), len(centres) + data.texts.words.shape[1]])
    weights: Arrays = {
        "echo": echo,
        "from_words": words * WORDS_SCALE,
        "from_shares": shares * SHARES_SCALE,
        "level": level,
    }
    place: Arrays = {"centre": centre, "axes": axes.astype(np.float16), "landmarks": landmarks, "landmarks_step": step}
    return {**place, **weights, **fit_pieces(data, residual), "reach": np.array([REACH], np.float32)}


def fit_pieces(data: PadTrainingSet, residual: Floats) -> Arrays:
    pieces = data.texts.pieces
    idf = _idf(pieces)
    weighted = pieces @ sparse.diags(idf)
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(1)).ravel())
    rows = (sparse.diags(1 / np.maximum(lengths, 1e-6)) @ weighted).tocsr()
    model = Ridge(PIECE_PENALTY, fit_intercept=False, solver="sparse_cg", tol=1e-4)
    stored, step = as_bytes(model.fit(rows, residual, sample_weight=data.weights).coef_.T)
    return {"from_pieces": stored, "from_pieces_step": step, "rarity": idf.astype(np.float16)}


def principal_axes(vectors: Floats) -> tuple[Floats, Floats]:
    centre = vectors.mean(0)
    _, axes = np.linalg.eigh((vectors - centre).T @ (vectors - centre))
    return centre, axes[:, -AXES:].astype(np.float16).astype(np.float32)


def as_bytes(values: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Quantises to int8 in steps of 1/127 of the largest value; returns the step too."""
    step = np.array(max(float(np.abs(values).max()), 1e-9) / 127, np.float32)
    return np.round(values / step).astype(np.int8), step


def _penalty_matrix(centres: Floats, size: int) -> NDArray[np.float64]:
    """The kernel's own norm for the similarities, plain ridge for the rest."""
    penalty = np.eye(size)
    penalty[: len(centres), : len(centres)] = rbf_kernel(centres, centres, REACH) + 1e-3 * np.eye(len(centres))
    return penalty


def _ridge(dense: Floats, target: Floats, weights: Floats, penalty: NDArray[np.float64]) -> Floats:
    weighted = dense * weights[:, None]
    solved = np.linalg.solve(weighted.T @ dense + PENALTY * penalty, weighted.T @ target)
    return solved.astype(np.float32)


def _held_out_predictions(dense: Floats, target: Floats, weights: Floats, penalty: NDArray[np.float64]) -> Floats:
    predicted = np.zeros_like(target)
    for fold in range(FOLDS):
        out = np.arange(len(dense)) % FOLDS == fold
        predicted[out] = dense[out] @ _ridge(dense[~out], target[~out], weights[~out], penalty)
    return predicted


def _idf(pieces: sparse.csr_matrix) -> Floats:
    seen_in = np.asarray((pieces > 0).sum(0)).ravel()
    idf: Floats = (np.log((1 + pieces.shape[0]) / (1 + seen_in)) + 1).astype(np.float16).astype(np.float32)
    return idf
