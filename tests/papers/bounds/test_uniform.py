"""The bounds for networks: each step of the proof by itself, in NumPy, and the whole on samples."""

import math

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import chi

from earnshaw.charges.network import Teacher
from earnshaw.errors import EarnshawError
from earnshaw.papers.bounds import network_deviation, network_samples
from earnshaw.papers.bounds.uniform import Hypotheses


def tanh(z):
    """The function and two derivatives."""
    y = np.tanh(z)
    return y, 1 - y**2, -2 * y * (1 - y**2)


def relu(z):
    """The function and its derivative."""
    return np.maximum(z, 0.0), np.where(z > 0, 1.0, 0.0)


def logistic(z):
    """As tanh; not 0 at 0."""
    y, dy, ddy = tanh(z / 2)
    return (1 + y) / 2, dy / 4, ddy / 8


FUNCTIONS = {"tanh": tanh, "relu": relu, "logistic": logistic}


def teacher_of(name="erf", dim=3, units=2, on="sphere", seed=0, **more):
    rng = np.random.default_rng(seed)
    w = rng.standard_normal((units, dim))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    return Teacher(w, np.linspace(0.5, 1.0, units), name, on=on, **more)


def hypotheses(teacher, *, units=2, total=1.5, length=None, radius=None):
    return Hypotheses(teacher, 0.9, units, total, length, radius)


def balls(rng, count, dim):
    """Points of the unit ball, most of them on its surface."""
    x = rng.standard_normal((count, dim))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.quick("*-tanh")
@pytest.mark.parametrize(("on", "name"), [("sphere", "tanh"), ("space", "logistic")])
def test_envelopes_hold_and_are_nearly_reached(on, name):
    """|f - g| and the derivatives of g along a line, at random students, inputs, directions."""
    rng, dim, units, radius, total = np.random.default_rng(0), 2, 2, 1.2, 1.5
    teacher = teacher_of(name, dim, units, on)
    found = hypotheses(teacher, total=total).envelope(np.asarray(radius))
    count = 40_000
    s = FUNCTIONS[name]
    theta = balls(rng, count * units, dim).reshape(count, units, dim)
    c = rng.standard_normal((count, units)) * np.where(rng.random((count, 1)) < 0.5, (1, 0), 1)
    c *= total / np.sum(np.abs(c), axis=1, keepdims=True)
    x = radius * balls(rng, count, dim)
    v, a = rng.standard_normal((count, units, dim)), rng.standard_normal((count, units))
    v *= np.exp(rng.normal(0, 2, (count, 1, 1)))  # from all in the weights to all in the positions
    if on == "sphere":
        v -= np.sum(v * theta, axis=2, keepdims=True) * theta
    size = np.sqrt(np.sum(v**2, axis=(1, 2)) + np.sum(a**2, axis=1))
    v, a = v / size[:, None, None], a / size[:, None]
    z, along = np.einsum("nud,nd->nu", theta, x), np.einsum("nud,nd->nu", v, x)
    value, first, second = s(z)
    b, w = np.asarray(teacher.weights), np.asarray(teacher.positions)
    u = s(x @ w.T)[0] @ b - np.sum(c * value, axis=1)
    t = np.sum(c * first * along + a * value, axis=1)
    q = np.sum(c * second * along**2 + 2 * a * first * along, axis=1)
    if on == "sphere":  # along great circles
        q -= np.sum(c * first * z * np.sum(v**2, axis=2), axis=1)
    for seen, most, tight in zip((u, t, q), found, (0.9, 0.6, 0.25), strict=True):
        assert np.max(np.abs(seen)) <= most
        assert np.max(np.abs(seen)) >= tight * most


