"""The papers' experiments: which random networks gradient descent learns.

Table 2 and Figures 1, 2 train students of random teachers of the same shape. Depth 2 is learned,
with errors of 0.0015 to 0.0019 at widths 5 to 40 where a random guess has about 1; wider students
take longer; deeper ones fail, the more the wider they are.

The setting is the papers': tanh at every node, no biases, standard Gaussian weights. What they
leave unsaid is filled in as by `experiments.papers.readings`: d = 5, one fresh sample a step,
alpha = 1e-3. Seeds spread widely, so an error is a median over 5 of them, or 10 where errors are
compared. Some thorough instances have the papers' 1e6 iterations; the others stop earlier, where
the trends are the same.

Depth 2 with a linear output has an exact loss, too (for erf, a sigmoid from -1 to 1, in closed
form). One statement trains on that, which is the test error itself.

Sources: EPD, Table 2, Figure 1; Full and ITCS, Table 2, Figures 1 and 2.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import erf

from earnshaw.charges.network import Student, Teacher
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.loop import Loop, begin, run
from earnshaw.energy.population import population_loss
from earnshaw.experiments.training.engine import LANES
from earnshaw.experiments.training.train import Trained, train
from earnshaw.papers.claims.claim import (
    NO_MINIMUM,
    Claim,
    Draw,
    Finding,
    Instance,
    Sources,
    Statement,
)
from earnshaw.papers.reproductions.printed import FIGURE_1_WIDTHS, WIDTHS
from earnshaw.papers.reproductions.readings import DEFAULT, READINGS

ERROR = 0.002  # "the training error diminishes quickly to under 0.002"
REACHED = 0.1  # the error to which iterations are counted
MANY = 1_000_000  # iterations of the papers
TESTED = 1000  # samples of a test error: by far less noise than there is between seeds

DIM = 3  # of the exact loss, as the next four
STARTS = 8
ITERATIONS = 4000
NARROW, WIDE = 3, 6


def _shapes(*shapes: tuple[int, dict[str, Any]], blocks: int = 1) -> Draw:
    """Instances: shapes in turn, each after its iterations, with random blocks of LANES seeds."""

    def draw(rng: np.random.Generator, index: int) -> Instance:
        iterations, shape = shapes[index % len(shapes)]
        return {"blocks": rng.integers(2**28, size=blocks), "iterations": iterations, **shape}

    return draw


def _cells(depths: tuple[int, ...], widths: tuple[int, ...]) -> dict[str, Any]:
    return {"cells": [(depth, width) for depth in depths for width in widths]}


def _trained(instance: Instance, depth: int, width: int) -> tuple[Trained, ...]:
    seeds = [LANES * int(block) + lane for block in instance["blocks"] for lane in range(LANES)]
    reading = READINGS[instance.get("reading", DEFAULT)].settings(width)
    return train(
        seeds=seeds,
        depth=depth,
        width=width,
        iterations=int(instance["iterations"]),
        test_samples=TESTED,
        **reading,
    )


def _ways(instance: Instance) -> tuple[np.ndarray, np.ndarray]:
    """The marks (m,), and there the median error over the seeds of each cell (cells, m)."""
    cells = [_trained(instance, depth, width) for depth, width in instance["cells"]]
    errors = [np.median([one.errors for one in runs], axis=0) for runs in cells]
    return cells[0][0].iterations, np.array(errors)


def _named(what: str, instance: Instance, values: np.ndarray) -> dict[str, float]:
    cells = zip(instance["cells"], values, strict=True)
    return {f"{what}, depth {d}, width {w}": float(value) for (d, w), value in cells}


def _after(instance: Instance) -> str:
    return f"error after {int(instance['iterations']):.0e} iterations".replace("e+0", "e")


def _begins(instance: Instance) -> Finding:
    firsts = _ways(instance)[1][:, 0]
    return Finding(
        bool(np.all((firsts >= 0.3) & (firsts <= 3))), _named("first error", instance, firsts)
    )


def _falls(instance: Instance) -> Finding:
    ends = _ways(instance)[1][:, -1]
    return Finding(
        bool(np.all(ends <= instance["error"])), _named(_after(instance), instance, ends)
    )


def _wider(instance: Instance) -> Finding:
    """The errors rise from cell to cell."""
    ends = _ways(instance)[1][:, -1]
    ratios = ends[1:] / ends[:-1]
    numbers = {"least ratio of neighbours": float(np.min(ratios))}
    return Finding(bool(np.all(ratios > 1)), numbers | _named(_after(instance), instance, ends))


def _deeper(instance: Instance) -> Finding:
    """The same, and the last cell's curve is above the first's from half of the way on."""
    marks, ways = _ways(instance)
    ratios = ways[1:, -1] / ways[:-1, -1]
    on_the_way = (ways[-1] / ways[0])[2 * marks >= marks[-1]]
    numbers = {
        "least ratio of neighbours": float(np.min(ratios)),
        "least ratio of last to first, on the way": float(np.min(on_the_way)),
        **_named(_after(instance), instance, ways[:, -1]),
    }
    return Finding(bool(np.all(ratios > 1) and np.all(on_the_way > 1)), numbers)


def _takes_longer(instance: Instance) -> Finding:
    counts = np.array([_count(_trained(instance, depth, w)) for depth, w in instance["cells"]])
    ratios = counts[1:] / counts[:-1]
    numbers = _named(f"iterations to error {REACHED}", instance, counts)
    return Finding(bool(np.all(ratios > 1)), numbers)


def _count(runs: tuple[Trained, ...]) -> float:
    """Iterations until the error is REACHED, or all: the geometric mean over the seeds."""
    logs = []
    for one in runs:
        reached = one.iterations[one.errors <= REACHED]
        logs.append(np.log(max(1, np.append(reached, one.iterations[-1])[0])))
    return float(np.exp(np.mean(logs)))


def _far(run: Trained) -> float:
    """From a teacher's hidden unit to the nearest of the student's, over its length; the mean.

    tanh is odd: w with weight b is -w with weight -b.
    """
    theirs, ours = run.teacher[0].weights[:, None], run.student[0].weights[None]
    away = [np.linalg.norm(theirs - sign * ours, axis=-1).min(axis=1) for sign in (1, -1)]
    return float(np.mean(np.minimum(*away) / np.linalg.norm(theirs[:, 0], axis=-1)))


def _elsewhere(instance: Instance) -> Finding:
    ((depth, width),) = instance["cells"]
    runs = _trained(instance, depth, width)
    error, far = np.median([one.error for one in runs]), np.median([_far(one) for one in runs])
    numbers = {_after(instance): float(error), "relative distance of a unit": float(far)}
    return Finding(bool(error <= instance["error"] and far >= 0.25), numbers)


def _problem(rng: np.random.Generator, width: int) -> Instance:
    """Teacher and starts of standard Gaussian weights, for the exact loss."""
    return {
        "w": rng.standard_normal((width, DIM)),
        "b": rng.standard_normal(width),
        "positions": rng.standard_normal((STARTS, width, DIM)),
        "weights": rng.standard_normal((STARTS, width)),
    }


def _descended(instance: Instance) -> tuple[Loop, np.ndarray]:
    """The run, and the losses on its way (n, starts) in units of E[f^2]."""
    loss = population_loss(Teacher(instance["w"], instance["b"], "erf"))
    method = GradientDescent(tolerance=jnp.asarray(1e-12))
    starts = Student(np.asarray(instance["positions"]), np.asarray(instance["weights"]))
    loop = begin(method, loss, starts, jax.random.key(0, impl="threefry2x32"))
    loop = run(method, loss, loop, ITERATIONS)[0]
    way = np.asarray(loop.history.values)[: int(loop.history.count)]
    return loop, way / float(loss.empty_value())


def _tested(instance: Instance, loop: Loop) -> np.ndarray:
    """The mean squared error of each start's end on fresh inputs, over that of no student."""
    x = np.random.default_rng(0).standard_normal((20_000, DIM))
    w, b = np.asarray(instance["w"]), np.asarray(instance["b"])
    answers = erf(x @ w.T) @ b
    ends = loop.states.student
    found = [
        erf(x @ np.asarray(positions).T) @ np.asarray(weights)
        for positions, weights in zip(ends.positions, ends.weights, strict=True)
    ]
    return np.array([np.mean((answers - one) ** 2) for one in found]) / np.mean(answers**2)


