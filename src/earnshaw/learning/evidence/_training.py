"""One network by MacKay's evidence: Levenberg-Marquardt, with the precisions found on the way.

With precisions alpha_g of groups of parameters and beta of the noise, what is made small is

    M(theta) = -sum_i w_i log p(y_i | theta, beta) + sum_g alpha_g |theta_g|^2 / 2,

by steps (H + diag(alpha) + damping)^(-1) (-grad M), H the Gauss-Newton matrix of the first term.
With A = H + diag(alpha), each group has gamma_g = n_g - alpha_g tr_g A^(-1) well-determined
parameters, and at a maximum of the evidence

    alpha_g = gamma_g / |theta_g|^2,    beta = (N - sum_g gamma_g) / sum_i w_i |y_i - g_i|^2

(MacKay, Neural Computation 4, 1992, 448-472). By Laplace's method the logarithm of the evidence is

    -M + sum_g (n_g/2) log alpha_g - log det(A)/2 + log(2^k k!),

the last term for the copies of a minimum that permutations and flips of units make. Copies differ
only if the data determine the units, so k is the sum of their gammas, a number from 0 to k.
"""

from __future__ import annotations

import dataclasses
import time

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.special import gammaln

from earnshaw.learning.evidence._likelihoods import LIKELIHOODS
from earnshaw.learning.evidence._parameters import Layout

CHUNK = 2**21  # entries of the Jacobian that are held at once
FLAT = 1e-6  # the precision of constants: a prior that says nothing
STEEPEST, WIDEST = 1e6, 1e-5  # precisions lie between these
WAIT = 3  # steps before precisions are first estimated
LOOK = 5  # steps over which the evidence must rise by LOOK * tolerance
TRIES = 8  # steps of ever more damping before a point is taken for a minimum
HELD = 1e12  # what is added to the curvature of a parameter that stays where it is
QUIET = 1e-6  # a mean square, of answers of variance 1, that noise is not below


@dataclasses.dataclass(frozen=True)
class Data:
    """Standardised inputs (n, d), answers (n, m), weights (n,), and what they are compared by."""

    x: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    loss: str

    @property
    def total(self) -> float:
        """The number of samples, as the sum of their weights."""
        return float(np.sum(self.weight))

    def take(self, rows: np.ndarray) -> Data:
        """Some of the samples."""
        return Data(self.x[rows], self.y[rows], self.weight[rows], self.loss)


@dataclasses.dataclass(frozen=True)
class Member:
    """A trained network.

    Attributes:
        layout, theta: the network.
        precisions: (groups,), those of the parameters. noise: (m,), that of the answers.
        evidence: its logarithm. error: the mean square of what is left, or of -2 log p for classes.
        covariance: (size, size) of theta by Laplace's method.
        determined: (groups,), how many parameters of each group the data determine.
        units: how many units the data determine.
        steps: how many were taken. settled: whether the evidence had stopped rising.
    """

    layout: Layout
    theta: np.ndarray
    precisions: np.ndarray
    noise: np.ndarray
    evidence: float
    error: float
    covariance: np.ndarray
    determined: np.ndarray
    units: float
    steps: int
    settled: bool

    def outputs(self, x: np.ndarray) -> np.ndarray:
        """g(x), (n, m)."""
        return self.layout.outputs_of(self.theta, x)


@dataclasses.dataclass(frozen=True)
class Start:
    """Where training begins: parameters, precisions of groups, and of the noise."""

    layout: Layout
    theta: np.ndarray
    precisions: np.ndarray
    noise: np.ndarray


def start_of(member: Member) -> Start:
    """Where a trained network goes on."""
    return Start(member.layout, member.theta, member.precisions, member.noise)


