"""Fast sums beside sums over all pairs, in NumPy and in 80 digits."""

from functools import partial
from unittest.mock import patch

import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.duality.families.almost_harmonic import AlmostHarmonic
from earnshaw.duality.families.bessel import BesselPotential
from earnshaw.duality.families.gaussian import GaussianPotential
from earnshaw.energy.fast_sums import evaluate
from earnshaw.energy.fast_sums.choose import splitting_of
from earnshaw.energy.fast_sums.evaluate import FastSums
from earnshaw.energy.fast_sums.far import grid_for
from earnshaw.energy.fast_sums.plan import Plan, plan_for
from energy import exact_potentials

pytest.importorskip("finufft")

SLOW = partial(pytest.param, marks=pytest.mark.slow)  # they compile more of the same
POTENTIALS = {
    "gaussian, far": lambda dim: GaussianPotential(dim, 1.0),
    "gaussian, near": lambda dim: GaussianPotential(dim, 1e3),
    "almost-harmonic": lambda dim: AlmostHarmonic(dim),
    "narrow": lambda dim: AlmostHarmonic(dim, 0.05, 30.0),
    "long-ranged": lambda dim: AlmostHarmonic(dim, 0.2, 1e-4),
}
RADII = {1: 0.5, 2: 0.5, 3: 1.2}  # where far and near meet: grids stay small
ROUNDING = 4e-12  # of a slope of 0.01 near values of 1, in d = 1; elsewhere less
PLACES = 200  # at which sums are compared


def jets(potential, r):
    """f and f' of r, from the potential itself; no slope at r = 0."""
    slope = np.asarray(potential.first(r))
    return np.asarray(potential.value(r)), np.where(r > 0, slope, 0.0)


def over_all_pairs(potential, x, y, q):
    """C and its gradient at x, from differences: (n, 1 + d)."""
    gaps = x[:, None] - y
    r = np.sqrt(np.sum(gaps * gaps, axis=-1))
    value, slope = jets(potential, r)
    pull = q * slope / np.where(r > 0, r, 1.0)
    return np.concatenate([(value @ q)[:, None], np.einsum("ij,ijd->id", pull, gaps)], axis=1)


def charges(dim, count=1500, seed=0):
    """Places to look at, some of them those of sources, and charges of both signs."""
    rng = np.random.default_rng(seed)
    size = max(count, 60)
    y, q = rng.uniform(-1, 1, (size, dim)), rng.standard_normal(size)
    x = rng.uniform(-1, 1, (PLACES, dim))
    x[:20] = y[:20]  # in the same place
    x[20:40] = y[20:40] + 1e-9
    x[40:60] = y[40:60] + 0.03 * rng.standard_normal((20, dim))  # inside cores
    return x, y[:count], q[:count]


def split(potential, tolerance, x, y, radius):
    """Fast sums that must cut at about this radius, though so few charges would not be cut."""
    sums = FastSums(splitting_of(potential), tolerance)
    extent = 2.5
    cuts = sums.splitting.cuts(tolerance, extent)
    cut = min(cuts, key=lambda cut: abs(cut.radius - radius))
    grid = grid_for(sums.splitting, cut, tolerance, extent) if cut.cutoff else None
    plan = Plan(cut, grid, np.zeros(x.shape[1]), extent, 0.0)
    return sums, patch.object(evaluate, "plan_for", lambda *_, **__: plan)


def errors(found, exact, potential, q):
    """Of potential and gradient, in units of what the tolerance is relative to."""
    steepest = splitting_of(potential).steepest
    apart = np.max(np.abs(found - exact), axis=0) / np.sum(np.abs(q))
    return apart[0] / float(potential.value(0.0)), np.max(apart[1:]) / steepest


@pytest.mark.parametrize("tolerance", [1e-5, SLOW(1e-8), 1e-11, SLOW(1e-13)])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_tolerance_is_kept_where_far_and_near_meet(dim, tolerance):
    x, y, q = charges(dim)
    for potential in (make(dim) for make in POTENTIALS.values()):
        sums, forced = split(potential, tolerance, x, y, RADII[dim])
        with forced:
            found = sums.fields(x, [(y, q)])[0]
        exact = over_all_pairs(potential, x, y, q)
        assert max(errors(found, exact, potential, q)) < tolerance + ROUNDING, potential


@pytest.mark.parametrize("dim", [1, SLOW(2), SLOW(3)])
def test_where_it_is_cut_does_not_matter(dim):
    """Radii from that of the core to the box; and all near, the plan for so few."""
    x, y, q = charges(dim, 300)
    potential = AlmostHarmonic(dim, 0.05)
    exact = over_all_pairs(potential, x, y, q)
    for radius in (0.2 if dim < 3 else 0.9, 1.5):
        sums, forced = split(potential, 1e-11, x, y, radius)
        with forced:
            assert max(errors(sums.fields(x, [(y, q)])[0], exact, potential, q)) < 1e-11
    sums = FastSums(splitting_of(potential), 1e-11)
    assert max(errors(sums.fields(x, [(y, q)])[0], exact, potential, q)) < 1e-11


