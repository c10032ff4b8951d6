"""The networks that are compared, as files that every side reads: a state dict, a batch, and an ONNX graph.

CIFAR ResNets of He et al. (2016), section 4.2, with shortcuts of option A: every second row and column, and as many channels
of zeros before as behind. The graph is built here from the numbers, by `onnx` alone, so that no side's exporter has a part
in it.
"""

import json
import struct
from dataclasses import dataclass

import numpy as np

CLASSES = 10


@dataclass(frozen=True)
class Network:
    depth: int
    width: int
    size: int
    batch: int

    def __str__(self):
        return f"ResNet-{self.depth}, {self.size} x {self.size}, batch {self.batch}"

    def blocks(self):
        """(name, channels in, channels out) of every block."""
        channels = self.width
        for stage in range(3):
            for block in range((self.depth - 2) // 6):
                out = self.width << stage
                yield f"layer{stage + 1}.{block}", channels, out
                channels = out


def random_weights(network, rng):
    """A state dict by name: He's initial weights, and normalisations that are not the identity, so that an error in folding
    or in a gradient shows."""
    numbers = {}

    def convolution(conv, norm, inputs, outputs):
        numbers[f"{conv}.weight"] = rng.normal(0, np.sqrt(2 / (9 * inputs)), (outputs, inputs, 3, 3))
        numbers[f"{norm}.weight"] = rng.uniform(0.5, 1.5, outputs)
        numbers[f"{norm}.bias"] = rng.normal(0, 0.2, outputs)
        numbers[f"{norm}.running_mean"] = rng.normal(0, 0.2, outputs)
        numbers[f"{norm}.running_var"] = rng.uniform(1, 3, outputs)

    convolution("conv1", "bn1", 3, network.width)
    for name, inputs, outputs in network.blocks():
        convolution(f"{name}.conv1", f"{name}.bn1", inputs, outputs)
        convolution(f"{name}.conv2", f"{name}.bn2", outputs, outputs)
    features = 4 * network.width
    numbers["linear.weight"] = rng.normal(0, np.sqrt(1 / features), (CLASSES, features))
    numbers["linear.bias"] = rng.normal(0, 0.1, CLASSES)
    return {name: value.astype("<f4") for name, value in numbers.items()}


def write_safetensors(path, tensors):
    header, at = {}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(tensor.tobytes() for tensor in tensors.values()))


