"""The PCA of 50,000 images of 1024 bytes: gambeson against numpy, in f64 and f32, in one run.

    pip install numpy scipy
    cargo build --release -p gambeson-lowrank --example pca_bench
    GAMBESON_REFERENCE_DATA=... python3 bench/peers/projection/pca.py [--threads 2 1] [--repeats 5]

Both sides get the same bytes from a `.npy` file; times are without reading and writing. numpy has to convert them to the
numbers it multiplies, which is timed as its own part; then X'X/n (uncentred, as the paper has it) and `eigh`. gambeson
adds up products of bytes without any rounding, and decomposes in f64. Every run is a process of its own, and the sides
take turns, so that they meet the same noise; seconds are medians, with the least and the most. What is compared beside
the time, against numpy in f64:

* the largest relative error of an eigenvalue among the leading RANK;
* the part of the variance that the leading RANK directions fall short of the best ones, tr(M (P - Q))/tr(M).

Ours is the example program `pca_bench` (--gambeson), called as

    pca_bench images.npy RANK RESULT

with RAYON_NUM_THREADS set. It writes `RESULT.values.npy` (RANK eigenvalues of X'X/n, decreasing, RANK x 1) and
`RESULT.basis.npy` (1024 x RANK, orthonormal columns in their order), f64, and prints one JSON object.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
import records as files  # noqa: E402

RANK = 200


def environment(threads):
    names = ("OMP", "OPENBLAS", "MKL", "RAYON")
    return os.environ | {f"{name}_NUM_THREADS": str(threads) for name in names}


def worker(images, dtype, result):
    """numpy, in this process."""
    matrix = np.load(images)
    started = time.perf_counter()
    matrix = matrix.astype(dtype)
    converted = time.perf_counter()
    moments = matrix.T @ matrix / np.array(len(matrix), dtype)
    middle = time.perf_counter()
    values, vectors = np.linalg.eigh(moments)
    seconds = time.perf_counter() - started
    np.save(f"{result}.values.npy", values[::-1][:RANK].astype(float).reshape(-1, 1))
    np.save(f"{result}.basis.npy", vectors[:, ::-1][:, :RANK].astype(float))
    parts = {"converted": converted - started, "moments": middle - converted, "eigen": seconds - (middle - started)}
    print(json.dumps({"seconds": seconds, "parts": parts}))


def run(words, threads, result):
    """One process: its report, eigenvalues and basis."""
    words = [str(word) for word in words]
    ended = subprocess.run(words, env=environment(threads), capture_output=True, text=True, check=True)
    report = json.loads(ended.stdout)
    return report, np.load(f"{result}.values.npy").ravel(), np.load(f"{result}.basis.npy")


def errors(moments, reference, values, basis):
    """(largest relative error of an eigenvalue, share of the variance missed)."""
    caught = np.sum(basis * (moments @ basis))
    missed = (reference[:RANK].sum() - caught) / np.trace(moments)
    return np.abs(values / reference[:RANK] - 1).max(), missed


def measure(options):
    """Yields a record a run."""
    from data import cifar_red

    images = cifar_red()
    exact = images.astype(float)
    moments = exact.T @ exact / len(exact)
    reference = np.linalg.eigvalsh(moments)[::-1]
    del exact
    numpy = [sys.executable, __file__, "--worker"]
    solvers = {"gambeson": lambda file, result: [options.gambeson, file, RANK, result]}
    for dtype in ("float64", "float32"):
        solvers[f"numpy {dtype}"] = lambda file, result, dtype=dtype: [*numpy, file, dtype, result]
    with tempfile.TemporaryDirectory() as folder:
        file, result = Path(folder) / "images.npy", Path(folder) / "result"
        np.save(file, images)
        for threads in options.threads:
            for repeat in range(options.repeats):
                for name, words in solvers.items():
                    report, values, basis = run(words(file, result), threads, result)
                    value, missed = errors(moments, reference, values, basis)
                    record = {"solver": name, "threads": threads, "repeat": repeat, "rank": RANK}
                    record |= {"seconds": report["seconds"], "parts": report["parts"]}
                    record |= {"eigenvalue_error": float(value), "variance_missed": float(missed)}
                    yield record | {"load": os.getloadavg()[0], "numpy": np.__version__}


def table(records):
    """Markdown, medians over the repeats."""
    lines = [f"# PCA of 50,000 x 1024 bytes to rank {RANK}", ""]
    lines += ["Written by `bench/peers/projection/pca.py`, whose head says what is timed."]
    lines += [f"numpy {records[0]['numpy']}; medians of {1 + max(record['repeat'] for record in records)} runs.", ""]
    lines += ["| threads | solver | seconds | times ours | of it moments, eigen | error of eigenvalues | variance missed |"]
    lines += ["|---:|---|---:|---:|---:|---:|---:|"]
    groups = {}
    for record in records:
        groups.setdefault(record["threads"], {}).setdefault(record["solver"], []).append(record)
    for threads, solvers in groups.items():
        medians = {name: statistics.median(record["seconds"] for record in own) for name, own in solvers.items()}
        for name, own in solvers.items():
            seconds = [record["seconds"] for record in own]
            parts = [statistics.median(record["parts"][part] for record in own) for part in ("moments", "eigen")]
            cells = [threads, name, f"{medians[name]:.3f} ({min(seconds):.3f} .. {max(seconds):.3f})"]
            cells += [f"{medians[name] / medians['gambeson']:.2f}", ", ".join(f"{part:.3f}" for part in parts)]
            cells += [f"{own[0]['eigenvalue_error']:.1e}", f"{own[0]['variance_missed']:.1e}"]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--repeats", type=int, default=5)
    files.add_arguments(parser, "results/peers-pca.jsonl")
    parser.add_argument("--gambeson", default="target/release/examples/pca_bench")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    if options.worker:
        worker(*options.worker)
        return
    if not options.render_only:
        files.keep(options, measure(options))
    files.render(options, table)


if __name__ == "__main__":
    main()
