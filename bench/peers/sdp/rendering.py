"""The records of `solvers.py` for people: a line each, and a table."""

import re
import statistics

from blas import REFERENCE, UNKNOWN

FINE, COARSE = "gambeson, gap 1e-6", "gambeson, gap 1e-3"
# Notes of runs that stopped short; crates/cli/src/reproduce/record.rs has the same.
MISSED = ("not reached", "not converged", "reduced accuracy", "inaccurate")
HEAD = "| solver | seconds | times ours at 1e-3 | times ours at 1e-6 | error claimed | error repaired | bound |"


def report(record):
    """One line on stdout."""
    line = f"{record['kind']} n = {record['n']:5d} seed {record['seed']}  {record['solver']:32s} "
    if record["value"] is not None:
        error, valid = record["relative_to_proven_lower"], record["valid_relative_to_proven_lower"]
        line += f"{record['seconds']:9.3f} s  {error:+.1e}  valid {valid:+.1e}  "
    line += record["note"] + ("  BELOW THE PROVEN LOWER END" if record["below_proven_lower"] else "")
    print(line, flush=True)


def standing(records):
    """Whether the bounds of one row are proven or claimed, and how many runs are not what was asked for."""
    ended = [record for record in records if record["value"] is not None]
    false = sum(record["below_proven_lower"] for record in ended)
    missed = sum(any(sign in record["note"] for sign in MISSED) for record in ended)
    part = lambda remark, count: [f"{remark} in {count} of {len(records)}"] if count else []
    claim = "proven" if all(record["gap"] is not None for record in ended) else "claimed"
    claims = [", ".join([claim, *part("below the proven lower end", false)])] if ended else []
    claims += sorted({f"perhaps slowed by the {record['blas']}" for record in records if record.get("blas") in (REFERENCE, UNKNOWN)})
    return "; ".join([*claims, *part("target missed", missed), *part("no result", len(records) - len(ended))])


def seconds_of(records):
    """The median, and whether all that is known is that it is more: runs that timed out count as their limit."""
    times = [float("inf") if record["seconds"] is None else record["seconds"] for record in records]
    limits = [time for time, record in zip(times, records) if record["value"] is None]
    return statistics.median(times), statistics.median_high(times) >= min(limits, default=float("inf"))


def row(name, records, seconds):
    def median(key):
        ended = [record[key] for record in records if record["value"] is not None]
        return f"{statistics.median(ended):+.1e}" if ended else "–"

    value, more = seconds[name]
    times = [f"{value:g}" if more else f"{value:.3g}"]
    times += [f"{value / seconds[ours][0]:.2f}" for ours in (COARSE, FINE)]
    times = ["failed" if value == float("inf") else "> " * more + time for time in times]
    errors = [median(key) for key in ("relative_to_proven_lower", "valid_relative_to_proven_lower")]
    return "| " + " | ".join([name, *times, *errors, standing(records)]) + " |"


def table(records):
    """The records as markdown: for each family and size one row a solver, medians over the instances."""
    groups = {}
    versions = {record["solver"]: record["version"] for record in records if record["version"]}
    for record in records:
        version = record["version"] or versions.get(record["solver"], "unknown version")  # none without a result
        solver = f"{record['solver']} ({version})" if record["gap"] is None else record["solver"]
        groups.setdefault((record["kind"], record["n"]), {}).setdefault(solver, []).append(record)
    machine = f"{records[0]['cpu']}, {records[0]['threads']} cores, offered to every solver; SCS as packaged uses one."
    blas = sorted({f"{re.split('[, ]', record['solver'])[0]} with {record['blas']}" for record in records if record.get("blas")})
    machine += f" BLAS: {', '.join(blas)}." if blas else " Which BLAS the peers loaded was not recorded."
    lines = ["# SDP solvers on the matrices of appendix E", "", machine, ""]
    lines += ["Written by `bench/peers/sdp/solvers.py`, whose head says what is timed and what the errors mean."]
    for (kind, n), solvers in groups.items():
        count = max(map(len, solvers.values()))
        lines += ["", f"## {kind}, n = {n}" + (f", medians of {count} instances" if count > 1 else ""), ""]
        lines += [HEAD, "|---|---:|---:|---:|---:|---:|---|"]
        seconds = {name: seconds_of(own) for name, own in solvers.items()}
        lines += [row(name, own, seconds) for name, own in solvers.items()]
    return "\n".join(lines) + "\n"
