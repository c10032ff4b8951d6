"""The verified Cholesky factorisation against scipy's `cholesky` (LAPACK dpotrf) on the same matrix, in one run.

    python3 bench/peers/sdp/cholesky.py [--n 4500 10000] [--repeats 3] [--gambeson target/release/gambeson]

gambeson's side is `gambeson check` on a certificate that asks for one factorisation: its time includes the tests of
symmetry and finiteness, the scaling and the error bounds. Peak memory is that of the whole process.
"""

import argparse
import hashlib
import json
import statistics
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.linalg


def instance(n):
    """A positive semidefinite matrix of appendix E, and weights that dominate it: its absolute row sums."""
    factor = np.random.default_rng(n).standard_normal((n, n))
    matrix = factor @ factor.T
    matrix /= np.trace(matrix)
    matrix = np.tril(matrix) + np.tril(matrix, -1).T
    return matrix, np.abs(matrix).sum(axis=1) * (1 + 1e-6)


def sha256(matrix):
    """The canonical hash of a dense matrix (crates/lowrank/src/linalg/matrix.rs)."""
    digest = hashlib.sha256(b"d" + struct.pack("<QQ", *matrix.shape))
    digest.update((matrix + 0.0).astype("<f8").tobytes())
    return digest.hexdigest()


def run(command):
    """Output and peak resident memory in bytes, polled: what `getrusage` says of a child counts this process too."""
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text()
            if process.args[0] in Path(f"/proc/{process.pid}/cmdline").read_text(errors="replace"):
                peak = max([peak] + [int(line.split()[1]) * 1024 for line in status.splitlines() if "VmHWM" in line])
            time.sleep(0.005)
        return process.stdout.read(), peak


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, nargs="+", default=[4500, 10000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--gambeson", default="target/release/gambeson")
    options = parser.parse_args()
    for n in options.n:
        matrix, weights = instance(n)
        with tempfile.TemporaryDirectory() as folder:
            path, certificate = Path(folder) / "matrix.npy", Path(folder) / "certificate.json"
            np.save(path, matrix)
            content = {"version": 1, "domain": "cube", "norm": "quadratic", "n": n, "shift": 0.0}
            content |= {"matrix_sha256": sha256(matrix), "weights": weights.tolist()}
            certificate.write_text(json.dumps(content))
            ours, theirs = [], []
            for _ in range(options.repeats):
                command = [options.gambeson, "check", str(path), str(certificate), "--json"]
                output, peak = run(command)
                ours.append(json.loads(output)["seconds_check"])
                shifted = np.diag(weights) - matrix
                started = time.perf_counter()
                scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
                theirs.append(time.perf_counter() - started)
                del shifted
        peak /= 8 * n * n
        ours, theirs = statistics.median(ours), statistics.median(theirs)
        print(
            f"n = {n}: verified {ours:.2f} s, scipy {theirs:.2f} s, speed {theirs / ours:.2f} of scipy's; "
            f"peak memory {peak:.2f} matrices, {peak - 1:.2f} beyond the input",
            flush=True,
        )


if __name__ == "__main__":
    main()
