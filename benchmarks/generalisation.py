"""How far the bounds of Theorem B.4 are from the truth: bound / largest deviation found.

For a teacher of k random units on the sphere with weights 1/k, and students of k units with
|c|_1 <= 1, `papers.bounds.network_deviation` bounds |empirical - population| of the loss, the
gradient (Euclidean norm) and the Hessian (operator norm) for all students at once. Here the largest
deviations over students are looked for: random students of four kinds, the best of which climb, by
the gradient of the deviation for the loss and the gradient, by random steps for the Hessian. What
is found is a lower bound of the supremum, so bound/found is an upper bound of the bound's slack.
relu has no Hessian from samples. Found is the mean over three sets of samples (one in a quick
run), and falls as n^(-1/2).

    python benchmarks/generalisation.py            (about five minutes on 2 cores)
    python benchmarks/generalisation.py --quick    (about a minute)
    python benchmarks/generalisation.py --seed 1   (another teacher, other samples, other students)
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import earnshaw as ew
from earnshaw.energy.objective import Gradient
from earnshaw.papers.bounds import network_deviation

CONFIDENCE = 0.95
PARTS = ("loss", "gradient", "Hessian")
Losses = tuple[ew.PopulationLoss, ew.EmpiricalLoss]
Found = tuple[jax.Array, jax.Array, jax.Array]  # the deviation, and the direction in which it grows


class Effort(NamedTuple):
    """Random students, how many of them climb, and how many steps."""

    students: int
    climbers: int
    steps: int


def unit(x: np.ndarray) -> np.ndarray:
    """x/|x| by rows."""
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def within(c: np.ndarray) -> np.ndarray:
    """The nearest weights (s, k) with |c|_1 <= 1."""
    size = np.sort(np.abs(c), axis=1)[:, ::-1]
    excess = (np.cumsum(size, axis=1) - 1) / np.arange(1, c.shape[1] + 1)
    last = np.sum(size > excess, axis=1) - 1
    cut = np.maximum(excess[np.arange(len(c)), last], 0.0)[:, None]
    return np.sign(c) * np.maximum(np.abs(c) - cut, 0.0)


def random_students(
    rng: np.random.Generator, count: int, units: int, dim: int
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (count, k, d) and weights (count, k) of four kinds.

    Units apart or all at one point, times weight on all of them or on one: the deviation of the
    loss is a quadratic form in c, largest at few units, those of its derivatives where units agree.
    """
    positions = unit(rng.standard_normal((count, units, dim)))
    weights = rng.standard_normal((count, units))
    weights /= np.sum(np.abs(weights), axis=1, keepdims=True)
    together, alone = np.arange(count) % 2 == 1, np.arange(count) % 4 >= 2
    positions[together] = positions[together][:, :1]
    weights[alone] = np.sign(weights[alone]) * np.eye(1, units)
    return positions, weights


def apart(there: Gradient, here: Gradient) -> Gradient:
    """Here minus there."""
    return Gradient(here.positions - there.positions, here.weights - there.weights)


# Compiled once for every shape: the samples are arguments.


@eqx.filter_jit
@partial(eqx.filter_vmap, in_axes=(None, 0, 0))
def loss_deviation(losses: Losses, positions: jax.Array, weights: jax.Array) -> Found:
    """|D L|, and where it grows."""
    student = ew.Student(positions, weights)
    (exact, there), (mean, here) = (one.value_and_gradient(student) for one in losses)
    sign, change = jnp.sign(mean - exact), apart(there, here)
    return jnp.abs(mean - exact), sign * change.positions, sign * change.weights


@eqx.filter_jit
@partial(eqx.filter_vmap, in_axes=(None, 0, 0))
def gradient_deviation(losses: Losses, positions: jax.Array, weights: jax.Array) -> Found:
    """|D grad L|; it grows along D H (D grad L), one Hessian-vector product."""
    student = ew.Student(positions, weights)
    change = apart(*(one.gradient(student) for one in losses))
    size = jnp.sqrt(jnp.sum(change.positions**2) + jnp.sum(change.weights**2))
    return size, *apart(*(one.hvp(student, change) for one in losses))


