"""What is exported of a learned network: plain arrays and an activation.

    g(x) = sum_j weights_j sigma(x, positions_j) + x.linear + intercept,

with sigma(x, w_j) = s(x.w_j + biases_j) for a dot-product activation and h(x - w_j)/sqrt(p(x)) for
a translation one, which has no biases.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.activations.base import Activation, DotProduct, Translation
from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.activation import activation as named_activation
from earnshaw.duality.activation import takes_dim
from earnshaw.duality.realization import Realization
from earnshaw.errors import EarnshawError
from earnshaw.exports.source import exportable


@dataclasses.dataclass(frozen=True, eq=False)
class Network:
    """A network as arrays: k units in d dimensions, with m outputs, or one that has no axis.

    Attributes:
        positions: (k, d).
        weights: (k,) for one output, or (k, m).
        activation: what all units have in common.
        biases: (k,), for dot-product activations only.
        intercept: () for one output, or (m,).
        linear: (d,) for one output, or (d, m); for dot-product activations only.
    """

    positions: np.ndarray
    weights: np.ndarray
    activation: Activation
    biases: np.ndarray | None = None
    intercept: np.ndarray | None = None
    linear: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ARRAYS:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _finite(name, getattr(self, name)))
        if self.positions.ndim != 2 or self.positions.shape[1] == 0:
            raise _misshapen("positions", self.positions, "(units, dimension)")
        if self.weights.ndim not in (1, 2) or len(self.weights) != self.units:
            raise _misshapen("weights", self.weights, f"({self.units},) or ({self.units}, outputs)")
        outputs = self.weights.shape[1:]
        shapes = {"biases": (self.units,), "intercept": outputs, "linear": (self.dim, *outputs)}
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                raise _misshapen(name, array, str(shape))
        if isinstance(self.activation, Translation):
            if self.activation.dim != self.dim:
                made = f"{self.activation.name} was made for dimension {self.activation.dim}"
                raise EarnshawError(f"{made}, the positions have {self.dim}")
            if self.biases is not None or self.linear is not None:
                raise EarnshawError(
                    f"biases and a linear part need a dot-product activation, not "
                    f"{self.activation.name}"
                )

    @property
    def units(self) -> int:
        """k, the number of units."""
        return self.positions.shape[0]

    @property
    def dim(self) -> int:
        """d, the dimension of the inputs."""
        return self.positions.shape[1]

    @property
    def is_dot_product(self) -> bool:
        """Whether the units see x.w + b, not x - w."""
        return isinstance(self.activation, DotProduct)


ARRAYS = ("positions", "weights", "biases", "intercept", "linear")


def network(
    charges: Network | Teacher | Student | ArrayLike,
    weights: ArrayLike | None = None,
    activation: str | Activation | Realization | Callable[[Any], Any] | None = None,
    *,
    biases: ArrayLike | None = None,
    intercept: ArrayLike | None = None,
    linear: ArrayLike | None = None,
) -> Network:
    """A `Network` from a teacher, a student and its activation, something fitted, or arrays.

    ``network(teacher)``, ``network(student, activation="relu")``, ``network(fitted_estimator)``,
    ``network(positions, weights, "tanh", biases=..., intercept=..., linear=...)``.
    """
    if isinstance(charges, Network):
        return charges
    if (fitted := fitted_network(charges)) is not None:
        return _of_fitted(fitted)
    if isinstance(charges, Teacher):
        activation = charges.activation
    if activation is None:
        raise EarnshawError("a network needs its activation: activation=")
    if isinstance(charges, (Teacher, Student)):
        if weights is not None:
            raise EarnshawError("a teacher or student has weights of its own; allowed: no weights=")
        weights, charges = charges.weights, charges.positions
    if weights is None:
        raise EarnshawError("a network needs weights: (units,) or (units, outputs)")
    positions = np.asarray(charges)
    if isinstance(activation, str) and takes_dim(activation):
        made = named_activation(activation, dim=positions.shape[-1] if positions.ndim else 0)
    else:
        made = exportable(activation)
    return Network(positions, np.asarray(weights), made, biases, intercept, linear)  # type: ignore[arg-type]


def fitted_network(thing: Any) -> Any:
    """The network of a fitted estimator or model, a fitted network itself; None for other things.

    By its attributes: what fits networks is not known here.
    """
    for name in ("network_", "network"):
        thing = getattr(thing, name, thing)
    return thing if all(hasattr(thing, name) for name in (*ARRAYS, "activation")) else None


def _of_fitted(fitted: Any) -> Network:
    """Fitted networks have an axis of outputs, of length 1 too; their linear part may be all 0."""
    parts = [fitted.weights, fitted.intercept, fitted.linear if np.any(fitted.linear) else None]
    if fitted.weights.shape[1] == 1:
        parts = [None if part is None else part[..., 0] for part in parts]
    weights, intercept, linear = parts
    return Network(fitted.positions, weights, fitted.activation, fitted.biases, intercept, linear)


def _finite(name: str, values: Any) -> np.ndarray:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise EarnshawError(f"the network's {name} must be an array of real numbers") from None
    if not np.all(np.isfinite(array)):
        raise EarnshawError(f"the network's {name} have NaN or infinite entries")
    return array


def _misshapen(name: str, array: np.ndarray, allowed: str) -> EarnshawError:
    return EarnshawError(f"the network's {name} have shape {array.shape}; allowed: {allowed}")
