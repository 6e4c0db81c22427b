"""Fits pleasure, arousal and dominance: rbf_kernel to landmarks, words and label shares, then word pieces."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]
from sklearn.linear_model import Ridge  # type: ignore[import-untyped]

from soulgraph.scripts.training.sight import Floats, Seen
from soulgraph.senses.emotion.heads import rbf_kernel

Arrays = dict[str, NDArray[np.generic]]

AXES, LANDMARKS, REACH = 128, 4096, 2.0
PENALTY, PIECE_PENALTY = 1.5, 4.0
WORDS_SCALE, SHARES_SCALE = 0.3, 0.4  # how freely words and shares may speak under the common penalty
FOLDS = 5


class Rating(NamedTuple):
    """Texts with their label shares and known p, a, d, and how much each counts."""

    seen: Seen
    shares: Floats
    pad: Floats
    weights: Floats


def fit_pad(rating: Rating, places: Floats, seed: int) -> Arrays:
    """Landmarks are drawn from `places`; the word pieces learn what the rest leaves on texts it did not see."""
    centre, axes = principal_axes(places)
    points: Floats = np.dot(places - centre, axes)
    rated_points: Floats = np.dot(rating.seen.vectors - centre, axes)
    landmarks, step = as_bytes(points[np.random.default_rng(seed).permutation(len(points))[:LANDMARKS]])
    marks = landmarks.astype(np.float32) * step
    echoes = rbf_kernel(rated_points, marks, REACH)
    dense = np.hstack([echoes, rating.seen.words * WORDS_SCALE, rating.shares * SHARES_SCALE])
    level = np.average(rating.pad, axis=0, weights=rating.weights).astype(np.float32)
    target, penalty = rating.pad - level, _penalty(marks, dense.shape[1])
    solved = _ridge(dense, target, rating.weights, penalty)
    left = target - _held_out(dense, target, rating.weights, penalty)
    echo, words, shares = np.split(solved, [len(marks), len(marks) + rating.seen.words.shape[1]])
    fitted: Arrays = {
        "echo": echo,
        "from_words": words * WORDS_SCALE,
        "from_shares": shares * SHARES_SCALE,
        "level": level,
    }
    place: Arrays = {"centre": centre, "axes": axes.astype(np.float16), "landmarks": landmarks, "landmarks_step": step}
    return {**place, **fitted, **fit_pieces(rating, left), "reach": np.array([REACH], np.float32)}


def fit_pieces(rating: Rating, left: Floats) -> Arrays:
    pieces = rating.seen.pieces
    rarity = _rarity(pieces)
    weighted = pieces @ sparse.diags(rarity)
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(1)).ravel())
    rows = (sparse.diags(1 / np.maximum(lengths, 1e-6)) @ weighted).tocsr()
    model = Ridge(PIECE_PENALTY, fit_intercept=False, solver="sparse_cg", tol=1e-4)
    stored, step = as_bytes(model.fit(rows, left, sample_weight=rating.weights).coef_.T)
    return {"from_pieces": stored, "from_pieces_step": step, "rarity": rarity.astype(np.float16)}


def principal_axes(vectors: Floats) -> tuple[Floats, Floats]:
    centre = vectors.mean(0)
    _, axes = np.linalg.eigh((vectors - centre).T @ (vectors - centre))
    return centre, axes[:, -AXES:].astype(np.float16).astype(np.float32)


def as_bytes(values: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Rounded to steps of 1/127 of the largest value."""
    step = np.array(max(float(np.abs(values).max()), 1e-9) / 127, np.float32)
    return np.round(values / step).astype(np.int8), step


def _penalty(marks: Floats, size: int) -> NDArray[np.float64]:
    """The kernel's own norm for the echoes, plain ridge for the rest."""
    penalty = np.eye(size)
    penalty[: len(marks), : len(marks)] = rbf_kernel(marks, marks, REACH) + 1e-3 * np.eye(len(marks))
    return penalty


def _ridge(dense: Floats, target: Floats, weights: Floats, penalty: NDArray[np.float64]) -> Floats:
    weighted = dense * weights[:, None]
    solved = np.linalg.solve(weighted.T @ dense + PENALTY * penalty, weighted.T @ target)
    return solved.astype(np.float32)


def _held_out(dense: Floats, target: Floats, weights: Floats, penalty: NDArray[np.float64]) -> Floats:
    predicted = np.zeros_like(target)
    for fold in range(FOLDS):
        out = np.arange(len(dense)) % FOLDS == fold
        predicted[out] = dense[out] @ _ridge(dense[~out], target[~out], weights[~out], penalty)
    return predicted


def _rarity(pieces: sparse.csr_matrix) -> Floats:
    seen_in = np.asarray((pieces > 0).sum(0)).ravel()
    rarity: Floats = (np.log((1 + pieces.shape[0]) / (1 + seen_in)) + 1).astype(np.float16).astype(np.float32)
    return rarity