@pytest.mark.parametrize("name", ["relu", "logistic"])
def test_complexities_hold(name):
    """E sup over students and directions, in the plane, of sums with random signs.

    The sup over students of g is A sup|Z0|, of t at most A sup|Z1| + sqrt(m) sup|Z0|, reached up to
    a factor sqrt(2); Z1 = sum s'(x.theta) x, Z0 = sum s(x.theta).
    """
    rng, count, units, total, radius = np.random.default_rng(1), 200, 2, 1.5, 2.5
    given = hypotheses(teacher_of(name, 2), units=units, total=total, radius=radius)
    x = rng.standard_normal((4 * count, 2))
    x = x[np.linalg.norm(x, axis=1) <= radius][:count]
    angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    theta = np.stack([np.cos(angles), np.sin(angles)])
    value, first, *second = FUNCTIONS[name](x @ theta)
    signs = rng.choice([-1.0, 1.0], (100, count)) / math.sqrt(count)
    z0 = np.max(np.abs(signs @ value), axis=1)
    slopes = np.einsum("sn,nt,nd->std", signs, first, x)
    z1 = np.max(np.linalg.norm(slopes, axis=2), axis=1)
    of_g, of_t, of_q = given.complexities(radius, count)
    assert total * np.mean(z0) <= of_g <= 20 * total * np.mean(z0)
    seen = np.mean(np.hypot(total * z1, math.sqrt(units) * z0))
    assert seen <= of_t <= 30 * seen
    if not second:
        assert math.isinf(of_q)
        return
    bends = np.einsum("sn,nt,nd,ne->stde", signs, second[0], x, x)
    z2 = np.max(np.abs(np.linalg.eigvalsh(bends)), axis=(1, 2))
    assert total * np.mean(z2) <= of_q


def test_the_formulas_by_hand():
    """logistic in space, d = 3, n = 10^6: the docstring's three lines, written out once more."""
    n, m, total, longest, zeta = 10**6, 3, 1.5, 1.2, 0.1
    teacher = teacher_of("logistic", 3, 2, "space")
    found = network_deviation(teacher, n, 1 - zeta, units=m, total=total, length=longest)
    ball = found.radius
    assert n * chi.sf(ball, 3) == pytest.approx(zeta / 4)
    # |s|, |s'|, |s''|, |s'''| of the logistic function.
    c, l1, l2, l3 = 1 / (1 + math.exp(-longest * ball)), 1 / 4, 1 / (6 * math.sqrt(3)), 1 / 8
    s = (1.5 + total) * c
    t = math.sqrt((total * l1 * ball) ** 2 + m * c**2)
    q = total * l2 * ball**2 + l1 * ball
    d = math.sqrt(3)
    k0 = 2 * l1 * longest * d + 1 / 2
    k1 = 2 * d * (l2 * longest * ball + l1)
    k2 = d * (8 * l2 * ball + 2 * l3 * longest * ball**2)
    of_t = total * k1 + math.sqrt(m) * k0
    once, twice = (math.sqrt(math.log(sides * 4 / zeta) / (2 * n)) for sides in (1, 2))
    loss = 4 * s * total * k0 / 1000 + s**2 * twice
    gradient = 8 * (t * total * k0 + s * of_t) / 1000 + 4 * s * t * once
    hessian = 8 * (t * of_t + q * total * k0 + s * (total * k2 + k1)) / 1000
    hessian += (2 * t**2 + 4 * s * q) * twice
    # Sizes are 0.1 % too large, each term has four of them at most; little is cut off.
    for mine, right in zip(found, (loss, gradient, hessian), strict=False):
        assert right <= mine <= 1.005 * right


def test_truncation_is_counted():
    """relu in d = 3: |E u^2 - E[u^2 | |X| <= B]| at the worst student, g = -A relu(x.w)."""
    radius = 2.0
    teacher = Teacher(np.eye(1, 3), [1.0], "relu", on="sphere")
    cut = hypotheses(teacher, total=1.0, radius=radius).truncated(radius)[0]
    x = np.random.default_rng(0).standard_normal((200_000, 3))
    u = 4 * np.maximum(x[:, 0], 0.0) ** 2
    difference = u.mean() - u[np.linalg.norm(x, axis=1) <= radius].mean()
    assert difference <= cut
    # The envelope is (2 |x|)^2 where relu has 4 max(0, x_1)^2, a sixth of it on average.
    lengths = np.linalg.norm(x, axis=1) ** 2 * 4
    outside = np.where(np.linalg.norm(x, axis=1) > radius, lengths, 0.0).mean()
    odds = chi.sf(radius, 3) / chi.cdf(radius, 3)
    assert cut == pytest.approx(outside + odds * 4 * radius**2, rel=0.05)