@pytest.mark.parametrize("dim", [1, SLOW(2), 3])
@pytest.mark.parametrize("name", ["gaussian", "almost-harmonic"])
def test_against_eighty_digits(name, dim):
    x, y, q = charges(dim, 12)
    x, y, q = x[[0, 20, 40, 41]], np.concatenate([y, y[:1]]), np.append(q, 0.5)
    x[0], x[1], x[2] = y[0], y[1] + 1e-9, y[2] + 0.02
    potential = POTENTIALS["gaussian, far" if name == "gaussian" else name](dim)
    exact_pair = exact_potentials.potential(name, dim)
    vector = lambda point: tuple(map(exact_potentials.mp.mpf, map(float, point)))  # noqa: E731
    exact = [
        float(
            exact_potentials.mp.fsum(
                float(charge) * exact_pair(vector(a), vector(b))
                for b, charge in zip(y, q, strict=True)
            )
        )
        for a in x
    ]
    sums, forced = split(potential, 1e-12, x, y, RADII[dim])
    with forced:
        found = sums.fields(x, [(y, q)])[0]
    assert np.max(np.abs(found[:, 0] - exact)) < 2e-13 * np.sum(np.abs(q))


def test_bessel_on_the_line():
    x, y, q = charges(1)
    potential = BesselPotential(1)
    sums, forced = split(potential, 1e-11, x, y, 0.3)
    gaps = x - y[:, 0]
    shrunk = np.exp(-np.abs(gaps))
    exact = np.stack([shrunk @ q, -(np.sign(gaps) * shrunk) @ q], axis=1)
    with forced:
        found = sums.fields(x, [(y, q)])[0]
    assert np.max(np.abs(found - exact)) < 1e-11 * np.sum(np.abs(q))


@pytest.mark.parametrize("dim", [1, SLOW(2), SLOW(3)])
@pytest.mark.parametrize("kind", ["gaussian, far", "gaussian, near", "almost-harmonic"])
def test_rates_are_the_derivatives_of_the_sums(kind, dim):
    """Central differences along a motion of places and charges: of order 2 in the step."""
    potential = POTENTIALS[kind](dim)
    rng = np.random.default_rng(1)
    x, y, q = charges(dim, 300)
    x = x[60:100]  # not where a cusp is
    dx, dy, dq = (rng.standard_normal(part.shape) for part in (x, y, q))
    sums, forced = split(potential, 1e-13, x, y, RADII[dim])
    with forced:
        rates = sums.rates(x, dx, [(y, q, dy, dq)])[0]
        steps = []
        for h in (1e-4, 1e-5):
            ahead, behind = (
                sums.fields(x + s * dx, [(y + s * dy, q + s * dq)])[0] for s in (h, -h)
            )
            # The median: a few pairs pass each other, or the edge of a core, on the way.
            steps.append(np.median(np.abs((ahead - behind) / (2 * h) - rates)))
    assert steps[1] < 1e-4 * np.median(np.abs(rates))
    assert steps[1] < 0.05 * steps[0]  # a hundredth, where rounding allows


def test_several_sources_and_no_sources():
    x, y, q = charges(2, 400)
    potential = AlmostHarmonic(2)
    sums, forced = split(potential, 1e-11, x, y, 0.4)
    parts = [(y[:100], q[:100]), (np.zeros((0, 2)), np.zeros(0)), (y[100:], q[100:])]
    with forced:
        found, whole = sums.fields(x, parts), sums.fields(x, [(y, q)])[0]
    assert np.max(np.abs(found[1])) < 1e-13 * np.sum(np.abs(q))
    np.testing.assert_allclose(found[0] + found[2], whole, atol=1e-11 * np.sum(np.abs(q)))
    assert sums.fields(np.zeros((0, 2)), parts).shape == (3, 0, 3)


def test_all_charges_in_one_core():
    """No far part helps; and all in one point."""
    x, y, q = charges(3, 500)
    potential = AlmostHarmonic(3)
    sums = FastSums(splitting_of(potential), 1e-11)
    for scale in (1e-3, 0.0):
        found = sums.fields(scale * x, [(scale * y, q)])[0]
        exact = over_all_pairs(potential, scale * x, scale * y, q)
        assert max(errors(found, exact, potential, q)) < 1e-11


def test_far_outliers_take_no_large_grid():
    x, y, q = charges(3, 500)
    y[0] = 1e6
    potential = AlmostHarmonic(3)
    sums = FastSums(splitting_of(potential), 1e-11)
    plan = plan_for(sums.splitting, 1e-11, x, [y])
    assert plan.grid is None or plan.grid.memory < 2**32
    found = sums.fields(x, [(y, q)])[0]
    assert max(errors(found, over_all_pairs(potential, x, y, q), potential, q)) < 1e-11


def test_bits_do_not_depend_on_cores():
    """Far transforms are done one after the other here, and as many at once as there are cores."""
    x, y, q = charges(2, 2000)
    sums, forced = split(AlmostHarmonic(2), 1e-11, x, y, 0.3)
    found = []
    for cores in (1, 2, 5):
        with forced, patch("earnshaw.energy.fast_sums.far._cores", lambda cores=cores: cores):
            found.append(sums.fields(x, [(y, q), (y, -2 * q)]))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_which_potentials_have_fast_sums():
    assert splitting_of(AlmostHarmonic(4)) is None
    assert splitting_of(GaussianPotential(5)) is None
    assert splitting_of(BesselPotential(2)) is None
    assert splitting_of(AlmostHarmonic(3, core="paper")) is not None
    same = (splitting_of(AlmostHarmonic(2, 0.1, jnp.float64(2.0))) for _ in range(2))
    assert len(set(same)) == 1
