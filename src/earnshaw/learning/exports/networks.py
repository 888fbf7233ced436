"""Whatever can be exported as a `Network`: teachers, students, what was fitted, or arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.plain_network import HasNetwork, Network, network_of
from earnshaw.duality.activation import Activation
from earnshaw.duality.named import activation as named_activation
from earnshaw.duality.named import takes_dim
from earnshaw.duality.realizing.realization import Realization
from earnshaw.errors import EarnshawError
from earnshaw.learning.exports.source import exportable


def network(
    charges: HasNetwork | Teacher | Student | ArrayLike,
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
    if isinstance(charges, HasNetwork):
        return charges.to_network()
    if isinstance(charges, (Teacher, Student)):
        if weights is not None:
            raise EarnshawError("a teacher or student has weights of its own; allowed: no weights=")
        if activation is None or isinstance(charges, Teacher):
            if charges.unit_kind is None:
                raise EarnshawError("a network needs its activation: activation=")
            found = network_of(charges)
            if isinstance(found.activation, tuple):
                return found
            return dataclasses.replace(found, activation=exportable(found.activation))
        biases = charges.biases if charges.biased else biases
        weights, charges = charges.weights, charges.hidden
    if activation is None:
        raise EarnshawError("a network needs its activation: activation=")
    if weights is None:
        raise EarnshawError("a network needs weights: (units,) or (units, outputs)")
    positions = np.asarray(charges)
    if isinstance(activation, str) and takes_dim(activation):
        made = named_activation(activation, dim=positions.shape[-1] if positions.ndim else 0)
    else:
        made = exportable(activation)
    return Network(positions, np.asarray(weights), made, biases, intercept, linear)  # type: ignore[arg-type]
