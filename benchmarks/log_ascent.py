"""kappa along real climbs: the hypothesis of the theorem for the log ascent, measured.

    python benchmarks/log_ascent.py [d ...]            (about a minute on 2 cores)

For each d, a teacher of Theorem 4.6 (16 units of N(0, d log d I), charges +-[0.1, 1], radius 0.1):

- `starts`: kappa = sum |q_j| Phi_j/|C| at 10 x 256 random points;
- `climbs`: its largest value from the 8 best of 256 on, by node-wise's rule of steps, 10 teachers;
- `learn`: the same along the ways of all 16 units of `ew.learn`, of the charges that were left (the
  pairs of units and protons found before taken away).
"""

from __future__ import annotations

import math
import sys

import numpy as np

import earnshaw as ew
from earnshaw.papers.claims.learning._log_ascent_errors import paper_charges
from earnshaw.papers.claims.learning._log_potential import Charges, charges_of, follow

RADIUS, UNITS = 0.1, 16


def _quantiles(values: list[float]) -> str:
    return " ".join(f"{q:9.3g}" for q in np.quantile(values, [0.5, 0.9, 1.0]))


def _measure(dim: int) -> None:
    starts: list[float] = []
    climbs: list[float] = []
    iterations: list[int] = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        charges = charges_of(paper_charges(rng, dim, UNITS))
        points = math.sqrt(dim * math.log(dim)) * rng.standard_normal((256, dim))
        heres = [charges.at(x) for x in points]
        starts += [here.kappa for here in heres]
        for i in np.argsort([-here.log for here in heres])[:8]:
            end = follow(charges, points[i], RADIUS)
            climbs.append(end.kappa)
            iterations.append(end.iterations)
    y, q = (paper_charges(np.random.default_rng(0), dim, UNITS)[name] for name in ("y", "q"))
    run = ew.learn(ew.Teacher(y, q, "almost-harmonic", radius=RADIUS), seed=0)
    left, found = np.ones(UNITS, dtype=bool), []
    for way in run.history.paths:
        charges = Charges(y[left], q[left])
        apart = np.linalg.norm(way[:, None] - charges.y, axis=-1)
        off = [charges.at(x) for x in way[apart.min(axis=1) >= RADIUS]]
        if off:  # else the start was in a core
            found.append(max(here.kappa for here in off))
        left[np.flatnonzero(left)[np.argmin(apart[-1])]] = False
    print(
        f"{dim:3d} | starts {_quantiles(starts)} | climbs {_quantiles(climbs)} | learn "
        f"{_quantiles(found)} | {max(iterations):3d} iterations to a core"
    )


if __name__ == "__main__":
    print("  d | kappa: median, nine in ten, largest")
    for dim in [int(word) for word in sys.argv[1:]] or (3, 7, 15, 31, 63):
        _measure(dim)