@eqx.filter_jit
@partial(eqx.filter_vmap, in_axes=(None, 0, 0))
def hessian_deviation(losses: Losses, positions: jax.Array, weights: jax.Array) -> Found:
    """|D H|, without a direction."""
    student = ew.Student(positions, weights)
    exact, mean = (one.hessian(student) for one in losses)
    return jnp.linalg.norm(mean - exact, ord=2), 0 * positions, 0 * weights


DEVIATIONS = (loss_deviation, gradient_deviation, hessian_deviation)


def largest(
    rng: np.random.Generator, losses: Losses, part: int, teacher: ew.Teacher, effort: Effort
) -> float:
    """The largest deviation over random students, after the best of them have climbed."""

    def evaluate(p: np.ndarray, c: np.ndarray) -> list[np.ndarray]:
        return [np.asarray(array) for array in DEVIATIONS[part](losses, p, c)]

    batch = effort.climbers
    positions, weights = random_students(rng, effort.students, teacher.units, teacher.dim)
    values = np.concatenate(
        [
            evaluate(positions[i : i + batch], weights[i : i + batch])[0]
            for i in range(0, effort.students, batch)
        ]
    )
    best = np.argsort(values)[-batch:]
    p, c = positions[best], weights[best]
    value, dp, dc = evaluate(p, c)
    step = np.full(batch, 0.3)
    for _ in range(effort.steps):
        if part == 2:
            dp, dc = rng.standard_normal(p.shape), rng.standard_normal(c.shape)
        length = np.sqrt(np.sum(dp**2, axis=(1, 2)) + np.sum(dc**2, axis=1))
        scale = step / np.maximum(length, 1e-300)
        new_p = unit(p + scale[:, None, None] * dp)
        new_c = within(c + scale[:, None] * dc)
        new_value, new_dp, new_dc = evaluate(new_p, new_c)
        better = new_value > value
        p, dp = (np.where(better[:, None, None], *x) for x in ((new_p, p), (new_dp, dp)))
        c, dc = (np.where(better[:, None], *x) for x in ((new_c, c), (new_dc, dc)))
        value, step = np.maximum(value, new_value), np.where(better, 1.3 * step, 0.6 * step)
    return float(value.max())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--activations", nargs="+", default=["erf", "tanh", "relu"])
    options = parser.parse_args()
    cases = ((5, 2, (1_000, 10_000, 100_000)), (10, 5, (1_000, 10_000)))
    effort, few, repeats = Effort(128, 8, 20), Effort(16, 4, 6), 3
    if options.quick:
        cases, repeats = ((5, 2, (1_000, 10_000)),), 1
    print(f"seed {options.seed}, confidence {CONFIDENCE}: found / bound (bound/found)")
    print("activation  d  k       n     B" + "".join(f"{part:>29}" for part in PARTS))
    start = time.perf_counter()
    for name in options.activations:
        for dim, units, counts in cases:
            rng = np.random.default_rng(options.seed)
            w = unit(rng.standard_normal((units, dim)))
            teacher = ew.Teacher(w, np.full(units, 1 / units), name, on="sphere")
            exact, rows = ew.population_loss(teacher), []
            for samples in counts:
                bound = network_deviation(teacher, samples, CONFIDENCE)
                found = np.zeros((repeats, 2 if name == "relu" else 3))
                for i, part in np.ndindex(*found.shape):
                    seed = repeats * options.seed + i
                    losses = exact, ew.empirical_loss(teacher, samples=samples, seed=seed)
                    work = few if part == 2 else effort
                    found[i, part] = largest(rng, losses, part, teacher, work)
                rows.append(found.mean(axis=0))
                cells = "".join(
                    f"{x:11.4f} /{b:8.2f} ({b / x:5.0f})"
                    for x, b in zip(rows[-1], bound, strict=False)
                )
                text = f"{name:10} {dim:2} {units:2} {samples:7}  {bound.radius:.2f} {cells}"
                print(text, flush=True)
            fits = np.polyfit(np.log(counts), np.log(np.asarray(rows)), 1)[0]
            print(" " * 12 + "slope of found in n: " + ", ".join(f"{fit:.2f}" for fit in fits))
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
