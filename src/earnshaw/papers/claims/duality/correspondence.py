"""Networks as charges: the flow is the dynamics, the potential is the dual, and Table 1.

With a_i the papers' charges (minus the student's weights), gradient flow on L/2 is

    d theta_i/dt = -sum_(j != i) a_i a_j grad Phi(theta_i, theta_j)
                   - sum_j a_i b_j grad Phi(theta_i, w_j)  [- (a_i^2/2) grad Phi(theta_i, theta_i)],

Electron-Proton Dynamics under Phi if the last term vanishes (EPD, Theorem 2.2); on L the same under
2 Phi. Full, Theorem 2.3 and ITCS, Theorem 5 state L/2 with 2 Phi (mathematics.md, error 3).

For unit vectors and X ~ N(0, I), (X.theta, X.w) is a Gaussian pair of unit variances and covariance
theta.w, so E[s(X.theta) s(X.w)] is the dual of s at theta.w (EPD, Lemma A.1; Full, Lemma B.1).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.named import activation, potential
from earnshaw.dynamics.simulate import simulate
from earnshaw.energy.population import population_loss
from earnshaw.papers.claims.claim import (
    EXACT_LOSS,
    NO_MINIMUM,
    NOTHING_ASKED,
    Claim,
    Draw,
    Finding,
    Instance,
    Sources,
    Statement,
)
from earnshaw.papers.claims.duality._expectations import dot_product_mean
from earnshaw.papers.claims.duality._pair_forces import (
    LAWS,
    Law,
    descent_by_differences,
    integrate,
    velocities,
)

# --- dynamics -------------------------------------------------------------------------------------

ROUNDING = 1e-12  # relative; of a gradient that is a sum over a few pairs
TIME, TOLERANCE = 1.0, 1e-6  # of flows; their integrators keep 1e-8 a step, and 1e-11


def _charges(rng: np.random.Generator, law: str, protons: int, electrons: int, dim: int) -> dict:
    """Electrons and protons of random charges, apart from each other."""
    places = rng.normal(size=(protons + electrons, dim))
    if LAWS[law].on == "sphere":
        places /= np.linalg.norm(places, axis=1, keepdims=True)
    return {
        "law": law,
        "w": places[:protons],
        "b": rng.normal(size=protons),
        "theta": places[protons:],
        "a": rng.normal(size=electrons),
    }


def _draw(*laws: str) -> Draw:
    """One law after the other; the first few of the same shape, so that compiled code is shared."""

    def draw(rng: np.random.Generator, index: int) -> Instance:
        protons, electrons, dim = [(2, 3, 3), (3, 2, 4), (1, 4, 5)][(index // 3) % 3]
        return _charges(rng, laws[index % len(laws)], protons, electrons, dim)

    return draw


def _read(instance: Instance) -> tuple[Law, tuple[np.ndarray, ...]]:
    names = ("theta", "a", "w", "b")
    return LAWS[instance["law"]], tuple(np.asarray(instance[name], float) for name in names)


def _network(instance: Instance) -> tuple[Teacher, Student]:
    """The same charges as a teacher and a student: weights are minus the electrons' charges."""
    law, (theta, a, w, b) = _read(instance)
    return Teacher(w, b, instance["law"].split()[0], on=law.on), Student(theta, -a)


def _half_gradient(instance: Instance) -> np.ndarray:
    """The library's grad (L/2) in the positions."""
    teacher, student = _network(instance)
    return np.asarray(population_loss(teacher, wrt="positions").gradient(student).positions) / 2


def _off(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))


def _test_force(instance: Instance) -> Finding:
    law, charges = _read(instance)
    dynamics = velocities(law, *charges)
    by_theorem = _off(descent_by_differences(law, *charges), dynamics)
    by_library = _off(-_half_gradient(instance), dynamics)
    numbers = {"differences_error": by_theorem, "gradient_error": by_library}
    return Finding(max(by_theorem, by_library) < ROUNDING, numbers)


def _test_flow(instance: Instance) -> Finding:
    return _flow(instance, 1.0)


def _test_printed_flow(instance: Instance) -> Finding:
    return _flow(instance, 2.0)