class Curved:
    """-log p, its gradient and its Gauss-Newton matrix at one theta, summed over chunks of rows.

    The matrix is sum_i J_i^T B_i J_i, B_i (m, m) minus the Hessian of log p in the outputs. Of the
    parameters outside, feature f of output o, J has one entry a sample. So with several outputs
    their blocks are F^T diag(B_oq) F, F (n, k + d + 1) the features, and only those of units and
    biases need a sum over outputs: with ten classes and few units, a tenth of the work and less.
    """

    def __init__(self, layout: Layout, theta: np.ndarray, data: Data, noise: np.ndarray) -> None:
        likelihood = LIKELIHOODS[data.loss]
        self.gradient, self.value = np.zeros(layout.size), 0.0
        self.matrix = np.zeros((layout.size, layout.size))
        self.square = np.zeros(layout.outputs)
        for rows in chunks(len(data.x), layout.size):
            x, y, weight = data.x[rows], data.y[rows], data.weight[rows]
            g, features, slope = layout.rows(theta, x)
            found = likelihood(g, y, noise)
            self.value -= float(weight @ found.value)
            self.square += weight @ (y - g) ** 2
            scale = np.sqrt(weight)[:, None]
            if layout.outputs == 1:  # the gradient is of the rows that the matrix is made of
                (root,) = found.roots
                jacobian = layout.jacobian(theta, x, (features, slope), scale * root)
                self.gradient -= jacobian.T @ _divided(scale * found.gradient, root)[:, 0]
                self.matrix += jacobian.T @ jacobian
                continue
            roots = [scale * root for root in found.roots]
            self._add(layout, theta, x, features, slope, roots)
            pull = weight[:, None] * found.gradient
            inner = layout.inner(theta, x, slope, pull)
            self.gradient -= np.append(np.sum(inner, axis=0), features.T @ pull)

    def _add(
        self,
        layout: Layout,
        theta: np.ndarray,
        x: np.ndarray,
        features: np.ndarray,
        slope: np.ndarray,
        roots: list[np.ndarray],
    ) -> None:
        """The matrix of one chunk, whose B is the sum of root root^T."""
        m, inside = layout.outputs, layout.units * (layout.dim + 1)
        inner = self.matrix[:inside, :inside]
        for root in roots if inside else []:
            moved = layout.inner(theta, x, slope, root)
            inner += moved.T @ moved
        wide = features.shape[1]
        outer = np.zeros((wide, m, wide, m))
        across = np.zeros((inside, wide, m))
        for o in range(m):
            bend = sum(root * root[:, o : o + 1] for root in roots)  # row o of B, (n, m)
            if inside:
                across[:, :, o] = layout.inner(theta, x, slope, bend).T @ features
            for q in range(o + 1):
                if np.any(bend[:, q]):
                    outer[:, o, :, q] = features.T @ (bend[:, q : q + 1] * features)
                    outer[:, q, :, o] = outer[:, o, :, q]
        self.matrix[inside:, inside:] += outer.reshape(wide * m, wide * m)
        self.matrix[:inside, inside:] += across.reshape(inside, wide * m)
        self.matrix[inside:, :inside] = self.matrix[:inside, inside:].T


