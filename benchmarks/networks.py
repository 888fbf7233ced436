"""Networks with biases: what the exact loss costs beside its alternatives, and what is recovered.

    cost      loss and gradient of a biased relu and a biased tanh network (k = 100 units, as many
              of the teacher, d = 20, correlated inputs of a mean): ours; Monte Carlo in JAX with as
              many samples as make its standard error 1e-4 of the loss; the same formulas in PyTorch
              with its autograd (Phi2 as an integral of 24 Gauss nodes over the correlation; the
              Hermite series with our nodes and terms). Compiled and warm, the best of three
    large     k = 2048, d = 20: with biases, under N(m, S) inputs, beside without, under N(0, I)
    flow      gradient flow of positions and weights, three erf units with biases in d = 3: how far
              the explicit and the implicit solver get in 20,000 steps, and what kind of point it is
    recovery  random teachers with biases, learned by `ew.learn` on its defaults: exact oracle, not
              told k. A teacher counts as recovered if all its units and no others are found, each
              within 1e-8 in position and weight of the largest, up to the activation's symmetries.
              Units of relu+tanh are of the one and the other in turn

    python benchmarks/networks.py                                             (hours: recovery)
    python benchmarks/networks.py --only cost large                           (3 minutes)
    python benchmarks/networks.py --only recovery --activations erf --dims 5 --units 3 --seeds 2

PyTorch is needed for its own row only. Nothing else runs beside it: say so if it does.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import earnshaw as ew
from earnshaw.duality.series.affine_series import DEGREE, rule

PARTS = ("cost", "large", "flow", "recovery")
DIGITS = 1e-4  # the standard error of Monte Carlo, relative to the loss
BATCH = 2**14  # samples at a time
NEAR = 1e-8
REPEATS = 3


def row(*cells: object) -> None:
    """One line of a Markdown table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def best_of(run: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Seconds of the fastest of some runs, after one that compiles."""
    jax.block_until_ready(run())
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        jax.block_until_ready(run())
        times.append(time.perf_counter() - began)
    return min(times)


def inputs_of(dim: int) -> ew.Gaussian:
    """N(m, S) with a full covariance of trace about d."""
    rng = np.random.default_rng(1)
    factor = rng.standard_normal((dim, dim)) / math.sqrt(dim)
    return ew.Gaussian(
        mean=rng.standard_normal(dim) / math.sqrt(dim),
        covariance=factor @ factor.T / 2 + np.eye(dim) / 2,
    )


def networks(name: str, units: int, dim: int, biased: bool) -> tuple[ew.Teacher, ew.Student]:
    """A teacher and a student of as many units, of lengths about 1."""
    rng = np.random.default_rng(0)

    def drawn() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        positions = rng.standard_normal((units, dim)) / math.sqrt(dim)
        return positions, rng.standard_normal(units) / math.sqrt(units), rng.standard_normal(units)

    w, b, beta = drawn()
    x, c, gamma = drawn()
    if not biased:
        return ew.Teacher(w, b, name), ew.Student(x, c)
    teacher = ew.Teacher(w, b, name, biases=beta, inputs=inputs_of(dim))
    return teacher, ew.Student(x, c, biases=gamma)


def sampled(teacher: ew.Teacher, student: ew.Student) -> tuple[float, float, int]:
    """Seconds of Monte Carlo for 4 digits of the loss, with its gradient; and how many samples."""
    inputs, dim = teacher.species.seen_inputs, teacher.input_dim
    activation = teacher.activation

    def loss(positions: Any, weights: Any, x: Any) -> Any:
        seen = jnp.concatenate([x, jnp.ones((len(x), 1))], axis=1)
        f = activation(seen @ teacher.positions.T) @ teacher.weights
        return jnp.mean((f - activation(seen @ positions.T) @ weights) ** 2)

    step = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))
    x = inputs.sample(jax.random.key(0), BATCH, dim)
    gaps = np.asarray((teacher(x) - student.of(teacher)(x)) ** 2)
    samples = int((np.std(gaps) / (DIGITS * np.mean(gaps))) ** 2)
    batches = -(-samples // BATCH)
    one = best_of(
        lambda: step(
            student.positions,
            student.weights,
            inputs.sample(jax.random.key(1), BATCH, dim),
        )
    )
    return one * batches, float(np.mean(gaps)), samples


def in_torch(name: str, teacher: ew.Teacher, student: ew.Student) -> Callable[[], Any] | None:
    """The same formula with PyTorch: a function that computes loss and gradient."""
    try:
        import torch
    except ImportError:
        return None
    tensor = lambda array: torch.tensor(np.array(array), dtype=torch.float64)  # noqa: E731
    component = teacher.species.seen_inputs.components(teacher.input_dim)[0]
    mean, cov = tensor(component.mean), tensor(component.covariance)
    w, b = tensor(teacher.positions), tensor(teacher.weights)
    x = tensor(student.positions).requires_grad_()
    c = tensor(student.weights).requires_grad_()
    nodes, node_weights = (tensor(part) for part in np.polynomial.legendre.leggauss(24))

    def moments(y: Any, z: Any) -> tuple[Any, ...]:
        mu1, mu2 = y[:, :-1] @ mean + y[:, -1], z[:, :-1] @ mean + z[:, -1]
        left, right = y[:, :-1] @ cov, z[:, :-1]
        return mu1, mu2, (left * y[:, :-1]).sum(1), (right @ cov * right).sum(1), left @ right.T

    def phi2(h: Any, k: Any, rho: Any) -> Any:
        angle = torch.asin(rho.clamp(-1 + 1e-15, 1 - 1e-15))
        total = torch.special.ndtr(h) * torch.special.ndtr(k)
        for node, weight in zip(nodes, node_weights, strict=True):
            sine = torch.sin(angle * (node + 1) / 2)
            inner = (h * h + k * k - 2 * h * k * sine) / (2 * (1 - sine * sine))
            total = total + weight * angle / (4 * math.pi) * torch.exp(-inner)
        return total

    def density(h: Any) -> Any:
        return torch.exp(-h * h / 2) / math.sqrt(2 * math.pi)

    def relu(y: Any, z: Any) -> Any:
        mu1, mu2, q1, q2, cross = moments(y, z)
        s1, s2 = q1.sqrt()[:, None], q2.sqrt()[None, :]
        h, k = mu1[:, None] / s1, mu2[None, :] / s2
        rho = (cross / (s1 * s2)).clamp(-1 + 1e-12, 1 - 1e-12)
        t = torch.sqrt(1 - rho * rho)
        both = phi2(h, k, rho)
        m1, m2 = mu1[:, None], mu2[None, :]
        total = (m1 * m2 + cross) * both
        total = total + m1 * s2 * density(k) * torch.special.ndtr((h - rho * k) / t)
        total = total + m2 * s1 * density(h) * torch.special.ndtr((k - rho * h) / t)
        inner = (h * h - 2 * rho * h * k + k * k) / (2 * t * t)
        return total + s1 * s2 * t * torch.exp(-inner) / (2 * math.pi)

    points, features = (tensor(part) for part in rule())

    def smooth(y: Any, z: Any) -> Any:
        mu1, mu2, q1, q2, cross = moments(y, z)
        parts = []
        for mu, q in ((mu1, q1), (mu2, q2)):
            parts.append(torch.tanh(mu[:, None] + q.sqrt()[:, None] * points) @ features)
        rho = cross / (q1.sqrt()[:, None] * q2.sqrt()[None, :])
        total = torch.zeros_like(rho)
        for n in reversed(range(DEGREE)):
            total = total * rho + parts[0][:, n, None] * parts[1][None, :, n]
        return total

    pair = relu if name == "relu" else smooth

    def run() -> Any:
        x.grad = c.grad = None
        loss = c @ pair(x, x) @ c - 2 * c @ pair(x, w) @ b + b @ pair(w, w) @ b
        loss.backward()
        return float(loss.detach())

    return run


def cost(names: list[str]) -> None:
    """Loss and gradient at k = 100, d = 20."""
    row("network", "way", "seconds", "times ours", "loss")
    row(*["---"] * 5)
    for name in names:
        teacher, student = networks(name, 100, 20, biased=True)
        loss = ew.population_loss(teacher)
        ours = best_of(lambda loss=loss, s=student: loss.value_and_gradient(s))
        exact = float(loss.value(student))
        row(name, "ours, exact", f"{ours:.4f}", "1", f"{exact:.12f}")
        taken, mean, samples = sampled(teacher, student)
        row(
            name,
            f"Monte Carlo, {samples:.1e} samples",
            f"{taken:.2f}",
            f"{taken / ours:.0f}",
            f"{mean:.4f} of the first {BATCH}",
        )
        if run := in_torch(name, teacher, student):
            value = run()
            taken = best_of(run)
            row(
                name,
                "PyTorch, the same formula",
                f"{taken:.4f}",
                f"{taken / ours:.1f}",
                f"{value:.12f}",
            )
        else:
            row(name, "PyTorch", "not installed", "", "")


def large(names: list[str]) -> None:
    """Loss and gradient at k = 2048, d = 20, with biases and without."""
    row("network", "with biases, N(m, S)", "without, N(0, I)", "ratio")
    row(*["---"] * 4)
    for name in names:
        times = []
        for biased in (True, False):
            teacher, student = networks(name, 2048, 20, biased)
            loss = ew.population_loss(teacher)
            times.append(best_of(lambda loss=loss, s=student: loss.value_and_gradient(s), 2))
        row(name, *(f"{taken:.2f} s" for taken in times), f"{times[0] / times[1]:.1f}")


def flow(seeds: int) -> None:
    """Flows to their end, in 20,000 steps at most."""
    row("seed", "solver", "stop", "time", "steps", "loss", "kind", "seconds")
    row(*["---"] * 8)
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        teacher = ew.random_teacher("erf", dim=3, units=3, seed=seed, biases="gaussian")
        student = ew.Student(
            rng.standard_normal((3, 3)), 0.3 * rng.standard_normal(3), rng.standard_normal(3)
        )
        for solver in ("implicit", "explicit"):
            began = time.perf_counter()
            path = ew.simulate(teacher, student, 1e8, wrt="both", solver=solver, max_steps=20_000)
            taken = time.perf_counter() - began
            kind = ew.certify(teacher, path.student).kind
            row(
                seed,
                solver,
                path.stop,
                f"{path.times[-1]:.3g}",
                path.steps,
                f"{path.energy[-1]:.3g}",
                kind,
                f"{taken:.1f}",
            )


def drawn(name: str, dim: int, units: int, seed: int) -> ew.Teacher:
    """A random teacher with biases; of several activations, one unit after the other."""
    names = name.split("+")
    teacher = ew.random_teacher(names[0], dim=dim, units=units, seed=seed, biases="gaussian")
    if len(names) == 1:
        return teacher
    listed = [names[unit % len(names)] for unit in range(units)]
    return ew.Teacher(teacher.hidden, teacher.weights, listed, biases=teacher.biases)


def recovery(names: list[str], dims: list[int], counts: list[int], seeds: int) -> None:
    """Random teachers with biases, not told k."""
    row("activation", "d", "k", "recovered", "largest error", "iterations", "seconds a run")
    row(*["---"] * 7)
    for name in names:
        for dim in dims:
            for units in counts:
                good, errors, iterations, times = 0, [], [], []
                for seed in range(seeds):
                    teacher = drawn(name, dim, units, seed)
                    began = time.perf_counter()
                    run = ew.learn(teacher, seed=seed)
                    times.append(time.perf_counter() - began)
                    iterations.append(run.iterations)
                    scale = float(np.max(np.abs(teacher.positions)))
                    heavy = float(np.max(np.abs(teacher.weights)))
                    error = max(
                        float(np.max(run.matching.distance)) / scale,
                        float(np.max(run.matching.weight_error)) / heavy,
                    )
                    fine = run.matching.is_recovery and error <= NEAR
                    good += fine
                    if fine:
                        errors.append(error)
                    else:
                        print(f"  {name} d={dim} k={units} seed={seed}: {run.stop}, "
                              f"{run.student.units} units, error {error:.1e}, "
                              f"relative loss {run.relative_loss:.1e}", flush=True)  # fmt: skip
                row(
                    name,
                    dim,
                    units,
                    f"{good} of {seeds}",
                    f"{max(errors, default=math.nan):.1e}",
                    f"{np.median(iterations):.0f}",
                    f"{np.median(times):.1f}",
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--activations", nargs="+", default=None)
    parser.add_argument("--dims", nargs="+", type=int, default=[5, 10])
    parser.add_argument("--units", nargs="+", type=int, default=[3, 5, 10])
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    if "cost" in given.only:
        cost(given.activations or ["relu", "tanh"])
    if "large" in given.only:
        large(given.activations or ["relu", "tanh"])
    if "flow" in given.only:
        flow(min(given.seeds, 3))
    if "recovery" in given.only:
        names = given.activations or ["tanh", "erf", "relu", "softplus"]
        recovery(names, given.dims, given.units, given.seeds)


if __name__ == "__main__":
    main()
