"""Algorithm 2 of the paper in plain numpy and scipy, one `eigsh` an iteration: the box, and as its authors ran it."""

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


def published_rounds(matrix, tolerance=1e-5, seed=0):
    """Yields like `rounds`, by the rules of the authors' own program instead of those of the box (see PAPER.md).

    Only weights with |v_i| > 1.1 grow: by exp(step min(v_i^2 - 1, 4)) in the first 2n rounds, by 1 + 2 step in the
    next 2n; the step is halved every n/2 rounds. Weights are smoothed by 0.05, the eigenvector is to 1e-5, and the
    dual is that of the best round. Vectors take the place of their loops over i, and the diagonal that of their X.
    """
    n = len(matrix)
    start = np.random.default_rng(seed).standard_normal(n)
    weights = np.ones(n)
    diagonal = np.zeros(n)
    best, dual, step, epoch = np.inf, weights, 0.5, max(round(n / 2), 1)
    for t in range(4 * n):
        if t + 1 == 2 * n:
            step = 0.01
        if t % epoch == 0 and (step > 0.01 or t > 2 * n):
            step /= 2
        smoothed = 0.95 * weights + 0.05
        scale = 1 / np.sqrt(smoothed)
        values, vectors = eigsh(matrix * scale[:, None] * scale, k=1, which="LA", tol=tolerance, v0=start)
        squares = n * (scale * vectors[:, 0]) ** 2
        diagonal = diagonal + (squares - diagonal) / (t + 1)
        if n * values[0] < best:
            best, dual = n * values[0], values[0] * smoothed
        growth = step * np.minimum(squares - 1, 4) if t < 2 * n else np.log1p(2 * step)
        weights = weights * np.exp(np.where(squares > 1.1**2, growth, 0))
        weights *= n / weights.sum()
        yield best, dual, diagonal


def certify_sdp(matrix, iterations, accuracy=0.005, tolerance=1e-5, seed=0):
    """What `rounds` has after exactly `iterations` rounds."""
    return next(itertools.islice(rounds(matrix, accuracy, tolerance, seed), iterations - 1, None))
