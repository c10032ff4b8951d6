"""Passes through a network by PyTorch or ONNX Runtime, one round at a time on request.

    python3 worker.py FOLDER SIZE NAME SIDE THREADS

The protocol is that of `network_worker` (crates/learn/examples), without `memory`. Sides: `eager`, `channels_last`,
`compile` and `double` of PyTorch; `onnxruntime` and `onnxruntime-sleeping`, with and without threads that spin.
"""

import copy
import json
import sys
import time
from pathlib import Path

import networks


def torch_workloads(folder, size, side, threads):
    """By name: what a round repeats, and how its results are had."""
    import torch
    from torch import nn
    from torch.nn import functional

    torch.set_num_threads(threads)
    numbers = networks.read_safetensors(folder / "weights.safetensors")
    convolution = lambda inputs, outputs, stride: nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)  # noqa: E731

    class Block(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.conv1 = convolution(inputs, outputs, 1 if inputs == outputs else 2)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.conv2 = convolution(outputs, outputs, 1)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.more = (outputs - inputs) // 2

        def forward(self, x):
            y = functional.relu(self.bn1(self.conv1(x)))
            y = self.bn2(self.conv2(y))
            if self.more:
                x = functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.more, self.more))
            return functional.relu(y + x)

    class ResNet(nn.Module):
        def __init__(self, network):
            super().__init__()
            self.conv1 = convolution(3, network.width, 1)
            self.bn1 = nn.BatchNorm2d(network.width)
            stages = {}
            for name, inputs, outputs in network.blocks():
                stages.setdefault(name.split(".")[0], []).append(Block(inputs, outputs))
            self.layer1, self.layer2, self.layer3 = (nn.Sequential(*blocks) for blocks in stages.values())
            self.linear = nn.Linear(4 * network.width, networks.CLASSES)

        def forward(self, x):
            x = functional.relu(self.bn1(self.conv1(x)))
            x = self.layer3(self.layer2(self.layer1(x)))
            return self.linear(x.mean((2, 3)))

    depth = 6 * len({name.split(".")[1] for name in numbers if name.startswith("layer1.")}) + 2
    width = len(numbers["conv1.weight"])
    model = ResNet(networks.Network(depth, width, size, 0))
    state = {name: torch.from_numpy(value.copy()) for name, value in numbers.items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and all(name.endswith("num_batches_tracked") for name in missing)
    images, labels = (torch.from_numpy(value) for value in networks.read_batch(folder, size))
    if side == "double":
        model, images = model.double(), images.double()
    if side in ("channels_last", "compile"):
        model = model.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
    fixed = copy.deepcopy(model).eval().requires_grad_(False)
    model.train()
    by_images = images.clone().requires_grad_()
    answer = fixed
    losses = {which: lambda x, which=which: functional.cross_entropy(which(x), labels) for which in (model, fixed)}
    if side == "compile":
        import torch._inductor.config

        torch._inductor.config.freezing = True
        answer = torch.compile(fixed, dynamic=False)
        losses = {which: torch.compile(loss, dynamic=False) for which, loss in losses.items()}
    parameters = list(model.parameters())

    def forward():
        with torch.inference_mode():
            return answer(images)

    def step(which, x):
        for leaf in [*parameters, by_images]:
            leaf.grad = None
        loss = losses[which](x)
        loss.backward()
        return loss

    work = {
        "forward": forward,
        "train": lambda: step(model, images),
        "train-input": lambda: step(model, by_images),
        "attack": lambda: step(fixed, by_images),
    }

    def results(workload):
        # The running statistics stay those of the file.
        statistics = copy.deepcopy(dict(model.named_buffers()))
        result = work[workload]()
        for name, value in model.named_buffers():
            value.copy_(statistics[name])
        if workload == "forward":
            return {"scores": result.numpy()}
        quantities = {"loss": result.detach().numpy()}
        if workload != "attack":
            quantities["weights"] = torch.cat([leaf.grad.flatten() for leaf in parameters]).numpy()
        if workload != "train":
            quantities["images"] = by_images.grad.contiguous().numpy()
        return quantities

    return work, results


def onnxruntime_workloads(folder, size, side, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0" if side.endswith("-sleeping") else "1")
    providers = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(str(folder / "network.onnx"), options, providers=providers)
    images, _ = networks.read_batch(folder, size)
    forward = lambda: session.run(None, {"images": images})[0]  # noqa: E731
    return {"forward": forward}, lambda workload: {"scores": forward()}


def round_of(work, seconds):
    """Once before, so that threads are awake; then for at least this long."""
    work()
    started, iterations = time.perf_counter(), 0
    while True:
        work()
        iterations += 1
        elapsed = time.perf_counter() - started
        if elapsed >= seconds:
            return {"iterations": iterations, "seconds": elapsed}


def main():
    folder, size, name, side, threads = sys.argv[1:]
    folder = Path(folder)
    make = onnxruntime_workloads if side.startswith("onnxruntime") else torch_workloads
    work, results = make(folder, int(size), side, int(threads))
    for line in sys.stdin:
        command, argument = line.split()
        if command == "check":
            answer = networks.write_quantities(folder, name, argument, results(argument))
        else:
            answer = round_of(work[command], float(argument))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
