"""What can be learned with which oracle: recovery against tau and d, and peers with the same one.

    table    teachers as in Full, Theorem 4.6, with k units in d dimensions, learned node by node
    scales   the default teacher, d = 7 and k = 16, with positions times a factor, or shifted
    first    the first unit alone: how many runs end at a proton, ours and SciPy's L-BFGS,
             trust regions and Adam, all of which climb the same function from the same starts
    joint    all units at once on the loss, told k, from the same starts: our gradient descent and
             the same peers
    seen     teachers that can be seen from their starts: units of length 1 (`--activations`)

    python benchmarks/oracles.py                                    (an hour and a half on 2 cores)
    python benchmarks/oracles.py --only table --dims 3 7 --seeds 2
    python benchmarks/oracles.py --only seen --activations tanh --seeds 1

All methods get the oracle's answers compiled by us and nothing else of the teacher; peers get 2000
evaluations a start. A unit counts as found within 1e-3 in position (up to the symmetries of the
activation) and in weight.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

import earnshaw as ew
from earnshaw.charges.matching import match
from earnshaw.descent.node_wise import ascend
from earnshaw.descent.nodes import usual_starts
from earnshaw.energy.asked_loss import AskedLoss, asked_loss
from earnshaw.energy.oracle import oracle_of

PARTS = ("table", "scales", "first", "joint", "seen")
TAUS = [1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4]
NEAR = 1e-3
EVALUATIONS = 2000  # of a peer, from one start
ADAM = (0.02, 0.9, 0.999)  # the rate, relative to the start's distance, and the two decays

Slope = Callable[[np.ndarray], tuple[float, np.ndarray]]


def names() -> list[str]:
    """The oracles that are compared."""
    return [
        "exact",
        "float64",
        *(f"{kind}:{tau:g}" for kind in ("noisy", "rounded") for tau in TAUS),
    ]


def seen(teacher: ew.Teacher, oracle: str, seed: int) -> AskedLoss:
    """The loss of a learner who may ask this oracle."""
    loss = ew.population_loss(teacher)
    return asked_loss(loss, oracle_of(oracle, loss, seed))


def found(teacher: ew.Teacher, student: ew.Student) -> int:
    """How many units of the teacher the student has."""
    matched = match(teacher, student)
    return int(np.sum((matched.distance <= NEAR) & (matched.weight_error <= NEAR)))


def row(what: str, cells: list[object]) -> None:
    """One line of a Markdown table."""
    print(f"| {what} | " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def table(dims: list[int], units: int, seeds: int) -> None:
    """Teachers recovered whole, of `seeds`; and units found, of all."""
    row("oracle", [f"d = {dim}" for dim in dims])
    row("---", ["---"] * len(dims))
    for oracle in names():
        cells = []
        for dim in dims:
            counts = []
            for seed in range(seeds):
                teacher = ew.random_teacher("almost-harmonic", dim, units, seed)
                counts.append(found(teacher, ew.learn(teacher, seed=seed, oracle=oracle).student))
            whole = sum(count == units for count in counts)
            cells.append(f"{whole} of {seeds} ({sum(counts)} of {seeds * units} units)")
        row(f"`{oracle}`", cells)


def scales(seeds: int) -> None:
    """The default teacher, larger, smaller and elsewhere; the exact oracle."""
    row("positions", ["recovered", "largest distance", "largest weight error", "iterations a unit"])
    row("---", ["---"] * 4)
    for factor, shift in [
        *((f, 0) for f in (0.01, 0.03, 0.1, 1, 10, 100)),
        (1, 10),
        (1, 100),
        (1, 1000),
    ]:
        whole, far, off, steps = 0, 0.0, 0.0, 0.0
        for seed in range(seeds):
            teacher = ew.random_teacher("almost-harmonic", 7, 16, seed)
            aside = np.random.default_rng(seed).standard_normal(7)
            places = factor * np.asarray(teacher.positions) + shift * aside / np.linalg.norm(aside)
            moved = ew.Teacher(places, teacher.weights, "almost-harmonic")
            run = ew.learn(moved, seed=seed)
            whole += run.matching.is_permutation and found(moved, run.student) == 16
            far, off = max(far, *run.matching.distance), max(off, *run.matching.weight_error)
            steps = max(steps, run.iterations / 16)
        row(
            f"x {factor} + {shift}",
            [f"{whole} of {seeds}", f"{far:.1e}", f"{off:.1e}", f"{steps:.0f}"],
        )


def lbfgs(slope: Slope, start: np.ndarray) -> np.ndarray:
    """SciPy's L-BFGS-B."""
    options = {"maxfun": EVALUATIONS, "maxiter": EVALUATIONS, "ftol": 0.0, "gtol": 1e-14}
    return minimize(slope, start, jac=True, method="L-BFGS-B", options=options).x


def trust_region(slope: Slope, start: np.ndarray) -> np.ndarray:
    """SciPy's trust regions with quasi-Newton curvature, which need values and gradients only."""
    options = {"maxiter": EVALUATIONS, "gtol": 1e-14, "xtol": 1e-14, "initial_tr_radius": 1.0}
    return minimize(slope, start, jac=True, method="trust-constr", options=options).x


