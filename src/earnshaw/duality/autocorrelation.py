"""The potential that a radial profile realises, by quadrature in real space: the way back.

    (h * h)(delta) = integral h(|x|) h(|x - delta e|) dx

In the prolate coordinates whose foci are 0 and delta e, |x| = (delta/2)(cosh a + cos b) and
|x - delta e| = (delta/2)(cosh a - cos b),

    dx = |S^(d-2)| (delta/2)^d (cosh^2 a - cos^2 b) (sinh a sin b)^(d-2) da db,    d >= 2,

which vanishes at the foci faster than the singularities h ~ r^(-(d-1)/2) grow. No Fourier transform
is involved, so this checks `profile` independently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from earnshaw.numerics.hankel import Function, graded, panels, sphere_area, subdivide


def autocorrelation(
    profile: Function,
    dim: int,
    delta: float,
    lowest: float,
    highest: float,
    kinks: Sequence[float] = (),
) -> float:
    """(h * h)(delta) for a profile that is smooth between `lowest` and `highest` off its `kinks`."""
    if delta == 0:
        edges = np.unique(np.append(graded(lowest, highest, 1.5), kinks))
        r, w = (a.ravel() for a in panels(edges))
        return float(sphere_area(dim) * np.sum(w * (profile(r) * r ** ((dim - 1) / 2)) ** 2))
    if dim == 1:
        return _on_line(profile, delta, lowest, highest, kinks)
    # By symmetry b < pi/2, twice. sinh(a/2) and sin(b/2) keep the small distance exact.
    top = 2 * math.asinh(math.sqrt(highest / delta))
    a, wa = (t.ravel() for t in panels(subdivide(graded(1e-4, top), 0.12), 12))
    b, wb = (t.ravel() for t in panels(subdivide(graded(1e-4, math.pi / 2), 0.06), 12))
    sines = np.sin(b / 2) ** 2
    total = 0.0
    for rows in np.array_split(np.arange(len(a)), max(1, len(a) * len(b) // 400_000)):
        waves = np.sinh(a[rows] / 2)[:, None] ** 2
        near, far = delta * (waves + sines), delta * (1 + waves - sines)
        volume = near * far * (np.sinh(a[rows])[:, None] * np.sin(b)) ** (dim - 2)
        total += float(wa[rows] @ (volume * profile(near) * profile(far)) @ wb)
    return 2 * sphere_area(dim - 1) * (delta / 2) ** (dim - 2) * total


def _on_line(
    profile: Function, delta: float, lowest: float, highest: float, kinks: Sequence[float]
) -> float:
    """d = 1: twice the integral over x < delta/2, graded towards the singularity at 0."""
    special = [0.0, *kinks, *(-k for k in kinks)]
    cuts = set(special) | {delta - s for s in special}
    inner = sorted(c for c in cuts if -highest < c < delta / 2)
    ends = [-highest, *inner, delta / 2]
    total = 0.0
    for left, right in zip(ends[:-1], ends[1:], strict=True):
        half = (right - left) / 2
        steps = graded(min(lowest, half / 4), half, 1.5)
        for x, w in (panels(left + steps), panels(right - steps[::-1])):
            total += float(np.sum(w * profile(np.abs(x)) * profile(np.abs(x - delta))))
    return 2 * total
