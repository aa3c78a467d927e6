#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The work of federated-bench in PyTorch, on one thread. Prints lines `name seconds` (CPU time).

usage: torch-bench.py DIRECTORY_WITH_MNIST [NAME...]
"""
import os
import sys
import time

import numpy
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(1)


def load(path, header, count, shape):
    """Read an IDX file; random bytes, four fifths of them 0, where it is absent."""
    if os.path.exists(path):
        data = numpy.fromfile(path, dtype=numpy.uint8)[header:]
    elif len(shape) == 1:
        data = numpy.random.randint(0, 10, count, dtype=numpy.uint8)
    else:
        data = numpy.random.randint(0, 256, count * 784, dtype=numpy.uint8)
        data[numpy.random.random(data.size) < 0.81] = 0
    return torch.from_numpy(data.reshape(shape).copy())


def measure(work, seconds=1.0):
    """Median CPU time of a call."""
    work()
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(times) < 3:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return sorted(times)[len(times) // 2]


with open("/proc/self/maps") as maps:
    loaded = maps.read()
    if not any(name in loaded for name in ("openblas", "mkl_", "libblis")):
        print("torch-bench: PyTorch runs on the slow reference BLAS; for a fair comparison "
              "apt-get install libopenblas0", file=sys.stderr)

folder = sys.argv[1]
train_x = load(folder + "/train-images-idx3-ubyte", 16, 60000, (-1, 784)).float() / 255
train_y = load(folder + "/train-labels-idx1-ubyte", 8, 60000, (-1,)).long()
test_x = load(folder + "/t10k-images-idx3-ubyte", 16, 10000, (-1, 784)).float() / 255
test_y = load(folder + "/t10k-labels-idx1-ubyte", 8, 10000, (-1,)).long()


def uniform(rows, columns):
    """Weights and biases in plus or minus 1/sqrt(fan-in)."""
    bound = rows**-0.5
    return [
        torch.empty(shape).uniform_(-bound, bound).requires_grad_()
        for shape in ((rows, columns), (columns,))
    ]


def mlp(x, w):
    return torch.relu(x @ w[0] + w[1]) @ w[2] + w[3]


def device_round(x):
    """Ten steps of ten samples on the 600 samples of a device, gathering included."""
    w = uniform(784, 200) + uniform(200, 10)
    state = {"round": 0}

    def work():
        device = 600 * (state["round"] % 100)
        state["round"] += 1
        order = device + torch.randperm(600)[:100]
        for step in range(10):
            batch = order[10 * step : 10 * step + 10]
            loss = F.cross_entropy(mlp(x[batch], w), train_y[batch])
            gradient = torch.autograd.grad(loss, w)
            with torch.no_grad():
                for parameter, direction in zip(w, gradient):
                    parameter.sub_(direction, alpha=0.1)

    return work


def evaluate():
    """Loss on 60,000 and accuracy on 10,000 samples."""
    w = uniform(784, 200) + uniform(200, 10)

    def work():
        with torch.no_grad():
            for x, y in ((train_x, train_y), (test_x, test_y)):
                loss = 0.0
                correct = 0
                for begin in range(0, len(x), 1000):
                    scores = mlp(x[begin : begin + 1000], w)
                    labels = y[begin : begin + 1000]
                    loss += F.cross_entropy(scores, labels, reduction="sum").item()
                    correct += (scores.argmax(1) == labels).sum().item()

    return work


def mlp_victim(kind):
    """Parameters of the perceptron and its function of an image."""
    w = [p.detach().to(kind).requires_grad_() for p in uniform(784, 200) + uniform(200, 10)]
    return w, lambda x: mlp(x, w)


def lenet_victim(kind):
    """The same for LeNet."""
    convolutions = [(1, 2), (12, 2), (12, 1)]
    w = []
    for channels, _ in convolutions:
        bound = (25 * channels) ** -0.5
        w.append(torch.empty(12, channels, 5, 5).uniform_(-bound, bound))
        w.append(torch.empty(12).uniform_(-bound, bound))
    w = [p.detach().to(kind).requires_grad_() for p in w + uniform(588, 10)]

    def lenet(x):
        x = x.reshape(1, 1, 28, 28)
        for layer, (_, stride) in enumerate(convolutions):
            x = F.conv2d(x, w[2 * layer], w[2 * layer + 1], stride=stride, padding=2)
            x = torch.sigmoid(x)
        return x.reshape(1, -1) @ w[6] + w[7]

    return w, lenet


def gradient(victim, kind):
    """Loss and gradient of one sample."""
    w, network = victim(kind)
    image = torch.rand(1, 784, dtype=kind)

    def work():
        torch.autograd.grad(F.cross_entropy(network(image), train_y[:1]), w)

    return work


def inversion(victim, kind):
    """One evaluation of what DLG minimizes, with its gradient by image and label: the closure of
    the attack's authors."""
    w, network = victim(kind)
    observed = [torch.full_like(p, 0.01) for p in w]
    image = torch.rand(1, 784, dtype=kind).requires_grad_()
    scores = torch.zeros(1, 10, dtype=kind).requires_grad_()

    def work():
        image.grad = None
        scores.grad = None
        label = F.softmax(scores, dim=-1)
        loss = torch.mean(torch.sum(-label * F.log_softmax(network(image), dim=-1), 1))
        difference = 0
        for found, wanted in zip(torch.autograd.grad(loss, w, create_graph=True), observed):
            difference += ((found - wanted) ** 2).sum()
        difference.backward(inputs=[image, scores])

    return work


def quantize():
    """The DP stochastic quantizer alone, b = 4, d = 159,010: ours also clips, scans and packs."""
    v = torch.randn(159010) * 1e-3
    bound = v.abs().max()
    near = torch.sigmoid(torch.tensor(1e-6))

    def work():
        step = 2 * bound / 15
        position = (v + bound) / step
        cell = position.floor().clamp_(0, 14)
        upper = position - cell > 0.5
        keep = torch.rand(v.shape) < near
        return (cell + (upper == keep)).to(torch.uint8)

    return work


benchmarks = {
    "DeviceRound": lambda: device_round(train_x),
    "DeviceRoundStandardized": lambda: device_round((train_x - 0.1307) / 0.3081),
    "Evaluate70000": evaluate,
    "LeNetGradient": lambda: gradient(lenet_victim, torch.float32),
    "LeNetGradientDouble": lambda: gradient(lenet_victim, torch.float64),
    "LeNetInversion": lambda: inversion(lenet_victim, torch.float32),
    "LeNetInversionDouble": lambda: inversion(lenet_victim, torch.float64),
    "MlpGradient": lambda: gradient(mlp_victim, torch.float32),
    "MlpGradientDouble": lambda: gradient(mlp_victim, torch.float64),
    "MlpInversion": lambda: inversion(mlp_victim, torch.float32),
    "MlpInversionDouble": lambda: inversion(mlp_victim, torch.float64),
    "Quantize": quantize,
}
for name in sys.argv[2:] or benchmarks:
    print(name, measure(benchmarks[name]()), flush=True)
