"""What a trained network would say of its samples had it not seen them, to first order.

With J_i the Jacobian of the outputs at sample i, C = A^(-1) the covariance of the parameters,
H_i = J_i C J_i^T, and B_i minus the Hessian of its log p, leaving sample i out moves the outputs by

    -H_i (1 - B_i H_i)^(-1) d log p_i / dg

(a Newton step of the others' M; exact for linear networks with given precisions).
"""

from __future__ import annotations

import numpy as np

from earnshaw.learning.evidence._likelihoods import LIKELIHOODS
from earnshaw.learning.evidence._training import Data, Member, chunks


def spread(member: Member, x: np.ndarray) -> np.ndarray:
    """H = J C J^T of inputs (n, d): the covariance of outputs by Laplace's method, (n, m, m)."""
    layout, m = member.layout, member.layout.outputs
    inside = layout.units * (layout.dim + 1)  # beyond these, each parameter is of one output
    found = np.empty((len(x), m, m))
    for rows in chunks(len(x), layout.size):
        _, features, slope = layout.rows(member.theta, x[rows])
        mixes = np.broadcast_to(np.eye(m)[:, None], (m, len(features), m))
        inner = [layout.inner(member.theta, x[rows], slope, mix) for mix in mixes]
        for o in range(m):
            moved = inner[o] @ member.covariance[:inside]
            moved += features @ member.covariance[inside + o :: m]
            for q in range(m):
                found[rows, o, q] = np.sum(moved[:, :inside] * inner[q], axis=1)
                found[rows, o, q] += np.sum(moved[:, inside + q :: m] * features, axis=1)
    return found


def unseen(member: Member, data: Data) -> tuple[np.ndarray, np.ndarray]:
    """The outputs (n, m) without having seen each sample, and their variances (n, m)."""
    g = member.outputs(data.x)
    found = LIKELIHOODS[data.loss](g, data.y, member.noise)
    inside = spread(member, data.x)
    m = member.layout.outputs
    bend = sum(root[:, :, None] * root[:, None, :] for root in found.roots)
    one = np.minimum(data.weight, 1.0)  # of w equal samples one is left out
    bend = one[:, None, None] * bend
    # Where a sample is all that holds a parameter, 1 - BH is almost 0: it is kept from that.
    inverse = np.linalg.inv(np.eye(m) * (1 + 1e-6) - _tamed(bend @ inside))
    out = inside @ inverse
    pull = one[:, None] * found.gradient
    moved = g - np.einsum("nij,nj->ni", out, pull)
    return moved, np.maximum(np.einsum("nii->ni", out), 0.0)


def unseen_error(member: Member, data: Data) -> float:
    """The mean error of samples that the network has not seen, as `Member.error` of those it has.

    That is the mean square, or -2 log p for classes.
    """
    said, _ = unseen(member, data)
    if data.loss == "squares":
        return float(data.weight @ np.sum((data.y - said) ** 2, axis=1)) / data.total
    found = LIKELIHOODS[data.loss](said, data.y, member.noise)
    return float(-2 * data.weight @ found.value) / data.total


def _tamed(product: np.ndarray) -> np.ndarray:
    """B H with its trace kept below 0.95 for every sample."""
    trace = np.einsum("nii->n", product)
    return product * np.minimum(1.0, 0.95 / np.maximum(trace, 1e-12))[:, None, None]
