"""Training small networks: our compiled run against the loops that people write.

A student of a random tanh network (tanh at the output too, no bias, d = 5), stochastic gradient
descent with one fresh sample a step, drawing it and asking the teacher included. Side by side:

- ours: `ew.train`, 5 seeds in one compiled run, on one thread; *cold* is the whole first call,
  compiling included, *warm* the same call once more;
- PyTorch eager: `nn.Sequential`, `MSELoss`, `optim.SGD`, on one thread; also 5 seeds at once, by
  `bmm` on weights with a leading axis, which few would write;
- torch.compile of one functional step (forward, gradient and update);
- plain JAX: one jitted step, in a Python loop.

Figures are updates a second, all seeds together, best of `--rounds`, which alternate between all.
First all are given the same weights and the same samples, and must agree.

    /path/with/torch/python benchmarks/training.py
    /path/with/torch/python benchmarks/training.py --precision float32 --parts speed
    /path/with/torch/python benchmarks/training.py --parts growth lanes

`growth` fits the time of an update as a + b nodes + c weights; `lanes` shows updates a second by
the number of seeds in a block. Every number is of this run.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import jax
import jax.numpy as jnp
import numpy as np
import torch
from scipy.optimize import nnls

import earnshaw as ew
from earnshaw.experiments.training import engine
from earnshaw.experiments.training.settings import Training

CORES = len(os.sched_getaffinity(0))
DIM = 5
SIZES = {(2, 10): 100, (5, 20): 50}  # depth and width, and how many times PyTorch eager we must be
STEP = 1e-3
TOGETHER = 20  # steps that all take on the same samples, and
AGREE = {"float64": 1e-12, "float32": 1e-5}  # how near their weights must be then


class Eager:
    """What most people write: modules, a loss and an optimiser."""

    seeds, shape = 1, (1, DIM)

    def __init__(self, teacher: list[np.ndarray], student: list[np.ndarray]) -> None:
        self.teacher, self.student = self.modules(teacher), self.modules(student)
        self.optimizer = torch.optim.SGD(self.student.parameters(), lr=STEP)
        self.loss = torch.nn.MSELoss(reduction="sum")  # of one sample a seed

    @staticmethod
    def modules(weights: list[np.ndarray]) -> torch.nn.Module:
        modules: list[torch.nn.Module] = []
        for array in weights:
            linear = torch.nn.Linear(*array[0].T.shape, bias=False)
            linear.weight = torch.nn.Parameter(torch.tensor(array[0]))
            modules += [linear, torch.nn.Tanh()]
        return torch.nn.Sequential(*modules)

    def update(self, x: torch.Tensor, y: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        self.loss(self.student(x), y).backward()
        self.optimizer.step()

    def follow(self, x: np.ndarray, y: np.ndarray) -> None:
        x, y = torch.tensor(x[: self.seeds]), torch.tensor(y[: self.seeds])
        self.update(x.reshape(self.shape), y.reshape(*self.shape[:-1], 1))

    def fresh(self) -> None:
        x = torch.randn(self.shape)
        with torch.no_grad():
            y = self.teacher(x)
        self.update(x, y)

    def weights(self) -> list[np.ndarray]:
        return [weight.detach().numpy() for weight in self.student.parameters()]


class EagerTogether(Eager):
    """All seeds at once: weights (seeds, out, in), inputs (seeds, 1, d)."""

    seeds, shape = engine.LANES, (engine.LANES, 1, DIM)  # type: ignore[assignment]

    @staticmethod
    def modules(weights: list[np.ndarray]) -> torch.nn.Module:
        return Batched([torch.tensor(array) for array in weights])


class Batched(torch.nn.Module):
    """Layers of weights with a leading axis."""

    def __init__(self, weights: list[torch.Tensor]) -> None:
        super().__init__()
        self.layers = torch.nn.ParameterList([torch.nn.Parameter(weight) for weight in weights])

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        for weight in self.layers:
            h = torch.tanh(torch.bmm(h, weight.mT))
        return h


def torch_answer(weights: list[torch.Tensor], h: torch.Tensor) -> torch.Tensor:
    """f(x) of one network."""
    for weight in weights:
        h = torch.tanh(h @ weight.T)
    return h[:, 0]


def torch_step(weights: list[torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
    """One step as a function, for torch.compile."""
    slopes = torch.func.grad(lambda net: ((torch_answer(net, x) - y) ** 2).mean())(weights)
    return [weight - STEP * slope for weight, slope in zip(weights, slopes, strict=True)]


class Compiled:
    """torch.compile of the teacher's answer and of the step."""

    seeds = 1

    def __init__(self, teacher: list[np.ndarray], student: list[np.ndarray]) -> None:
        self.teacher = [torch.tensor(array[0]) for array in teacher]
        self.student = [torch.tensor(array[0]) for array in student]
        torch._dynamo.reset()
        self.answer, self.step = torch.compile(torch_answer), torch.compile(torch_step)

    def follow(self, x: np.ndarray, y: np.ndarray) -> None:
        self.student = self.step(self.student, torch.tensor(x[0]), torch.tensor(y[0]))

    def fresh(self) -> None:
        x = torch.randn(1, DIM)
        self.student = self.step(self.student, x, self.answer(self.teacher, x))

    def weights(self) -> list[np.ndarray]:
        return [weight.numpy() for weight in self.student]