def test_samples_stay_within_the_bounds():
    """erf in the plane, inputs of width 2, units up to 1.5 long: all in NumPy, by differences."""
    rng, width, step = np.random.default_rng(3), 2.0, 1e-3
    teacher = teacher_of("erf", 2, 2, "space", width=width)
    w, b = np.asarray(teacher.positions), np.asarray(teacher.weights)
    x = width * rng.standard_normal((300, 2))
    bound = network_deviation(teacher, 300, 0.95, total=2.0, length=1.5)

    def deviation(flat):
        units = np.concatenate([flat[:4].reshape(2, 2), w])
        c = np.concatenate([flat[4:], -b])
        gram = 2 * width**2 * units @ units.T
        scale = np.sqrt(1 + np.diag(gram))
        exact = 2 / np.pi * c @ np.arcsin(gram / np.outer(scale, scale)) @ c
        return np.mean((erf(x @ units.T) @ c) ** 2) - exact

    largest = np.zeros(3)
    for _ in range(20):
        theta = 1.5 * balls(rng, 2, 2) * rng.random((2, 1))
        at, e = np.concatenate([theta.ravel(), rng.uniform(-1, 1, 2)]), step * np.eye(6)
        slope = [(deviation(at + i) - deviation(at - i)) / (2 * step) for i in e]
        bend = [
            [
                sum(p * q * deviation(at + p * i + q * j) for p in (1, -1) for q in (1, -1))
                for j in e
            ]
            for i in e
        ]
        sizes = abs(deviation(at)), np.linalg.norm(slope), np.linalg.norm(bend, 2) / (2 * step) ** 2
        largest = np.maximum(largest, sizes)
    ratios = np.asarray(bound[:3]) / largest
    assert np.all(ratios >= 1)
    assert np.all(ratios <= (300, 3000, 30_000))  # loose, but not void


def test_the_samples_asked_for_are_enough_and_not_too_many():
    teacher = teacher_of()
    needed = network_samples(teacher, 0.1, 0.9)
    for part, count in enumerate(needed):
        assert network_deviation(teacher, count, 0.9)[part] <= 0.1
        assert network_deviation(teacher, count - 1, 0.9)[part] > 0.1
    assert needed.loss < needed.gradient < needed.hessian
    # Twice the error: about a quarter of the samples.
    assert network_samples(teacher, 0.2, 0.9).loss == pytest.approx(needed.loss / 4, rel=0.01)


@pytest.mark.slow
def test_what_cannot_be_had_is_infinite():
    kinked = network_samples(teacher_of("relu"), 0.1, 0.9)
    assert math.isfinite(kinked.gradient)
    assert math.isinf(kinked.hessian)
    assert all(math.isinf(count) for count in network_samples(teacher_of("sign"), 0.1, 0.9))
    # Cut off at 1, the expectations are wrong by more than the error.
    assert math.isinf(network_samples(teacher_of(), 0.01, 0.9, radius=1.0).loss)


def test_scales():
    """Of c, b and the loss; of the width of inputs and the length of units."""
    plain = network_deviation(teacher_of(on="space"), 1000, 0.9, length=2.0)
    b = np.asarray(teacher_of().weights)
    w = np.asarray(teacher_of().positions)
    twice = Teacher(w, 2 * b, "erf", on="space")
    assert network_deviation(twice, 1000, 0.9, length=2.0).loss == pytest.approx(4 * plain.loss)
    # x.theta is the same for inputs twice as wide and units half as long.
    wide = Teacher(w / 2, b, "erf", on="space", width=2.0)
    same = network_deviation(wide, 1000, 0.9, length=1.0)
    assert same.loss == pytest.approx(plain.loss)
    assert same.radius == pytest.approx(2 * plain.radius)


@pytest.mark.parametrize(
    "call",
    [
        lambda: network_deviation(teacher_of(), 0, 0.9),
        lambda: network_deviation(teacher_of(), 10, 1.0),
        lambda: network_deviation(teacher_of(), 10, 0.9, total=-1.0),
        lambda: network_deviation(teacher_of(on="space"), 10, 0.9, length=0.0),
        lambda: network_samples(teacher_of(), 0.0, 0.9),
        lambda: network_deviation(Teacher(np.eye(2), [1.0, 1.0], "gaussian"), 10, 0.9),
    ],
)
def test_bad_input(call):
    with pytest.raises(EarnshawError, match="allowed"):
        call()


def test_what_is_refused_in_words():
    with pytest.raises(EarnshawError, match="on the sphere it is 1"):
        network_deviation(teacher_of(), 10, 0.9, length=2.0)
    with pytest.raises(EarnshawError, match="need a Teacher, not str"):
        network_deviation("relu", 10, 0.9)
