"""Potentials in balls: right to 50 digits against mpmath, and enclosures that enclose."""

import mpmath
import numpy as np
import pytest
from flint import arb, arb_mat, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from duality import moments_reference as exact
from earnshaw.landscape.proofs._almost_harmonic import AlmostHarmonicKernel
from earnshaw.landscape.proofs._balls import around, column
from earnshaw.landscape.proofs._moments import (
    ErfKernel,
    ExponentialKernel,
    HermiteKernel,
)
from earnshaw.landscape.proofs._radial import DistanceKernel, SignKernel
from earnshaw.landscape.proofs._relu import ReluKernel

DIGITS, BITS = 50, 256
RATE, SHIFT, WIDTH = 0.75, -0.25, 1.25


def moments(x, y):
    x, y = ([WIDTH * mpmath.mpf(v) for v in z] for z in (x, y))
    return mpmath.fdot(x, x), mpmath.fdot(y, y), mpmath.fdot(x, y)


def relu(x, y):
    q1, q2, c = moments(x, y)
    t = mpmath.acos(c / mpmath.sqrt(q1 * q2))
    return (mpmath.sqrt(q1 * q2 - c * c) + (mpmath.pi - t) * c) / (2 * mpmath.pi)


def erf(x, y):
    q1, q2, c = moments(x, y)
    return 2 / mpmath.pi * mpmath.asin(2 * c / mpmath.sqrt((1 + 2 * q1) * (1 + 2 * q2)))


def exponential(x, y):
    """E[exp(b u + a) exp(b v + a)], from the variance of u + v."""
    q1, q2, c = moments(x, y)
    return mpmath.exp(2 * mpmath.mpf(SHIFT) + mpmath.mpf(RATE) ** 2 * (q1 + q2 + 2 * c) / 2)