def _flow(instance: Instance, factor: float) -> Finding:
    """Whether the library's flow on L/2 ends where the dynamics under factor * Phi do."""
    law, (theta, *charges) = _read(instance)
    path = simulate(*_network(instance), TIME)
    end = integrate(lambda x: factor * velocities(law, x, *charges), theta, TIME)
    gap, moved = (float(np.max(np.abs(end - x))) for x in (path.positions[-1], theta))
    if path.stop != "time":
        return Finding(None, {}, f"the flow stopped early: {path.stop}")
    return Finding(gap < TOLERANCE, {"end_error": gap, "distance_moved": moved})


def _test_flow_on_loss(instance: Instance) -> Finding:
    law, (theta, *charges) = _read(instance)
    teacher, student = _network(instance)
    loss = population_loss(teacher, wrt="positions")

    def downhill(x: np.ndarray) -> np.ndarray:
        there = x / np.linalg.norm(x, axis=1, keepdims=True) if law.on == "sphere" else x
        return -np.asarray(loss.gradient(Student(there, student.weights)).positions)

    ours = integrate(downhill, theta, TIME / 2)
    end = integrate(lambda x: 2 * velocities(law, x, *charges), theta, TIME / 2)
    gap = float(np.max(np.abs(ours - end)))
    moved = float(np.max(np.abs(end - theta)))
    return Finding(gap < TOLERANCE, {"end_error": gap, "distance_moved": moved})


def _test_self_force(instance: Instance) -> Finding:
    law, (theta, a, w, b) = _read(instance)
    # Phi(theta, theta) = |theta|^2/2 has the gradient theta.
    total = velocities(law, theta, a, w, b) - (a * a)[:, None] * theta / 2
    by_theorem = _off(descent_by_differences(law, theta, a, w, b), total)
    by_library = _off(-_half_gradient(instance), total)
    numbers = {"differences_error": by_theorem, "gradient_error": by_library}
    return Finding(max(by_theorem, by_library) < ROUNDING, numbers)


def _test_without_self_force(instance: Instance) -> Finding:
    law, charges = _read(instance)
    gap = _off(-_half_gradient(instance), velocities(law, *charges))
    return Finding(gap < 1e-6, {"relative_self_force": gap})


DYNAMICS = Claim(
    id="dynamics",
    title="gradient flow is Electron-Proton Dynamics",
    sources=Sources("Theorem 2.2", "Theorem 2.3, Definition 2.2", "Theorem 5, Definition 4"),
    oracle=EXACT_LOSS,
    definition=NO_MINIMUM,
    hypotheses=(
        "Phi symmetric and Phi(theta, theta) constant: gaussian on R^d; exponential, relu and "
        "hermite-3 on the sphere",
        "the charges a are fixed, the protons do not move",
        "charges of both signs, 1 to 3 protons, 2 to 4 electrons, d = 3 to 5",
    ),
    statements=(
        Statement(
            "forces",
            "-grad (L/2) is the sum of the pair forces under Phi: by differences of L in 50 digits "
            "and by the library's gradient",
            _draw("gaussian", "relu", "exponential", "hermite-3"),
            _test_force,
        ),
        Statement(
            "flow-on-half-the-loss",
            "the flow on L/2 ends where Electron-Proton Dynamics under Phi ends (library against "
            "SciPy on pair forces)",
            _draw("gaussian", "gaussian", "relu"),
            _test_flow,
            quick=2,
            thorough=9,
        ),
        Statement(
            "flow-on-the-loss",
            "the flow on L ends where Electron-Proton Dynamics under 2 Phi ends",
            _draw("gaussian", "relu", "exponential", "hermite-3"),
            _test_flow_on_loss,
            quick=2,
            thorough=12,
        ),
        Statement(
            "two-phi-for-half-the-loss",
            "the flow on L/2 is Electron-Proton Dynamics under 2 Phi (Full, Theorem 2.3; ITCS, "
            "Theorem 5, as printed)",
            _draw("gaussian", "gaussian", "relu"),
            _test_printed_flow,
            role="printed",
            kind="misprint",
            quick=2,
            thorough=9,
        ),
        Statement(
            "with-a-self-force",
            "where Phi(theta, theta) is not constant, -grad (L/2) is the pair forces and a "
            "self-force -(a_i^2/2) grad Phi(theta_i, theta_i): for relu on R^d, -a_i^2 theta_i/2",
            _draw("relu in space"),
            _test_self_force,
            quick=2,
            thorough=9,
        ),
        Statement(
            "without-the-self-force",
            "the pair forces alone are -grad (L/2) for relu on R^d, where Phi(theta, theta) = "
            "|theta|^2/2 is not constant",
            _draw("relu in space"),
            _test_without_self_force,
            role="beyond",
            quick=2,
            thorough=9,
        ),
    ),
    remarks=(
        "corrected: Full and ITCS state the theorem for L/2 and prove it for L, both with 2 Phi; "
        "EPD has L/2 with Phi (mathematics.md, error 3)",
        "Full and ITCS ask for a symmetric Phi only; Phi(theta, theta) must be constant as well, "
        "as in EPD",
    ),
)

