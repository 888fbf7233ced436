"""`NodewiseRegressor`: a two-layer network recovered from data, one unit at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from earnshaw.charges.network import Teacher
from earnshaw.errors import EarnshawError
from earnshaw.learning.estimators._base import Nodewise
from earnshaw.learning.fitting.evident import NOISELESS
from earnshaw.limits import check_real


class NodewiseRegressor(MultiOutputMixin, RegressorMixin, Nodewise):
    """Regression by g(x) = sum_j weights_j s(x.units_j + biases_j) + x.linear + intercept.

    The network grows one unit at a time by the node-wise principle: the unit most correlated with
    what is left of the answers, found from many starts; then all output weights are refitted and
    all parameters fitted jointly. Answers without noise are explained so to the last digit. Where
    there is noise, a committee is trained by evidence instead (`learning/evidence/assembling.py`):
    networks of several sizes, and networks of infinitely many units; `predict` is their blend, and
    `units_` and the like are those of the best network by evidence. X may be a DataFrame with
    texts, truth values, dates and missing entries (`learning/fitting/columns.py`).

    Parameters:
        n_units: how many units; "auto" finds the number.
        activation: the name of a dot-product activation of the library, an activation, or a
            function of one variable written with `jax.numpy`.
        activation_params: parameters of a named activation.
        max_units: how many units "auto" may use.
        n_networks: how many networks count, by evidence; "auto" is half of those that are trained,
            and fields, blended by what they say of samples that they have not seen.
        criterion: "evidence" (the default), "bic", "aic" or "holdout", which grow one network. A
            number of units, `alpha`, `solver`, `linear`, `scale`, `biases` or `fit_intercept` of
            one's own grow one network by "bic" where this is "evidence". The number of samples is
            the sum of their weights, so that integer weights are the same as repeated samples.
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
        max_time: seconds after which no further step is begun, and the best so far is taken.
        monotonic_cst: as in HistGradientBoostingRegressor: for every column 1 if answers must not
            fall with it, -1 if they must not rise, 0 for no matter; or a dict by name. Networks of
            activations that rise keep it everywhere; there are no fields then.
        warm_start: whether a fit begins from the networks of the fit before, on data with the same
            inputs: a few steps, no new networks. Inputs stay standardised as they were.
        random_state: the seed; None for another one every time.
        verbose: 1 for a progress bar, 2 for a line for every step.

    Attributes:
        n_units_: the number of units.
        units_: (k, d). biases_: (k,). weights_: (k,), or (k, m) for answers of shape (n, m).
        linear_: (d,) or (d, m). intercept_: a number or (m,).
        network_: all of these as one object, which can be called and exported.
        history_: every step: action, units, error, criterion, iterations, samples.
        criterion_: the value of the criterion. solver_: the solver of the last fit.
        committee_: what predicts; None where one network does. estimators_: its networks.
        units_std_, biases_std_, weights_std_, linear_std_, intercept_std_: standard errors of the
            best network's parameters by Laplace's method; None where one network was grown.
        correlations_: (p, p), of these errors. identifiable_: (k,), which units the data tell
            apart: their weight is not 0 within its error, nor shared with another unit's.
        relevance_: (columns,), the part of the predictions' variance that needs each column.
        columns_: what is done with the columns of a DataFrame; None where all are numbers.
        matching_: given a teacher, which unit found which.
    """

    _usual_alpha = 0.0

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, teacher: Teacher | None = None
    ) -> NodewiseRegressor:
        """Fit to inputs (n, d) and answers (n,) or (n, m); see the class."""
        X, y = self._read(X, y, numeric=True)
        y = np.asarray(y, dtype=float)
        self._single = y.ndim == 1
        self._fit(X, y.reshape(len(y), -1), sample_weight, "squares", teacher)
        return self

    def _answers(self, y: Any) -> np.ndarray:
        y = np.asarray(y, dtype=float)
        return y.reshape(len(y), -1)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The answers, (n,) or (n, m) as those of the fit; with `return_std` deviations as well.

        A deviation is that of a new answer: of each member by Laplace's method, between members,
        and of the noise. A network that explains all has none but rounding: 0.
        """
        x = self._inputs(X)
        found = [self._said(x)] + ([self._deviation(x)] if return_std else [])
        shaped = [one[:, 0] if self._single else one for one in found]
        return (shaped[0], shaped[1]) if return_std else shaped[0]

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of intervals that hold this part of new answers.

        They reach as many deviations as it took for answers that members had not seen.
        """
        level = check_real("level", level, 0.0, 1.0)
        x = self._inputs(X)
        reach = 0.0 if self.committee_ is None else self.committee_.reach(level)
        said, half = self._said(x), reach * self._deviation(x)
        ends = (said - half, said + half)
        return (ends[0][:, 0], ends[1][:, 0]) if self._single else ends

    def _deviation(self, x: np.ndarray) -> np.ndarray:
        if self.committee_ is not None:
            return self.committee_.spread(x)
        if self.loss_value_ <= NOISELESS:
            return np.zeros((len(x), self.network_.outputs))
        raise EarnshawError(
            "error bars are those of the evidence; allowed: criterion='evidence' and n_units='auto'"
        )
