"""gambeson's sparse principal components against scikit-learn's, on the same matrices, in one run.

    pip install numpy scipy scikit-learn
    cargo build --release -p gambeson-lowrank --example sparse_pca_bench
    GAMBESON_REFERENCE_DATA=... python3 bench/peers/projection/sparse_pca.py [--data cifar planted] [--threads 2 1]
    python3 bench/peers/projection/sparse_pca.py --render-only

Writes one JSON object a run to --out (results/peers-sparse-pca.jsonl) and a table beside it (.md). Both minimise
1/2 |X' - C D|^2 + alpha |C|_1 over codes C and dictionaries D with rows of length at most one, for the same X
(`data.py`), alpha and number of atoms. The objective of every run is computed anew here, in numpy, from its C and D.

Who runs when. For each matrix and alpha, gambeson runs before and after every run of scikit-learn, so that all meet the
same noise; its seconds are medians over these runs, with the least and the most. Every run is a process of its own with
OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and RAYON_NUM_THREADS set to the number of threads.

Times. Neither side's include reading and writing. gambeson counts with whole runs, stopped by its own rule (--tolerance)
and with the exact codes it computes at the end. scikit-learn gets an oracle: it counts with the seconds until its
objective first came within 1 % of the least that any run of either side has for this matrix and alpha, which no choice
of its tolerance could beat. It reports every fifth iteration; between those the time is interpolated. Where it never
came there, it counts with the whole run, marked ">": until its default tolerance (1e-8), or until --limit.
`dict_learning` is called as `SparsePCA.fit` calls it, for only it reports.

What scikit-learn runs. Its default method (lars) and `cd`, each from its own start, the singular vectors; with two
threads also `cd` with n_jobs = 2, on one BLAS thread a worker; and `cd` from the start that gambeson chose, whose choice
is not timed for it: this last row separates the gain of a better start from that of faster rounds.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
import records as files  # noqa: E402

ALPHAS = {"cifar": [0.1, 0.02, 0.002], "planted": [0.5, 0.2, 0.05]}
WITHIN = 1.01  # of the least objective
OURS, OURS_SINGULAR = "gambeson", "gambeson from singular vectors"


class OutOfTime(Exception):
    """The limit of a run is reached."""


def objective(matrix, alpha, components, dictionary):
    """Independent of what either side says; the matrix as both centre it."""
    assert (np.linalg.norm(dictionary, axis=1) <= 1 + 1e-9).all()
    left = (matrix - matrix.mean(axis=0)).T - components.T @ dictionary
    return 0.5 * (left**2).sum() + alpha * np.abs(components).sum()


def environment(threads):
    names = ("OMP", "OPENBLAS", "MKL", "RAYON")
    return os.environ | {f"{name}_NUM_THREADS": str(threads) for name in names}


def gambeson(options, folder, alpha, threads, beginning, iterations=1000):
    """One run of the example program."""
    words = [options.gambeson, folder / "matrix.npy", options.atoms, alpha, options.tolerance, iterations, beginning]
    words = [str(word) for word in [*words, folder / "ours"]]
    ended = subprocess.run(words, env=environment(threads), capture_output=True, text=True, check=True)
    found = json.loads(ended.stdout)
    return found | {name: np.load(folder / f"ours.{name}.npy") for name in ("components", "dictionary")}


def worker(folder, spec):
    """One run of scikit-learn, in this process: its factors and the objective over time go to files."""
    from sklearn.decomposition import dict_learning

    matrix = np.load(folder / "matrix.npy")
    start = {}
    if spec["start"]:
        start["code_init"] = np.load(folder / "start.components.npy").T
        start["dict_init"] = np.load(folder / "start.dictionary.npy")
    marks = []  # (seconds, iterations done)
    kept = {}

    def callback(state):
        marks.append((time.perf_counter() - started, state["ii"] + 1))
        if marks[-1][0] > spec["limit"]:
            kept.update(code=state["code"], dictionary=state["dictionary"], errors=state["errors"])
            raise OutOfTime

    started = time.perf_counter()
    matrix = matrix - matrix.mean(axis=0)  # as SparsePCA.fit
    choices = {"method": spec["method"], "n_jobs": spec["jobs"], "tol": spec["tol"], "random_state": 0}
    try:
        code, dictionary, errors = dict_learning(
            matrix.T, spec["atoms"], alpha=spec["alpha"], max_iter=spec["max_iter"], callback=callback, **choices, **start
        )
        marks.append((time.perf_counter() - started, len(errors)))
        stop = "converged" if len(errors) < spec["max_iter"] else "iteration limit"
    except OutOfTime:
        code, dictionary, errors, stop = kept["code"], kept["dictionary"], kept["errors"], "time limit"
    done, seconds = [0, *(mark[1] for mark in marks)], [0, *(mark[0] for mark in marks)]
    times = np.interp(np.arange(1, len(errors) + 1), done, seconds)
    np.save(folder / "theirs.components.npy", code.T)
    np.save(folder / "theirs.dictionary.npy", dictionary)
    trace = list(zip(times.tolist(), map(float, errors)))
    print(json.dumps({"seconds": marks[-1][0], "iterations": len(errors), "stop": stop, "trace": trace}))


def scikit_learn(options, folder, alpha, threads, method, jobs, start):
    spec = {"alpha": alpha, "atoms": options.atoms, "method": method, "jobs": jobs, "start": start}
    spec |= {"limit": options.limit, "tol": 1e-8, "max_iter": 1000}
    words = [sys.executable, __file__, "--worker", str(folder), json.dumps(spec)]
    blas = threads if jobs is None else 1
    ended = subprocess.run(words, env=environment(blas), capture_output=True, text=True, check=True)
    found = json.loads(ended.stdout)
    return found | {name: np.load(folder / f"theirs.{name}.npy") for name in ("components", "dictionary")}


def theirs(threads):
    """(name, method, n_jobs, from our start)."""
    found = [("scikit-learn cd", "cd", None, False), ("scikit-learn lars", "lars", None, False)]
    if threads > 1:
        found.append((f"scikit-learn cd, n_jobs = {threads}", "cd", threads, False))
    return [*found, ("scikit-learn cd from gambeson's start", "cd", None, True)]


def runs(options, folder, alpha, threads):
    """Yields (solver, run), ours between those of theirs."""
    start = gambeson(options, folder, alpha, threads, "features", 1)
    for name in ("components", "dictionary"):
        np.save(folder / f"start.{name}.npy", start[name])
    yield OURS_SINGULAR, gambeson(options, folder, alpha, threads, "singular", 300)
    for name, method, jobs, start in theirs(threads):
        yield OURS, gambeson(options, folder, alpha, threads, "features")
        yield name, scikit_learn(options, folder, alpha, threads, method, jobs, start)
    for _ in range(2):
        yield OURS, gambeson(options, folder, alpha, threads, "features")


def cpu_model():
    try:
        return re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text()).group(1)
    except (OSError, AttributeError):
        return "unknown CPU"


def measure(options, out):
    """All runs, each written as soon as it is measured; the file takes its name when it is complete."""
    import sklearn

    from data import MATRICES

    temporary = out.with_suffix(".tmp")
    common = {"atoms": options.atoms, "limit": options.limit, "tolerance": options.tolerance}
    common |= {"scikit_learn": sklearn.__version__, "numpy": np.__version__, "cpu": cpu_model()}
    with open(temporary, "w") as file, tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for data in options.data:
            matrix = MATRICES[data]()
            np.save(folder / "matrix.npy", matrix)
            for alpha in options.alpha or ALPHAS[data]:
                for threads in options.threads:
                    for solver, run in runs(options, folder, alpha, threads):
                        value = objective(matrix, alpha, run["components"], run["dictionary"])
                        record = {"data": data, "alpha": alpha, "threads": threads, "solver": solver}
                        record |= {key: run[key] for key in ("seconds", "iterations", "stop")}
                        record |= {"objective": value, "codes": int(np.count_nonzero(run["components"]))}
                        record |= {"load": os.getloadavg()[0], "trace": run["trace"]} | common
                        file.write(json.dumps(record) + "\n")
                        file.flush()
                        shown = f"{data} alpha {alpha:g} threads {threads}  {solver:40s} {record['seconds']:8.3f} s"
                        print(f"{shown}  {value:.6g}  {record['iterations']} iterations, {record['stop']}", flush=True)
    temporary.rename(out)


def reached(record, goal):
    """Seconds until the objective is there, or None."""
    return next((seconds for seconds, value in record["trace"] if value <= goal), None)


def row(solver, records, least, ours):
    """One solver on one matrix, alpha and number of threads."""
    value = statistics.median(record["objective"] for record in records)
    goal = WITHIN * least
    whole = [record["seconds"] for record in records]
    middle = statistics.median(whole)
    spread = f" ({min(whole):.2g} .. {max(whole):.2g})" if len(whole) > 1 else ""
    times = [reached(record, goal) for record in records]
    missed = None in times
    until, more = (middle, "> ") if missed else (statistics.median(times), "")
    density = statistics.median(record["codes"] for record in records) / (records[0]["atoms"] * 1024)
    cells = [solver, f"{middle:.3g}{spread}", f"{more}{until:.3g}", f"{more}{until / ours:.3g}", f"{value:.5g}"]
    cells += [f"{100 * (value / least - 1):+.2f} %", f"{100 * density:.2g} %"]
    iterations = statistics.median(record["iterations"] for record in records)
    return "| " + " | ".join([*cells, f"{iterations:g}, {records[0]['stop'].lower()}"]) + " |"


def table(records):
    """Markdown: for each matrix, alpha and number of threads one row a solver."""
    first = records[0]
    head = f"{first['cpu']}; scikit-learn {first['scikit_learn']}, numpy {first['numpy']}; {first['atoms']} atoms."
    lines = ["# Sparse principal components: gambeson and scikit-learn", "", head, ""]
    lines += ["Written by `bench/peers/projection/sparse_pca.py`, whose head says what is timed. Seconds: of whole runs, and until"]
    lines += [f"within 1 % of the least objective; \">\": not there at its end, or after {first['limit']:g} s. Times ours: the latter"]
    lines += ["against gambeson's whole run. Codes: share that is not zero."]
    groups, least = {}, {}
    for record in records:
        problem = (record["data"], record["alpha"])
        groups.setdefault((*problem, record["threads"]), {}).setdefault(record["solver"], []).append(record)
        least[problem] = min(record["objective"], least.get(problem, float("inf")))
    for (data, alpha, threads), solvers in groups.items():
        lines += ["", f"## {data}, alpha {alpha:g}, threads {threads}", ""]
        lines += ["| solver | seconds | to 1 % | times ours | objective | above the least | codes | iterations, stop |"]
        lines += ["|---|---:|---:|---:|---:|---:|---:|---|"]
        ours = statistics.median(record["seconds"] for record in solvers[OURS])
        lines += [row(solver, own, least[data, alpha], ours) for solver, own in solvers.items()]
    return "\n".join(lines) + "\n"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=["cifar", "planted"], default=["cifar", "planted"])
    parser.add_argument("--alpha", type=float, nargs="+", help="instead of three values for each matrix")
    parser.add_argument("--atoms", type=int, default=150)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--tolerance", type=float, default=1e-4, help="of gambeson: relative decrease in a round")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a run of scikit-learn")
    files.add_arguments(parser, "results/peers-sparse-pca.jsonl")
    parser.add_argument("--gambeson", default="target/release/examples/sparse_pca_bench")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    if options.worker:
        worker(Path(options.worker[0]), json.loads(options.worker[1]))
        return
    if not options.render_only:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        measure(options, options.out)
    files.render(options, table)


if __name__ == "__main__":
    main()
