"""How good predictions are: R^2 and RMSE of numbers, accuracy and log-loss of classes.

With weights w_i of the rows, answers y and predictions g,

    R^2 = 1 - sum w (y - g)^2 / sum w (y - mean y)^2,    RMSE = sqrt(sum w (y - g)^2 / sum w),

the first as a mean over outputs; log-loss is the mean of -log of the probability of the true class.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax

from earnshaw.learning.fitting.problem import Problem


def log_probabilities(outputs: np.ndarray) -> np.ndarray:
    """Of the classes, (n, classes), from a network's outputs (n, 1) for two or (n, classes)."""
    if outputs.shape[1] == 1:
        outputs = np.column_stack([np.zeros(len(outputs)), outputs[:, 0]])
    return log_softmax(outputs, axis=1)


def scores_of(problem: Problem, outputs: np.ndarray) -> dict[str, float]:
    """The scores of a network's outputs (n, m) on a problem; the first is "the" score."""
    if problem.classes:
        return _of_classes(problem.numbers, outputs, problem.weight)
    return _of_numbers(problem, outputs)


def _of_numbers(problem: Problem, outputs: np.ndarray) -> dict[str, float]:
    weight, y = problem.weight / np.sum(problem.weight), problem.y
    left = weight @ (y - outputs) ** 2
    spread = weight @ (y - weight @ y) ** 2
    # Where the answers do not vary there is nothing to explain: 1 if that is found, 0 if not.
    varies = spread > (1e-12 * np.max(np.abs(y), axis=0)) ** 2
    each = np.where(varies, 1 - left / np.where(varies, spread, 1.0), np.where(left > 0, 0.0, 1.0))
    found = {"r2": float(np.mean(each)), "rmse": float(np.sqrt(np.mean(left)))}
    if len(problem.targets) > 1:
        for name, r2, square in zip(problem.targets, each, left, strict=True):
            found |= {f"r2 {name}": float(r2), f"rmse {name}": float(np.sqrt(square))}
    return found


def _of_classes(numbers: np.ndarray, outputs: np.ndarray, weight: np.ndarray) -> dict[str, float]:
    logs, total = log_probabilities(outputs), np.sum(weight)
    right = np.argmax(logs, axis=1) == numbers
    return {
        "accuracy": float(np.sum(weight[right]) / total),
        "log_loss": float(-weight @ logs[np.arange(len(logs)), numbers] / total),
    }


def score_text(score: float) -> str:
    """R^2 or an accuracy as text; near 1, by how little it differs from 1."""
    left = 1 - score
    return f"1 − {left:.2g}" if 0 < left < 5e-4 else f"{score:.4g}"