def _exactly(instance: Instance) -> Finding:
    loop, way = _descended(instance)
    errors = _tested(instance, loop)
    rises = float(np.max(np.diff(way, axis=0)))
    numbers = {
        "median test error": float(np.median(errors)),
        "best test error": float(errors.min()),
        "starts below 0.002": float(np.mean(errors <= ERROR)),
        "first error": float(np.median(way[0])),
        "largest rise": rises,
    }
    return Finding(bool(errors.min() <= 0.02 and rises <= 0), numbers)


EXPERIMENTS = Claim(
    id="experiments",
    title="Gradient descent learns networks of depth 2, not deeper ones",
    sources=Sources(
        epd="Table 2, Figure 1", full="Table 2, Figures 1, 2", itcs="Table 2, Figures 1, 2"
    ),
    oracle="samples, one a step; by the exact loss where a statement says so",
    definition=NO_MINIMUM,
    hypotheses=(
        "teacher and student have the same depth and width and standard Gaussian weights, no bias, "
        "tanh at every node, the output's among them",
        "d = 5, one fresh sample a step, alpha = 1e-3, up to 1e6 iterations",
        "errors are E[(f - g)^2], medians over 5 seeds, or 10 where they are compared",
        "by the exact loss: d = 3, units are erf, the output is linear, steps are adaptive",
    ),
    statements=(
        Statement(
            "first-errors",
            "at depth 2 the error begins near 1: between 0.3 and 3 at every width (Figure 1)",
            _shapes((1, _cells((2,), (5, 20, 40))), (1, _cells((2,), FIGURE_1_WIDTHS)), blocks=2),
            _begins,
            quick=1,
            thorough=4,
        ),
        Statement(
            "depth-2-is-learned",
            "the error falls below 0.1 within 1e5 iterations at every width, below 0.03 within "
            "1e6, also at widths 80 and 125 (Table 2, depth 2; Figure 1)",
            _shapes(
                (100_000, _cells((2,), (5, 20, 40)) | {"error": 0.1}),
                (MANY, _cells((2,), WIDTHS) | {"error": 0.03}),
                (MANY, _cells((2,), (80, 125)) | {"error": 0.03}),
            ),
            _falls,
            quick=1,
            thorough=3,
        ),
        Statement(
            "wider-takes-longer",
            "at depth 2, width 40 takes more iterations to an error of 0.1 than width 5, in the "
            "geometric mean over the seeds (Figure 1)",
            _shapes((30_000, _cells((2,), (5, 40))), blocks=2),
            _takes_longer,
            quick=1,
            thorough=6,
        ),
        Statement(
            "deeper-is-worse",
            "errors rise with depth at every width from 10 on (Table 2, Figure 2), on the way, too "
            "(Figure 1, depths at width 20 and 80)",
            _shapes(
                (30_000, _cells((2, 3, 5), (20,))),
                (100_000, _cells((2, 3, 5), (10,))),
                (30_000, _cells((2, 3, 5), (80,))),
                (100_000, _cells((2, 3, 5, 9), (40,))),
                (MANY, _cells((2, 3, 5, 9), (10,))),
                blocks=2,
            ),
            _deeper,
            quick=1,
            thorough=5,
        ),
        Statement(
            "wider-is-worse",
            "errors rise with width at every depth from 3 on (Table 2, Figure 2)",
            _shapes(
                (20_000, _cells((3,), (5, 20))),
                (10_000, _cells((5,), (5, 20))),
                (30_000, _cells((9,), (5, 20))),
                (30_000, _cells((17,), (5, 20))),
                (100_000, _cells((5,), WIDTHS)),
                (MANY, _cells((3,), (10, 40))),
                blocks=2,
            ),
            _wider,
            quick=2,
            thorough=6,
        ),
        Statement(
            "units-are-elsewhere",
            "a small error does not mean that the parameters are learned: when it is below 0.1 "
            "(0.01 after 1e6 iterations) a hidden unit is still a quarter of its length or more "
            "from the nearest of the student's, up to sign, on average (depth 2)",
            _shapes(
                (100_000, _cells((2,), (20,)) | {"error": 0.1}),
                (MANY, _cells((2,), (10,)) | {"error": 0.01}),
            ),
            _elsewhere,
            quick=1,
            thorough=2,
        ),
        Statement(
            "printed-step",
            "with alpha = 1e-5 the error of depth 2, width 5 falls below 0.002 within "
            "1e6 iterations (of one sample each, whose number is not printed)",
            _shapes((MANY, _cells((2,), (5,)) | {"error": ERROR, "reading": "literal"})),
            _falls,
            role="printed",
            kind="hypothesis-missing",
            quick=1,
            thorough=3,
        ),
        Statement(
            "by-the-exact-loss",
            "depth 2 with a linear output: the error, exact, never rises, and falls below 0.02 of "
            "E[f^2] from one of 8 starts",
            lambda rng, index: _problem(rng, NARROW if index < 3 or index % 2 else WIDE),
            _exactly,
            quick=3,
            thorough=12,
        ),
    ),
    remarks=(
        "The dimension, the number of samples, the batch and the scaling of the loss are not "
        "printed. alpha = 1e-3 with one sample is alpha = 1e-5 with a loss summed over 100; the "
        "printed alpha with one sample is ruled out. `earnshaw reproduce --reading` has others.",
        "The statements are trends. The single numbers of Table 2 are compared by `earnshaw "
        "reproduce table2`: no reading gives all 20, nor its jump from depth 2 to 3 at width 40, "
        "which is 124 times as printed. Nor is depth 2 below 0.002 at widths 80 and 125 after 1e6 "
        "iterations, as the texts say of Figure 1: it is at 0.013.",
        "Not stated: that errors rise from depth 9 to 17. They do not at width 40 of Table 2.",
        "Neighbouring widths of Table 2 differ by less than the seeds do: most instances compare "
        "widths 4 or 8 times apart.",
    ),
)