class PlainJax:
    """One jitted step, called again and again."""

    seeds = 1

    def __init__(self, teacher: list[np.ndarray], student: list[np.ndarray]) -> None:
        self.student, self.key = [jnp.asarray(array[0]) for array in student], jax.random.key(0)
        fixed = [jnp.asarray(array[0]) for array in teacher]

        def answer(weights: list[jax.Array], h: jax.Array) -> jax.Array:
            for weight in weights:
                h = jnp.tanh(h @ weight.T)
            return h[:, 0]

        def step(weights: list[jax.Array], x: jax.Array, y: jax.Array) -> list[jax.Array]:
            slopes = jax.grad(lambda net: jnp.mean((answer(net, x) - y) ** 2))(weights)
            return jax.tree.map(lambda weight, slope: weight - STEP * slope, weights, slopes)

        def on_fresh(weights: list[jax.Array], key: jax.Array) -> tuple[list[jax.Array], jax.Array]:
            key, own = jax.random.split(key)
            x = jax.random.normal(own, (1, DIM), weights[0].dtype)
            return step(weights, x, answer(fixed, x)), key

        self.step, self.on_fresh = jax.jit(step), jax.jit(on_fresh)

    def follow(self, x: np.ndarray, y: np.ndarray) -> None:
        self.student = self.step(self.student, x[0], y[0])

    def fresh(self) -> None:
        self.student, self.key = self.on_fresh(self.student, self.key)

    def weights(self) -> list[np.ndarray]:
        return [np.asarray(weight) for weight in self.student]


PEERS: dict[str, Callable[..., Any]] = {
    "PyTorch eager": Eager,
    "PyTorch eager, 5 seeds": EagerTogether,
    "torch.compile": Compiled,
    "plain JAX": PlainJax,
}


def agreeing_peers(settings: Training) -> dict[str, Any]:
    """The peers, after the same steps as ours from the same weights; those that run here."""
    trainer = engine.Trainer(settings, 0)
    teacher, start = jax.tree.leaves(trainer.teacher), jax.tree.leaves(trainer.student)
    _, pool = trainer._at_hand()
    first, last = np.asarray(0), np.asarray(TOGETHER)
    ours = engine.updated(trainer.student, pool, first, last, trainer._step, how=trainer.how)
    peers = {}
    for name, make in PEERS.items():
        try:
            peer = make(teacher, start)
            for x, y in zip(pool.x[:TOGETHER], pool.y[:TOGETHER], strict=True):
                peer.follow(x, y)
        except Exception as failure:
            if make is not Compiled:
                raise
            print(f"torch.compile does not work here: {str(failure).splitlines()[0]}")
            continue
        gaps, moves = (
            [
                np.abs(np.ravel(a[: peer.seeds]) - np.ravel(b))
                for a, b in zip(net, peer.weights(), strict=True)
            ]
            for net in (jax.tree.leaves(ours), start)
        )
        gap, moved = np.max(np.concatenate(gaps)), np.max(np.concatenate(moves))
        print(f"  {name:24s} agrees to {gap:.1e} after {TOGETHER} steps (moved {moved:.1e})")
        assert gap < AGREE[settings.precision] < moved, f"{name} does not agree"
        peers[name] = peer
    return peers


def rate_of(peer: Any, seconds: float) -> float:
    """Updates a second on fresh samples."""
    peer.fresh()
    steps, began = 0, time.perf_counter()
    while (taken := time.perf_counter() - began) < seconds:
        for _ in range(50):
            peer.fresh()
        steps += 50
    return peer.seeds * steps / taken


def our_rate(settings: Training) -> float:
    """Updates a second of `ew.train`, the whole call."""
    began = time.perf_counter()
    ew.train(seeds=engine.LANES, **dataclasses.asdict(settings))
    return engine.LANES * settings.iterations / (time.perf_counter() - began)