def hermite(degree):
    """sum_l r_l(q1) r_l(q2) rho^l of a polynomial (mathematics.md, "Closed-form duals")."""

    def potential(x, y):
        q1, q2, c = moments(x, y)
        norm = mpmath.sqrt(mpmath.factorial(degree))
        powers = [mpmath.mpf(0)] * (degree + 1)
        for m in range(degree // 2 + 1):
            size = mpmath.factorial(degree) / (
                mpmath.factorial(m) * mpmath.factorial(degree - 2 * m) * mpmath.mpf(2) ** m
            )
            powers[degree - 2 * m] = (-1) ** m * size / norm

        def r(low, q):
            return mpmath.fsum(
                powers[2 * i + low]
                * mpmath.factorial(2 * i + low)
                / (2**i * mpmath.factorial(i) * mpmath.sqrt(mpmath.factorial(low)))
                * q ** (mpmath.mpf(2 * i + low) / 2)
                for i in range((degree - low) // 2 + 1)
            )

        rho = c / mpmath.sqrt(q1 * q2)
        return mpmath.fsum(r(low, q1) * r(low, q2) * rho**low for low in range(degree + 1))

    return potential


def almost_harmonic(dim, eps, lam, core):
    """Its definition, with numerical derivatives at the edge of the core."""
    s, nu, eps = mpmath.sqrt(lam), mpmath.mpf(dim) / 2 - 1, mpmath.mpf(eps)

    def outside(r):
        return (s * r) ** -nu * mpmath.besselk(nu, s * r)

    def force(u):  # -Phi' at r^2 = u
        return s * (s * mpmath.sqrt(u)) ** -nu * mpmath.besselk(nu + 1, s * mpmath.sqrt(u))

    with mpmath.workdps(DIGITS + 60):  # numerical derivatives take digits
        if core == "ball":
            series = mpmath.taylor(force, eps**2, -(-(dim - 1) // 2))
        else:
            series = mpmath.taylor(outside, eps, dim - 1)

    def inside(r):
        if core == "ball":
            return outside(eps) + mpmath.quad(
                lambda t: mpmath.polyval(series[::-1], t * t - eps**2), [r, eps]
            )
        # Phi^(d-1) = C r: integrated d - 1 times from the edge.
        steep = series[-1] * mpmath.factorial(dim - 1)
        lower = mpmath.polyval(series[-2::-1], r - eps)
        tail = mpmath.quad(
            lambda t: steep * t / eps * (r - t) ** (dim - 2) / mpmath.factorial(dim - 2), [eps, r]
        )
        return lower + tail

    origin = inside(mpmath.mpf(0))

    def potential(x, y):
        r = mpmath.sqrt(
            sum((mpmath.mpf(a) - mpmath.mpf(b)) ** 2 for a, b in zip(x, y, strict=True))
        )
        return (inside(r) if r < eps else outside(r)) / origin

    return potential


CASES = {
    "relu": (ReluKernel(WIDTH), lambda: relu),
    "erf": (ErfKernel(WIDTH), lambda: erf),
    "exponential": (ExponentialKernel(WIDTH, RATE, SHIFT), lambda: exponential),
    "hermite-2": (HermiteKernel(WIDTH, 2), lambda: hermite(2)),
    "hermite-5": (HermiteKernel(WIDTH, 5), lambda: hermite(5)),
    "ball-3": (AlmostHarmonicKernel(3, 0.5, 2.0), lambda: almost_harmonic(3, 0.5, 2.0, "ball")),
    "ball-7": (AlmostHarmonicKernel(7, 0.5, 2.0), lambda: almost_harmonic(7, 0.5, 2.0, "ball")),
    "paper-5": (
        AlmostHarmonicKernel(5, 0.5, 2.0, "paper"),
        lambda: almost_harmonic(5, 0.5, 2.0, "paper"),
    ),
}
DIMS = {"ball-7": 7, "paper-5": 5}  # odd: mpmath takes seconds for K of integer order


def places(name, seed, near=False):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=DIMS.get(name, 3))
    y = x + 0.1 * rng.normal(size=len(x)) if near else rng.normal(size=len(x))
    return x.tolist(), y.tolist()


def plain(ball):
    return mpmath.mpf(ball.mid().str(70, radius=False))


@pytest.mark.parametrize("near", [False, True], ids=["far", "near"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_have_fifty_digits(name, near):
    kernel, reference = CASES[name]
    x, y = places(name, 1, near)
    with mpmath.workdps(DIGITS + 10), ctx.workprec(BITS):
        potential, jet = reference(), kernel.jet(column(x), column(y))
        expected = potential(x, y)
        tolerance = mpmath.mpf(10) ** -DIGITS * abs(expected)
        assert abs(plain(jet.value) - expected) <= tolerance
        assert abs(plain(kernel.value(column(x), column(y))) - expected) <= tolerance
        # One direction for both ends sees all five blocks.
        rng = np.random.default_rng(2)
        v, w = (column(rng.normal(size=len(x)).tolist()) for _ in range(2))
        slope = (v.transpose() * jet.in_x + w.transpose() * jet.in_y)[0, 0]
        bend = (
            v.transpose() * jet.in_xx * v
            + v.transpose() * jet.in_xy * w * 2
            + w.transpose() * jet.in_yy * w
        )[0, 0]
        ends = [[plain(entry) for entry in end.entries()] for end in (v, w)]

        def along(t):
            moved = (
                [mpmath.mpf(a) + t * b for a, b in zip(*pair, strict=True)]
                for pair in ((x, ends[0]), (y, ends[1]))
            )
            return potential(*moved)

        # Central differences with a step of 1e-14 are right to 28 digits or so of the largest.
        h = mpmath.mpf(10) ** -14
        ahead, behind = along(h), along(-h)
        scale = abs(expected) + abs(plain(slope)) + abs(plain(bend))
        assert abs((ahead - behind) / (2 * h) - plain(slope)) <= 1e-22 * scale
        assert abs((ahead - 2 * expected + behind) / h**2 - plain(bend)) <= 1e-18 * scale


@pytest.mark.parametrize("name", ["relu", "erf", "exponential", "hermite-2", "hermite-5"])
def test_a_unit_with_itself_is_the_limit_of_a_pair(name):
    kernel, _ = CASES[name]
    x, _ = places(name, 3)
    with ctx.workprec(BITS):
        alone, pair = kernel.alone(column(x)), kernel.jet(column(x), column(x))
        twice = pair.in_xx + pair.in_xy + pair.in_xy.transpose() + pair.in_yy
        assert pair.value.overlaps(alone.value)
        assert (pair.in_x + pair.in_y).overlaps(alone.gradient)
        assert twice.overlaps(alone.hessian)
        assert max(float(entry.rad()) for entry in twice.entries()) < 1e-30


def spread(rng, low, high):
    return float(10 ** rng.uniform(np.log10(low), np.log10(high)))


def drawn_kernel(name, dim, rng):
    """A kernel with random parameters, and Phi of two vectors of balls by `moments_reference`."""
    width = spread(rng, 1e-6, 1e6)

    def pair(x, y):
        v = arb(width) ** 2
        both = ((x, x), (y, y), (x, y))
        return [v * sum((a * b for a, b in zip(*z, strict=True)), arb(0)) for z in both]

    if name == "distance":
        return DistanceKernel(
            dim
        ), lambda x, y: -sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), arb(0)).sqrt()
    if name == "hermite":
        degree = int(rng.integers(0, 12))
        return HermiteKernel(width, degree), lambda x, y: exact.hermite(*pair(x, y), degree)
    if name == "exponential":
        rate, shift = spread(rng, 1e-3, 1.0) / width, float(rng.normal())
        kernel = ExponentialKernel(width, rate, shift)
        return kernel, lambda x, y: exact.exponential(*pair(x, y), rate, shift)
    if name == "sign":  # as a function of the chord, which is the potential on the unit sphere only
        return SignKernel(dim), _by_chord
    kernels = {"relu": ReluKernel, "erf": ErfKernel}
    formulas = {"relu": lambda *q: exact._rectified(1, *q), "erf": exact.erf}
    return kernels[name](width), lambda x, y: formulas[name](*pair(x, y))


def _by_chord(x, y):
    """1 - 2 t/pi with cos t = 1 - |x - y|^2/2."""
    square = sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), arb(0))
    return 1 - 2 / arb.pi() * (1 - square / 2).acos()


def drawn_directions(dim, rng):
    """Two unit vectors, often close to each other or to opposites."""
    x, y = rng.normal(size=(2, dim))
    x /= np.linalg.norm(x)
    if rng.integers(2):
        y = rng.choice([-1, 1]) * x + spread(rng, 1e-6, 1.0) * y
    return x.tolist(), (0.999 * y / np.linalg.norm(y)).tolist()


def drawn_places(dim, rng):
    """Two vectors of any lengths, often nearly parallel."""
    x = rng.normal(size=dim) * spread(rng, 1e-6, 1e6)
    y = rng.normal(size=dim) * spread(rng, 1e-6, 1e6)
    if dim > 1 and rng.integers(2):
        y = rng.choice([-1, 1]) * spread(rng, 1e-3, 1e3) * x
        y = y + spread(rng, 1e-12, 1.0) * np.linalg.norm(y) * rng.normal(size=dim)
    return x.tolist(), y.tolist()


@pytest.mark.parametrize("name", ["relu", "erf", "exponential", "hermite", "sign", "distance"])
def test_balls_hold_60_digits_of_values_and_derivatives_at_random(name):
    """Every entry of the jet beside central differences with a step of 1e-60, in 1200 bits."""
    rng = np.random.default_rng(16)
    for _ in range(60):
        dim = int(rng.integers(1 if name != "sign" else 2, 4))
        kernel, phi = drawn_kernel(name, dim, rng)
        x, y = (drawn_directions if name == "sign" else drawn_places)(dim, rng)
        with ctx.workprec(int(rng.choice([64, 128, 200]))):
            jet, value = kernel.jet(column(x), column(y)), kernel.value(column(x), column(y))
        with ctx.workprec(1200):
            z, steps = [arb(v) for v in (*x, *y)], [arb(10) ** -60 * abs(arb(v)) for v in (*x, *y)]

            def at(*moves, z=z, steps=steps, phi=phi, dim=dim):
                moved = list(z)
                for i, sign in moves:
                    moved[i] = moved[i] + sign * steps[i]
                return phi(moved[:dim], moved[dim:])

            middle = at()
            assert jet.value.overlaps(middle)
            assert value.overlaps(middle)
            slopes = [*jet.in_x.entries(), *jet.in_y.entries()]
            blocks = [[jet.in_xx, jet.in_xy], [jet.in_xy.transpose(), jet.in_yy]]
            sizes, bends = [], {}
            for i in range(2 * dim):
                ahead, behind = at((i, 1)), at((i, -1))
                sizes.append((ahead - behind) / (2 * steps[i]))
                bends[i, i] = (ahead - 2 * middle + behind) / steps[i] ** 2
                for j in range(i):
                    corners = (s * t * at((i, s), (j, t)) for s in (1, -1) for t in (1, -1))
                    bends[i, j] = bends[j, i] = sum(corners, arb(0)) / (4 * steps[i] * steps[j])
            # What differences leave out: h^2 times a higher derivative, 1e-120 of 1e60 or less.
            room = arb(10) ** -50
            for i, (ball, slope) in enumerate(zip(slopes, sizes, strict=True)):
                about = abs(middle) + abs(slope * z[i])
                assert ball.overlaps(slope + around(room * about / abs(z[i]))), (name, x, y, i)
            for (i, j), bend in bends.items():
                ball = blocks[i // dim][j // dim][i % dim, j % dim]
                about = abs(middle) + abs(bend * z[i] * z[j])
                room_here = around(room * about / abs(z[i] * z[j]))
                assert ball.overlaps(bend + room_here), (name, x, y, i, j)
                # An arc sine of nearly 1 may be given up, at few bits.
                assert ball.is_finite() or name in ("sign", "erf")


@pytest.mark.parametrize("seed", range(8))
def test_balls_of_almost_harmonic_potentials_hold_their_definition_at_random(seed):
    rng = np.random.default_rng(seed)
    core = str(rng.choice(["ball", "paper"]))
    dim = int(rng.choice([3, 5, 7] if core == "paper" else [1, 3, 5, 7]))
    radius, lam = spread(rng, 1e-3, 1.0), spread(rng, 1e-3, 1e3)
    kernel = AlmostHarmonicKernel(dim, radius, lam, core)
    with mpmath.workdps(80):
        phi = almost_harmonic(dim, radius, mpmath.mpf(lam), core)
        for r in (spread(rng, 1e-3, 1.0) * radius, spread(rng, 1.0, 1e3) * radius):
            x, y = [0.0] * dim, [r] + [0.0] * (dim - 1)
            truth, h = phi(x, y), mpmath.mpf(10) ** -20 * r
            slope = (phi(x, [r + h, *y[1:]]) - phi(x, [r - h, *y[1:]])) / (2 * h)
            with ctx.workprec(128):
                jet = kernel.jet(column(x), column(y))
            with ctx.workprec(256):
                ahead = arb(mpmath.nstr(slope, 60)) + around(arb("1e-30") * arb(str(abs(slope))))
                assert jet.value.overlaps(arb(mpmath.nstr(truth, 60)))
                assert jet.in_y[0, 0].overlaps(ahead)


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(list(CASES)),
    seed=st.integers(0, 10**6),
    exponent=st.integers(-20, -2),
    near=st.booleans(),
    data=st.data(),
)
def test_the_jet_of_a_box_holds_the_jet_of_every_point_in_it(name, seed, exponent, near, data):
    kernel, _ = CASES[name]
    x, y = places(name, seed, near)
    corners = st.lists(st.sampled_from([-1, 0, 1]), min_size=2 * len(x), max_size=2 * len(x))
    signs = data.draw(corners)
    with ctx.workprec(128):
        radius = arb(2) ** exponent
        wide = kernel.jet(*(column(arb(v) + around(radius) for v in z) for z in (x, y)))
        moved = [arb(v) + s * radius for v, s in zip([*x, *y], signs, strict=True)]
        thin = kernel.jet(column(moved[: len(x)]), column(moved[len(x) :]))
        for whole, one in zip(wide, thin, strict=True):
            pairs = (
                zip(whole.entries(), one.entries(), strict=True)
                if isinstance(whole, arb_mat)
                else [(whole, one)]
            )
            assert all(not big.is_finite() or big.overlaps(small) for big, small in pairs)


@settings(max_examples=60, deadline=None)
@given(
    side=st.sampled_from([1.0, -1.0]),
    factor=st.sampled_from([1.0, 0.5, 3.0]),
    exponent=st.integers(-40, -8),
    seed=st.integers(0, 10**6),
)
def test_relu_is_enclosed_around_parallel_units(side, factor, exponent, seed):
    """There n and m are not defined, but the Hessian is continuous."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=3)
    x /= np.linalg.norm(x)
    kernel = ReluKernel(1.0)
    with ctx.workprec(192):
        radius = arb(2) ** exponent
        boxes = [column(arb(v) + around(radius) for v in z) for z in (x, side * factor * x)]
        wide = kernel.jet(*boxes)
        corner = rng.uniform(-1, 1, size=6)
        ends = [*x.tolist(), *(side * factor * x).tolist()]
        moved = [arb(v) + arb(s) * radius for v, s in zip(ends, corner.tolist(), strict=True)]
        thin = kernel.jet(column(moved[:3]), column(moved[3:]))
        for whole, one in zip(wide[1:], thin[1:], strict=True):
            assert all(
                big.contains(small)
                for big, small in zip(whole.entries(), one.entries(), strict=True)
            )
        blocks = [entry for block in wide[3:] for entry in block.entries()]
        most = 100 * 2.0**exponent  # it shrinks with the box
        assert all(entry.is_finite() and entry.rad() < most for entry in blocks)


@pytest.mark.parametrize(("dim", "core"), [(2, "ball"), (7, "ball"), (7, "paper"), (40, "ball")])
def test_a_box_may_cross_the_edge_of_the_core(dim, core):
    kernel = AlmostHarmonicKernel(dim, 0.25, 1.0, core)
    with ctx.workprec(128):
        edge = arb(0.25) ** 2
        for order in range(3):
            wide = kernel.radial(edge + around(arb(2) ** -20), 2)[order]
            thin = [kernel.radial(edge + s * arb(2) ** -21, 2)[order] for s in (-1, 0, 1)]
            assert all(wide.contains(one) for one in thin)
            # Continuous: the two formulas agree where they meet.
            gap = kernel.radial(edge, 2)[order] - kernel.radial(edge - arb(2) ** -100, 2)[order]
            assert abs(gap) < arb(2) ** -60 * abs(thin[1])


def test_on_a_line_the_second_derivative_jumps_at_the_edge():
    kernel = AlmostHarmonicKernel(1, 0.25)
    with ctx.workprec(128):
        assert not kernel.radial(arb(0.0625), 2)[2].is_finite()
        assert kernel.radial(arb(0.0625), 2)[1].is_finite()


@pytest.mark.parametrize(
    ("dim", "eps", "core", "half", "one", "four"),
    [  # mathematics.md, the table of reference values
        (3, 0.1, "paper", 0.627570505288, 0.014332655455, 0.000178395224258),
        (5, 0.1, "ball", 0.370373903147, 5.75516037477e-5, 1.1192678244e-7),
        (5, 0.1, "paper", 0.190278880708, 2.3009482503e-5, 4.47490108784e-8),
        (7, 0.5, "ball", 0.239118741689, 0.000495795288042, 1.06753628762e-7),
        (7, 0.5, "paper", 0.0529220178003, 6.25741881264e-5, 1.347334638e-8),
        (4, 0.1, "ball", 0.432981605251, 0.00086260986242, 4.47261169057e-6),
    ],
)
def test_the_table_of_almost_harmonic_values(dim, eps, core, half, one, four):
    kernel = AlmostHarmonicKernel(dim, eps, 1.0, core)
    found = [float(kernel.radial(arb(r) ** 2, 0)[0]) for r in (eps / 2, 1.0, 4.0)]
    np.testing.assert_allclose(found, [half, one, four], rtol=1e-11)


@pytest.mark.parametrize(("dim", "value"), [(3, 7.8), (7, 18.2), (31, 43.3)])
def test_cusps_are_as_steep_as_in_the_table(dim, value):
    assert float(AlmostHarmonicKernel(dim, 0.1).cusp()) == pytest.approx(value, abs=0.05)


def test_the_chord_is_the_angle_on_the_unit_sphere():
    """SignKernel at exact unit vectors beside 1 - (2/pi) arccos(x.y) in 50 digits."""
    triples = [(3, 4, 5), (5, 12, 13), (8, 15, 17), (20, 21, 29), (-3, 4, 5), (-84, 13, 85)]
    kernel = SignKernel(2)
    with mpmath.workdps(DIGITS), ctx.workprec(BITS):
        for a, b, c in triples:
            x, y = ([arb(p) / arb(q) for p, q in z] for z in (((3, 5), (4, 5)), ((a, c), (b, c))))
            cosine = mpmath.mpf(3 * a + 4 * b) / (5 * c)
            expected = 1 - 2 / mpmath.pi * mpmath.acos(cosine)
            found = mpmath.mpf(kernel.value(column(x), column(y)).mid().str(DIGITS, radius=False))
            assert abs(found - expected) < mpmath.mpf(10) ** -40
