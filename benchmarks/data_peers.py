"""What people use to learn from samples, each as they would use it: scikit-learn and PyTorch."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

NEAREST = {"erf": "tanh", "softplus": "relu"}  # what MLPRegressor has in place of these
ADAM, LBFGS = 1000, 5000  # iterations at most, enough for them to end by their own rules

Data = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Fit:
    """A fitted model, its seconds and the mean square of its errors on test data."""

    model: Any
    seconds: float
    error: float


def fitted(model: Any, data: Data, test: Data) -> Fit:
    """Fit, on the clock; and test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        began = time.perf_counter()
        model.fit(*data)
        seconds = time.perf_counter() - began
    return Fit(model, seconds, float(np.mean((model.predict(test[0]) - test[1]) ** 2)))


class TorchAdam(RegressorMixin, BaseEstimator):
    """The loop that people write: one hidden layer, Adam on batches, a falling step; float64."""

    LAYERS: ClassVar = {
        "tanh": torch.nn.Tanh,
        "logistic": torch.nn.Sigmoid,
        "relu": torch.nn.ReLU,
        "softplus": torch.nn.Softplus,
    }

    def __init__(self, activation: str, units: int, passes: int, seed: int) -> None:
        self.activation, self.units, self.passes, self.seed = activation, units, passes, seed

    def fit(self, x: np.ndarray, y: np.ndarray, batch: int = 200) -> TorchAdam:
        torch.manual_seed(self.seed)
        layer = Erf() if self.activation == "erf" else self.LAYERS[self.activation]()
        self.net_ = torch.nn.Sequential(
            torch.nn.Linear(x.shape[1], self.units), layer, torch.nn.Linear(self.units, 1)
        ).double()
        inputs, answers = torch.tensor(x), torch.tensor(y)[:, None]
        optimizer = torch.optim.Adam(self.net_.parameters(), lr=1e-2)
        steps = self.passes * -(-len(x) // batch)
        falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        for _ in range(self.passes):
            for chosen in torch.randperm(len(x)).split(batch):
                optimizer.zero_grad()
                torch.nn.functional.mse_loss(self.net_(inputs[chosen]), answers[chosen]).backward()
                optimizer.step()
                falling.step()
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return self.net_(torch.tensor(x)).numpy()[:, 0]


class Erf(torch.nn.Module):
    """erf as a layer."""

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return torch.erf(z)


def given_units(
    activation: str, units: int, seed: int, data: Data, test: Data
) -> Iterator[tuple[str, Fit]]:
    """All with as many units as the teacher, on the same data."""
    shape: dict[str, Any] = {
        "hidden_layer_sizes": (units,),
        "activation": NEAREST.get(activation, activation),
        "random_state": seed,
    }
    adam = fitted(MLPRegressor(max_iter=ADAM, **shape), data, test)
    yield "MLPRegressor adam", adam
    lbfgs = {"solver": "lbfgs", "max_iter": LBFGS, "max_fun": 3 * LBFGS, **shape}
    yield "MLPRegressor lbfgs", fitted(MLPRegressor(**lbfgs), data, test)
    pushed = MLPRegressor(alpha=0.0, tol=1e-12, **lbfgs)
    yield "MLPRegressor lbfgs, pushed", fitted(pushed, data, test)
    loop = TorchAdam(activation, units, adam.model.n_iter_, seed)
    yield "PyTorch Adam", fitted(loop, data, test)
    yield "gradient boosting", fitted(HistGradientBoostingRegressor(), data, test)


def scaled(model: Any) -> Any:
    """Inputs and answers standardised, as networks need it."""
    return TransformedTargetRegressor(
        make_pipeline(StandardScaler(), model), transformer=StandardScaler()
    )


def out_of_the_box(data: Data, test: Data, seed: int) -> Iterator[tuple[str, Fit]]:
    """All as they come, networks on standardised data."""
    adam = MLPRegressor(max_iter=ADAM, random_state=seed)
    lbfgs = MLPRegressor(solver="lbfgs", max_iter=LBFGS, max_fun=3 * LBFGS, random_state=seed)
    yield "MLPRegressor adam", fitted(scaled(adam), data, test)
    yield "MLPRegressor lbfgs", fitted(scaled(lbfgs), data, test)
    loop = TorchAdam("relu", 100, 100, seed)
    yield "PyTorch Adam", fitted(scaled(loop), data, test)
    yield "gradient boosting", fitted(GradientBoostingRegressor(random_state=seed), data, test)
    yield "histogram boosting", fitted(HistGradientBoostingRegressor(random_state=seed), data, test)