def _divided(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a/b; 0 where b is 0, which is where a probability is 1 to the last bit."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 1e-150)


def chunks(count: int, width: int) -> list[slice]:
    """Of `count` rows, so that a chunk of `width` columns has a limited size."""
    height = max(CHUNK // max(width, 1), 64)
    return [slice(start, start + height) for start in range(0, count, height)]


def train(
    start: Start, data: Data, steps: int, tolerance: float = 0.02, deadline: float = np.inf
) -> Member:
    """The network that maximises the evidence, found from `start` in at most so many steps.

    `tolerance` is the rise of the log evidence in a step that is too little to go on for. After
    `deadline` (of `time.monotonic`) no further step is begun.
    """
    layout, theta = start.layout, start.theta.copy()
    groups = layout.groups
    alpha, noise = start.precisions.copy(), start.noise.copy()
    here = Curved(layout, theta, data, noise)
    damping, history, settled = 1e-3, [], False
    member = None
    for step in range(steps):
        theta, here, damping, moved = _move(
            layout, theta, data, here, alpha[groups], noise, damping
        )
        if step < WAIT and moved:
            continue
        member = laplace(layout, theta, data, here, alpha, noise, step + 1)
        if member is None:
            damping *= 10
            continue
        history.append(member.evidence)
        if len(history) > LOOK and -1 < history[-1] - history[-1 - LOOK] < LOOK * tolerance:
            settled = True
        if not moved and len(history) > 2 and abs(history[-1] - history[-2]) < tolerance:
            settled = True
        if settled or step == steps - 1 or time.monotonic() > deadline:
            break
        square = np.bincount(groups, weights=theta**2)
        alpha = np.clip((member.determined + 1e-3) / (square + 1e-6), WIDEST, STEEPEST)
        alpha[-1] = FLAT
        if data.loss == "squares":
            older = noise
            free = data.total - np.sum(member.determined) / layout.outputs
            noise = np.maximum(free, 1.0) / (here.square + QUIET * data.total)
            here.value -= 0.5 * data.total * np.sum(np.log(noise / older))
            here.value += 0.5 * float(here.square @ (noise - older))
            if layout.outputs == 1:
                here.gradient *= noise / older
                here.matrix *= noise / older
            else:
                here = Curved(layout, theta, data, noise)
    if member is None:
        member = laplace(layout, theta, data, here, alpha, noise, steps)
    if member is None:
        raise FloatingPointError
    return dataclasses.replace(member, settled=settled)


def _move(
    layout: Layout,
    theta: np.ndarray,
    data: Data,
    here: Curved,
    alpha: np.ndarray,
    noise: np.ndarray,
    damping: float,
) -> tuple[np.ndarray, Curved, float, bool]:
    """One step that makes M smaller, if there is one, and the damping for the next.

    Where signs are prescribed, parameters that would cross 0 stay there (projected Newton steps,
    Bertsekas, SIAM J. Control Optim. 20, 1982, 221-246).
    """
    value = here.value + 0.5 * float(alpha @ theta**2)
    gradient = here.gradient + alpha * theta
    curvature = np.diagonal(here.matrix) + alpha
    signs = layout.signs(theta) if layout.rising else np.zeros(layout.size)
    held = (signs != 0) & (theta == 0) & (signs * gradient > 0)
    gradient = np.where(held, 0.0, gradient)
    likelihood = LIKELIHOODS[data.loss]
    for _ in range(TRIES):
        matrix = here.matrix.copy()
        matrix[np.diag_indices_from(matrix)] += alpha + damping * curvature + HELD * held
        factor, failed = dpotrf(matrix, lower=1, overwrite_a=1)
        if not failed:
            trial = theta - cho_solve((factor, True), gradient, check_finite=False)
            trial = np.where(held | (signs * trial < 0), 0.0, trial)
            new = 0.5 * float(alpha @ trial**2)
            for rows in chunks(len(data.x), layout.units + layout.dim):
                g = layout.outputs_of(trial, data.x[rows])
                new -= float(data.weight[rows] @ likelihood(g, data.y[rows], noise).value)
            if new < value:
                return trial, Curved(layout, trial, data, noise), max(damping / 5, 1e-9), True
        damping *= 5
    return theta, here, min(damping, 1e3), False


def laplace(
    layout: Layout,
    theta: np.ndarray,
    data: Data,
    here: Curved,
    alpha: np.ndarray,
    noise: np.ndarray,
    steps: int,
) -> Member | None:
    """The Gaussian around theta and its evidence; None where the matrix is not positive."""
    groups, count = layout.groups, np.bincount(layout.groups)
    matrix = here.matrix.copy()
    matrix[np.diag_indices_from(matrix)] += alpha[groups]
    factor, failed = dpotrf(matrix, lower=1)
    if failed:
        return None
    half = float(np.sum(np.log(np.diagonal(factor))))
    covariance, _ = dpotri(factor, lower=1)
    variance = np.diagonal(covariance)
    covariance = np.tril(covariance) + np.tril(covariance, -1).T
    determined = np.clip(count - alpha * np.bincount(groups, weights=variance), 0, count)
    square = np.bincount(groups, weights=theta**2)
    units = _units(layout, alpha, variance)
    evidence = (
        -here.value
        - 0.5 * float(alpha @ square)
        + 0.5 * float(count @ np.log(alpha))
        - half
        + units * np.log(2.0)
        + gammaln(units + 1)
    )
    squares = data.loss == "squares"
    error = float(np.sum(here.square) if squares else 2 * here.value) / data.total
    return Member(
        layout, theta, alpha, noise, float(evidence), error, covariance, determined, units, steps,
        False,
    )  # fmt: skip


def _units(layout: Layout, alpha: np.ndarray, variance: np.ndarray) -> float:
    """How many units the data determine: the sum of 1 - alpha var of their output weights."""
    k, m = layout.units, layout.outputs
    if not k:
        return 0.0
    place = slice(k * (layout.dim + 1), k * (layout.dim + 1 + m))
    sure = 1 - alpha[layout.groups[place]] * variance[place]
    return float(np.sum(np.clip(np.max(sure.reshape(k, m), axis=1), 0, 1)))
