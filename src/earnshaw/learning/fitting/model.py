"""A fitted network with the names of its columns: what a model file holds and predictions need."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from earnshaw.charges.plain_network import Network
from earnshaw.errors import EarnshawError
from earnshaw.learning.evidence.committee import Committee
from earnshaw.learning.fitting.columns import Columns
from earnshaw.learning.fitting.network import FittedNetwork
from earnshaw.learning.fitting.problem import Problem
from earnshaw.learning.fitting.scores import log_probabilities, scores_of
from earnshaw.learning.fitting.tables import Table
from earnshaw.results import Result, number


@dataclasses.dataclass(frozen=True, repr=False)
class Model(Result):
    """A network that predicts columns from columns.

    Attributes:
        network: g.
        activation, parameters: the name of its activation, and the parameters given with it.
        inputs: the names of the columns that it looks at, in their order.
        targets: the names of those that it predicts.
        classes: the classes as texts, of the one target; empty for numbers.
        scores: what cross-validation said: means by name, and their spreads as "... spread".
        settings: those of the fit.
        committee: what predicts, by evidence; None where the network does.
        columns: how inputs come from columns that are not all numbers; None if they are.
        ranges: (2, inputs), between which inputs are not far outside those of the fit.
    """

    network: FittedNetwork
    activation: str
    parameters: Mapping[str, Any]
    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    classes: tuple[str, ...] = ()
    scores: Mapping[str, float] = dataclasses.field(default_factory=dict)
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    committee: Committee | None = None
    columns: Columns | None = None
    ranges: np.ndarray | None = None

    @property
    def kind(self) -> str:
        """Regression or classification."""
        return "classification" if self.classes else "regression"

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the columns that a table must have."""
        if self.columns is None:
            return self.inputs
        return tuple(column.name for column in self.columns.columns if column.names)

    @property
    def weight_errors(self) -> np.ndarray | None:
        """Standard errors (k, m) of the network's weights; None where they are not known."""
        if self.committee is None or not self.committee.networks:
            return None
        return self.committee.deviations(self.committee.networks[0])["weights"]

    def summary(self) -> dict[str, Any]:
        """Plain values for JSON: the network, and what cross-validation said of it."""
        first = "accuracy" if self.classes else "r2"
        return {
            "units": self.network.units,
            "score": self.scores.get(first),
            "score_spread": self.scores.get(f"{first} spread"),
            "kind": self.kind,
            "scores": dict(self.scores),
            "inputs": list(self.inputs),
            "targets": list(self.targets),
            "classes": list(self.classes),
            "activation": self.activation,
            "network": {
                name: getattr(self.network, name).tolist()
                for name in ("positions", "biases", "weights", "linear", "intercept")
            },
            "settings": dict(self.settings),
            "columns": None if self.columns is None else self.columns.plain(),
            "committee": None if self.committee is None else self.committee.summary(),
        }

    def _title(self) -> str:
        inputs = f"{len(self.inputs)} input{'' if len(self.inputs) == 1 else 's'}"
        return (
            f"{', '.join(self.targets)} by {self.network.units} {self.activation} units, {inputs}"
        )

    def _facts(self) -> dict[str, object]:
        scores = {name: number(value) for name, value in self.scores.items()}
        return {"kind": self.kind, "rows": self.settings.get("rows")} | scores

    def to_network(self) -> Network:
        """The network, as exports write it."""
        return self.network.to_network()

    def outputs(self, data: Table | np.ndarray) -> np.ndarray:
        """g (n, m) of a table, whose columns are found by name, or of inputs (n, d)."""
        x = self._inputs(data)
        return self.network(x) if self.committee is None else self.committee.outputs(x)

    def interval(
        self, data: Table | np.ndarray, level: float = 0.9
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Ends (n, m) of intervals that hold this part of new answers; None if none are known."""
        if self.committee is None or self.classes:
            return None
        x = self._inputs(data)
        said = self.committee.outputs(x)
        half = self.committee.reach(level) * self.committee.spread(x)
        return said - half, said + half

    def outside(self, data: Table | np.ndarray) -> np.ndarray:
        """Which rows (n,) are far outside the data of the fit: predictions there are guesses."""
        x = self._inputs(data)
        far = np.zeros(len(x), dtype=bool)
        if self.ranges is not None:
            far = np.any((x < self.ranges[0]) | (x > self.ranges[1]), axis=1)
        if self.columns is not None and isinstance(data, Table):
            far = far | self.columns.far(data.with_decimal_commas().columns)
        return far

    def predict(self, data: Table | np.ndarray) -> np.ndarray:
        """The answers: numbers (n, targets), or the most probable classes (n,) as texts."""
        found = self.outputs(data)
        return self.labels(found) if self.classes else found

    def probabilities(self, data: Table | np.ndarray) -> np.ndarray:
        """Of the classes, (n, classes)."""
        if not self.classes:
            raise EarnshawError("the model predicts numbers; allowed for probabilities: classes")
        return np.exp(log_probabilities(self.outputs(data)))

    def labels(self, outputs: np.ndarray) -> np.ndarray:
        """The most probable classes for outputs (n, m)."""
        return np.array(self.classes)[np.argmax(log_probabilities(outputs), axis=1)]

    def score(self, table: Table, outputs: np.ndarray) -> tuple[dict[str, float], str]:
        """The scores of outputs on a table that has the targets as well, or why there are none."""
        if missing := [name for name in self.targets if name not in table.columns]:
            return {}, f"the data have no column {missing[0]!r}"
        try:
            y = self._answers(table)
        except EarnshawError as error:
            return {}, str(error)
        ones = np.ones(table.count)
        known = Problem(outputs, y, ones, self.inputs, self.targets, self.classes)
        return scores_of(known, outputs), ""

    def _answers(self, table: Table) -> np.ndarray:
        if not self.classes:
            return table.numbers(self.targets)
        words = table.words(self.targets[0])
        if strange := sorted(set(words) - set(self.classes)):
            raise EarnshawError(f"the model knows no class {str(strange[0])!r}")
        places = {name: number for number, name in enumerate(self.classes)}
        numbers = np.array([places[word] for word in words])
        if len(self.classes) == 2:
            return numbers[:, None].astype(float)
        return np.eye(len(self.classes))[numbers]

    def _inputs(self, data: Table | np.ndarray) -> np.ndarray:
        if isinstance(data, Table):
            needed = self.needed
            if missing := [name for name in needed if name not in data.columns]:
                listed = ", ".join(map(repr, missing[:8])) + (" ..." if len(missing) > 8 else "")
                raise EarnshawError(
                    f"the data have no column {listed}; the model needs: {', '.join(needed)}"
                )
            data = data.with_decimal_commas()
            return (
                data.numbers(needed) if self.columns is None else self.columns.coded(data.columns)
            )
        x = np.asarray(data, dtype=float)
        if x.ndim != 2 or x.shape[1] != len(self.inputs):
            raise EarnshawError(
                f"the inputs have shape {x.shape}; allowed: (rows, {len(self.inputs)})"
            )
        if not np.all(np.isfinite(x)):
            raise EarnshawError("the inputs have NaN or infinite entries; allowed: finite numbers")
        return x
