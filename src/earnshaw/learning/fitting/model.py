"""A fitted network with the names of its columns: what a model file holds and predictions need."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from earnshaw.charges.plain_network import Network
from earnshaw.errors import EarnshawError
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
    """

    network: FittedNetwork
    activation: str
    parameters: Mapping[str, Any]
    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    classes: tuple[str, ...] = ()
    scores: Mapping[str, float] = dataclasses.field(default_factory=dict)
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Regression or classification."""
        return "classification" if self.classes else "regression"

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
        return self.network(self._inputs(data))

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
            if missing := [name for name in self.inputs if name not in data.columns]:
                listed = ", ".join(map(repr, missing[:8])) + (" ..." if len(missing) > 8 else "")
                raise EarnshawError(
                    f"the data have no column {listed}; the model needs: {', '.join(self.inputs)}"
                )
            return data.numbers(self.inputs)
        x = np.asarray(data, dtype=float)
        if x.ndim != 2 or x.shape[1] != len(self.inputs):
            raise EarnshawError(
                f"the inputs have shape {x.shape}; allowed: (rows, {len(self.inputs)})"
            )
        if not np.all(np.isfinite(x)):
            raise EarnshawError("the inputs have NaN or infinite entries; allowed: finite numbers")
        return x
