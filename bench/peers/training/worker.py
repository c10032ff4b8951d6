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

    def algorithm_1():
        """One step of Algorithm 1, images to weights, as somebody would write it in PyTorch."""
        state = algorithm_1.state
        at, state["at"] = state["at"], (state["at"] + inputs) % (len(pool) - inputs + 1)
        x = pool[at : at + inputs].float() / 255
        y = pool_labels[at : at + inputs]
        padded = functional.pad(x, (networks.CROP,) * 4)
        rows, columns = torch.randint(0, 2 * networks.CROP + 1, (2, inputs))
        x = torch.stack([
            image[:, r : r + networks.FULL, c : c + networks.FULL]
            for image, r, c in zip(padded, rows.tolist(), columns.tolist())
        ])
        x = torch.where(torch.rand(inputs, 1, 1, 1) < 0.5, x.flip(3), x)
        z = x.flatten(2) @ encoder
        noise = networks.SIGMA * torch.randn(inputs, networks.DRAWS, 3, networks.RANK)
        direction = torch.randn_like(z)
        length = direction.flatten(1).norm(dim=1).view(-1, 1, 1)
        d = direction / length * networks.EPSILON * torch.rand(inputs, 1, 1)
        learner.eval()
        for _ in range(networks.STEPS):
            d.requires_grad_()
            (gradient,) = torch.autograd.grad(soft(z + d, noise, y), d)
            step = gradient / gradient.flatten(1).norm(dim=1).clamp_min(1e-30).view(-1, 1, 1)
            d = d.detach() + 2 * networks.EPSILON / networks.STEPS * step
            d = d * (networks.EPSILON / d.flatten(1).norm(dim=1).clamp_min(1e-30)).clamp_max(1).view(-1, 1, 1)
        learner.train()
        optimiser.zero_grad(set_to_none=True)
        loss = outer((z + d).detach(), noise, y)
        loss.backward()
        optimiser.step()
        return loss

    def shown(z, noise):
        rows = (z[:, None] + noise).flatten(0, 1) @ decoder
        rows = ((rows - 0.5) / 0.25).view(-1, 3, size, size)
        return rows.contiguous(memory_format=torch.channels_last) if side in ("channels_last", "compile") else rows

    def soft(z, noise, y):
        # Gradients by the weights are not wanted: grad() asks for those by d alone.
        p = functional.softmax(learner(shown(z, noise)), 1).view(len(y), networks.DRAWS, -1).mean(1)
        return functional.nll_loss(p.log(), y, reduction="sum")

    def outer(z, noise, y):
        return functional.cross_entropy(learner(shown(z, noise)), y.repeat_interleave(networks.DRAWS))

    if size < networks.FULL and side != "double":
        encoder, decoder = (torch.from_numpy(matrix) for matrix in networks.coder(size))
        pool, pool_labels = (torch.from_numpy(value) for value in networks.read_pool(folder))
        inputs = len(images) // networks.DRAWS
        learner = copy.deepcopy(model)
        optimiser = torch.optim.SGD(learner.parameters(), networks.RATE, 0.9, weight_decay=1e-4)
        algorithm_1.state = {"at": 0}
        if side == "compile":
            soft, outer = (torch.compile(function, dynamic=False) for function in (soft, outer))
        work["algorithm-1"] = algorithm_1

    def results(workload):
        if workload == "algorithm-1":
            losses = [algorithm_1().item() for _ in range(60)]
            return {"progress": sum(losses[-20:]) / 20}
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
