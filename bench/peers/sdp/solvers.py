"""gambeson against DSDP, CSDP, SCS and the numpy/scipy rendering of Algorithm 2, on the same matrices, in one run.

    apt-get install dsdp coinor-csdp libopenblas0-pthread
    pip install numpy scipy scs
    python3 bench/peers/sdp/solvers.py [--kind psd qp] [--n 500 1000 2000] [--repeats 3]
    python3 bench/peers/sdp/solvers.py --render-only

Writes one JSON object a run to --out (results/peers-sdp.jsonl) and a table of medians over the instances beside it
(.md). The families are those of appendix E. Every solver sees every matrix before the next one is drawn, so that all
meet the same noise. A peer that is not installed is skipped with a note on stderr. One that times out or fails has a
record too, with `value` null: `seconds` is then the limit, or null where it failed.

Values. Errors are relative to the proven lower end of the SDP (the largest of gambeson's runs on that matrix). A
`value` below it is no upper bound and is marked. Solvers claim the sum of a dual y that is feasible only up to their
tolerance; `valid` is what that y proves after repair, in floating point: the lesser of
sum(y) + n max(0, lambda_max(M - Diag y)) and sum(y) lambda_max(D M D), D = Diag(y)^(-1/2). Repairs are not timed.

Times. gambeson's include its proof and its lower ends. A peer's are of its solving phase alone, without reading,
setting up and writing. All are offered every core. DSDP, CSDP, numpy and scipy use them through OpenBLAS (DSDP and
CSDP, as Debian builds them, have no threads of their own, and are refused with the reference BLAS that Debian installs
beside them: see blas.py); SCS's wheel kept to one core at n = 300 with each
of three linear solvers (MKL, QDLDL, indirect), whatever the environment said. Doubtful choices are made for the peer:

* DSDP: its own defaults, and -gaptol 1e-7 and 1e-3, for gambeson's two gaps. At 1e-3 its dual is already within some
  1e-6 of the optimum, though all it knows is 1e-3: compare that row with both of gambeson's. SDPA files suit it: it
  recognises the constraints as rank one. The package's `maxcut` is no faster way in: at n = 400, with M written as a
  graph, the whole process took longer than dsdp5's, and ended at a gap of 1e-3 whatever -gaptol said.
* CSDP: its own defaults (1e-8). It prints no times: the clock runs over its lines of iterations.
* SCS: the primal form (variable svec X), which took half to two thirds of the dual form's time at n = 100 and 200, and
  its default linear solver (MKL), the fastest of the three. M is scaled to rows of mean norm 1, since its tolerance is
  partly absolute.
* Algorithm 2: until its claim is within 5e-3 of the proven lower end, which it could not know. Every round's dual is
  kept and the first that suffices is found afterwards; valuing duals is not timed. The claim is the lesser of the least
  n lambda met, a Ritz value, and the averaged dual's; `valid` is the latter alone. Eigenvectors are to 3e-3, gambeson's
  own tolerance, with which the target is reached sooner than with the 1e-5 of the authors' code.
* Algorithm 2 as published: the same by the rules of the authors' program, which move the weights far more slowly than
  gambeson's damping does; given up after --published-limit seconds.
"""

import argparse
import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

CORES = len(os.sched_getaffinity(0))
for library in ("OPENBLAS", "OMP", "MKL"):  # before numpy is loaded
    os.environ[f"{library}_NUM_THREADS"] = str(CORES)

import numpy as np
import scipy
from scipy.sparse.linalg import eigsh

from algorithm2 import published_rounds, rounds
from blas import demand_tuned, of_program, of_this_process
from rendering import COARSE, FINE, report, table

sys.path.append(str(Path(__file__).parents[1]))
import records as files  # noqa: E402

OURS = {
    FINE: ["--gap", "1e-6"],
    COARSE: ["--gap", "1e-3"],
    "gambeson mwu, gap 5e-3": ["--method", "mwu", "--gap", "5e-3"],
}


@dataclass
class Problem:
    """A matrix, the files that hold it (alone in their folder) and the proven lower end of its SDP."""

    matrix: np.ndarray
    npy: Path
    sdpa: Path
    lower: float = 0.0


@dataclass
class Run:
    """What one solver did: seconds, the upper bound it claims, the bound its dual proves after repair.

    Without a result there are no bounds, and the seconds are the limit that was not enough, if that was the reason.
    """

    seconds: float | None
    value: float | None
    note: str
    version: str | None
    valid: float | None
    gap: float | None = None


class Failed(Exception):
    """A peer came to no result."""


class TimedOut(Exception):
    """A peer came to no result within so many seconds."""


