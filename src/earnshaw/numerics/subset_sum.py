"""Which of some vectors sum to a given one: subset sums in R^p, in floating point.

    find S with |sum_{i in S} y_i - t| <= tolerance,    y_i, t in R^p.

Among n <= p independent vectors the coefficients of t are unique, and are 0 and 1 or there is no
S. Otherwise the vectors are split in two halves: of the 2^(n/2) sums of each, sorted by their
projection on one direction, only those pairs are compared whose projections fit (Horowitz and
Sahni, J. ACM 21, 1974): 2^(n/2) sums are kept instead of 2^n. No dependency offers it: integer
programs (SciPy's `milp`) are feasible to 1e-6 only, at which sums of many vectors coincide.
"""

from __future__ import annotations

import numpy as np

MOST = 32  # vectors in halves of 2^16 sums
PAIRS = 2**22  # of sums that are compared, at most: many only where vectors repeat
ROUNDING = 1e-12  # singular values below this part of the largest are 0


class TooMany(Exception):
    """More subsets than can be searched."""


def subset_with_sum(vectors: np.ndarray, target: np.ndarray, tolerance: float) -> np.ndarray | None:
    """A mask (n,) of rows of `vectors` (n, p) whose sum is nearest to `target` (p,), or None.

    None if no subset comes within `tolerance`. Raises `TooMany` where the rows are dependent and
    more than MOST, or too many pairs of sums had to be compared.
    """
    count = len(vectors)
    if count and np.linalg.matrix_rank(vectors, rtol=ROUNDING) == count:
        chosen = np.linalg.lstsq(vectors.T, target, rcond=None)[0] > 0.5
        return chosen if _distance(chosen @ vectors, target) <= tolerance else None
    if count > MOST:
        raise TooMany
    first, second = _sums(vectors[: count // 2]), _sums(vectors[count // 2 :])
    # Any direction will do, unless it is orthogonal to what makes sums differ.
    direction = np.random.default_rng(0).standard_normal(len(target))
    direction /= np.linalg.norm(direction)
    order = np.argsort(second @ direction, kind="stable")
    along, missing = (second @ direction)[order], (target - first) @ direction
    low = np.searchsorted(along, missing - tolerance, "left")
    ends = np.cumsum(np.searchsorted(along, missing + tolerance, "right") - low)
    pairs = np.arange(min(int(ends[-1]), PAIRS))
    if not len(pairs):
        return None
    rows = np.searchsorted(ends, pairs, "right")
    columns = order[low[rows] + pairs - np.concatenate([[0], ends])[rows]]
    gaps = _distance(first[rows] + second[columns], target)
    best = int(np.argmin(gaps))
    if gaps[best] > tolerance:
        if len(pairs) < ends[-1]:
            raise TooMany
        return None
    halves = (rows[best], count // 2), (columns[best], count - count // 2)
    return np.concatenate([(int(number) >> np.arange(size)) & 1 for number, size in halves]) > 0


def _sums(vectors: np.ndarray) -> np.ndarray:
    """The sums of all subsets, (2^n, p); that with number b has row i if bit i of b is set."""
    sums = np.zeros((1, vectors.shape[1]))
    for vector in vectors:
        sums = np.concatenate([sums, sums + vector])
    return sums


def _distance(points: np.ndarray, target: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points - target, axis=-1)
