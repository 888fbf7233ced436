"""Theorem B.4: loss, gradient and Hessian of samples against the exact ones, at the same students.

Their differences must shrink as n^(-1/2), and stay within the bounds of `bounds/uniform.py`,
which hold for all students at once; how far the bounds are from the largest difference is reported.

Sources: EPD, Theorem B.4.
"""

from __future__ import annotations

import math

import jax
import numpy as np
from scipy.special import erf

from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.empirical import empirical_loss
from earnshaw.energy.population import population_loss
from earnshaw.inputs import TruncatedGaussian
from earnshaw.papers.bounds import network_deviation, product_deviation, truncation_radius
from earnshaw.papers.claims.claim import Finding, Instance, Statement

DIM, COUNT = 5, 20_000  # of truncated samples: one shape, compiled once
PART, PARTS = 1250, 16  # samples at a time, and how many times: all of COUNT
SIGMAS = 6.0
CONFIDENCE = 0.95
STEEPEST = 2 / math.sqrt(math.pi)  # the Lipschitz constant of erf
SETS, STUDENTS = 4, 8  # of samples, and of students for each of them
NAMES = ("loss", "gradient", "Hessian")


def _directions(rng: np.random.Generator, count: int) -> np.ndarray:
    x = rng.standard_normal((count, DIM))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def _network(rng: np.random.Generator, index: int) -> Instance:
    return {
        "w": _directions(rng, 2),
        "b": rng.uniform(0.5, 1.0, 2),
        "students": [_directions(rng, 2) for _ in range(3)],
        "weights": rng.uniform(-1.0, 1.0, (3, 2)),
        "radius": truncation_radius(DIM, 0, 1e-9),
        "seed": 100 * index,
    }


def _converges(instance: Instance) -> Finding:
    w, b = np.asarray(instance["w"]), np.asarray(instance["b"])
    exact = population_loss(Teacher(w, b, "erf", on="sphere"))
    students = [
        Student(np.asarray(x), np.asarray(c))
        for x, c in zip(instance["students"], instance["weights"], strict=True)
    ]
    truth = [_derivatives(exact, student) for student in students]
    key = jax.random.key(instance["seed"], impl="threefry2x32")
    x_all = np.asarray(TruncatedGaussian(1.0, instance["radius"]).sample(key, COUNT, DIM))
    errors: list[list[list[np.ndarray]]] = [[] for _ in students]
    for x in x_all.reshape(PARTS, PART, DIM):
        loss = empirical_loss((x, erf(x @ w.T) @ b), activation="erf", on="sphere")
        for mine, right, student in zip(errors, truth, students, strict=True):
            found = _derivatives(loss, student)
            mine.append([here - there for here, there in zip(found, right, strict=True)])
    numbers, holds = {}, True
    for order, name in enumerate(NAMES):
        parts = [[one[order] for one in mine] for mine in errors]
        # Averages of samples are linear: the mean error of the parts is that of all samples.
        means = [np.mean(p, axis=0) for p in parts]
        joint = [float(np.linalg.norm(mean)) for mean in means]
        spreads = [
            math.sqrt(sum(np.linalg.norm(e - mean) ** 2 for e in p) / (PARTS - 1))
            for p, mean in zip(parts, means, strict=True)
        ]
        ratio = max(math.sqrt(PARTS) * j / s for j, s in zip(joint, spreads, strict=True))
        numbers[f"{name}: error sqrt(n)"] = max(joint) * math.sqrt(COUNT)
        numbers[f"{name}: standard errors"] = ratio
        holds = holds and ratio <= SIGMAS
    # Each of the (k + k)^2 pairs is off by the bound for products at most.
    total = max(np.sum(np.abs(instance["b"])) + np.sum(np.abs(c)) for c in instance["weights"])
    bound = total**2 * product_deviation(1.0, STEEPEST, instance["radius"], COUNT, CONFIDENCE)
    off = max(float(np.abs(np.mean([one[0] for one in mine]))) for mine in errors)
    numbers["loss: error/bound"] = off / bound
    return Finding(bool(holds and off <= bound), numbers)


def _crowd(rng: np.random.Generator, index: int) -> Instance:
    """Students of |c|_1 = 1 apart and at one point, with weights on both units and on one."""
    students = [_directions(rng, 2) for _ in range(STUDENTS)]
    weights = [rng.standard_normal(2) * (1, i % 4 < 2) for i in range(STUDENTS)]
    return {
        "activation": ("erf", "tanh", "softplus")[index % 3],
        "w": _directions(rng, 2),
        "b": rng.uniform(0.5, 1.0, 2),
        "students": [x[[0, 0]] if i % 2 else x for i, x in enumerate(students)],
        "weights": [c / np.sum(np.abs(c)) for c in weights],
        "seed": index,
    }


def _bounded(instance: Instance) -> Finding:
    """The largest differences over all students and sets of samples, against the bounds."""
    teacher = Teacher(instance["w"], instance["b"], instance["activation"], on="sphere")
    exact = population_loss(teacher)
    students = [
        Student(np.asarray(x), np.asarray(c))
        for x, c in zip(instance["students"], instance["weights"], strict=True)
    ]
    truth = [_derivatives(exact, student) for student in students]
    rng = np.random.default_rng(instance["seed"])
    largest = np.zeros(3)
    for _ in range(SETS):
        x = rng.standard_normal((PART, DIM))
        loss = empirical_loss((x, teacher(x)), activation=instance["activation"], on="sphere")
        for right, student in zip(truth, students, strict=True):
            off = [
                here - there for here, there in zip(_derivatives(loss, student), right, strict=True)
            ]
            sizes = np.abs(off[0]), np.linalg.norm(off[1]), np.linalg.norm(off[2], ord=2)
            largest = np.maximum(largest, np.asarray(sizes))
    bounds = network_deviation(teacher, PART, CONFIDENCE, total=1.0)[:3]
    ratios = np.asarray(bounds) / largest
    numbers = {f"{name}: bound/found": float(x) for name, x in zip(NAMES, ratios, strict=True)}
    return Finding(bool(np.all(ratios >= 1)), numbers)


def _derivatives(loss: object, student: Student) -> list[np.ndarray]:
    value, gradient = loss.value_and_gradient(student)  # type: ignore[attr-defined]
    flat = np.concatenate([np.ravel(part) for part in gradient])
    return [np.asarray(value), flat, np.asarray(loss.hessian(student))]  # type: ignore[attr-defined]


NETWORK_STATEMENTS = (
    Statement(
        "uniform-convergence",
        "loss, gradient and Hessian of samples approach the exact ones as n^(-1/2) (B.4)",
        _network,
        _converges,
        quick=2,
        thorough=10,
        constants={
            "loss: error sqrt(n)": "of poly(d^p, 1/eps, log(1/zeta)) samples, Theorem B.4",
            "gradient: error sqrt(n)": "the same",
            "Hessian: error sqrt(n)": "the same",
        },
    ),
    Statement(
        "network-bounds",
        "with probability 1 - zeta, for all students, |D L| <= 4 S A K0/sqrt(n) + ..., and so for "
        "the norms of gradient and Hessian: the bounds of `network_deviation` (B.4, corrected)",
        _crowd,
        _bounded,
        quick=1,
        thorough=9,
        constants={
            "loss: bound/found": "poly(d^p, 1/eps, log(1/zeta)), Theorem B.4: the slack",
            "gradient: bound/found": "the same",
            "Hessian: bound/found": "the same",
        },
    ),
)
