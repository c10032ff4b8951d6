"""gambeson against DSDP, CSDP and the numpy/scipy rendering of Algorithm 2, on the same matrices, in one run.

    apt-get install dsdp coinor-csdp
    python3 bench/peers/sdp/solvers.py [--kind psd qp] [--n 500 1000 2000] [--out results/peers-sdp.jsonl]

The families are those of appendix E. Every solver sees every matrix before the next matrix is drawn, so that all meet
the same noise. Times are the solvers' own, without reading files; gambeson's includes its proof and its lower ends.
Errors are relative to gambeson's proven bracket: an upper bound below its lower end is false, and is marked so.
CSDP is left out above --csdp-most rows, where it takes minutes.
"""

import argparse
import json
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from algorithm2 import certify_sdp


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
    with open(path, "w") as file:
        file.write(f"{n}\n1\n{n}\n" + " ".join(["1.0"] * n) + "\n")
        lines = (f"0 1 {i + 1} {j + 1} {value!r}" for i, j, value in zip(rows.tolist(), columns.tolist(), matrix[rows, columns].tolist()))
        file.write("\n".join(lines) + "\n")
        file.write("\n".join(f"{i + 1} 1 {i + 1} {i + 1} 1.0" for i in range(n)) + "\n")


def dsdp(path):
    output = subprocess.run(["dsdp5", path, "-gaptol", "1e-7"], capture_output=True, text=True, cwd=path.parent).stdout
    seconds = float(re.search(r"DSDP Solve\s+\d+\s+(\S+)", output).group(1))
    objectives = [float(value) for value in re.findall(r"Objective[^:=]*[:=]\s*(\S+)", output)]
    return seconds, max(abs(value) for value in objectives[-2:]), "interior point, dual scaling"


def csdp(path):
    # It prints no times: the clock starts when its first line of iterations appears, after reading.
    first = subprocess.Popen(["stdbuf", "-oL", "csdp", path], stdout=subprocess.PIPE, text=True, cwd=path.parent)
    started = time.perf_counter()
    while "Iter:" not in first.stdout.readline():
        pass
    reading = time.perf_counter() - started
    output = "".join(first.stdout)
    seconds = time.perf_counter() - started - reading
    return seconds, abs(float(re.search(r"Dual objective value:\s*(\S+)", output).group(1))), "interior point"


def algorithm2(matrix, lower):
    """The plain rendering until its claim is within 5e-3 of the proven lower end, in steps of 25 % more iterations."""
    iterations = 20
    while True:
        started = time.perf_counter()
        best, dual, _ = certify_sdp(matrix, iterations)
        seconds = time.perf_counter() - started
        # The averaged dual with its own eigenvalue, as gambeson values it.
        scale = 1 / np.sqrt(dual)
        value = min(best, dual.sum() * np.linalg.eigvalsh(matrix * scale[:, None] * scale)[-1])
        if value <= 1.005 * lower or iterations > 400:
            return seconds, value, f"{iterations} iterations, last run only"
        iterations = int(1.25 * iterations) + 1


def gambeson(binary, path, *options):
    output = subprocess.run([binary, "bound", str(path), "--json", *options], capture_output=True, text=True).stdout
    return json.loads(output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", nargs="+", default=["psd", "qp"])
    parser.add_argument("--n", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--csdp-most", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="results/peers-sdp.jsonl")
    parser.add_argument("--gambeson", default="target/release/gambeson")
    options = parser.parse_args()
    records = []
    for kind in options.kind:
        for n in options.n:
            matrix = instance(kind, n, options.seed)
            with tempfile.TemporaryDirectory() as folder:
                npy, sdpa = Path(folder) / "matrix.npy", Path(folder) / "matrix.dat-s"
                np.save(npy, matrix)
                write_sdpa(sdpa, matrix)
                ours = gambeson(options.gambeson, npy, "--gap", "1e-6")
                coarse = gambeson(options.gambeson, npy, "--gap", "1e-3")
                mwu = gambeson(options.gambeson, npy, "--method", "mwu", "--gap", "5e-3")
                total = lambda record: record["seconds_solve"] + record["seconds_check"]
                rows = [
                    ("gambeson, gap 1e-6", total(ours), ours["upper"], "proven"),
                    ("gambeson, gap 1e-3", total(coarse), coarse["upper"], "proven"),
                    ("gambeson mwu, gap 5e-3", total(mwu), mwu["upper"], "proven"),
                    ("DSDP 5.8", *dsdp(sdpa)),
                ]
                if n <= options.csdp_most:
                    rows.append(("CSDP 6.2", *csdp(sdpa)))
                rows.append(("numpy/scipy Algorithm 2 to 5e-3", *algorithm2(matrix, ours["sdp_lower"])))
            for solver, seconds, value, note in rows:
                error = value / ours["sdp_lower"] - 1
                record = {"kind": kind, "n": n, "solver": solver, "seconds": round(seconds, 4), "value": float(value)}
                record |= {"relative_to_proven_lower": float(error), "below_proven_lower": bool(value < ours["sdp_lower"]), "note": note}
                records.append(record)
                ratio = seconds / rows[0][1]
                print(f"{kind} n = {n:5d}  {solver:32s} {seconds:9.3f} s  {ratio:8.2f} x  {error:+.1e}  {note}", flush=True)
    out = Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = out.with_suffix(".tmp")
    temporary.write_text("".join(json.dumps(record) + "\n" for record in records))
    temporary.rename(out)


if __name__ == "__main__":
    main()
