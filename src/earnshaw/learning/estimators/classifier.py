"""`NodewiseClassifier`: the same network with a logistic output."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from earnshaw.charges.network import Teacher
from earnshaw.errors import EarnshawError
from earnshaw.learning.estimators._base import Nodewise


class NodewiseClassifier(ClassifierMixin, Nodewise):
    """Classes by a network g: probabilities 1/(1 + exp(-g)) for two, exp(g_o)/sum exp(g) for more.

    Parameters and attributes are those of `NodewiseRegressor`; what is made small is -2 log of the
    likelihood, and the `alpha` of "auto" is 1e-3: classes that can be separated would drive weights
    to infinity. `class_weight` is scikit-learn's: "balanced", or a weight for each label.
    `classes_` are the labels.
    """

    _usual_alpha = 1e-3

    def __init__(
        self,
        n_units: int | str = "auto",
        *,
        activation: Any = "tanh",
        activation_params: dict[str, Any] | None = None,
        max_units: int = 50,
        n_networks: int | str = "auto",
        criterion: str = "evidence",
        validation_fraction: float = 0.2,
        alpha: float | str = "auto",
        biases: bool = True,
        fit_intercept: bool = True,
        linear: bool | str = "auto",
        scale: bool = True,
        solver: str = "auto",
        max_iter: int = 300,
        tol: float = 1e-10,
        max_time: float | None = None,
        monotonic_cst: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_units,
            activation=activation,
            activation_params=activation_params,
            max_units=max_units,
            n_networks=n_networks,
            criterion=criterion,
            validation_fraction=validation_fraction,
            alpha=alpha,
            biases=biases,
            fit_intercept=fit_intercept,
            linear=linear,
            scale=scale,
            solver=solver,
            max_iter=max_iter,
            tol=tol,
            max_time=max_time,
            monotonic_cst=monotonic_cst,
            warm_start=warm_start,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, teacher: Teacher | None = None
    ) -> NodewiseClassifier:
        """Fit to inputs (n, d) and labels (n,); see the class."""
        X, y = self._read(X, y, numeric=False)
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        count = len(self.classes_)
        if count < 2:
            raise EarnshawError(
                f"there is 1 class in the data, {self.classes_[0]!r}; allowed: two or more"
            )
        if self.class_weight is not None:
            each = compute_sample_weight(self.class_weight, y)
            given = _check_sample_weight(sample_weight, X, dtype=float, ensure_non_negative=True)
            sample_weight = each * given
        self._single = count == 2
        if count == 2:
            self._fit(X, numbers[:, None].astype(float), sample_weight, "logistic", teacher)
        else:
            self._fit(X, np.eye(count)[numbers], sample_weight, "softmax", teacher)
        return self

    def _answers(self, y: Any) -> np.ndarray:
        known = {label: number for number, label in enumerate(self.classes_.tolist())}
        labels = np.asarray(y).tolist()
        if strange := [label for label in labels if label not in known]:
            raise EarnshawError(f"the classifier knows no class {strange[0]!r}")
        numbers = np.array([known[label] for label in labels], dtype=int)
        return numbers[:, None].astype(float) if self._single else np.eye(len(known))[numbers]

    def decision_function(self, X: Any) -> np.ndarray:
        """g(x): (n,) for two classes, else (n, classes)."""
        found = self._outputs(X)
        return found[:, 0] if self._single else found

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes, (n, classes)."""
        found = self.decision_function(X)
        if self._single:
            return np.column_stack([expit(-found), expit(found)])
        return softmax(found, axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable labels, (n,)."""
        chances = self.predict_proba(X)
        return self.classes_[np.argmax(chances, axis=1)]
