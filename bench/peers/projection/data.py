"""The matrices of the comparisons in this folder, of real images and of planted sparse groups."""

import os
import tarfile
from pathlib import Path

import numpy as np
import scipy.fft

ARCHIVE = "cifar-100-binary.tar.xz"
PIXELS = 1024  # 32 x 32, one channel
RANK = 10  # of the principal components that are taken off


def archive():
    """Where the images are: $GAMBESON_REFERENCE_DATA."""
    folder = os.environ.get("GAMBESON_REFERENCE_DATA")
    if folder is None:
        raise SystemExit(f"set GAMBESON_REFERENCE_DATA to the folder that has {ARCHIVE}")
    return Path(folder) / ARCHIVE


def cifar_red():
    """Training images of CIFAR-100, red channel, bytes: 50,000 x 1024."""
    with tarfile.open(archive()) as files:
        member = next(member for member in files if member.name.endswith("train.bin"))
        bytes_ = np.frombuffer(files.extractfile(member).read(), np.uint8)
    return np.ascontiguousarray(bytes_.reshape(-1, 2 + 3 * PIXELS)[:, 2 : 2 + PIXELS])


def cifar_dct():
    """The same divided by 255, orthonormal two-dimensional DCT-II."""
    red = cifar_red().reshape(-1, 32, 32) / 255
    return scipy.fft.dctn(red, axes=(1, 2), norm="ortho").reshape(-1, PIXELS)


def scaled(matrix):
    """Columns centred, which scikit-learn would do itself, then all times one factor so that columns have mean square 1.

    Both sides get this matrix and centre it again, which changes rounding errors alone.
    """
    matrix = matrix - matrix.mean(axis=0)
    return matrix * (np.sqrt(matrix.shape[1]) / np.linalg.norm(matrix))


def cifar():
    """M' = M - P M P, scaled: M the uncentred second moments of the DCT, trace 1, P onto its RANK leading eigenvectors."""
    images = cifar_dct()
    moments = images.T @ images
    moments /= np.trace(moments)
    leading = np.linalg.eigh(moments)[1][:, -RANK:]
    return scaled(moments - leading @ (leading.T @ moments @ leading) @ leading.T)


def planted(seed=1, groups=200, noise=0.3):
    """Hidden variables that move 10 to 39 of 1024 features each, which overlap, and noise: 1024 x 1024, scaled."""
    rng = np.random.default_rng(seed)
    weights = np.zeros((groups, PIXELS))
    for row in weights:
        members = rng.choice(PIXELS, rng.integers(10, 40), replace=False)
        row[members] = rng.standard_normal(len(members))
    return scaled(rng.standard_normal((PIXELS, groups)) @ weights + noise * rng.standard_normal((PIXELS, PIXELS)))


MATRICES = {"cifar": cifar, "planted": planted}
