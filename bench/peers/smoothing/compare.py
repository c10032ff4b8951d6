"""Certification by gambeson against ONNX Runtime's own Python loop and IBM ART, in one run on one machine.

    pip install onnxruntime==1.31.1 onnx==1.23.2 adversarial-robustness-toolbox==1.20.1
    GAMBESON_REFERENCE_DATA=... GAMBESON_DATA=... python3 bench/peers/smoothing/compare.py [--threads 2 1] [--rounds 7]

Three networks of VNN-COMP 2021 on CIFAR-10 test images, with noise on all 3072 coordinates and the normalisation they
were trained with. Both sides load the same library. They take turns, in an order that changes from round to round, so
that they meet the same noise of the machine; the table has the medians of the rounds and, of each ratio, the median of
the ratios within a round, with the least and the most, and the ratio of the best rates of all rounds.

* loop: `session.run` on one noisy batch again and again, in the graph with a free batch, one session with that many
  threads. It draws no noise and counts nothing. `loop, noise`: with numpy's noise drawn, and the batch normalised, for
  every batch.
* gambeson: draws a second of `certify`, with all noise and counting; that many threads with a session each.
* ART: `NumpyRandomizedSmoothing.certify` around `BlackBoxClassifierNeuralNetwork` around the same session, from images
  to radii, at equal n; ours from images to records, reading of files not counted on either side. Most threads only.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
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
# Draws of an image and thread where only their rate is measured, and seconds of a loop.
MANY, SECONDS = 12_000, 1.5
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


def measure(options):
    """Yields a record a network, number of threads and round."""
    import onnxruntime

    folder = Path(os.environ["GAMBESON_REFERENCE_DATA"]) / "models"
    x = images()
    for threads in options.threads:
        for name, normalisation in NETWORKS.items():
            path = folder / f"{name}.onnx"
            network = Network(path, normalisation, threads)
            ours = lambda n, *more: gambeson(options.gambeson, path, normalisation, threads, n, *more)  # noqa: E731, B023
            for number in range(options.rounds):
                record = {"network": name, "threads": threads, "round": number, "load": os.getloadavg()[0]}
                record |= {"onnxruntime": onnxruntime.__version__, "cores": os.cpu_count()}
                sides = {
                    "rate": lambda: ours(MANY * threads)["rate"],  # noqa: B023
                    "loop": lambda: loop(network, x[0]),  # noqa: B023
                    "noisy_loop": lambda: loop(network, x[0], noise=True),  # noqa: B023
                }
                turn = number % len(sides)
                for side in [*sides][turn:] + [*sides][:turn]:
                    record[side] = sides[side]()
                if threads == max(options.threads):
                    sequential = ours(N, "--sequential", "--target", TARGETS)["seconds"]
                    record |= {"seconds": ours(N)["seconds"], "sequential_seconds": sequential}
                    record |= {"art_seconds": art(network, x)}
                yield record


def ratio(records, ours, theirs):
    """The median of the rounds, with the least and the most."""
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
    get = lambda key: lambda record: record[key]  # noqa: E731
    lines += ["## Forward passes a second", ""]
    lines += ["Ours with all its noise. The loop draws none; beside it, one that draws numpy's. Ratios above 1: ours is "
              "faster. Best: the best rate of ours to the best of the loop.", ""]
    lines += ["| threads | network | gambeson | loop | loop, noise | ours / loop | best | ours / loop, noise |"]
    lines += ["|---:|---|---:|---:|---:|---:|---:|---:|"]
    for (threads, name), own in groups.items():
        rates = [f"{median(own, key):,.0f}" for key in ("rate", "loop", "noisy_loop")]
        plain, noisy = (ratio(own, get("rate"), get(key)) for key in ("loop", "noisy_loop"))
        best = max(map(get("rate"), own)) / max(map(get("loop"), own))
        lines.append("| " + " | ".join([str(threads), name, *rates, plain, f"{best:.2f}", noisy]) + " |")
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
