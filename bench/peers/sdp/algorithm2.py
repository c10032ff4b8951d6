"""Algorithm 2 of the paper in plain numpy and scipy: the box, line by line, one `eigsh` an iteration."""

import itertools

import numpy as np
from scipy.sparse.linalg import eigsh


def rounds(matrix, accuracy=0.005, tolerance=1e-5, seed=0):
    """Yields after each round (least n*lambda met, averaged dual y, averaged diagonal of X), without end.

    The damping is the aggressive one of gambeson (the fastest weight grows by exp(1/sqrt(t)) in round t), so that
    both do the same work. Nothing here is a proof: `eigsh` returns a Ritz value, which lies below the eigenvalue.
    """
    n = len(matrix)
    start = np.random.default_rng(seed).standard_normal(n)
    weights = np.ones(n)
    dual = np.zeros(n)
    diagonal = np.zeros(n)
    best = np.inf
    for t in itertools.count():
        smoothed = (1 - accuracy) * weights + accuracy
        scale = 1 / np.sqrt(smoothed)
        values, vectors = eigsh(matrix * scale[:, None] * scale, k=1, which="LA", tol=tolerance, v0=start)
        eigenvalue, u = values[0], vectors[:, 0]
        squares = n * (scale * u) ** 2
        dual = dual + (eigenvalue * smoothed - dual) / (t + 1)
        diagonal = diagonal + (squares - diagonal) / (t + 1)
        best = min(best, n * eigenvalue)
        step = 1 / (np.sqrt(t + 1) * max(squares.max() - 1, 1))
        weights *= np.exp(step * (squares - squares.max()))
        weights *= n / weights.sum()
        yield best, dual, diagonal


def certify_sdp(matrix, iterations, accuracy=0.005, tolerance=1e-5, seed=0):
    """What `rounds` has after exactly `iterations` rounds."""
    return next(itertools.islice(rounds(matrix, accuracy, tolerance, seed), iterations - 1, None))
