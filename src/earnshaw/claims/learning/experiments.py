"""The papers' experiments, as far as networks of depth 2 with a linear output go.

Table 2 and Figures 1, 2 train students of random teachers of the same shape by gradient descent.
Depth 2 is learned, with errors of 0.0015 to 0.0019 at widths 5 to 40 where a random guess has about
1; wider students take longer; deeper ones fail. The core has the exact loss of depth 2: here
students are trained on it, which is the test error itself, from starts that do not know the
teacher, and errors are in units of E[f^2], that of no student at all.

The papers' units are sigmoid from -1 to 1; erf is, and has a closed form. Their output is a sigmoid
too, and deeper rows need a training stack: these parts are for the issue on experiments.

Sources: EPD, Table 2, Figure 1; Full and ITCS, Table 2, Figures 1 and 2.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import erf

from earnshaw.charges.network import Student, Teacher
from earnshaw.claims.claim import Claim, Finding, Instance, Sources, Statement
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.loop import Loop, begin, run
from earnshaw.energy.population import population_loss

DIM = 3
STARTS = 4
ERROR = 0.002  # "the training error diminishes quickly to under 0.002"
ITERATIONS = 4000
NARROW, WIDE = 3, 6


def _problem(rng: np.random.Generator, width: int) -> Instance:
    """Teacher and starts of standard Gaussian weights."""
    return {
        "w": rng.standard_normal((width, DIM)),
        "b": rng.standard_normal(width),
        "positions": rng.standard_normal((STARTS, width, DIM)),
        "weights": rng.standard_normal((STARTS, width)),
    }


def _trained(instance: Instance) -> tuple[Loop, np.ndarray]:
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


def _learned(instance: Instance) -> Finding:
    loop, way = _trained(instance)
    errors = _tested(instance, loop)
    rises = float(np.max(np.diff(way, axis=0)))
    apart = np.asarray(loop.states.student.positions)[np.argmin(errors)]
    distances = np.linalg.norm(np.asarray(instance["w"])[:, None] - apart[None], axis=-1)
    numbers = {
        "median test error": float(np.median(errors)),
        "best test error": float(errors.min()),
        "starts below 0.002": float(np.mean(errors <= ERROR)),
        "first error": float(np.median(way[0])),
        "largest rise": rises,
        "farthest hidden weight": float(distances.min(axis=1).max()),
    }
    return Finding(bool(errors.min() <= ERROR and rises <= 0), numbers)


EXPERIMENTS = Claim(
    id="experiments",
    title="Gradient descent learns networks of depth 2",
    sources=Sources(
        epd="Table 2, Figure 1", full="Table 2, Figures 1, 2", itcs="Table 2, Figures 1, 2"
    ),
    hypotheses=(
        "teacher and starts have standard Gaussian weights, hidden and output",
        "units are erf, the output is linear, the loss is exact, steps are adaptive",
    ),
    statements=(
        Statement(
            "depth-2-is-learned",
            "the error never rises, and falls below 0.002 from one of 4 starts (Table 2, depth 2)",
            lambda rng, index: _problem(rng, NARROW if index < 3 or index % 2 else WIDE),
            _learned,
            quick=3,
            thorough=12,
        ),
    ),
    remarks=(
        "Left to the issue on experiments: depth 3 to 17, a sigmoid output, widths to 125, the "
        "papers' steps of 1e-5 for 1e6 iterations on samples, and so Table 2 beyond its first row, "
        "Figure 1's depths and Figure 2.",
        "That wider networks take longer (Figure 1) was not seen at this size: width 6 needed "
        "fewer iterations to 0.002 than width 3 in 5 of 8 pairs. It is left to that issue, too.",
        "The dimension, the number of samples and of repetitions are not printed; here d = 3.",
        "As the texts say, a small error does not mean that the parameters are learned: 'farthest "
        "hidden weight' is how far the worst teacher unit is from the nearest student unit.",
    ),
)
