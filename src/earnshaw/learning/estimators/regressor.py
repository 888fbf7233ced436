"""`NodewiseRegressor`: a two-layer network recovered from data, one unit at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from earnshaw.charges.network import Teacher
from earnshaw.learning.estimators._base import Nodewise


class NodewiseRegressor(MultiOutputMixin, RegressorMixin, Nodewise):
    """Regression by g(x) = sum_j weights_j s(x.units_j + biases_j) + x.linear + intercept.

    The network grows one unit at a time by the node-wise principle: the unit most correlated with
    what is left of the answers, found from many starts; then all output weights are refitted and
    all parameters fitted jointly. It stops where an information criterion, or held-out samples,
    say so, and units that turn out equal or idle are dropped again.

    Parameters:
        n_units: how many units; "auto" finds the number.
        activation: the name of a dot-product activation of the library, an activation, or a
            function of one variable written with `jax.numpy`.
        activation_params: parameters of a named activation.
        max_units: how many units "auto" may use.
        criterion: "bic" (the default), "aic" or "holdout". The number of samples is the sum of
            their weights, so that integer weights are the same as repeated samples.
        validation_fraction: the part of the samples that "holdout" holds out.
        alpha: the strength of regularisation: alpha times the sum of squares of standardised
            units, weights and linear part is added to the mean squared error; "auto" is 0.
        biases: whether units have biases.
        fit_intercept: whether there is an intercept.
        linear: whether there is a linear part; "auto" keeps it if the criterion says so.
        scale: whether inputs are standardised inside.
        solver: "lm" (Levenberg-Marquardt), "lbfgs" or "minibatch"; "auto" by the size.
        max_iter: iterations of the last fit of all parameters, on all samples.
        tol: the relative decrease of the error at which it ends.
        random_state: the seed; None for another one every time.
        verbose: 1 for a progress bar, 2 for a line for every step.

    Attributes:
        n_units_: the number of units.
        units_: (k, d). biases_: (k,). weights_: (k,), or (k, m) for answers of shape (n, m).
        linear_: (d,) or (d, m). intercept_: a number or (m,).
        network_: all of these as one object, which can be called and exported.
        history_: every step: action, units, error, criterion, iterations, samples.
        criterion_: the value of the criterion. solver_: the solver of the last fit.
        matching_: given a teacher, which unit found which.
    """

    _usual_alpha = 0.0

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, teacher: Teacher | None = None
    ) -> NodewiseRegressor:
        """Fit to inputs (n, d) and answers (n,) or (n, m); see the class."""
        X, y = validate_data(
            self, X, y, dtype=float, multi_output=True, y_numeric=True, ensure_min_samples=2
        )
        y = np.asarray(y, dtype=float)
        self._single = y.ndim == 1
        self._fit(X, y.reshape(len(y), -1), sample_weight, "squares", teacher)
        return self

    def _answers(self, y: Any) -> np.ndarray:
        y = np.asarray(y, dtype=float)
        return y.reshape(len(y), -1)

    def predict(self, X: Any) -> np.ndarray:
        """The network's answers, (n,) or (n, m) as those it was fitted to."""
        found = self._outputs(X)
        return found[:, 0] if self._single else found