TIMED_OUT = 124  # exit code of `timeout`


def instance(kind, n, seed):
    normal = np.random.default_rng([seed, n]).standard_normal((n, n))
    if kind == "psd":
        matrix = normal @ normal.T
        matrix /= np.trace(matrix)
        return np.tril(matrix) + np.tril(matrix, -1).T
    matrix = np.tril(normal) + np.tril(normal, -1).T
    np.fill_diagonal(matrix, np.abs(np.diag(matrix)))
    return matrix


def write_sdpa(path, matrix):
    """max <M, X> over diag X = 1 in SDPA sparse format, as DSDP and CSDP read it."""
    n = len(matrix)
    rows, columns = np.triu_indices(n)
    entries = zip((rows + 1).tolist(), (columns + 1).tolist(), matrix[rows, columns].tolist())
    with open(path, "w") as file:
        file.write(f"{n}\n1\n{n}\n" + " ".join(["1.0"] * n) + "\n")
        file.writelines(f"0 1 {i} {j} {value!r}\n" for i, j, value in entries)
        file.writelines(f"{i} 1 {i} {i} 1.0\n" for i in range(1, n + 1))


def valid_bound(matrix, dual):
    """The upper bound that an almost feasible dual gives, by shift or by scaling; in floating point, so no proof."""
    n = len(matrix)
    top = lambda symmetric: scipy.linalg.eigvalsh(symmetric, subset_by_index=[n - 1, n - 1])[0]
    bound = dual.sum() + n * max(0.0, top(matrix - np.diag(dual)))
    if dual.min() > 0:
        scale = 1 / np.sqrt(dual)
        bound = min(bound, dual.sum() * top(matrix * scale[:, None] * scale))
    return float(bound)


def first_line(path):
    """The dual y: DSDP and CSDP write it first."""
    with open(path) as file:
        return np.array(file.readline().split(), dtype=float)


def gambeson(binary, problem, arguments, version):
    command = [binary, "bound", str(problem.npy), "--json", *arguments]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: {run.stderr}")
    result = json.loads(run.stdout)
    seconds = result["seconds_solve"] + result["seconds_check"]
    note = f"{result['iterations']} iterations" + (", gap not reached" if run.returncode else "")
    problem.lower = max(problem.lower, result["sdp_lower"])
    return Run(seconds, result["upper"], note, version, result["upper"], result["gap"])


def dsdp(problem, limit, tolerance):
    solution = problem.sdpa.with_name("dsdp.solution")
    command = ["timeout", str(limit), "dsdp5", str(problem.sdpa), "-gaptol", tolerance, "-save", str(solution)]
    # It drops results-dsdp-<version> where it runs.
    run = subprocess.run(command, capture_output=True, text=True, cwd=problem.sdpa.parent)
    if run.returncode == TIMED_OUT:
        raise TimedOut(limit)
    output = run.stdout
    seconds = re.search(r"DSDP Solve\s+\d+\s+(\S+)", output)
    if seconds is None:
        raise Failed(f"dsdp5 ended with {run.returncode} and no result")
    version = next(problem.sdpa.parent.glob("results-dsdp-*")).name.removeprefix("results-dsdp-")
    iterations = re.findall(r"^(\d+)\s+-?\d\.\d+e", output, re.MULTILINE)[-1]
    dual = first_line(solution)
    note = f"dual scaling, {iterations} iterations or more"
    note += "" if "DSDP Converged" in output else ", not converged"
    return Run(float(seconds.group(1)), dual.sum(), note, version, valid_bound(problem.matrix, dual))


def csdp(problem, limit):
    solution = problem.sdpa.with_name("csdp.solution")
    command = ["timeout", str(limit), "stdbuf", "-oL", "csdp", str(problem.sdpa), str(solution)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=problem.sdpa.parent) as process:
        stamped = [(time.perf_counter(), line) for line in process.stdout]
    if process.returncode == TIMED_OUT:
        raise TimedOut(limit)
    output = "".join(line for _, line in stamped)
    if "SDP solved" not in output:
        raise Failed(f"csdp ended with {process.returncode} and no result")
    iterations = [index for index, (_, line) in enumerate(stamped) if line.startswith("Iter:")]
    seconds = stamped[iterations[-1] + 1][0] - stamped[iterations[0]][0]
    dual = first_line(solution)
    version = re.search(r"CSDP (\S+)", output).group(1)
    note = f"interior point, {len(iterations) - 1} iterations" + (", reduced accuracy" if "Partial" in output else "")
    return Run(seconds, dual.sum(), note, version, valid_bound(problem.matrix, dual))


