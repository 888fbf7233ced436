"""The profiles h(x - w) of translation activations as modules: (..., d) to (...)."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from earnshaw.activations.base import Activation
from earnshaw.activations.translation import (
    BesselTranslation,
    GaussianTranslation,
    ProductTranslation,
    RadialTranslation,
)
from earnshaw.duality.realized import Realized
from earnshaw.exports.source import refuse
from earnshaw.numerics.log_table import LogTable
from earnshaw.torch.formulas import absolute


def as_buffer(values: object) -> Tensor:
    """A float64 tensor of its own."""
    return torch.tensor(np.asarray(values, dtype=float))


class GaussianProfile(nn.Module):
    """(2c/pi)^(d/4) exp(-c |x|^2), c = `rate`."""

    rate: Tensor

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.register_buffer("rate", as_buffer(rate))

    def forward(self, gap: Tensor) -> Tensor:
        """The profile h at displacements of shape (..., d); shape (...)."""
        rate = self.rate.to(gap.dtype)
        factor = (2 * rate / math.pi) ** (gap.shape[-1] / 4)
        return factor * torch.exp(-rate * torch.sum(gap**2, dim=-1))


class BesselProfile(nn.Module):
    """prod_i (sqrt(2)/pi) K_0(|x_i|)."""

    def forward(self, gap: Tensor) -> Tensor:
        """The profile h at displacements of shape (..., d); shape (...)."""
        factor = (math.sqrt(2) / math.pi) ** gap.shape[-1]
        return factor * torch.exp(torch.sum(log_k0(absolute(gap)), dim=-1))


def log_k0(z: Tensor) -> Tensor:
    """log K_0(z) for z >= 0, as in `numerics.bessel`: a series up to 1, the trapezoid rule above.

    PyTorch's own K_0 has no gradient.
    """
    positive = z > 0
    inside = torch.where(positive, z, 1.0)
    small, large = torch.where(inside > 1, 1.0, inside), torch.where(inside > 1, inside, 1.0)
    quarter = small**2 / 4
    i0, rest, integral = torch.zeros_like(z), torch.zeros_like(z), torch.zeros_like(z)
    for k in reversed(range(10)):
        term = 1 / math.factorial(k) ** 2
        i0 = i0 * quarter + term
        rest = rest * quarter + term * sum(1 / j for j in range(1, k + 1))
    for j in range(28):
        square = (0.23 * j) ** 2
        weight = (0.23 if j else 0.115) * math.exp(-square)
        integral = integral + weight / torch.sqrt(1 + square / (2 * large))
    near = torch.log(rest - (torch.log(small / 2) + 0.5772156649015329) * i0)
    far = torch.log(torch.sqrt(2 / large) * integral) - large
    # -log z: infinite at 0, with an infinite slope.
    return torch.where(positive, torch.where(inside > 1, far, near), -torch.log(z))


class TableFunction(nn.Module):
    """h(r) = r^(-exponent) exp(-decay r) S(log r), a `LogTable`, elementwise."""

    start: Tensor
    step: Tensor
    coefficients: Tensor
    slope_below: Tensor
    at_zero: Tensor

    def __init__(self, table: LogTable) -> None:
        super().__init__()
        for name in ("start", "step", "coefficients", "slope_below"):
            self.register_buffer(name, as_buffer(getattr(table, name)))
        self.register_buffer("at_zero", as_buffer(table(0.0)))
        self.exponent, self.decay = table.exponent, table.decay

    def forward(self, r: Tensor) -> Tensor:
        """The function at r >= 0."""
        start, step, coefficients, slope_below, at_zero = (
            buffer.to(r.dtype)
            for buffer in (
                self.start,
                self.step,
                self.coefficients,
                self.slope_below,
                self.at_zero,
            )
        )
        positive, last = r > 0, len(coefficients)
        safe = torch.where(positive, r, 1.0)
        place = (torch.log(safe) - start) / step
        interval = torch.clamp(torch.floor(place.detach()), 0, last - 1)
        c0, c1, c2, c3 = coefficients[interval.long()].unbind(-1)
        x = place - interval
        inside = c0 + x * (c1 + x * (c2 + x * c3))
        below = coefficients[0, 0] + slope_below * step * place
        smooth = torch.where(place < 0, below, inside)
        value = smooth * safe**-self.exponent * torch.exp(-self.decay * safe)
        return torch.where(positive, torch.where(place > last, 0.0, value), at_zero)


class RadialProfile(nn.Module):
    """h(|x|) from a table."""

    def __init__(self, table: LogTable) -> None:
        super().__init__()
        self.table = TableFunction(table)

    def forward(self, gap: Tensor) -> Tensor:
        """The profile h at displacements of shape (..., d); shape (...)."""
        square = torch.sum(gap * gap, dim=-1)
        positive = square > 0  # a gradient of 0, not NaN, at 0
        length = torch.sqrt(torch.where(positive, square, 1.0))
        return self.table(torch.where(positive, length, 0.0))


class ProductProfile(nn.Module):
    """prod_i h_i(|x_i|), a table for each coordinate; coordinates may share one."""

    def __init__(self, tables: tuple[LogTable, ...]) -> None:
        super().__init__()
        distinct = list({id(table): table for table in tables}.values())
        self.tables = nn.ModuleList(TableFunction(table) for table in distinct)
        self.owners = [next(i for i, t in enumerate(distinct) if t is table) for table in tables]

    def forward(self, gap: Tensor) -> Tensor:
        """The profile h at displacements of shape (..., d); shape (...)."""
        columns = absolute(gap).unbind(-1)
        value = torch.ones_like(columns[0])
        for column, owner in zip(columns, self.owners, strict=True):
            value = value * self.tables[owner](column)
        return value


def profile_module(activation: Activation) -> nn.Module:
    """The module of h."""
    while isinstance(activation, Realized):
        activation = activation.shape
    if isinstance(activation, GaussianTranslation):
        return GaussianProfile(float(activation.rate))
    if isinstance(activation, BesselTranslation):
        return BesselProfile()
    if isinstance(activation, RadialTranslation):
        return RadialProfile(activation.table)
    if isinstance(activation, ProductTranslation):
        return ProductProfile(activation.tables)
    refuse(activation, "a PyTorch module")
