"""How much each member of a committee counts: by what it says of samples it has not seen.

Weights w >= 0 with sum 1 make the loss of the blend sum_k w_k g_k least, on predictions of unseen
samples, with a pull towards equal weights that is worth PULL samples. Why not by evidence:
evidences of members of different kinds differ by tens, so that one member would count for all;
equal weights lose where one kind is wrong for the data. For classes the blend is of logits, with a
common factor: what is right on unseen samples is calibrated, too.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, softmax

PULL = 5.0
STEPS = 200


def blend(unseen: np.ndarray, y: np.ndarray, weight: np.ndarray, loss: str) -> np.ndarray:
    """Weights (K,) of members with predictions (K, n, m) of unseen samples with answers (n, m)."""
    count = len(unseen)
    if count == 1 and loss == "squares":
        return np.ones(1)

    def cost(free: np.ndarray) -> tuple[float, np.ndarray]:
        share, factor = softmax(free[1:]), np.exp(free[0]) if loss != "squares" else 1.0
        g = np.tensordot(factor * share, unseen, axes=1)
        value, slope = _loss(g, y, weight, loss)
        pulled = factor * np.array([np.sum(slope * one) for one in unseen])
        value += PULL * float(np.sum(-np.log(share * count + 1e-12)) / count + 2 * free[0] ** 2)
        along = np.sum(slope * g) * (loss != "squares") + 4 * PULL * free[0]
        pulled -= PULL / count / (share + 1e-12)
        return value, np.append(along, share * (pulled - share @ pulled))

    found = minimize(cost, np.zeros(count + 1), jac=True, options={"maxiter": STEPS}).x
    return softmax(found[1:]) * (np.exp(found[0]) if loss != "squares" else 1.0)


def _loss(g: np.ndarray, y: np.ndarray, weight: np.ndarray, loss: str) -> tuple[float, np.ndarray]:
    """n/2 log of the mean square, or -log p; and its gradient in g."""
    if loss == "squares":
        square = float(weight @ np.sum((g - y) ** 2, axis=1)) + 1e-300
        count = float(np.sum(weight)) * y.shape[1]
        return 0.5 * count * np.log(square), count / square * weight[:, None] * (g - y)
    if loss == "logistic":
        value = weight @ (np.logaddexp(0.0, g) - y * g)[:, 0]
        return float(value), weight[:, None] * (expit(g) - y)
    chance = softmax(g, axis=1)
    value = -weight @ np.log(np.sum(chance * y, axis=1) + 1e-300)
    return float(value), weight[:, None] * (chance - y)


def logits_of(f: np.ndarray, y: np.ndarray, weight: np.ndarray, loss: str) -> np.ndarray:
    """(factor, shifts (m,)) that make logits of what a field says of unseen classes, f (n, m)."""
    m = f.shape[1]

    def cost(p: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = _loss(p[0] * f + p[1:], y, weight, loss)
        value += 0.5 * float(p[1:] @ p[1:]) + 0.5 * (p[0] / 20) ** 2
        back = np.append(np.sum(slope * f), np.sum(slope, axis=0))
        return value, back + np.append(p[0] / 400, p[1:])

    first = np.append(4.0, np.zeros(m))
    return minimize(cost, first, jac=True, options={"maxiter": STEPS}).x