# --- dual -----------------------------------------------------------------------------------------

DEFINITIONS = {
    "sign": np.sign,
    "relu": lambda x: np.maximum(x, 0.0),
    "erf": special.erf,
    "gelu": lambda x: x * special.ndtr(x),
    "exponential": np.exp,
    "hermite-3": lambda x: (x**3 - 3 * x) / math.sqrt(6),
    "tanh": np.tanh,
    "laplace": lambda x: np.exp(-np.abs(x)),
    "step": lambda x: (x > 0).astype(float),
    "leaky-relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "relu2": lambda x: np.maximum(x, 0.0) ** 2,
    "relu3": lambda x: np.maximum(x, 0.0) ** 3,
    "normal-cdf": special.ndtr,
    "sin": np.sin,
    "cos": np.cos,
    "rbf": lambda x: math.sqrt(2) * np.sin(math.sqrt(2) * x + math.pi / 4),
    "gaussian-bump": lambda x: np.exp(-x * x / 2),
    "logistic": special.expit,
    "softplus": lambda x: np.logaddexp(0.0, x),
    "silu": lambda x: x * special.expit(x),
    "mish": lambda x: x * np.tanh(np.logaddexp(0.0, x)),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0.0))),
    "hermite-8": lambda x: special.eval_hermitenorm(8, x) / math.sqrt(40320),
}
NAMES = tuple(DEFINITIONS)
# Powers and exponentials have tails in which a sample's error bar is not to be trusted.
SAMPLED = tuple(n for n in NAMES if n[:5] not in ("relu2", "relu3", "expon", "hermi"))
DUAL_ERROR = 2e-12  # of E[s^2]; where there is no closed form, the library's own bound on top
SAMPLES, ERROR_BARS = 100_000, 5.0


def _draw_units(rng: np.random.Generator, index: int) -> Instance:
    """Three activations after the other, and two unit vectors; every fourth pair nearly parallel.

    Vectors of the plane spanned by them would do, but the lemma is about R^d.
    """
    u, v = rng.normal(size=(2, 2 + index % 9))
    v = u + 1e-3 * v if index % 4 == 3 else v
    names = [NAMES[(3 * index + i) % len(NAMES)] for i in range(3)]
    return {"names": names, "u": u / np.linalg.norm(u), "v": v / np.linalg.norm(v)}


def _draw_sampled(rng: np.random.Generator, index: int) -> Instance:
    u, v = rng.normal(size=(2, 2 + index % 9))
    names = [SAMPLED[(3 * index + i) % len(SAMPLED)] for i in range(3)]
    seed = int(rng.integers(2**31))
    return {"names": names, "u": u / np.linalg.norm(u), "v": v / np.linalg.norm(v), "seed": seed}


def _draw_lengths(rng: np.random.Generator, index: int) -> Instance:
    drawn = _draw_units(rng, index)
    lengths = rng.uniform(0.3, 1.7, 2)
    return {**drawn, "u": lengths[0] * drawn["u"], "v": lengths[1] * drawn["v"]}