def adam(slope: Slope, start: np.ndarray) -> np.ndarray:
    """Kingma and Ba's, with a rate that falls to 0 as a cosine."""
    x, mean, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
    rate = ADAM[0] * max(float(np.linalg.norm(start)), 1.0)
    for step in range(1, EVALUATIONS + 1):
        g = slope(x)[1]
        mean = ADAM[1] * mean + (1 - ADAM[1]) * g
        square = ADAM[2] * square + (1 - ADAM[2]) * g * g
        now = rate * (1 + np.cos(np.pi * step / EVALUATIONS)) / 2
        direction = (
            mean / (1 - ADAM[1] ** step) / (np.sqrt(square / (1 - ADAM[2] ** step)) + 1e-300)
        )
        x = x - now * direction
    return x


PEERS = {"L-BFGS": lbfgs, "trust regions": trust_region, "Adam": adam}


def first(dim: int, units: int, seeds: int) -> None:
    """Runs that end at a proton, of `seeds`: one start each, the same for all, on log(C^2/Phi)."""
    row("oracle", ["ours", *PEERS])
    row("---", ["---"] * 4)
    teacher = ew.random_teacher("almost-harmonic", dim, units, 0)
    places = np.asarray(teacher.positions)
    for oracle in names():
        loss = seen(teacher, oracle, 0)
        ask = jax.jit(lambda x, loss=loss: loss.free_units(x[None])[1:])

        def slope(x: np.ndarray, ask: Callable = ask) -> tuple[float, np.ndarray]:
            value, gradient = ask(jnp.asarray(x))
            blind = not np.isfinite(value[0])
            return (0.0 if blind else -float(value[0])), -np.asarray(gradient[0])

        starts = usual_starts(loss.manifold, dim, False).draw(0, 0, seeds, dim)
        climbed = jax.jit(lambda x, loss=loss: ascend(loss, x, 400).points)(jnp.asarray(starts))
        ends = {"ours": np.asarray(climbed)}
        ends |= {name: np.array([peer(slope, x) for x in starts]) for name, peer in PEERS.items()}
        near = [
            np.sum(np.min(np.linalg.norm(x[:, None] - places, axis=2), axis=1) <= NEAR)
            for x in ends.values()
        ]
        row(f"`{oracle}`", [f"{count} of {seeds}" for count in near])


def joint(teacher: ew.Teacher, seeds: int, what: str) -> None:
    """Units found of all, over `seeds` starts: node by node, not told k; then all units at once."""
    row(what, ["node-wise", "gd", *PEERS])
    row("---", ["---"] * 5)
    count, size = teacher.units, teacher.units * teacher.dim
    for oracle in ("exact", "noisy:1e-12", "noisy:1e-06", "noisy:0.001"):
        loss = seen(teacher, oracle, 0)

        @jax.jit
        def both(x: jax.Array, loss: AskedLoss = loss) -> tuple[jax.Array, jax.Array]:
            student = ew.Student(x[:size].reshape(count, -1), x[size:])
            value, g = loss.euclidean(student)
            return value, jnp.concatenate([g.positions.ravel(), g.weights])

        def slope(x: np.ndarray, both: Callable = both) -> tuple[float, np.ndarray]:
            value, gradient = both(jnp.asarray(x))
            return float(value), np.asarray(gradient)

        total = dict.fromkeys(("node-wise", "gd", *PEERS), 0)
        for seed in range(seeds):
            start = ew.random_student(teacher, seed=seed)
            flat = np.concatenate([np.ravel(start.positions), start.weights])
            run = ew.learn(teacher, seed=seed, oracle=oracle)
            total["node-wise"] += found(teacher, run.student)
            run = ew.learn(teacher, "gd", student=start, oracle=oracle, iterations=EVALUATIONS)
            total["gd"] += found(teacher, run.student)
            for name, peer in PEERS.items():
                x = peer(slope, flat)
                end = ew.Student(x[:size].reshape(count, -1), x[size:])
                total[name] += found(teacher, end)
        row(f"`{oracle}`", [f"{n} of {seeds * count}" for n in total.values()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--dims", nargs="+", type=int, default=[3, 5, 7, 9, 15])
    parser.add_argument("--units", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--activations", nargs="+", default=["gaussian", "relu", "erf", "tanh"])
    asked = parser.parse_args()
    for part in asked.only:
        print(f"\n{part}\n", flush=True)
        if part == "table":
            table(asked.dims, asked.units, asked.seeds)
        elif part == "scales":
            scales(asked.seeds)
        elif part == "first":
            first(7, 16, 4 * asked.seeds)
        elif part == "joint":
            joint(
                ew.random_teacher("almost-harmonic", 3, 4, 0), asked.seeds, "almost-harmonic, d = 3"
            )
        else:
            for name in asked.activations:
                law = {"positions": "sphere"}
                joint(ew.random_teacher(name, 3, 3, 0, **law), asked.seeds, f"{name}, d = 3")


if __name__ == "__main__":
    main()
