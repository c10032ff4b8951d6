"""Training and inference by gambeson against PyTorch and ONNX Runtime, in one run on one machine.

    pip install torch==2.15.0 onnxruntime==1.31.1 onnx==1.23.2
    cargo build --release -p gambeson-learn --example network_worker
    python3 bench/peers/training/compare.py [--threads 2] [--rounds 9] [--seconds 1.5] [--quick]

Every contender is a process of its own that lives as long as its network is measured, and does one round when it is told
to, while all others wait for their input. A round is a pass that is not timed, then passes for some seconds. Contenders take
turns, in an order that changes from round to round; before each turn there is a pause in which the threads of the one before
stop spinning. Rates are medians of the rounds; ratios are taken within a round, and the table has their median, the least
and the most. `gambeson again` is a second process of ours: its ratio says what differences mean nothing. Measure on an idle
machine.

Networks: ResNet-20 on 32 x 32 (batch 128) and ResNet-8 on 16 x 16 (batch 256), both of width 16 with shortcuts of option A.
All sides read the same weights and the same batch, and do the same again and again:

* forward: scores of the batch. Normalisation is folded into the weights by gambeson, by ONNX Runtime (which optimises the
  graph) and by torch.compile (with freezing); eager PyTorch computes it, in eval mode under inference_mode.
* train: forward by the batch's statistics, cross-entropy, backward by the weights, running statistics. No optimiser on any
  side; ours brings the weights into the kernels' layout in every step, as if one had changed them.
* train-input: the same, and the gradient by the images.
* attack: forward by the running statistics, cross-entropy, backward by the images alone. Weights are fixed, and loaded once.
* algorithm-1 (ResNet-8 only): a whole step of Algorithm 1, from bytes to changed weights: shifts and mirrors, 200 cosine
  coefficients of every channel of 32 x 32, noise on them (2 draws per image), 2 steps of ascent, images of 16 x 16, SGD.

Contenders: PyTorch eager, in channels_last, and by torch.compile (whole loss, channels_last); ONNX Runtime with all
optimisations. Each of them twice, as it comes and with threads that sleep instead of spinning (OMP_WAIT_POLICY=passive,
KMP_BLOCKTIME=0; `session.intra_op.allow_spinning`); the table has the faster of the two by workload. Images of channels_last
are in that layout beforehand; ours come as channel, row, column, and so do ONNX Runtime's.

Before anything is timed, the results of every contender are compared with PyTorch's in double precision. Also measured:
ResNet-8 on 32 x 32 by gambeson among the contenders of 16 x 16, and the memory of our worker over 500 steps of SGD.

A workload is a name in WORKLOADS, a function in `worker.py` and a variant in `network_worker.rs`.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import networks
from networks import Network, write_folder

sys.path.append(str(Path(__file__).parents[1]))
import records as files  # noqa: E402

NETWORKS = [Network(20, 16, 32, 128), Network(8, 16, 16, 256)]
# Measured beside the native one, by ours alone.
FULL_GRID = {NETWORKS[1]: Network(8, 16, 32, 256)}
WORKLOADS = ["forward", "train", "train-input", "attack", "algorithm-1"]
# Of CIFAR-10.
EPOCH = 50_000
PASSIVE = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}
OURS, AGAIN, FULL = "gambeson", "gambeson again", "gambeson, full grid"
PEERS = ["eager", "channels_last", "compile", "onnxruntime"]
SLEEPING = "{}, sleeping"
# Seconds before a turn.
PAUSE = 0.3
# Largest distance from PyTorch in double precision, relative to the norm there. Gradients of deep networks are far from
# exact in single precision on all sides, since a rounding error may decide a ReLU.
ALLOWED = {"scores": 1e-4, "loss": 1e-5, "weights": 3e-2, "images": 3e-2}
# Steps of Algorithm 1 are random on every side: after 60 of them losses are this close to the mean of all.
ALLOWED_PROGRESS = 0.15


class Worker:
    """A process that waits for commands."""

    def __init__(self, words, environment):
        words = [str(word) for word in words]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(words, env=os.environ | environment, **pipes)

    def ask(self, command, argument):
        self.process.stdin.write(f"{command} {argument}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"{' '.join(self.process.args)}: ended with {self.process.wait()}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def environment(threads):
    names = ("OMP", "MKL", "RAYON")
    return {f"{name}_NUM_THREADS": str(threads) for name in names} | {"TORCHINDUCTOR_COMPILE_THREADS": "1"}


def label(name):
    return name.replace(", ", "-").replace(" ", "-")


def contender(options, folder, network, name):
    """Starts it."""
    own = environment(options.threads)
    if name in (OURS, AGAIN, FULL):
        return Worker([options.worker, folder, network.size, label(name)], own)
    side, _, sleeping = name.partition(", ")
    if sleeping:
        side, own = (f"{side}-sleeping", own) if side == "onnxruntime" else (side, own | PASSIVE)
    script = Path(__file__).with_name("worker.py")
    return Worker([sys.executable, script, folder, network.size, label(name), side, options.threads], own)


def workloads(name, network):
    if name.startswith("onnxruntime"):
        return ["forward"]
    native = network.size < networks.FULL and name != FULL
    return WORKLOADS if native else WORKLOADS[:-1]


def inputs(network, workload):
    """Images of a pass; of Algorithm 1 each is shown in several draws."""
    return network.batch // networks.DRAWS if workload == "algorithm-1" else network.batch


def agreement(worker, folder, name, workload):
    """Distance of every quantity from the one in double precision, relative to the norm there."""
    distances = {}
    for quantity in worker.ask("check", workload)["quantities"]:
        exact = np.fromfile(folder / f"reference.{workload}.{quantity}.f64")
        found = np.fromfile(folder / f"{label(name)}.{workload}.{quantity}.f32", "<f4")
        if len(exact) != len(found):
            raise SystemExit(f"{name}, {workload}: {len(found)} {quantity} instead of {len(exact)}")
        distance = float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
        if not distance <= ALLOWED[quantity]:
            raise SystemExit(f"{name}, {workload}: {quantity} differ by {distance:.1e}, allowed {ALLOWED[quantity]:.0e}")
        distances[quantity] = distance
    return distances


def turns(names, number):
    """Another first one in every round, and every other round backwards, so that neighbours change as well."""
    first = number * 3 % max(len(names), 1)
    order = names[first:] + names[:first]
    return order[::-1] if number % 2 else order


def measure_network(options, network, temporary):
    folder = temporary / f"{network.depth}-{network.size}"
    folder.mkdir()
    write_folder(folder, network)
    peers = [peer for peer in PEERS if peer in options.contenders]
    names = [OURS, AGAIN, *peers, *(SLEEPING.format(peer) for peer in peers)]
    script = Path(__file__).with_name("worker.py")
    own = environment(options.threads)
    reference = Worker([sys.executable, script, folder, network.size, "reference", "double", options.threads], own)
    for workload in WORKLOADS[:-1]:
        reference.ask("check", workload)
    reference.close()
    progress = {}
    workers = {}
    try:
        # One after the other: compilation should not compete, and the second finds the first one's code.
        for name in names:
            started = time.perf_counter()
            workers[name] = contender(options, folder, network, name)
            for workload in workloads(name, network):
                if workload == "algorithm-1":
                    workers[name].ask("check", workload)
                    progress[name] = float(np.fromfile(folder / f"{label(name)}.{workload}.progress.f32", "<f4")[0])
                    continue
                distances = agreement(workers[name], folder, name, workload)
                record = {"kind": "agreement", "network": str(network), "contender": name, "workload": workload}
                yield record | {"distances": distances}
            print(f"{network}: {name} ready in {time.perf_counter() - started:.1f} s", file=sys.stderr)
        if progress:
            mean = statistics.median(progress.values())
            far = [name for name, loss in progress.items() if not abs(loss / mean - 1) <= ALLOWED_PROGRESS]
            if far:
                raise SystemExit(f"losses after 60 steps of Algorithm 1: {progress}")
            yield {"kind": "progress", "network": str(network), "losses": progress}
        if network in FULL_GRID:
            other = temporary / "full-grid"
            other.mkdir()
            write_folder(other, FULL_GRID[network])
            workers[FULL] = contender(options, other, FULL_GRID[network], FULL)
        for number in range(options.rounds):
            for workload in WORKLOADS:
                rates = {}
                for name in turns([name for name in workers if workload in workloads(name, network)], number):
                    time.sleep(PAUSE)
                    answer = workers[name].ask(workload, options.seconds)
                    rates[name] = inputs(network, workload) * answer["iterations"] / answer["seconds"]
                if not rates:
                    continue
                record = {"kind": "rates", "network": str(network), "workload": workload, "round": number}
                yield record | {"load": os.getloadavg()[0], "rates": rates}
            print(f"{network}: round {number + 1} of {options.rounds}", file=sys.stderr)
        answer = workers[OURS].ask("memory", options.steps)
        yield {"kind": "memory", "network": str(network), "resident": answer["resident"]}
    finally:
        for worker in workers.values():
            worker.close()


def machine(options):
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    flags = next((line.split() for line in open("/proc/cpuinfo") if line.startswith("flags")), [])
    vectors = [name for name in ("avx2", "avx512f") if name in flags]
    versions = {name: metadata.version(name) for name in ("torch", "onnxruntime", "numpy")}
    own = {"kind": "machine", "cpu": cpu, "vectors": vectors, "cores": os.cpu_count(), "system": platform.release()}
    return own | versions | {"threads": options.threads, "seconds": options.seconds}


def measure(options):
    yield machine(options)
    with tempfile.TemporaryDirectory() as temporary:
        for network in NETWORKS:
            if network.depth in options.depths:
                yield from measure_network(options, network, Path(temporary))


def spread(ratios):
    """The median, with the least and the most."""
    return f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f} .. {max(ratios):.2f})"


class Rounds:
    """The rates of a network and a workload."""

    def __init__(self, records):
        self.rates = [record["rates"] for record in records]

    def median(self, name):
        return statistics.median(rates[name] for rates in self.rates)

    def has(self, name):
        return name in self.rates[0]

    def ratios(self, name, ours=OURS):
        return [rates[ours] / rates[name] for rates in self.rates]

    def faster(self, peer):
        """As it comes, or sleeping."""
        return max((name for name in (peer, SLEEPING.format(peer)) if self.has(name)), key=self.median)

    def best(self, peers):
        return max((self.faster(peer) for peer in peers if self.has(peer)), key=self.median, default=None)


def table(records):
    """Markdown."""
    kinds = {kind: [record for record in records if record["kind"] == kind] for kind in ("rates", "agreement", "memory")}
    head, groups = records[0], {}
    for record in kinds["rates"]:
        groups.setdefault((record["network"], record["workload"]), []).append(record)
    groups = {key: Rounds(own) for key, own in groups.items()}
    loads = [record["load"] for record in kinds["rates"]]
    lines = ["# Training and inference against PyTorch and ONNX Runtime", ""]
    lines += ["Written by `bench/peers/training/compare.py`, whose head says what is measured. "
              f"torch {head['torch']}, onnxruntime {head['onnxruntime']}; {head['cpu']} ({', '.join(head['vectors'])}), "
              f"{head['cores']} cores, {head['threads']} threads on every side, load {min(loads):.1f} to {max(loads):.1f} (our "
              f"own included); medians of {1 + max(record['round'] for record in kinds['rates'])} rounds of "
              f"{head['seconds']} s, with the least and the most. *: with threads that sleep, where that is faster.", ""]
    mark = lambda name: "*" if name.endswith(SLEEPING.format("")) else ""  # noqa: E731
    columns = [peer for peer in PEERS if any(own.has(peer) for own in groups.values())]
    lines += ["## Images a second", ""]
    lines += ["| network | workload | gambeson | " + " | ".join(columns) + " |"]
    lines += ["|---|---|---:|" + "---:|" * len(columns)]
    for (network, workload), own in groups.items():
        cells = [network, workload, f"{own.median(OURS):,.0f}"]
        for peer in columns:
            name = own.has(peer) and own.faster(peer)
            cells.append(f"{own.median(name):,.0f}{mark(name)}" if name else "")
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "## Ours to theirs", "", "Above 1: ours is faster. Control: ours to ours. Best: of PyTorch's modes.", ""]
    lines += ["| network | workload | control | " + " | ".join(columns) + " | best of PyTorch |"]
    lines += ["|---|---|---:|" + "---:|" * (len(columns) + 1)]
    for (network, workload), own in groups.items():
        cells = [network, workload, spread(own.ratios(AGAIN))]
        for peer in columns:
            name = own.has(peer) and own.faster(peer)
            cells.append(spread(own.ratios(name)) + mark(name) if name else "")
        best = own.best(PEERS[:3])
        cells.append(f"{spread(own.ratios(best))}, {best}" if best else "")
        lines.append("| " + " | ".join(cells) + " |")
    steps = {network: own for (network, workload), own in groups.items() if workload == "algorithm-1"}
    if steps:
        lines += ["", "## Algorithm 1", "", f"Seconds per epoch of {EPOCH:,} images: 2 draws, 2 steps, from bytes to weights.", ""]
        lines += ["| network | gambeson | " + " | ".join(PEERS[:3]) + " |", "|---|---:|" + "---:|" * 3]
        for network, own in steps.items():
            peers = [own.has(peer) and own.faster(peer) for peer in PEERS[:3]]
            cells = [network, f"{EPOCH / own.median(OURS):.1f}"]
            cells += [f"{EPOCH / own.median(name):.1f}{mark(name)}" if name else "" for name in peers]
            lines.append("| " + " | ".join(cells) + " |")
    if native := {key: own for key, own in groups.items() if own.has(FULL)}:
        lines += ["", "## Native grid", "", "Gambeson on the native grid and on 32 x 32, same batch; images a second.", ""]
        lines += ["| network | workload | native | 32 x 32 | ratio |", "|---|---|---:|---:|---:|"]
        for (network, workload), own in native.items():
            cells = [network, workload, f"{own.median(OURS):,.0f}", f"{own.median(FULL):,.0f}", spread(own.ratios(FULL))]
            lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "## Same results", "",
              "Distance from PyTorch in double precision on the same weights and batch, relative to the norm there.", ""]
    lines += ["| network | workload | result | " + " | ".join([OURS, *columns]) + " |"]
    lines += ["|---|---|---|" + "---:|" * (len(columns) + 1)]
    found = {}
    for record in kinds["agreement"]:
        for quantity, distance in record["distances"].items():
            found.setdefault((record["network"], record["workload"], quantity), {})[record["contender"]] = distance
    for key, distances in found.items():
        cells = [f"{distances[name]:.1e}" if name in distances else "" for name in (OURS, *columns)]
        lines.append("| " + " | ".join([*key, *cells]) + " |")
    lines += ["", "## Memory", "", "Resident, of our worker, over steps of SGD.", ""]
    lines += ["| network | MiB after step | growth |", "|---|---|---:|"]
    for record in kinds["memory"]:
        sizes = record["resident"]
        seen = ", ".join(f"{step}: {size / 1024:.1f}" for step, size in sizes)
        lines.append(f"| {record['network']} | {seen} | {sizes[-1][1] / sizes[0][1] - 1:.2%} |")
    return "\n".join(lines) + "\n"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.5, help="of a round")
    parser.add_argument("--steps", type=int, default=500, help="of the look at memory")
    parser.add_argument("--depths", type=int, nargs="+", default=[20, 8], help="networks")
    parser.add_argument("--contenders", nargs="+", choices=PEERS, default=PEERS)
    parser.add_argument("--quick", action="store_true", help="to see whether it runs: the figures say nothing")
    files.add_arguments(parser, "results/peers-training.jsonl")
    parser.add_argument("--worker", default="target/release/examples/network_worker")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds, options.steps = 2, 0.1, 20
    return options


def main():
    options = arguments()
    if not options.render_only:
        files.keep(options, measure(options))
    files.render(options, table)


if __name__ == "__main__":
    main()
