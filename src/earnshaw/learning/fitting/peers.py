"""What others say of the same folds: a linear model, a forest and boosting, of scikit-learn.

They are there to compare with, in reports. Without the extra `sklearn` there are none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from earnshaw.learning.fitting.problem import Problem
from earnshaw.learning.fitting.scores import scores_of


def peer_scores(problem: Problem, fold: np.ndarray) -> dict[str, float]:
    """The mean score over the folds of each peer by name; empty without scikit-learn."""
    try:
        models = _models(bool(problem.classes))
    except ImportError:
        return {}
    if problem.y.shape[1] > 1 and not problem.classes:
        return {}
    answers = problem.numbers if problem.classes else problem.y[:, 0]
    found: dict[str, float] = {}
    for name, make in models.items():
        scores = []
        for number in range(int(fold.max()) + 1):
            out = fold == number
            model = make().fit(problem.x[~out], answers[~out])
            said = _outputs(model, problem, problem.x[out])
            scores.append(next(iter(scores_of(problem.take(out), said).values())))
        found[name] = float(np.mean(scores))
    return found


def _outputs(model: Any, problem: Problem, x: np.ndarray) -> np.ndarray:
    """Answers (n, 1), or logarithms of probabilities as a network's outputs."""
    if not problem.classes:
        return model.predict(x).reshape(-1, 1)
    chances = np.full((len(x), len(problem.classes)), 1e-12)
    chances[:, model.classes_] = np.maximum(model.predict_proba(x), 1e-12)
    logs = np.log(chances)
    return logs[:, 1:] - logs[:, :1] if len(problem.classes) == 2 else logs


def _models(classes: bool) -> dict[str, Any]:
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if classes:
        return {
            "logistic regression": lambda: make_pipeline(
                StandardScaler(), LogisticRegression(max_iter=2000)
            ),
            "random forest": lambda: RandomForestClassifier(random_state=0),
            "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
        }
    return {
        "ridge regression": lambda: make_pipeline(StandardScaler(), Ridge()),
        "random forest": lambda: RandomForestRegressor(random_state=0),
        "boosting": lambda: HistGradientBoostingRegressor(random_state=0),
    }
