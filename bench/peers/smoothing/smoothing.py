"""Randomized smoothing of ONNX networks: gambeson against onnxruntime's own loop in Python and against IBM ART.

    pip install numpy onnx onnxruntime adversarial-robustness-toolbox statsmodels
    cargo build --release
    gambeson data fetch cifar10
    GAMBESON_REFERENCE_DATA=... python3 bench/peers/smoothing/smoothing.py [--repeats 3]
    python3 bench/peers/smoothing/smoothing.py --render-only

Writes one JSON object a run to --out (results/peers-smoothing.jsonl) and a table beside it (.md). Three networks of
VNN-COMP 2021 on CIFAR-10 test images, sigma = 0.25, the same images, numbers of draws and batches on all sides, two
threads in onnxruntime on all sides (--threads). All sides use the same release of onnxruntime, the one Python has.

**Passes.** Forward passes a second, noise included. The loop in Python is the plainest one can write: float32 noise from
numpy's generator added to the image, `session.run`, argmax, counted. It gets the graph with a free batch dimension, made
here with the `onnx` package, where the file has batch 1; and the graph as it is, one image a call, as a row of its own.
Ours are the draws of its records by their seconds. Neither side's include reading the network.

**End to end.** ART 1.20's `NumpyRandomizedSmoothing` around the same session (`BlackBoxClassifier`), `certify` alone,
without imports and without reading the network, against our whole process with both. At equal numbers of draws, and
ours again with `--sequential`, which stops when the radius is within a tolerance of what all draws could give; how
many inputs get the same class, and how much smaller our radii are in the mean, is in the table.

Sides take turns, so that they meet the same noise; seconds are medians over --repeats.
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

MODELS = {"resnet_2b": "NCHW", "cifar_base_kw": "NCHW", "cifar10_small": "NHWC"}
SIGMA, ALPHA, SELECTION = 0.25, 0.001, 100
NUMPY, NUMPY_ONE, ART = "onnxruntime loop in Python", "onnxruntime loop in Python, graph as it is", "IBM ART"
OURS, SEQUENTIAL = "gambeson", "gambeson --sequential"


def images(options, count, layout):
    """The first test images, in [0, 1], as the network wants them."""
    folder = Path(os.environ["GAMBESON_DATA"]) / "cifar10"
    file = next(folder.rglob("test_batch.bin"))
    rows = np.frombuffer(file.read_bytes()[: count * 3073], np.uint8).reshape(-1, 3073)[:, 1:]
    planes = rows.reshape(-1, 3, 32, 32).astype(np.float32) / 255
    return planes if layout == "NCHW" else np.ascontiguousarray(planes.transpose(0, 2, 3, 1))


def free_batch(path):
    """The graph with a free first dimension."""
    import onnx

    model = onnx.load(path)
    for value in [*model.graph.input, *model.graph.output]:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    del model.graph.value_info[:]
    return model.SerializeToString()


def session(graph, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def loop(run, name, image, draws, batch, rng):
    """Class counts of `draws` noisy copies."""
    counts = np.zeros(10, int)
    while draws > 0:
        size = min(batch, draws)
        noisy = image + np.float32(SIGMA) * rng.standard_normal((size, *image.shape), dtype=np.float32)
        counts += np.bincount(run(None, {name: noisy})[0].argmax(1), minlength=10)
        draws -= size
    return counts


def worker(spec):
    """One run of a peer, in this process."""
    path, threads, batch, layout = spec["path"], spec["threads"], spec["batch"], MODELS[spec["model"]]
    inputs = images(None, spec["images"], layout)
    graph = path if spec["solver"] == NUMPY_ONE else free_batch(path)
    net = session(graph, threads)
    name = net.get_inputs()[0].name
    batch = 1 if spec["solver"] == NUMPY_ONE else batch
    loop(net.run, name, inputs[0], batch, batch, np.random.default_rng(0))  # the first pass allocates
    if spec["solver"] == ART:
        from art.estimators.certification.randomized_smoothing import NumpyRandomizedSmoothing
        from art.estimators.classification import BlackBoxClassifier

        def predict(x):
            parts = [net.run(None, {name: x[at : at + batch]})[0] for at in range(0, len(x), batch)]
            return np.concatenate(parts)

        base = BlackBoxClassifier(predict, inputs.shape[1:], 10, clip_values=None)
        base.channels_first = layout == "NCHW"  # asked for, and missing
        smoothed = NumpyRandomizedSmoothing(base, sample_size=SELECTION, scale=SIGMA, alpha=ALPHA)
        started = time.perf_counter()
        classes, radii = smoothed.certify(inputs, n=spec["draws"], batch_size=batch)
        seconds = time.perf_counter() - started
    else:
        rng = np.random.default_rng(1)
        started = time.perf_counter()
        for image in inputs:
            loop(net.run, name, image, SELECTION, batch, rng)
            loop(net.run, name, image, spec["draws"], batch, rng)
        seconds = time.perf_counter() - started
        classes, radii = [], []
    passes = len(inputs) * (SELECTION + spec["draws"])
    report = {"seconds": seconds, "passes": passes, "seconds_passes": seconds}
    print(json.dumps(report | {"classes": [int(c) for c in classes], "radii": [float(r) for r in radii]}))


def peer(spec):
    ended = subprocess.run([sys.executable, __file__, "--worker", json.dumps(spec)], capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(ended.stderr)
    return json.loads(ended.stdout.splitlines()[-1])


def gambeson(options, spec):
    """One process of ours: its wall clock, and the draws and seconds of its records."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.jsonl"
        words = [options.gambeson, "certify", "--model", spec["path"], "--data", "cifar10", "--split", "test"]
        words += ["--sigma", SIGMA, "--n0", SELECTION, "--n", spec["draws"], "--alpha", ALPHA, "--seed", 1]
        words += ["--start", 0, "--stop", spec["images"], "--batch", spec["batch"], "--threads", spec["threads"]]
        words += ["--out", out, "--json"] + (["--sequential"] if spec["solver"] == SEQUENTIAL else [])
        started = time.perf_counter()
        subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - started
        records = [json.loads(line) for line in out.read_text().splitlines()]
    passes = sum(sum(record["selection"]) + sum(record["estimation"]) for record in records)
    classes = [-1 if record["class"] is None else record["class"] for record in records]
    radii = [record["l2"] or 0.0 for record in records]
    report = {"seconds": seconds, "passes": passes, "seconds_passes": sum(record["seconds"] for record in records)}
    return report | {"classes": classes, "radii": radii}