def scs_data(matrix):
    """min -<M, X> over diag X = 1, X psd: x = svec X, the lower triangle by columns, off-diagonals times sqrt 2."""
    n = len(matrix)
    columns, rows = np.triu_indices(n)
    size = len(rows)
    diagonal = np.flatnonzero(rows == columns)
    equal = scipy.sparse.csc_matrix((np.ones(n), (np.arange(n), diagonal)), shape=(n, size))
    constraints = scipy.sparse.vstack([equal, -scipy.sparse.identity(size)]).tocsc()
    objective = -matrix[rows, columns] * np.where(rows == columns, 1, np.sqrt(2))
    data = {"A": constraints, "b": np.concatenate([np.ones(n), np.zeros(size)]), "c": objective}
    return data, {"z": n, "s": [n]}


def scs(problem, limit, tolerance):
    import scs as package

    norm = np.linalg.norm(problem.matrix, axis=1).mean()
    data, cone = scs_data(problem.matrix / norm)
    settings = {"eps_abs": tolerance, "eps_rel": tolerance, "time_limit_secs": limit, "verbose": False}
    result = package.SCS(data, cone, **settings).solve()
    dual = norm * result["y"][: len(problem.matrix)]
    if not np.isfinite(dual).all():
        raise Failed(f"scs: {result['info']['status']}")
    note = f"operator splitting, {result['info']['iter']} iterations, {result['info']['status']}"
    valid = valid_bound(problem.matrix, dual)
    return Run(result["info"]["solve_time"] / 1000, dual.sum(), note, package.__version__, valid)


def algorithm2(problem, limit, iterator):
    """Rounds of Algorithm 2 until its claim is within 5e-3 of the proven lower end, or the time limit."""
    matrix, target = problem.matrix, 1.005 * problem.lower
    start = np.random.default_rng(1).standard_normal(len(matrix))
    kept = []  # (seconds so far, least n*lambda met, averaged dual) of each round
    values = {}

    def averaged(index):
        """The value of the averaged dual after round `index` (from 0)."""
        if index not in values:
            dual = kept[index][2]
            scale = 1 / np.sqrt(dual)
            scaled = matrix * scale[:, None] * scale
            values[index] = float(dual.sum() * eigsh(scaled, k=1, which="LA", tol=1e-8, v0=start)[0][0])
        return values[index]

    def suffices(index):
        return kept[index][1] <= target or averaged(index) <= target

    failing, checkpoint, seconds = -1, 10, 0.0
    while True:
        started = time.perf_counter()
        found = next(iterator, None)
        seconds += time.perf_counter() - started
        if found:
            kept.append((seconds, *found[:2]))
        if found and len(kept) < checkpoint and kept[-1][1] > target and seconds <= limit:
            continue
        last = len(kept) - 1
        if not found or suffices(last) or seconds > limit:
            break
        failing, checkpoint = last, int(1.1 * checkpoint) + 1
    reached = suffices(last)
    while reached and last - failing > 1:  # the first round that suffices
        middle = (failing + last) // 2
        failing, last = (failing, middle) if suffices(middle) else (middle, last)
    value = min(kept[last][1], averaged(last))
    note = f"{last + 1} iterations" + ("" if reached else ", 5e-3 not reached")
    return Run(kept[last][0], value, note, scipy.__version__, averaged(last))


def peers(options):
    """(name, most rows, solver) of every peer that is installed, and the BLAS that those in C load, by name."""
    limit = options.time_limit
    found, blas = [], {}
    if shutil.which("dsdp5"):
        blas["DSDP"] = demand_tuned("DSDP", of_program("dsdp5"), options.allow_plain_blas)
        for tolerance in options.dsdp_gaptol:
            run = lambda problem, tolerance=tolerance: dsdp(problem, limit, tolerance)
            found.append((f"DSDP, gaptol {tolerance}", options.dsdp_most, run))
    else:
        print("dsdp5 is not installed: skipped", file=sys.stderr)
    if shutil.which("csdp"):
        blas["CSDP"] = demand_tuned("CSDP", of_program("csdp"), options.allow_plain_blas)
        found.append(("CSDP", options.csdp_most, lambda problem: csdp(problem, limit)))
    else:
        print("csdp is not installed: skipped", file=sys.stderr)
    if importlib.util.find_spec("scs"):
        run = lambda problem: scs(problem, limit, float(options.scs_eps))
        found.append((f"SCS, eps {options.scs_eps}", options.scs_most, run))
    else:
        print("scs is not installed: skipped", file=sys.stderr)
    blas["numpy/scipy"] = demand_tuned("numpy/scipy", of_this_process(), options.allow_plain_blas)
    run = lambda problem: algorithm2(problem, limit, rounds(problem.matrix, tolerance=3e-3))
    found.append(("numpy/scipy Algorithm 2 to 5e-3", options.scipy_most, run))
    if options.published_limit > 0:
        run = lambda problem: algorithm2(problem, options.published_limit, published_rounds(problem.matrix))
        found.append(("numpy/scipy Algorithm 2 as published, to 5e-3", options.scipy_most, run))
    return found, blas


