"""Certification by gambeson against ONNX Runtime's own Python loop and IBM ART, in one run on one machine.

    pip install onnxruntime==1.31.1 onnx==1.23.2 adversarial-robustness-toolbox==1.20.1 statsmodels
    GAMBESON_REFERENCE_DATA=... GAMBESON_DATA=... python3 bench/peers/smoothing/compare.py [--threads 2 1] [--rounds 7]
        [--models resnet_2b cifar_base_kw cifar10_small resnet20.onnx:.485,.456,.406:.229,.224,.225]

Networks on CIFAR-10 test images, with noise on all 3072 coordinates and the normalisation they were trained with: three of
VNN-COMP 2021, or files with their means and deviations. All sides load the same library. They take turns, in an order that
changes from round to round, with a pause before each turn in which threads of the one before stop spinning, so that they
meet the same noise of the machine; the table has the medians of the rounds and, of each ratio, the median of the ratios
within a round, with the least and the most, and the ratio of the best rates of all rounds.

* loop: `session.run` on one noisy batch again and again, in the graph with a free batch, one session with that many
  threads. It draws no noise and counts nothing. `loop, noise`: with numpy's noise drawn, and the batch normalised, for
  every batch.
* own, onnx: draws a second of `certify --runtime own` and `onnx`, with all noise and counting: on our engine, and on that
  many threads with a session of ONNX Runtime each. A graph that our engine does not run has no `own`.
* ART: `NumpyRandomizedSmoothing.certify` around `BlackBoxClassifierNeuralNetwork` around the same session, from images
  to radii, at equal n; ours from images to records, by the first runtime that has the graph, reading of files not counted
  on either side. Most threads only, and only where ART is installed.

Both runtimes get the same noise, so their counts differ only in draws that are ties but for rounding; the table has how many.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
import records as files  # noqa: E402

KW = ([0.485, 0.456, 0.406], [0.225, 0.225, 0.225])
RESNET = ([0.4914, 0.4822, 0.4465], [0.2471, 0.2435, 0.2616])
NETWORKS = {"resnet_2b": RESNET, "cifar_base_kw": KW, "cifar10_small": None}
SIGMA, ALPHA, N0, N, BATCH, IMAGES = 0.1, 0.001, 100, 10_000, 64, 4
# Draws of an image and thread where only their rate is measured, at most; seconds of a loop, and before a turn.
MANY, SECONDS, PAUSE = 12_000, 1.5, 0.3
TARGETS = "0,0.1,0.2"


def images():
    raw = np.fromfile(Path(os.environ["GAMBESON_DATA"]) / "cifar10/test_batch.bin", np.uint8)
    return (raw.reshape(-1, 3073)[:IMAGES, 1:].reshape(-1, 3, 32, 32) / 255).astype(np.float32)


class Network:
    def __init__(self, path, normalisation, threads):
        import onnx
        import onnxruntime

        model = onnx.load(path)
        source = model.graph.input[0]
        for value in [source, *model.graph.output]:
            value.type.tensor_type.shape.dim[0].dim_param = "rows"
        self.name = source.name
        self.last = source.type.tensor_type.shape.dim[3].dim_value == 3
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        providers = ["CPUExecutionProvider"]
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)
        shape = (1, 3, 1, 1)
        self.normalisation = normalisation and tuple(np.array(x, np.float32).reshape(shape) for x in normalisation)

    def prepare(self, x):
        if self.normalisation:
            x = (x - self.normalisation[0]) / self.normalisation[1]
        return np.ascontiguousarray(np.moveaxis(x, 1, 3)) if self.last else x

    def scores(self, prepared):
        return self.session.run(None, {self.name: prepared})[0]


def loop(network, image, noise=False):
    rng = np.random.default_rng(0)
    draw = lambda: image + np.float32(SIGMA) * rng.standard_normal((BATCH, 3, 32, 32), np.float32)  # noqa: E731
    batch = network.prepare(draw())
    network.scores(batch)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        network.scores(network.prepare(draw()) if noise else batch)
        count += BATCH
    return count / (time.perf_counter() - start)


def art(network, x):
    warnings.filterwarnings("ignore")
    from art.estimators.certification.randomized_smoothing import NumpyRandomizedSmoothing
    from art.estimators.classification import BlackBoxClassifierNeuralNetwork

    predict = lambda batch: network.scores(network.prepare(batch.astype(np.float32)))  # noqa: E731
    classifier = BlackBoxClassifierNeuralNetwork(predict, (3, 32, 32), 10, channels_first=True)
    smoothed = NumpyRandomizedSmoothing(classifier, sample_size=N0, scale=SIGMA, alpha=ALPHA)
    start = time.perf_counter()
    smoothed.certify(x, n=N, batch_size=BATCH)
    return time.perf_counter() - start


def model(text):
    """Name, file, means and deviations: a name of NETWORKS, FILE, or FILE:MEANS:DEVIATIONS."""
    if text in NETWORKS:
        return text, Path(os.environ["GAMBESON_REFERENCE_DATA"]) / "models" / f"{text}.onnx", NETWORKS[text]
    path, *numbers = text.split(":")
    if len(numbers) not in (0, 2) or not Path(path).is_file():
        raise SystemExit(f"{text}: neither one of {', '.join(NETWORKS)} nor FILE or FILE:MEANS:DEVIATIONS")
    normalisation = tuple([float(number) for number in part.split(",")] for part in numbers)
    return Path(path).stem, Path(path), normalisation or None


def gambeson(binary, path, normalisation, threads, n, *more):
    words = [binary, "certify", "--model", path, "--data", "cifar10", "--sigma", SIGMA, "--alpha", ALPHA]
    words += ["--n0", N0, "--n", n, "--batch", BATCH, "--stop", IMAGES, "--threads", threads, "--json", *more]
    if normalisation:
        words += [f"--mean={','.join(map(str, normalisation[0]))}", f"--std={','.join(map(str, normalisation[1]))}"]
    environment = os.environ | {"ORT_DYLIB_PATH": library()}
    done = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def library():
    """The one that Python uses."""
    import onnxruntime

    return str(next((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*")))


def supported(ours, runtimes):
    """Those that run the graph; the engine may lack a layer, and then says which."""
    for runtime in runtimes:
        try:
            ours(runtime, 100)
        except subprocess.CalledProcessError as error:
            if runtime != "own":
                raise SystemExit(error.stderr) from error
            print(f"not on our engine: {error.stderr.strip()}", file=sys.stderr)
        else:
            yield runtime


def differing(ours, runtimes):
    """Draws that the runtimes count differently, at least, among how many."""
    counts = []
    with tempfile.TemporaryDirectory() as folder:
        for runtime in runtimes:
            out = Path(folder) / f"{runtime}.jsonl"
            ours(runtime, N, "--out", out)
            lines = [json.loads(line) for line in out.read_text().splitlines()]
            counts.append(np.array([line["selection"] + line["estimation"] for line in lines]))
    return int(np.abs(counts[0] - counts[1]).sum()) // 2, int(counts[0].sum())


def measure(options):
    """Yields a record a network, number of threads and round."""
    import onnxruntime

    x, models = images(), [model(text) for text in options.models]
    for threads in options.threads:
        for name, path, normalisation in models:
            network = Network(path, normalisation, threads)

            def ours(runtime, n, *more):
                return gambeson(options.gambeson, path, normalisation, threads, n, "--runtime", runtime, *more)  # noqa: B023

            runtimes = list(supported(ours, options.runtimes))
            if not runtimes:
                continue
            draws = min(MANY * threads, max(1000, int(loop(network, x[0]) * 2 * SECONDS / IMAGES)))
            counted = differing(ours, runtimes) if len(runtimes) == 2 else None
            for number in range(options.rounds):
                record = {"network": name, "threads": threads, "round": number, "load": os.getloadavg()[0]}
                record |= {"onnxruntime": onnxruntime.__version__, "cores": os.cpu_count(), "differing": counted}
                sides = {runtime: lambda runtime=runtime: ours(runtime, draws)["rate"] for runtime in runtimes}  # noqa: B023
                sides |= {
                    "loop": lambda: loop(network, x[0]),  # noqa: B023
                    "noisy_loop": lambda: loop(network, x[0], noise=True),  # noqa: B023
                }
                turn = number % len(sides)
                for side in [*sides][turn:] + [*sides][:turn]:
                    time.sleep(PAUSE)
                    record[side] = sides[side]()
                if threads == max(options.threads) and importlib.util.find_spec("art"):
                    sequential = ours(runtimes[0], N, "--sequential", "--target", TARGETS)["seconds"]
                    record |= {"seconds": ours(runtimes[0], N)["seconds"], "sequential_seconds": sequential}
                    record |= {"art_seconds": art(network, x)}
                yield record


def ratio(records, ours, theirs):
    """The median of the rounds, with the least and the most; nothing where a side is missing."""
    if ours(records[0]) is None or theirs(records[0]) is None:
        return ""
    ratios = [ours(record) / theirs(record) for record in records]
    return f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f} .. {max(ratios):.2f})"


def table(records):
    """Markdown."""
    lines = ["# Certification against ONNX Runtime's own loop and IBM ART", ""]
    loads = [record["load"] for record in records]
    lines += ["Written by `bench/peers/smoothing/compare.py`, whose head says what is measured. "
              f"onnxruntime {records[0]['onnxruntime']} on both sides, {records[0]['cores']} cores, load {min(loads):.1f} to "
              f"{max(loads):.1f} (our own included), sigma {SIGMA}, n0 {N0}, alpha {ALPHA}, batch {BATCH}, {IMAGES} images; "
              f"medians of {1 + max(record['round'] for record in records)} rounds, with the least and the most.", ""]
    groups = {}
    for record in records:
        groups.setdefault((record["threads"], record["network"]), []).append(record)
    median = lambda own, key: statistics.median(record[key] for record in own)  # noqa: E731
    get = lambda key: lambda record: record.get(key)  # noqa: E731
    lines += ["## Forward passes a second", ""]
    lines += ["Ours with all its noise, on our engine (own) and on ONNX Runtime (onnx). The loop draws none; beside it, one "
              "that draws numpy's. Ratios above 1: ours is faster. Best: the best rate of own to the best of the loop. "
              "Differing: draws that own and onnx count differently.", ""]
    lines += ["| threads | network | own | onnx | loop | loop, noise | own / loop | best | own / onnx | onnx / loop | "
              "own / loop, noise | differing |"]
    lines += ["|---:|---|" + "---:|" * 10]
    for (threads, name), own in groups.items():
        keys = ("own", "onnx", "loop", "noisy_loop")
        rates = [f"{median(own, key):,.0f}" if key in own[0] else "" for key in keys]
        pairs = [("own", "loop"), ("own", "onnx"), ("onnx", "loop"), ("own", "noisy_loop")]
        plain, *others = (ratio(own, get(ours), get(theirs)) for ours, theirs in pairs)
        best = f"{max(map(get('own'), own)) / max(map(get('loop'), own)):.2f}" if plain else ""
        differ = "{:,} of {:,}".format(*own[0]["differing"]) if own[0]["differing"] else ""
        lines.append("| " + " | ".join([str(threads), name, *rates, plain, best, *others, differ]) + " |")
    if not any("art_seconds" in record for record in records):
        return "\n".join(lines) + "\n"
    lines += ["", "## Against ART, from images to radii", ""]
    lines += [f"{N:,} draws an image; sequential: targets {TARGETS}. Seconds; ratios above 1: ours is faster.", ""]
    lines += ["| threads | network | gambeson | sequential | ART | ART / ours | ART / sequential |"]
    lines += ["|---:|---|---:|---:|---:|---:|---:|"]
    for (threads, name), own in groups.items():
        if "art_seconds" in own[0]:
            seconds = [f"{median(own, key):.2f}" for key in ("seconds", "sequential_seconds", "art_seconds")]
            ratios = [ratio(own, get("art_seconds"), get(key)) for key in ("seconds", "sequential_seconds")]
            lines.append("| " + " | ".join([str(threads), name, *seconds, *ratios]) + " |")
    return "\n".join(lines) + "\n"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--models", nargs="+", default=[*NETWORKS], metavar="NAME | FILE[:MEANS:DEVIATIONS]")
    parser.add_argument("--runtimes", nargs="+", choices=["own", "onnx"], default=["own", "onnx"])
    files.add_arguments(parser, "results/peers-smoothing.jsonl")
    parser.add_argument("--gambeson", default="target/release/gambeson")
    return parser.parse_args()


def main():
    options = arguments()
    if not options.render_only:
        files.keep(options, measure(options))
    files.render(options, table)


if __name__ == "__main__":
    main()
