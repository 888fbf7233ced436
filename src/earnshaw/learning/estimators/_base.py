"""What both estimators share: parameters, the fit, and the network in scikit-learn's names."""

from __future__ import annotations

import os
import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
    validate_data,
)

from earnshaw.charges.matching import Matching, match
from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.plain_network import Network
from earnshaw.duality.activation import DotProduct
from earnshaw.duality.named import activation as named_activation
from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.learning.estimators._callables import check_callable
from earnshaw.learning.estimators._monotone import rising_of
from earnshaw.learning.estimators._progress import showing_progress
from earnshaw.learning.evidence.committee import Committee
from earnshaw.learning.fitting.columns import (
    Columns,
    columns_of,
    is_plain,
    ranges_of,
    table_of,
)
from earnshaw.learning.fitting.evident import fit
from earnshaw.learning.fitting.fitted import Fitted
from earnshaw.learning.fitting.fitted import fit as fit_by_growth
from earnshaw.learning.fitting.growth import Event
from earnshaw.learning.fitting.model import Model
from earnshaw.learning.fitting.network import FittedNetwork
from earnshaw.learning.fitting.picture import FitPicture
from earnshaw.learning.fitting.problem import Problem
from earnshaw.learning.fitting.relevance import relevance_of
from earnshaw.learning.fitting.settings import Settings
from earnshaw.results import json_text, plain_values


