"""Samples instead of expectations for a whole network: loss, gradient and Hessian at once.

EPD's Theorem B.4 with its constants. The teacher f = sum_j b_j s(x.w_j) is fixed; students are all
g = sum_i c_i s(x.theta_i) of m units with |c|_1 <= A and |theta_i| <= R. Inputs are N(0, w^2 I_d),
and |x| <= B at first. On [-R B, R B] let |s|, |s'|, |s''|, |s'''| be at most C, L, M, N. In a
direction (v, a) of length 1, u = f - g and the first and second derivatives of g are

    t = sum_i c_i s'(x.theta_i) x.v_i + a_i s(x.theta_i),
    q = sum_i c_i s''(x.theta_i) (x.v_i)^2 + 2 a_i s'(x.theta_i) x.v_i,

so that loss, gradient and Hessian are the means of u^2, -2 u t and 2 t^2 - 2 u q. By Cauchy's
inequality and sum_i |a_i v_i| <= 1/2,

    |u| <= S = (|b|_1 + A) C,    |t| <= T = sqrt((A L B)^2 + m C^2),    |q| <= Q = A M B^2 + L B.

Complexities are R(F) = E sup_f (1/n) sum_i e_i f(x_i) over signs e_i, without absolute value and
without EPD's factor 2. Adding a fixed function (the teacher) does not change them; composing with a
function of Lipschitz constant l, whatever it is at 0, multiplies them by l at most (Ledoux and
Talagrand 1991, in the proof of Theorem 4.12); and 4 p q = (p + q)^2 - (p - q)^2 gives, for
|p| <= P, |q| <= Q,

    R(p q) <= 2 Q R(p) + 2 P R(q).

Linear functions x.v with |v| <= 1 have R <= D/sqrt(n), D^2 = E|x|^2 <= w^2 d: no B, unlike EPD.
So, times sqrt(n),

    +-s(x.theta)                 K0 = 2 L R D + |s(0)|      (both signs: twice, and s(0) apart)
    s'(x.theta) x.v              K1 = 2 D (M R B + L)
    s''(x.theta) (x.v) (x.v')    K2 = D (8 M B + 2 N R B^2)
    g, t, q                      A K0,    A K1 + sqrt(m) K0,    A K2 + K1.

The largest deviation of means of F from their expectations is 2 R(F) on average, and beyond that by
more than |F| sqrt(log(1/z)/(2 n)), |F| the length of the interval of the values, with probability z
at most (McDiarmid). With G(z) = sqrt(log(1/z)/(2 n)) therefore

    loss        4 S A K0/sqrt(n) + S^2 G(z/2),
    gradient    8 (T A K0 + S (A K1 + sqrt(m) K0))/sqrt(n) + 4 S T G(z),
    Hessian     8 (T (A K1 + sqrt(m) K0) + Q A K0 + S (A K2 + K1))/sqrt(n)
                + (2 T^2 + 4 S Q) G(z/2),

the gradient in Euclidean length over all parameters, the Hessian in operator norm. On the sphere
(R = 1) the gradient is a projection of this one, and the Hessian loses (theta_i.grad_i) |v_i|^2: q
gains c_i |v_i|^2 z s'(z) at z = x.theta_i, that is A L B in Q and A K1 in its complexity.

Gaussian inputs are all in the ball with probability 1 - n P(|X| > B), and are then a sample of the
truncated Gaussian. Its expectations differ by at most E[F(|X|); |X| > B] + P(|X| > B)/P(|X| <= B)
F(B), where F(B) is S^2, 2 S T or 2 T^2 + 2 S Q. Of zeta = 1 - confidence, a quarter goes to leaving
the ball, which sets B, and a quarter to each of the three; all hold together.

EPD prints the hypothesis as sigma, sigma'', sigma''', sigma''' = O(|x|^p); meant are sigma to
sigma'''. It also needs |c| bounded, which Omega leaves open. A union over pairs of units, as in its
proof, is not needed, and neither is p <= d.

Beyond EPD, s' may jump (relu). With J the sum of its jumps, s' is a function with |s''| <= M
between the kinks and of size L + J/2 at most, plus jumps from -1/2 to 1/2 of total weight J across
hyperplanes. These split n inputs in e^H ways, H <= (d + 1) log(e n/(d + 1)) (Sauer), and for each
of them |sum_i +-e_i x_i| is sub-Gaussian with variance sum_i |x_i|^2 (bounded differences), so

    K1 = 2 D (M R B + L + J/2) + J D (1 + sqrt(2 H))/2.

The Hessian of samples is no estimate then, and its bound is infinite; all are if s jumps (sign).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import chi

from earnshaw.charges.manifolds import Sphere
from earnshaw.charges.network import Teacher
from earnshaw.duality.affine_dual import AffineDual
from earnshaw.errors import EarnshawError
from earnshaw.limits import check_integer, check_real
from earnshaw.papers.bounds.checks import check_samples
from earnshaw.papers.bounds.sizes import Sizes, SizeTable, dot_product

FARTHEST = 1e-300  # the probability beyond which nothing is counted
SHELLS = 400  # of the integral over what is cut off
PARTS = 4  # of zeta: leaving the ball, loss, gradient, Hessian
LARGEST = 2**120  # samples; what they do not bring below the error, none do


class NetworkDeviation(NamedTuple):
    """How far n samples may be off, for all students at once; `radius` is the B of the proof."""

    loss: float
    gradient: float
    hessian: float
    radius: float


class NetworkSamples(NamedTuple):
    """How many samples suffice for each of the three; infinite where the theorem has no answer."""

    loss: float
    gradient: float
    hessian: float


def network_deviation(
    teacher: Teacher,
    samples: int,
    confidence: float,
    *,
    units: int | None = None,
    total: float | None = None,
    length: float | None = None,
    radius: float | None = None,
) -> NetworkDeviation:
    """What the empirical loss, gradient and Hessian of n samples are off by at most.

    With probability `confidence` all three hold at once, for all students at once: the loss, the
    Euclidean norm of the gradient in all positions and weights, the operator norm of the Hessian,
    each minus that of `population_loss(teacher)`. The formulas are in the module's docstring.

    Args:
        teacher: f, of dot-product units.
        samples: n, drawn from the teacher's inputs.
        confidence: 1 - zeta.
        units: m, the units of students; by default as many as the teacher's.
        total: A, the largest |c|_1 of students; by default |b|_1, the teacher's.
        length: R, the largest length of students' units; by default that of the teacher's longest,
            and 1 on the sphere.
        radius: B, if the samples are of `TruncatedGaussian(width, B)`; else it is chosen.
    """
    given = Hypotheses(teacher, confidence, units, total, length, radius)
    return given.deviation(check_samples(samples))


def network_samples(
    teacher: Teacher,
    error: float,
    confidence: float,
    *,
    units: int | None = None,
    total: float | None = None,
    length: float | None = None,
    radius: float | None = None,
) -> NetworkSamples:
    """How many samples bring each part of `network_deviation` down to `error`.

    That many suffice by the bound. Infinite for derivatives that the activation lacks, and
    where a given `radius` alone changes the expectations by more than the error.
    """
    error = check_real("error", error, 0.0)
    given = Hypotheses(teacher, confidence, units, total, length, radius)
    return NetworkSamples(*(given.samples(part, error) for part in range(3)))


class Envelope(NamedTuple):
    """S, T and Q: what |u|, |t| and |q| cannot exceed for |x| <= B."""

    residual: np.ndarray
    slope: np.ndarray
    bend: np.ndarray


class Hypotheses:
    """The hypotheses: teacher, students, inputs, and the sizes of the activation."""

    def __init__(
        self,
        teacher: Teacher,
        confidence: float,
        units: int | None,
        total: float | None,
        length: float | None,
        radius: float | None,
    ) -> None:
        if not isinstance(teacher, Teacher):
            raise EarnshawError(f"the bounds need a Teacher, not {type(teacher).__name__}")
        self.zeta = 1 - check_real("confidence", confidence, 0.0, 1.0)
        self.units = check_integer("units", teacher.units if units is None else units, 1)
        self.strength = float(np.sum(np.abs(teacher.weights)))
        self.total = check_real("total", self.strength if total is None else total, 0.0)
        self.curved = isinstance(teacher.manifold, Sphere)
        longest = float(np.max(np.linalg.norm(teacher.positions, axis=1)))
        if self.curved and length is not None:
            raise EarnshawError("length is for units in space; on the sphere it is 1")
        length = longest if length is None else length
        self.length = 1.0 if self.curved else check_real("length", length, 0.0)
        self.radius = None if radius is None else check_real("radius", radius, 0.0)
        if isinstance(teacher.potential, AffineDual):
            raise EarnshawError("bounds are for units without biases and N(0, width^2 I) inputs")
        self.width, self.dim = teacher.species.width, teacher.dim
        activation = dot_product(teacher.activation)
        self.farthest = self.width * float(chi.isf(FARTHEST, self.dim))
        # The teacher's units count too: they may be longer than the students'.
        self.reach = max(self.length, longest)
        self.table = SizeTable(activation, self.reach * max(self.farthest, self.radius or 0.0))
        self.at_zero = abs(float(activation(0.0)))

    def deviation(self, samples: int) -> NetworkDeviation:
        """The three bounds at n samples."""
        zeta = self.zeta / PARTS
        radius = self.radius
        if radius is None:
            radius = self.width * float(chi.isf(zeta / samples, self.dim))
        u, t, q = self.envelope(np.asarray(radius))
        of_g, of_t, of_q = self.complexities(radius, samples)
        means = 4 * u * of_g, 8 * (t * of_g + u * of_t), 8 * (t * of_t + q * of_g + u * of_q)
        one, two = (math.sqrt(math.log(sides / zeta) / 2) for sides in (1, 2))
        spreads = u**2 * two, 4 * u * t * one, (2 * t**2 + 4 * u * q) * two
        by_chance = (np.asarray(means) + np.asarray(spreads)) / math.sqrt(samples)
        loss, gradient, hessian = (float(part) for part in by_chance + self.truncated(radius))
        return NetworkDeviation(loss, gradient, hessian, radius)

    def samples(self, part: int, error: float) -> float:
        """The n at which that part of the deviation comes down to `error`."""
        high = 1
        while not self.deviation(high)[part] <= error:
            high *= 2
            if high > LARGEST:
                return math.inf
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.deviation(middle)[part] <= error else (middle, high)
        return high

    def envelope(self, radius: np.ndarray) -> Envelope:
        """S, T and Q at a radius, or at many."""
        sizes, total = self.sizes(radius), self.total
        by_radius = sizes.first * radius
        bend = total * sizes.second * radius**2 + by_radius
        return Envelope(
            (self.strength + total) * sizes.value,
            np.hypot(total * by_radius, math.sqrt(self.units) * sizes.value),
            bend + total * by_radius if self.curved else bend,
        )

    def complexities(self, radius: float, samples: int) -> tuple[float, float, float]:
        """Those of g, t and q, times sqrt(n)."""
        _, first, second, third = self.sizes(np.asarray(radius))
        between, jumps = self.table.kinked(self.reach * radius)
        spread = min(self.width * math.sqrt(self.dim), radius)
        longest, total = self.length, self.total
        unit = 2 * first * longest * spread + self.at_zero
        slope = 2 * spread * (between * longest * radius + first + jumps / 2)
        slope += jumps * spread * (1 + math.sqrt(2 * self.log_splits(samples))) / 2
        bend = spread * (8 * second * radius + 2 * third * longest * radius**2)
        of_q = total * bend + slope + (total * slope if self.curved else 0.0)
        return total * unit, total * slope + math.sqrt(self.units) * unit, of_q

    def log_splits(self, samples: int) -> float:
        """H: in how many ways hyperplanes split n points, in logarithms."""
        order = self.dim + 1
        if samples <= order:
            return samples * math.log(2)
        return order * (1 + math.log(samples / order))

    def sizes(self, radius: np.ndarray) -> Sizes:
        """Those of the activation where teacher and students use it."""
        return self.table.at(self.reach * radius)

    def truncated(self, radius: float) -> np.ndarray:
        """How much the expectations of the three may change by the truncation.

        The integral over |x| > B is a sum over shells, with the largest value in each.
        """
        edges = np.linspace(radius, max(self.farthest, radius), SHELLS + 1)
        beyond = chi.sf(edges / self.width, self.dim)
        inside = max(chi.cdf(radius / self.width, self.dim), FARTHEST)
        shells = np.concatenate([[beyond[0] / inside], beyond[:-1] - beyond[1:]])
        u, t, q = self.envelope(edges)
        with np.errstate(invalid="ignore"):  # 0 x infinity
            parts = np.stack([u**2, 2 * u * t, 2 * t**2 + 2 * u * q]) @ shells
        return np.where(np.isnan(parts), np.inf, parts)