def _geometry(instance: Instance) -> tuple[np.ndarray, np.ndarray, float, float, float]:
    """The vectors u and v, their squared lengths, and their correlation."""
    u, v = (np.asarray(instance[name], float) for name in ("u", "v"))
    q1, q2 = float(u @ u), float(v @ v)
    return u, v, q1, q2, float(u @ v) / math.sqrt(q1 * q2)


def _test_dual(instance: Instance) -> Finding:
    u, v, *_, rho = _geometry(instance)
    worst, held = 0.0, True
    for name in instance["names"]:
        s = DEFINITIONS[name]
        phi = potential(name, normalize=False)
        exact, power = dot_product_mean(s, rho), dot_product_mean(s, 1.0)
        for found in (phi(rho), phi.between(u, v)):
            error = abs(float(found) - exact)
            worst = max(worst, error / power)
            held &= error < DUAL_ERROR * power + (phi.error_bound or 0.0)
    return Finding(held, {"relative_error": worst})


def _test_lengths(instance: Instance) -> Finding:
    u, v, q1, q2, rho = _geometry(instance)
    worst = 0.0
    for name in instance["names"]:
        s = DEFINITIONS[name]
        phi = potential(name, normalize=False)
        exact = dot_product_mean(s, rho, q1, q2)
        scale = math.sqrt(dot_product_mean(s, 1.0, q1, q1) * dot_product_mean(s, 1.0, q2, q2))
        # A Hermite polynomial of degree 8 loses digits where its terms cancel.
        worst = max(worst, abs(float(phi.between(u, v)) - exact) / scale)
    return Finding(worst < 1e-9, {"relative_error": worst})


def _test_samples(instance: Instance) -> Finding:
    u, v, *_, rho = _geometry(instance)
    x = np.random.default_rng(int(instance["seed"])).normal(size=(SAMPLES, len(u)))
    worst = 0.0
    for name in instance["names"]:
        sigma, phi = activation(name), potential(name, normalize=False)
        products = np.asarray(sigma.unit(x, u)) * np.asarray(sigma.unit(x, v))
        bar = float(np.std(products)) / math.sqrt(SAMPLES)
        worst = max(worst, abs(float(np.mean(products)) - float(phi(rho))) / bar)
    return Finding(worst < ERROR_BARS, {"error_bars": worst})


def _test_any_length(instance: Instance) -> Finding:
    u, v, q1, q2, rho = _geometry(instance)
    name = instance["names"][0]
    s = DEFINITIONS[name]
    inner = min(max(float(u @ v), -1.0), 1.0)
    gap = abs(dot_product_mean(s, rho, q1, q2) - float(potential(name, normalize=False)(inner)))
    return Finding(gap < 1e-9, {"gap": gap})


DUAL = Claim(
    id="dual",
    title="the potential of a dot-product activation is its dual",
    sources=Sources("Lemma A.1", "Lemma B.1"),
    oracle=NOTHING_ASKED,
    definition=NO_MINIMUM,
    hypotheses=(
        "theta and w are unit vectors, X ~ N(0, I_d), d = 2 to 10",
        "E[s(X)^2] is finite: 23 named activations, each in turn",
    ),
    statements=(
        Statement(
            "dual",
            "E[s(X.theta) s(X.w)] is the dual of s at theta.w: library against the plane integral",
            _draw_units,
            _test_dual,
            quick=4,
        ),
        Statement(
            "samples",
            "the same against the mean over 100,000 inputs in R^d, within 5 error bars",
            _draw_sampled,
            _test_samples,
            quick=2,
            thorough=16,
        ),
        Statement(
            "other-lengths",
            "for vectors of any length it is E[s(u) s(v)] with variances |theta|^2, |w|^2 and "
            "covariance theta.w",
            _draw_lengths,
            _test_lengths,
            quick=2,
            thorough=16,
        ),
        Statement(
            "dual-off-the-sphere",
            "for vectors of any length it is still the dual of s at theta.w",
            _draw_lengths,
            _test_any_length,
            role="beyond",
            quick=2,
            thorough=16,
        ),
    ),
)
