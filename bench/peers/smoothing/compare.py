"""Certification by gambeson against ONNX Runtime's own Python loop and IBM ART, in one run on one machine.

    pip install onnxruntime==1.31.1 onnx==1.23.2 adversarial-robustness-toolbox==1.20.1
    GAMBESON_REFERENCE_DATA=... GAMBESON_DATA=... python3 bench/peers/smoothing/compare.py target/release/gambeson

Three networks of VNN-COMP 2021 on CIFAR-10 test images, with noise on all 3072 coordinates and the normalisation they
were trained with. Every round measures all sides in turn; the table has the median of the rounds and, of each ratio,
the median of the ratios within a round, so that a machine that is busy meanwhile slows all sides alike.

* loop: `session.run` on one noisy batch again and again, graph with a free batch, the library's default threads. It
  draws no noise and counts nothing. `loop, noise`: with numpy's noise drawn for every batch.
* gambeson: `certify --json`, draws a second of the whole run, noise and counting included.
* ART: `NumpyRandomizedSmoothing.certify` around `BlackBoxClassifierNeuralNetwork` around the same session, from images to radii.
"""

import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

warnings.filterwarnings("ignore")
from art.estimators.certification.randomized_smoothing import NumpyRandomizedSmoothing  # noqa: E402
from art.estimators.classification import BlackBoxClassifierNeuralNetwork  # noqa: E402

KW = ([0.485, 0.456, 0.406], [0.225, 0.225, 0.225])
RESNET = ([0.4914, 0.4822, 0.4465], [0.2471, 0.2435, 0.2616])
NETWORKS = {"resnet_2b": RESNET, "cifar_base_kw": KW, "cifar10_small": None}
SIGMA, ALPHA, N0, N, BATCH, IMAGES, ROUNDS = 0.1, 0.001, 100, 10_000, 64, 4, 5
TARGETS = "0,0.1,0.2"


def images():
    raw = np.fromfile(Path(os.environ["GAMBESON_DATA"]) / "cifar10/test_batch.bin", np.uint8)
    return (raw.reshape(-1, 3073)[:IMAGES, 1:].reshape(-1, 3, 32, 32) / 255).astype(np.float32)


class Network:
    def __init__(self, path, normalisation):
        model = onnx.load(path)
        source = model.graph.input[0]
        for value in [source, *model.graph.output]:
            value.type.tensor_type.shape.dim[0].dim_param = "rows"
        self.name = source.name
        self.last = source.type.tensor_type.shape.dim[3].dim_value == 3
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        shape = (1, 3, 1, 1)
        self.normalisation = normalisation and tuple(np.array(x, np.float32).reshape(shape) for x in normalisation)

    def prepare(self, x):
        if self.normalisation:
            x = (x - self.normalisation[0]) / self.normalisation[1]
        return np.ascontiguousarray(np.moveaxis(x, 1, 3)) if self.last else x

    def scores(self, prepared):
        return self.session.run(None, {self.name: prepared})[0]


def loop(network, image, seconds=2.0, noise=False):
    rng = np.random.default_rng(0)
    draw = lambda: image + np.float32(SIGMA) * rng.standard_normal((BATCH, 3, 32, 32), np.float32)  # noqa: E731
    batch = network.prepare(draw())
    network.scores(batch)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        network.scores(network.prepare(draw()) if noise else batch)
        count += BATCH
    return count / (time.perf_counter() - start)


def art(network, x):
    predict = lambda batch: network.scores(network.prepare(batch.astype(np.float32)))  # noqa: E731
    classifier = BlackBoxClassifierNeuralNetwork(predict, (3, 32, 32), 10, channels_first=True)
    smoothed = NumpyRandomizedSmoothing(classifier, sample_size=N0, scale=SIGMA, alpha=ALPHA)
    start = time.perf_counter()
    smoothed.certify(x, n=N, batch_size=BATCH)
    return time.perf_counter() - start


def gambeson(binary, path, normalisation, *more):
    words = [binary, "certify", "--model", path, "--data", "cifar10", "--sigma", SIGMA, "--alpha", ALPHA]
    words += ["--n0", N0, "--n", N, "--batch", BATCH, "--stop", IMAGES, "--json", *more]
    if normalisation:
        words += [f"--mean={','.join(map(str, normalisation[0]))}", f"--std={','.join(map(str, normalisation[1]))}"]
    done = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main(binary):
    folder = Path(os.environ["GAMBESON_REFERENCE_DATA"]) / "models"
    x = images()
    lines = []
    for name, normalisation in NETWORKS.items():
        path = folder / f"{name}.onnx"
        network = Network(path, normalisation)
        rounds = []
        for _ in range(ROUNDS):
            ours = gambeson(binary, path, normalisation)
            sequential = gambeson(binary, path, normalisation, "--sequential", "--target", TARGETS)
            one = {
                "rate": ours["rate"],
                "loop": loop(network, x[0]),
                "noisy_loop": loop(network, x[0], noise=True),
                "seconds": ours["seconds"],
                "sequential_seconds": sequential["seconds"],
                "art_seconds": art(network, x),
            }
            one["to_loop"] = one["rate"] / one["loop"]
            one["to_noisy_loop"] = one["rate"] / one["noisy_loop"]
            one["to_art"] = one["art_seconds"] / one["seconds"]
            one["sequential_to_art"] = one["art_seconds"] / one["sequential_seconds"]
            rounds.append(one)
            print(name, {key: round(value, 3) for key, value in one.items()}, file=sys.stderr, flush=True)
        median = {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}
        lines.append(
            f"| {name} | {median['rate']:.0f} | {median['loop']:.0f} | {median['noisy_loop']:.0f} "
            f"| {median['to_loop']:.2f} | {median['to_noisy_loop']:.2f} | {median['seconds']:.2f} "
            f"| {median['art_seconds']:.2f} | {median['to_art']:.2f} | {median['sequential_to_art']:.2f} |"
        )
    versions = f"onnxruntime {onnxruntime.__version__}, {os.cpu_count()} cores"
    print("# Certification against ONNX Runtime's own loop and IBM ART\n")
    print(f"Made by `bench/peers/smoothing/compare.py`, which says what is measured; {versions}.")
    print(f"{IMAGES} images, sigma {SIGMA}, n0 {N0}, n {N}, batch {BATCH}; sequential: targets {TARGETS}. Medians of")
    print(f"{ROUNDS} rounds; ratios above 1: gambeson is faster.\n")
    print("| network | gambeson, draws/s | loop | loop, noise | ratio | ratio, noise | gambeson, s | ART, s "
          "| ratio | ratio, sequential |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1])