def speed(options: argparse.Namespace) -> None:
    """Ours and the others' updates a second."""
    torch.set_num_threads(1)
    torch.set_default_dtype(getattr(torch, options.precision))
    for (depth, width), wanted in SIZES.items():
        settings = Training(
            depth=depth,
            width=width,
            dim=DIM,
            step=STEP,
            precision=options.precision,
            iterations=options.iterations,
        )
        print(f"depth {depth}, width {width}, {options.precision}")
        cold, warm = our_rate(settings), 0.0
        peers = agreeing_peers(settings)
        rates = dict.fromkeys(peers, 0.0)
        for _ in range(options.rounds):
            warm = max(warm, our_rate(settings))
            for name, peer in peers.items():
                rates[name] = max(rates[name], rate_of(peer, options.seconds))
        print(f"  {'':24s} {'updates/s':>10s} {'ours warm':>10s} {'ours cold':>10s}")
        print(f"  {'ours, warm':24s} {warm:10.0f}")
        print(f"  {f'ours, cold, T = {options.iterations:.0e}':24s} {cold:10.0f}")
        for name, rate in rates.items():
            print(f"  {name:24s} {rate:10.0f} {warm / rate:9.0f}x {cold / rate:9.0f}x")
        assert warm >= wanted * rates["PyTorch eager"], f"less than {wanted} times PyTorch eager"


def seconds_of_update(depth: int, width: int, options: argparse.Namespace) -> float:
    """Of one seed, once all is compiled: the best of three, over all seeds of a block.

    Processor time: other programs on the machine disturb it less, and ours has one thread.
    """
    settings = Training(depth=depth, width=width, dim=DIM, step=STEP, precision=options.precision)
    trainer, best = engine.Trainer(settings, 0), np.inf
    trainer.marks = [0, settings.iterations]
    while not trainer.iteration:
        trainer.advance()  # compiles
    jax.block_until_ready(trainer.student)
    for _ in range(3):
        before, began = trainer.iteration, time.process_time()
        while (taken := time.process_time() - began) < options.seconds / 3:
            trainer.advance()
            jax.block_until_ready(trainer.student)
        best = min(best, taken / (trainer.iteration - before) / engine.LANES)
    return float(best)


def growth(options: argparse.Namespace) -> None:
    """How the time of an update grows with depth and width."""
    sizes = [(2, 5), (2, 10), (2, 20), (2, 40), (2, 125)]
    sizes += [(3, 20), (5, 10), (5, 20), (5, 40), (9, 20), (9, 40), (17, 20), (17, 40)]
    rows, times = [], []
    for depth, width in sizes:
        nodes = Training(depth=depth, width=width, dim=DIM).sizes()
        weights = sum(a * b for a, b in itertools.pairwise(nodes))
        rows.append((1.0, sum(nodes[1:]), weights))
        times.append(1e9 * seconds_of_update(depth, width, options))
    design, measured = np.array(rows), np.array(times)
    found, _ = nnls(design / measured[:, None], np.ones(len(measured)))  # relative errors
    print("nanoseconds an update: a + b nodes + c weights, a, b, c =", np.round(found, 2))
    print(f"{'depth':>6s} {'width':>6s} {'weights':>8s} {'ns':>8s} {'fit':>8s} {'updates/s':>10s}")
    for (depth, width), row, taken in zip(sizes, design, measured, strict=True):
        fit = row @ found
        print(f"{depth:6d} {width:6d} {row[2]:8.0f} {taken:8.0f} {fit:8.0f} {1e9 / taken:10.0f}")


def lanes(options: argparse.Namespace) -> None:
    """Updates a second by the number of seeds in a block."""
    sizes, numbers, usual = [*SIZES, (9, 40)], (1, 2, 4, 5, 8, 16), engine.LANES
    print("updates a second by the seeds of a block")
    print("seeds " + "".join(f"{f'{depth} x {width}':>12s}" for depth, width in sizes))
    for number in numbers:
        engine.LANES = number
        rates = [1 / seconds_of_update(depth, width, options) for depth, width in sizes]
        print(f"{number:5d} " + "".join(f"{rate:12.0f}" for rate in rates), flush=True)
    engine.LANES = usual


def main() -> None:
    """Run what is asked for."""
    parts = {"speed": speed, "growth": growth, "lanes": lanes}
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--precision", choices=list(AGREE), default="float64")
    parser.add_argument("--iterations", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    print(f"JAX {jax.__version__}, PyTorch {torch.__version__}, {CORES} cores")
    for part in options.parts:
        parts[part](options)


if __name__ == "__main__":
    main()