def read_safetensors(path):
    raw = path.read_bytes()
    start = 8 + struct.unpack("<Q", raw[:8])[0]
    tensors = {}
    for name, entry in json.loads(raw[8:start]).items():
        begin, end = (start + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(raw[begin:end], "<f4").reshape(entry["shape"])
    return tensors


def read_batch(folder, size):
    images = np.fromfile(folder / "images.f32", "<f4").reshape(-1, 3, size, size)
    return images, np.fromfile(folder / "labels.u8", np.uint8).astype(np.int64)


def write_quantities(folder, name, workload, quantities):
    """What a check computed, as `compare.py` reads it."""
    for quantity, value in quantities.items():
        np.asarray(value, np.float64 if name == "reference" else "<f4").tofile(
            folder / f"{name}.{workload}.{quantity}.{'f64' if name == 'reference' else 'f32'}"
        )
    return {"quantities": list(quantities)}


def write_graph(path, network, weights):
    """The ONNX graph, normalisations and all; a batch of fixed size."""
    from onnx import TensorProto, checker, helper, numpy_helper, save

    nodes, constants = [], [numpy_helper.from_array(value, name) for name, value in weights.items()]

    def constant(name, values):
        constants.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def node(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def convolution(x, conv, norm, stride):
        x = node("Conv", [x, f"{conv}.weight"], f"{conv}.y", kernel_shape=[3, 3], pads=[1] * 4, strides=[stride] * 2)
        numbers = [f"{norm}.{part}" for part in ("weight", "bias", "running_mean", "running_var")]
        return node("BatchNormalization", [x, *numbers], f"{norm}.y", epsilon=1e-5)

    x = node("Relu", [convolution("images", "conv1", "bn1", 1)], "relu")
    window = [constant("starts", [0, 0]), constant("ends", [2**31 - 1] * 2), constant("axes", [2, 3])]
    steps = constant("steps", [2, 2])
    for name, inputs, outputs in network.blocks():
        stride = 1 if inputs == outputs else 2
        y = node("Relu", [convolution(x, f"{name}.conv1", f"{name}.bn1", stride)], f"{name}.relu1")
        y = convolution(y, f"{name}.conv2", f"{name}.bn2", 1)
        if inputs != outputs:
            side = (outputs - inputs) // 2
            x = node("Slice", [x, *window, steps], f"{name}.slice")
            x = node("Pad", [x, constant(f"{name}.pads", [0, side, 0, 0, 0, side, 0, 0])], f"{name}.pad")
        x = node("Relu", [node("Add", [y, x], f"{name}.sum")], f"{name}.relu2")
    x = node("Flatten", [node("GlobalAveragePool", [x], "mean")], "features")
    node("Gemm", [x, "linear.weight", "linear.bias"], "scores", transB=1)
    value = lambda name, *shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)  # noqa: E731
    source = value("images", network.batch, 3, network.size, network.size)
    graph = helper.make_graph(nodes, "resnet", [source], [value("scores", network.batch, CLASSES)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model, full_check=True)
    save(model, path)


# Algorithm 1 on the native grid: images of FULL x FULL through RANK coordinates of every channel, noise SIGMA, attacks of
# STEPS steps within EPSILON, DRAWS draws per image; augmentation by shifts of CROP and mirrors; plain SGD with momentum.
FULL, RANK, SIGMA, EPSILON, STEPS, DRAWS, CROP, RATE, POOL = 32, 200, 0.25, 0.25, 2, 2, 4, 0.02, 2048


def coordinates(size):
    """Frequencies that are kept, as row and column: the lowest of the native grid by their sum, then by their row."""
    return sorted(((r, c) for r in range(size) for c in range(size)), key=lambda rc: (sum(rc), rc))[:RANK]


def cosines(n):
    """The orthonormal DCT-II: frequency by place."""
    k, i = np.arange(n)[:, None], np.arange(n)[None, :]
    matrix = np.sqrt(2 / n) * np.cos(np.pi * k * (2 * i + 1) / (2 * n))
    matrix[0] /= np.sqrt(2)
    return matrix


def coder(size):
    """Encoder, FULL² x RANK, and decoder, RANK x size², of every channel."""
    full, small, chosen = cosines(FULL), cosines(size), coordinates(size)
    encoder = np.stack([np.outer(full[r], full[c]).ravel() for r, c in chosen], 1)
    decoder = np.stack([np.outer(small[r], small[c]).ravel() for r, c in chosen]) * (size / FULL)
    return encoder.astype(np.float32), decoder.astype(np.float32)


def read_pool(folder):
    pool = np.fromfile(folder / "pool.u8", np.uint8).reshape(-1, 3, FULL, FULL)
    return pool, np.fromfile(folder / "pool-labels.u8", np.uint8).astype(np.int64)


def write_folder(folder, network):
    """All that the sides read."""
    rng = np.random.default_rng(1)
    weights = random_weights(network, rng)
    write_safetensors(folder / "weights.safetensors", weights)
    images = rng.normal(0, 1, (network.batch, 3, network.size, network.size)).astype("<f4")
    images.tofile(folder / "images.f32")
    rng.integers(0, CLASSES, network.batch).astype(np.uint8).tofile(folder / "labels.u8")
    write_graph(folder / "network.onnx", network, weights)
    # A class makes one of ten places brighter, so that there is something to learn.
    labels = rng.integers(0, CLASSES, POOL)
    pool = rng.integers(0, 156, (POOL, 3, FULL, FULL))
    for image, label in zip(pool, labels):
        image[:, 3 * label : 3 * label + 4] += 100
    pool.astype(np.uint8).tofile(folder / "pool.u8")
    labels.astype(np.uint8).tofile(folder / "pool-labels.u8")
    np.array(coordinates(network.size), "<u4").tofile(folder / "coordinates.u32")
