"""600 starts at once against a PyTorch loop over the starts, doing the same iterations.

The experiment of Safran and Shamir (2018): relu on R^N, an orthonormal teacher of N units, as many
student units, all charges 1, starts of N(0, I/N). Both sides go down by the same rule, that of
`descent/lockstep_descent.py` (one evaluation of loss and gradient an iteration, refused steps
included), from the same starts, for as many iterations as our descent took from each; PyTorch by
automatic differentiation of the closed form, in float64, one start after the other. Our time is of
the whole hunt: descent, Newton's method, grouping and verdicts, once everything is compiled; what
compiling takes is shown too.

A loop over 600 starts takes PyTorch minutes, so it is timed on a few starts (`--sample`), spread
over all of them, and its time for one iteration is scaled by the number of all iterations (the few
evaluations of Newton's method count as iterations, its Hessians do not). That its ways are ours is
checked on these starts: the losses after the last iteration.

    /path/with/torch/python benchmarks/landscape.py
    /path/with/torch/python benchmarks/landscape.py --units 6 8 10 --sample 12

Every number is of this run.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from concurrent.futures import ThreadPoolExecutor

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import jax
import numpy as np
import torch

import earnshaw as ew
from earnshaw.charges.network import Teacher
from earnshaw.descent.lockstep_descent import FIRST, GROWTH, ROUNDING, SHRINKAGE
from earnshaw.landscape.hunting._batches import Batches
from earnshaw.landscape.hunting.hunt import hunt

CORES = len(os.sched_getaffinity(0))
AGREE = 1e-9  # how near the losses of both sides must be after the same iterations


def loss_of(x: torch.Tensor, w: torch.Tensor, constant: float) -> torch.Tensor:
    """E[(f - g)^2] = sum_il K(x_i, x_l) - 2 sum_ij K(x_i, w_j) + constant, all charges 1.

    K = |x||y| (sin t + (pi - t) cos t) / 2 pi; a unit's own energy is |x|^2 / 2, where acos has no
    derivative.
    """
    lengths = torch.linalg.vector_norm(x, dim=1)
    y = torch.cat([x, w])
    sizes = lengths[:, None] * torch.cat([lengths, torch.linalg.vector_norm(w, dim=1)])
    cosine = (x @ y.T) / sizes
    own = torch.eye(len(x), len(y), dtype=torch.bool)
    t = torch.acos(torch.where(own, 0.0, cosine).clamp(-1.0, 1.0))
    kernel = sizes * (torch.sin(t) + (math.pi - t) * torch.cos(t)) / (2 * math.pi)
    kernel = torch.where(own, 0.0, kernel)
    among, across = kernel[:, : len(x)].sum(), kernel[:, len(x) :].sum()
    return among + (lengths**2).sum() / 2 - 2 * across + constant


def torch_descent(start: np.ndarray, teacher: np.ndarray, constant: float, steps: int) -> float:
    """The loss after `steps` evaluations by the rule of `lockstep_descent.py`."""
    w = torch.from_numpy(teacher)

    def evaluated(x: torch.Tensor) -> tuple[float, torch.Tensor]:
        loss = loss_of(x.requires_grad_(), w, constant)
        (gradient,) = torch.autograd.grad(loss, x)
        return loss.item(), gradient

    x, size = torch.from_numpy(start.copy()), FIRST
    value, slope = evaluated(x)
    for _ in range(steps - 1):
        trial = x.detach() - size * slope
        new, gradient = evaluated(trial)
        promised = size * (slope * slope).sum().item() / 2
        level = abs(new - value) <= ROUNDING * max(abs(value), constant)
        if new <= value - promised or (level and (gradient * slope).sum().item() >= 0):
            x, value, slope, size = trial, new, gradient, GROWTH * size
        else:
            size *= SHRINKAGE
    return value


def compare(units: int, starts: int, sample: int, seed: int) -> None:
    """One row."""
    teacher = ew.random_teacher("relu", units, units, positions="orthonormal", weights="ones")
    timed = []
    for _ in range(2):  # the first compiles
        began = time.perf_counter()
        found = hunt(teacher, starts=starts, seed=seed, fixed_charges=True)
        timed.append(time.perf_counter() - began)
    assert found.undecided == 0
    bad = sum(point.count for point in found.found if point.relative_loss > 1e-12)

    chosen = np.linspace(0, starts - 1, sample).astype(int)
    began = time.perf_counter()
    constant = float(ew.population_loss(teacher).empty_value())
    places = np.array(teacher.positions)
    values = [
        torch_descent(found.begun[i], places, constant, int(found.iterations[i])) for i in chosen
    ]
    taken = time.perf_counter() - began
    total, few = int(found.iterations.sum()), int(found.iterations[chosen].sum())
    theirs = taken / few * total
    gap = agreement(teacher, found.begun[chosen], found.iterations[chosen], values)
    print(
        f"{units:3d} {bad / starts:7.2%} {total:9d} {timed[0]:9.1f} {timed[1]:7.2f} "
        f"{1e6 * timed[1] / total:8.1f} {1e6 * taken / few:8.1f} {theirs:9.1f} "
        f"{theirs / timed[1]:7.1f} {theirs / timed[0]:9.1f} {gap:9.1e}",
        flush=True,
    )
    assert gap < AGREE, "the two descents do not agree"


def agreement(teacher: Teacher, begun: np.ndarray, steps: np.ndarray, values: list[float]) -> float:
    """The largest difference of losses after the same iterations of descent alone."""
    loss = ew.population_loss(teacher, wrt="positions")
    with ThreadPoolExecutor(CORES) as pool:
        batches = Batches(loss, begun.shape[1:], 0.0, pool)  # type: ignore[arg-type]
        starts = batches.evaluate(begun, np.ones(begun.shape[:2]))  # the first evaluation of each
        ours = [
            batches.descend(starts.take(np.array([i])), int(count) - 1).value[0]
            for i, count in enumerate(steps)
        ]
    return float(np.max(np.abs(np.array(ours) - np.array(values))))


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--units", nargs="+", type=int, default=[8])
    parser.add_argument("--starts", type=int, default=600)
    parser.add_argument("--sample", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"JAX {jax.__version__}, PyTorch {torch.__version__}, {CORES} cores, float64")
    print(f"{options.starts} starts; PyTorch is timed on {options.sample} of them and scaled")
    print("bad: starts that end above loss 0; us: microseconds an iteration of one start")
    print(
        f"{'N':>3s} {'bad':>7s} {'iterations':>9s} {'first (s)':>9s} {'ours (s)':>8s} "
        f"{'us':>7s} {'torch us':>8s} {'torch (s)':>9s} {'ratio':>7s} {'cold ratio':>9s} "
        f"{'agreement':>9s}"
    )
    for units in options.units:
        compare(units, options.starts, options.sample, options.seed)


if __name__ == "__main__":
    main()
