"""A network as plain NumPy arrays, with biases, several outputs, a linear part and an intercept.

    g(x) = sum_j weights_j sigma(x, positions_j) + x.linear + intercept,

with sigma(x, w_j) = s(x.w_j + biases_j) for a dot-product activation and h(x - w_j)/sqrt(p(x)) for
a translation one, which has no biases. Units may have dot-product activations of their own. It is
what fits find and exports write. `Student` and `Teacher` (`network.py`) are its units alone, as the
charges that the theory is about.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol, runtime_checkable

import numpy as np

from earnshaw.charges.mixed import lines_of, same_activation
from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.responses import responses
from earnshaw.duality.activation import Activation, DotProduct, Translation
from earnshaw.errors import EarnshawError

ARRAYS = ("positions", "weights", "biases", "intercept", "linear")
BLOCK = 2**21  # entries of responses that are held at once


@dataclasses.dataclass(frozen=True, eq=False)
class Network:
    """A network as arrays: k units in d dimensions, with m outputs, or one that has no axis.

    Attributes:
        positions: (k, d).
        weights: (k,) for one output, or (k, m).
        activation: what all units have in common, or one for each: a tuple of k.
        biases: (k,), for dot-product activations only.
        intercept: () for one output, or (m,).
        linear: (d,) for one output, or (d, m); for dot-product activations only.
    """

    positions: np.ndarray
    weights: np.ndarray
    activation: Activation | tuple[Activation, ...]
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
        if isinstance(self.activation, tuple):
            object.__setattr__(self, "activation", _one_if_alike(self.activation, self.units))
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
    def outputs(self) -> int:
        """m, the number of outputs."""
        return self.weights.shape[1] if self.weights.ndim == 2 else 1

    @property
    def is_dot_product(self) -> bool:
        """Whether the units see x.w + b, not x - w."""
        return isinstance(self.activation, (DotProduct, tuple))

    @property
    def kinds(self) -> list[tuple[Activation, np.ndarray]]:
        """The activations, each with the numbers of its units; one for a network of none."""
        if not isinstance(self.activation, tuple):
            return [(self.activation, np.arange(self.units))]
        first = [
            next(j for j, other in enumerate(self.activation) if same_activation(one, other))
            for one in self.activation
        ]
        return [(self.activation[j], np.flatnonzero(np.equal(first, j))) for j in sorted({*first})]

    @property
    def activation_name(self) -> str:
        """What its units are called: relu, or relu and tanh."""
        return " and ".join(one.name for one, _ in self.kinds)

    def to_network(self) -> Network:
        """The network itself, which exports can write."""
        return self

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """g(x) for inputs (n, d): shape (n, m), or (n,) for weights (k,). A block at a time."""
        x = np.asarray(x, dtype=float)
        rows = max(1, BLOCK // max(self.units, self.dim, 1))
        blocks = [self._block(x[start : start + rows]) for start in range(0, max(len(x), 1), rows)]
        return np.concatenate(blocks)

    def _block(self, x: np.ndarray) -> np.ndarray:
        if self.is_dot_product:
            found = x @ self.positions.T + (0.0 if self.biases is None else self.biases)
            for one, units in self.kinds:
                assert isinstance(one, DotProduct)
                found[:, units] = responses(one, found[:, units])
        else:
            assert isinstance(self.activation, Activation)
            found = np.asarray(self.activation.unit(x[:, None, :], self.positions))
        total = found @ self.weights
        if self.linear is not None:
            total = total + x @ self.linear
        return total if self.intercept is None else total + self.intercept


def network_of(charges: Teacher | Student) -> Network:
    """The network of charges that know their activation; units that are lines become its line."""
    kind = charges.unit_kind
    if kind is None:
        raise EarnshawError("this student has no activation; allowed: student.of(teacher)")
    positions, weights = (np.asarray(part) for part in (charges.positions, charges.weights))
    each = kind.responses
    lines, line = np.zeros(len(weights), dtype=bool), None
    if isinstance(each, tuple):
        lines, line = lines_of(each, positions, weights)
        each = tuple(one for one, is_line in zip(each, lines, strict=True) if not is_line)
    hidden, biases = (positions[~lines], None)
    intercept = None
    if charges.biased:
        hidden, biases = hidden[:, :-1], hidden[:, -1]
        if line is not None:
            line, intercept = line[:-1], line[-1]
    return Network(hidden, weights[~lines], each, biases, intercept, line)


@runtime_checkable
class HasNetwork(Protocol):
    """Whatever has learned a network: networks themselves, models, fitted estimators."""

    def to_network(self) -> Network:
        """The network, as exports write it."""


def _finite(name: str, values: Any) -> np.ndarray:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise EarnshawError(f"the network's {name} must be an array of real numbers") from None
    if not np.all(np.isfinite(array)):
        raise EarnshawError(f"the network's {name} have NaN or infinite entries")
    return array


def _one_if_alike(each: tuple[Activation, ...], units: int) -> Any:
    """The activation of all units, or one for each as they are given."""
    if len(each) != units or not each:
        raise EarnshawError(f"{len(each)} activations for {units} units; allowed: one a unit")
    for one in each:
        if not isinstance(one, DotProduct):
            raise EarnshawError(f"units of several activations; allowed: s(x.w + b), no {one.name}")
    return each[0] if all(same_activation(one, each[0]) for one in each) else each


def _misshapen(name: str, array: np.ndarray, allowed: str) -> EarnshawError:
    return EarnshawError(f"the network's {name} have shape {array.shape}; allowed: {allowed}")
