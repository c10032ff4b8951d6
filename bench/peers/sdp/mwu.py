"""gambeson's Algorithm 2 against the plain numpy/scipy rendering of the box, at equal iterations, in one run.

    python3 bench/peers/sdp/mwu.py [--n 2000] [--iterations 40] [--repeats 3] [--gambeson target/release/gambeson]

Prints one line a repeat and the ratio of the medians. The two are interleaved, so that both meet the same noise.
The tolerance of the eigenvectors is the same for both in the first comparison (3e-3, gambeson's default); the
second has scipy at 1e-5, what the authors' published code uses.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from algorithm2 import certify_sdp


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--gambeson", default="target/release/gambeson")
    options = parser.parse_args()
    factor = np.random.default_rng(1).standard_normal((options.n, options.n))
    matrix = factor @ factor.T
    matrix = (matrix + matrix.T) / (2 * np.trace(matrix))
    times = {"gambeson": [], "scipy, tol 3e-3": [], "scipy, tol 1e-5": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.npy"
        np.save(path, matrix)
        for _ in range(options.repeats):
            command = [options.gambeson, "bound", str(path), "--method", "mwu", "--gap", "1e-3", "--json"]
            command += ["--accuracy", "0.005", "--iterations", str(options.iterations)]
            run = subprocess.run(command, capture_output=True, text=True)  # exit 1: the gap is not reached
            result = json.loads(run.stdout)
            assert result["iterations"] == options.iterations, result
            # Solver and lower ends; the proof, which scipy's side does not have, is shown apart.
            times["gambeson"].append(result["seconds_solve"])
            line = f"gambeson {result['seconds_solve']:.2f} s (+ proof {result['seconds_check']:.2f} s, "
            line += f"{result['upper']:.6f})"
            for tolerance, name in [(3e-3, "scipy, tol 3e-3"), (1e-5, "scipy, tol 1e-5")]:
                started = time.perf_counter()
                best, dual, _ = certify_sdp(matrix, options.iterations, tolerance=tolerance)
                times[name].append(time.perf_counter() - started)
                line += f"; {name} {times[name][-1]:.2f} s ({best:.6f} claimed)"
            print(line, flush=True)
    ours = statistics.median(times["gambeson"])
    for name in list(times)[1:]:
        ratio = statistics.median(times[name]) / ours
        print(f"n = {options.n}, {options.iterations} iterations: {name} takes {ratio:.1f} times as long")


if __name__ == "__main__":
    main()