def measure(options):
    """Yields a record a run."""
    import art
    import onnxruntime

    folder = Path(os.environ["GAMBESON_REFERENCE_DATA"]) / "models"
    common = {"onnxruntime": onnxruntime.__version__, "art": art.__version__, "images": options.images}
    common |= {"draws": options.draws, "batch": options.batch, "threads": options.threads}
    for model in options.models:
        for repeat in range(options.repeats):
            for solver in (OURS, NUMPY, ART, SEQUENTIAL, NUMPY_ONE):
                if solver == NUMPY_ONE and MODELS[model] == "NHWC":
                    continue  # its batch is free already
                spec = common | {"model": model, "solver": solver, "path": str(folder / f"{model}.onnx")}
                found = gambeson(options, spec) if solver in (OURS, SEQUENTIAL) else peer(spec)
                del spec["path"]
                record = spec | found | {"repeat": repeat, "load": os.getloadavg()[0]}
                rate = found["passes"] / found["seconds_passes"]
                print(f"{model} {solver:45s} {found['seconds']:8.2f} s {rate:9.0f} passes/s", file=sys.stderr)
                yield record


def table(records):
    """Markdown."""
    first = records[0]
    lines = ["# Randomized smoothing of ONNX networks", ""]
    lines += ["Written by `bench/peers/smoothing/smoothing.py`, whose head says what is timed."]
    lines += [f"onnxruntime {first['onnxruntime']} on all sides, ART {first['art']}; {first['images']} CIFAR-10 test images, "
              f"{SELECTION} + {first['draws']} draws each, sigma {SIGMA}, batch {first['batch']}, {first['threads']} threads."]
    lines += ["Medians. Passes: of the draws alone. Seconds: of all images; ours the whole process.", ""]
    lines += ["| network | | passes a second | ours / theirs | seconds | theirs / ours | draws an image | same class | radius less by |"]
    lines += ["|---|---|---:|---:|---:|---:|---:|---:|---:|"]
    groups = {}
    for record in records:
        groups.setdefault(record["model"], {}).setdefault(record["solver"], []).append(record)
    for model, solvers in groups.items():
        rates = {name: statistics.median(r["passes"] / r["seconds_passes"] for r in own) for name, own in solvers.items()}
        seconds = {name: statistics.median(r["seconds"] for r in own) for name, own in solvers.items()}
        theirs = solvers[ART][0]
        for name, own in solvers.items():
            one = own[0]
            cells = [model, name, f"{rates[name]:.0f}", f"{rates[OURS] / rates[name]:.2f}", f"{seconds[name]:.2f}"]
            cells += [f"{seconds[name] / seconds[OURS]:.2f}" + (f" ({seconds[name] / seconds[SEQUENTIAL]:.1f} sequential)" if name == ART else "")]
            cells += [f"{one['passes'] / one['images'] - SELECTION:.0f}"]
            if one["classes"] and name != ART:
                same = [a == b for a, b in zip(one["classes"], theirs["classes"])]
                less = [b - a for a, b, c in zip(one["radii"], theirs["radii"], same) if c and b > 0]
                cells += [f"{sum(same)} of {len(same)}", f"{statistics.mean(less):.4f}" if less else "–"]
            else:
                cells += ["", ""]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--images", type=int, default=5)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("results/peers-smoothing.jsonl"))
    parser.add_argument("--render-only", action="store_true", help="write the table anew from --out")
    parser.add_argument("--gambeson", default="target/release/gambeson")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    if options.worker:
        worker(json.loads(options.worker))
        return
    if not options.render_only:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        temporary = options.out.with_suffix(".tmp")
        with open(temporary, "w") as file:
            for record in measure(options):
                file.write(json.dumps(record) + "\n")
                file.flush()
        temporary.rename(options.out)
    rendered = table([json.loads(line) for line in options.out.read_text().splitlines()])
    temporary = options.out.with_suffix(".md.tmp")
    temporary.write_text(rendered)
    temporary.rename(options.out.with_suffix(".md"))
    print(rendered)


if __name__ == "__main__":
    main()