def _merged(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Equal samples as one of their total weight, in an order that they settle themselves.

    So that a sample of weight 2 is the same as two of them to the last bit, wherever they stand.
    Samples of weight 1 that are all different stay as they are.
    """
    rows, place = np.unique(np.column_stack([x, y]), axis=0, return_inverse=True)
    if len(rows) == len(x) and np.all(weight == 1):
        return x, y, weight
    inputs = x.shape[1]
    return rows[:, :inputs], rows[:, inputs:], np.bincount(place.ravel(), weights=weight)


class Nodewise(BaseEstimator):
    """A network grown node by node on data; see `NodewiseRegressor`."""

    _single: bool  # whether answers have one dimension, (n,)
    _usual_alpha: ClassVar[float]

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
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.n_units = n_units
        self.activation = activation
        self.activation_params = activation_params
        self.max_units = max_units
        self.n_networks = n_networks
        self.criterion = criterion
        self.validation_fraction = validation_fraction
        self.alpha = alpha
        self.biases = biases
        self.fit_intercept = fit_intercept
        self.linear = linear
        self.scale = scale
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.max_time = max_time
        self.monotonic_cst = monotonic_cst
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _fit(
        self, X: np.ndarray, y: np.ndarray, sample_weight: Any, loss: str, teacher: Teacher | None
    ) -> None:
        """Fit to checked inputs (n, d) and answers (n, m), and keep what was found."""
        check_callable(self.activation)
        sigma = named_activation(self.activation, **(self.activation_params or {}))
        if not isinstance(sigma, DotProduct):
            raise OutOfRange("activation", self.activation, "dot-product activations")
        asked = self.criterion == "evidence" and self.alpha != "auto"  # a penalty of one's own
        settings = Settings(
            units=self.n_units,
            max_units=self.max_units,
            networks=self.n_networks,
            criterion="bic" if asked else self.criterion,
            validation_fraction=self.validation_fraction,
            loss=loss,
            alpha=self._usual_alpha if self.alpha == "auto" else self.alpha,  # type: ignore[arg-type]
            biases=self.biases,
            intercept=self.fit_intercept,
            linear=self.linear,
            scale=self.scale,
            solver=self.solver,
            iterations=self.max_iter,
            tolerance=self.tol,
            max_time=self.max_time,
            seed=self._seed(),
        )
        weight = _check_sample_weight(sample_weight, X, dtype=float, ensure_non_negative=True)
        used = weight > 0
        if not np.any(used):
            raise EarnshawError("all sample weights are 0; allowed: some positive ones")
        if not np.all(used):
            X, y, weight = X[used], y[used], weight[used]
        samples = _merged(X, y, weight)
        rising = rising_of(self.monotonic_cst, *self._names(X.shape[1]), sigma, y.shape[1])
        known = self._known(X.shape[1], y.shape[1]) if self.warm_start else None
        with showing_progress(self.verbose, settings) as on_event:
            given = (*samples, sigma, settings, on_event)
            found = fit(*given, self._origins(), rising, known)
        self._keep(found)
        self._rate(X)
        if found.interrupted:  # as scikit-learn's own networks do
            warnings.warn("the fit was interrupted: this is the best network so far", stacklevel=3)
        if teacher is not None:
            self.matching_ = self.match(teacher)

    def _names(self, inputs: int) -> tuple[list[str], list[str | None]]:
        """Of the columns; and of every input that of the column whose number it is, or None."""
        if self.columns_ is None:
            names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(inputs)])
            return list(map(str, names)), list(map(str, names))
        columns = self.columns_.columns
        own: list[str | None] = [
            column.name if place == 0 and column.kind != "text" else None
            for column in columns
            for place in range(len(column.names))
        ]
        return [column.name for column in columns], own

    def _known(self, inputs: int, outputs: int) -> Committee | None:
        """The committee of an earlier fit to like data."""
        known = getattr(self, "committee_", None)
        if known is None:
            return None
        layout = known.linear.layout
        return known if (layout.dim, layout.outputs) == (inputs, outputs) else None

    def _read(self, X: Any, y: Any, numeric: bool) -> tuple[np.ndarray, np.ndarray]:
        """Inputs (n, d) and answers for a fit, columns of texts or with gaps coded as numbers."""
        table = table_of(X)
        self.columns_: Columns | None = None
        if table is None or is_plain(table):
            multi = {"multi_output": True, "y_numeric": True} if numeric else {}
            return validate_data(self, X, y, dtype=float, ensure_min_samples=2, **multi)
        validate_data(self, X, skip_check_array=True)
        check_consistent_length(X, y)
        y = check_array(y, ensure_2d=False, dtype=float if numeric else None)
        self.columns_ = columns_of(table)
        return self.columns_.coded(table), y

    def _inputs(self, X: Any) -> np.ndarray:
        """Inputs (n, d) as the network sees them."""
        check_is_fitted(self)
        if self.columns_ is None:
            return validate_data(self, X, reset=False, dtype=float)
        validate_data(self, X, reset=False, skip_check_array=True)
        table = table_of(X)
        if table is None:
            raise EarnshawError("the fit was to a DataFrame; allowed: one with the same columns")
        return self.columns_.coded(table)

    def _origins(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The column of each input, and whether it may be seen as quantiles."""
        return None if self.columns_ is None else (self.columns_.sources, self.columns_.bend)

    def _rate(self, X: np.ndarray) -> None:
        """What is far outside, and `relevance_` (columns,)."""
        self._low, self._high = ranges_of(X)
        origins = self._origins()
        self.relevance_ = relevance_of(self._said, X, None if origins is None else origins[0])

    def _said(self, x: np.ndarray) -> np.ndarray:
        """g (n, m) of inputs as the network sees them."""
        return self.network_(x) if self.committee_ is None else self.committee_.outputs(x)

    def _keep(self, found: Fitted) -> None:
        network = found.network
        self.committee_ = found.committee
        self._keep_errors(found)
        self.network_ = network
        self.n_units_ = network.units
        self.units_, self.biases_ = network.positions, network.biases
        one = self._single
        self.weights_ = network.weights[:, 0] if one else network.weights
        self.linear_ = network.linear[:, 0] if one else network.linear
        self.intercept_ = float(network.intercept[0]) if one else network.intercept
        self.history_ = [event._asdict() for event in found.history]
        self.criterion_, self.loss_value_, self.solver_ = found.criterion, found.error, found.solver
        self.n_iter_ = max(1, sum(event.iterations for event in found.history))

    def _keep_errors(self, found: Fitted) -> None:
        """The networks of the committee, and standard errors of the best one's parameters."""
        committee, sigma = found.committee, found.network.activation
        self.estimators_ = [found.network]
        for name in ("units", "biases", "weights", "linear", "intercept"):
            setattr(self, f"{name}_std_", None)
        self.identifiable_ = None
        if committee is None:
            return
        members = committee.networks or (committee.linear,)
        self.estimators_ = [
            FittedNetwork(activation=sigma, **committee.in_data_coordinates(one)) for one in members
        ]
        self.identifiable_ = committee.identifiable(members[0])
        for name, values in committee.deviations(members[0]).items():
            last = name in ("weights", "linear", "intercept") and self._single
            one = "units" if name == "positions" else name
            setattr(self, f"{one}_std_", values[..., 0] if last else values)

    @property
    def correlations_(self) -> np.ndarray | None:
        """(p, p), between errors of the best network's parameters, where there are error bars.

        In the order units (k, d), biases (k,), weights (k, m), linear part (d, m), intercept (m,).
        """
        check_is_fitted(self)
        if self.committee_ is None:
            return None
        best = (*self.committee_.networks, self.committee_.linear)[0]
        covariance = self.committee_.covariance(best)
        error = np.sqrt(np.maximum(np.diagonal(covariance), 1e-300))
        return covariance / error / error[:, None]

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)) and self.random_state >= 0:
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _answers(self, y: Any) -> np.ndarray:
        """Answers (n, m) as a problem has them, those of classes as 0 and 1."""
        raise NotImplementedError

    def _outputs(self, X: Any) -> np.ndarray:
        """g(x), shape (n, m)."""
        return self._said(self._inputs(X))

    def outside(self, X: Any) -> np.ndarray:
        """Which rows (n,) are far outside the data of the fit: what is said of them is a guess."""
        x = self._inputs(X)
        far = np.any((x < self._low) | (x > self._high), axis=1)
        table = table_of(X)
        return far if self.columns_ is None or table is None else far | self.columns_.far(table)

    def plot(
        self, X: Any, y: Any, file: str | os.PathLike[str] | None = None, ax: Any = None
    ) -> Any:
        """The picture of `earnshaw fit`: predictions of these rows, the growth and the units.

        An estimator does not keep its data, so they are given here: those it was fitted to, or
        others. `file` and `ax` (for the predictions alone) as in `Result.plot`.
        """
        X = self._inputs(X)
        answers = self._answers(y)
        if len(answers) != len(X):
            raise EarnshawError(f"X has {len(X)} rows, y has {len(answers)}; allowed: the same")
        model = self._model()
        problem = Problem(X, answers, np.ones(len(X)), model.inputs, model.targets, model.classes)
        return FitPicture(model, problem, [Event(**event) for event in self.history_]).plot(
            file, ax
        )

    def to_dict(self) -> dict[str, Any]:
        """What `earnshaw fit --json` prints of the network and how it grew."""
        more = {"history": plain_values(self.history_), "solver": self.solver_}
        return self._model().to_dict() | more

    def to_json(self) -> str:
        """The same as JSON text."""
        return json_text(self.to_dict())

    def _model(self) -> Model:
        """The network with names for its columns."""
        check_is_fitted(self)
        network, classes = self.network_, getattr(self, "classes_", ())
        names = getattr(self, "feature_names_in_", [f"x{i + 1}" for i in range(network.dim)])
        names = names if self.columns_ is None else self.columns_.inputs
        many = 1 if len(classes) else network.outputs
        return Model(
            network=network,
            activation=named_activation(self.activation, **(self.activation_params or {})).name,
            parameters=self.activation_params or {},
            inputs=tuple(map(str, names)),
            targets=("y",) if many == 1 else tuple(f"y{i + 1}" for i in range(many)),
            classes=tuple(map(str, classes)),
            settings={"criterion": self.criterion},
            committee=self.committee_,
            columns=self.columns_,
            ranges=np.array([self._low, self._high]),
        )

    def distill(self, X: Any, n_units: int) -> tuple[FittedNetwork, float]:
        """One network of so many units that says what the committee says of X, and what is lost.

        That is the part of the variance of the committee's outputs on X that the network misses.
        """
        x = self._inputs(X)
        said = self._said(x)
        sigma = self.network_.activation
        settings = Settings(units=n_units, criterion="bic", seed=self._seed())
        found = fit_by_growth(x, said, np.ones(len(x)), sigma, settings).network
        lost = np.sum((found(x) - said) ** 2) / max(np.sum((said - said.mean(axis=0)) ** 2), 1e-300)
        return found, float(lost)

    def to_network(self) -> Network:
        """The fitted network, as exports write it: of a committee the best by evidence."""
        check_is_fitted(self)
        return self.network_.to_network()

    def match(self, teacher: Teacher) -> Matching:
        """Which unit found which of a teacher's, up to the activation's symmetries.

        The teacher's units are positions in R^d, or in R^(d+1) with the bias last.
        """
        check_is_fitted(self)
        network = self.network_
        if network.outputs != 1:
            raise EarnshawError(f"the network has {network.outputs} outputs; allowed to match: 1")
        if teacher.dim == network.dim + 1:
            return match(teacher, network.student())
        return match(teacher, Student(network.positions, network.weights[:, 0]))
