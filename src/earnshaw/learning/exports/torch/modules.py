"""Activations, layers of units and networks as PyTorch modules, in float64 unless converted."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from earnshaw.charges.plain_network import Network
from earnshaw.duality.activation import Activation, DotProduct, TorchFormula, Translation
from earnshaw.duality.realizing.realization import Realization
from earnshaw.errors import EarnshawError
from earnshaw.learning.exports.networks import network as as_network
from earnshaw.learning.exports.source import exportable, refuse
from earnshaw.learning.exports.torch._profiles import as_buffer, profile_module


class Elementwise(nn.Module):
    """factor * s(x), elementwise, in the precision of x; the parameters of s are buffers."""

    factor: Tensor

    def __init__(
        self, name: str, formula: TorchFormula, factor: float, values: dict[str, Any]
    ) -> None:
        super().__init__()
        self.name, self.formula, self.known = name, formula, tuple(values)
        self.register_buffer("factor", as_buffer(factor))
        for key, value in values.items():
            self.register_buffer(key, as_buffer(value))

    def forward(self, x: Tensor) -> Tensor:
        """The activation at tensors of any shape."""
        if not x.is_floating_point():
            x = x.to(torch.get_default_dtype())
        values = [getattr(self, key).to(x.dtype) for key in self.known]
        return self.factor.to(x.dtype) * self.formula(torch, x, *values)

    def extra_repr(self) -> str:
        """The name, for printing."""
        return self.name


class DotProductLayer(nn.Module):
    """s(x.w_j + b_j) for k units: inputs (..., d) to responses (..., k)."""

    def __init__(
        self, activation: DotProduct, positions: ArrayLike, biases: ArrayLike | None = None
    ) -> None:
        super().__init__()
        self.positions = nn.Parameter(as_buffer(positions))
        self.biases = None if biases is None else nn.Parameter(as_buffer(biases))
        self.activation = activation_module(activation)

    def forward(self, x: Tensor) -> Tensor:
        """The responses of all units."""
        return self.activation(nn.functional.linear(x, self.positions, self.biases))


class UnitByUnitLayer(nn.Module):
    """s_j(x.w_j + b_j) for k units of several activations: inputs (..., d) to (..., k)."""

    order: Tensor

    def __init__(self, net: Network) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            layer_module(
                one, net.positions[units], None if net.biases is None else net.biases[units]
            )
            for one, units in net.kinds
        )
        numbers = np.argsort(np.concatenate([units for _, units in net.kinds]))
        self.register_buffer("order", torch.as_tensor(numbers))

    def forward(self, x: Tensor) -> Tensor:
        """The responses of all units, in their own order."""
        return torch.cat([layer(x) for layer in self.layers], dim=-1)[..., self.order]


class TranslationLayer(nn.Module):
    """h(x - w_j) / sqrt(p(x)) for k units, p that of N(0, width^2 I): (..., d) to (..., k)."""

    width: Tensor

    def __init__(self, activation: Translation, positions: ArrayLike) -> None:
        super().__init__()
        self.positions = nn.Parameter(as_buffer(positions))
        self.register_buffer("width", as_buffer(activation.inputs.width))
        self.profile = profile_module(activation)

    def forward(self, x: Tensor) -> Tensor:
        """The responses of all units."""
        width = self.width.to(x.dtype)
        square = torch.sum((x / width) ** 2, dim=-1, keepdim=True)
        log_density = -square / 2 - x.shape[-1] * torch.log(math.sqrt(2 * math.pi) * width)
        return self.profile(x[..., None, :] - self.positions) * torch.exp(-log_density / 2)


class NetworkModule(nn.Module):
    """g(x) = sum_j weights_j sigma(x, w_j) + x.linear + intercept; all of them parameters."""

    def __init__(self, net: Network) -> None:
        super().__init__()
        if isinstance(net.activation, tuple):
            self.layer: nn.Module = UnitByUnitLayer(net)
        else:
            self.layer = layer_module(net.activation, net.positions, net.biases)
        self.weights = nn.Parameter(as_buffer(net.weights))
        self.linear = None if net.linear is None else nn.Parameter(as_buffer(net.linear))
        self.intercept = None if net.intercept is None else nn.Parameter(as_buffer(net.intercept))

    def forward(self, x: Tensor) -> Tensor:
        """g for inputs (..., d): shape (...), or (..., m) for weights (k, m)."""
        total = self.layer(x) @ self.weights
        if self.linear is not None:
            total = total + x @ self.linear
        return total if self.intercept is None else total + self.intercept


def activation_module(
    activation: str | Activation | Realization | Callable[[Any], Any],
) -> Elementwise:
    """A dot-product activation, elementwise on tensors of any shape and real dtype."""
    sigma = exportable(activation)
    if isinstance(sigma, Translation):
        raise EarnshawError(
            f"{sigma.name} is a function of x and w, not of x.w; allowed: layer_module"
        )
    assert isinstance(sigma, DotProduct)
    base, factor = sigma.unscaled()
    if base.in_torch is None:
        refuse(base, "a PyTorch module")
    return Elementwise(sigma.name, base.in_torch, factor, base.parameters())


def layer_module(
    activation: str | Activation | Realization,
    positions: ArrayLike,
    biases: ArrayLike | None = None,
) -> DotProductLayer | TranslationLayer:
    """k units at `positions` (k, d), which are a parameter: inputs (..., d) to (..., k).

    `biases` (k,) are for dot-product activations only.
    """
    sigma = exportable(activation)
    if isinstance(sigma, Translation):
        return TranslationLayer(sigma, positions)
    assert isinstance(sigma, DotProduct)
    return DotProductLayer(sigma, positions, biases)


def network_module(*parts: Any, **named: Any) -> NetworkModule:
    """A network with all its numbers as parameters, in float64; `.float()` makes it single.

    Takes what `exports.network` takes: a teacher, a student with activation=, or arrays.
    """
    return NetworkModule(as_network(*parts, **named))