def runs(binary, chosen, kind, n, seed):
    """gambeson and the chosen peers on one matrix: yields (solver, run, proven lower end)."""
    version = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.split()[-1]
    with tempfile.TemporaryDirectory() as folder:
        problem = Problem(instance(kind, n, seed), Path(folder) / "matrix.npy", Path(folder) / "matrix.dat-s")
        np.save(problem.npy, problem.matrix)
        if any(name.startswith(("DSDP", "CSDP")) for name, _ in chosen):
            write_sdpa(problem.sdpa, problem.matrix)
        ours = {name: gambeson(binary, problem, arguments, version) for name, arguments in OURS.items()}
        for name, run in ours.items():
            yield name, run, problem.lower
        for name, solve in chosen:
            yield name, attempt(solve, problem), problem.lower


def attempt(solve, problem):
    """The run of a peer, whatever comes of it: its trouble must not cost the runs of the others."""
    try:
        return solve(problem)
    except TimedOut as error:
        (limit,) = error.args
        return Run(limit, None, f"timed out after {limit:g} s", None, None)
    except Exception as error:
        return Run(None, None, f"failed: {error or type(error).__name__}", None, None)


def cpu_model():
    try:
        return re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text()).group(1)
    except (OSError, AttributeError):
        return "unknown CPU"


def as_record(kind, n, seed, solver, run, lower, blas):
    above = lambda value: None if value is None else float(value / lower - 1)
    return {
        "kind": kind,
        "n": n,
        "seed": seed,
        "solver": solver,
        "seconds": None if run.seconds is None else round(run.seconds, 5),
        "value": None if run.value is None else float(run.value),
        "relative_to_proven_lower": above(run.value),
        "below_proven_lower": None if run.value is None else bool(run.value < lower),
        "valid": None if run.valid is None else float(run.valid),
        "valid_relative_to_proven_lower": above(run.valid),
        "gap": run.gap,
        "note": run.note,
        "threads": CORES,
        "version": run.version,
        "blas": blas,
        "cpu": cpu_model(),
    }


def measure(options, out):
    """All runs, each written as soon as it is measured; the file takes its name when it is complete."""
    temporary = out.with_suffix(".tmp")
    found, blas = peers(options)
    sizes = [(kind, n) for kind in options.kind for n in options.n]
    seeds = range(options.seed, options.seed + options.repeats)
    with open(temporary, "w") as file:
        for (kind, n), seed in itertools.product(sizes, seeds):
            chosen = [(name, solve) for name, most, solve in found if n <= most]
            for solver, run, lower in runs(options.gambeson, chosen, kind, n, seed):
                loaded = next((name for peer, name in blas.items() if solver.startswith(peer)), None)
                record = as_record(kind, n, seed, solver, run, lower, loaded)
                file.write(json.dumps(record) + "\n")
                file.flush()
                report(record)
    temporary.rename(out)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", nargs="+", choices=["psd", "qp"], default=["psd", "qp"])
    parser.add_argument("--n", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--repeats", type=int, default=1, help="instances of each family and size")
    parser.add_argument("--seed", type=int, default=1, help="of the first instance")
    parser.add_argument("--dsdp-most", type=int, default=2000, help="largest n for DSDP")
    parser.add_argument("--csdp-most", type=int, default=1000)
    parser.add_argument("--scs-most", type=int, default=500)
    parser.add_argument("--scipy-most", type=int, default=4500)
    parser.add_argument("--dsdp-gaptol", nargs="+", default=["1e-7", "1e-3"])
    parser.add_argument("--scs-eps", default="1e-4")
    parser.add_argument("--published-limit", type=float, default=180, help="seconds for Algorithm 2 as published; 0: none")
    parser.add_argument("--time-limit", type=float, default=1200, help="seconds for a run of a peer and its reading")
    parser.add_argument("--allow-plain-blas", action="store_true", help="run peers with a plain or unknown BLAS and mark their rows")
    files.add_arguments(parser, "results/peers-sdp.jsonl")
    parser.add_argument("--gambeson", default="target/release/gambeson")
    return parser.parse_args()


def main():
    options = arguments()
    if not options.render_only:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        measure(options, options.out)
    files.render(options, table)


if __name__ == "__main__":
    main()
