"""The profiles h(x - w) of translation activations as modules: (..., d) to (...)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from earnshaw.duality.activation import TorchFormula, Translation
from earnshaw.duality.families.tabulated import ProductTranslation, RadialTranslation
from earnshaw.learning.exports.source import refuse
from earnshaw.numerics.log_table import LogTable


def as_buffer(values: object) -> Tensor:
    """A float64 tensor of its own."""
    return torch.tensor(np.asarray(values, dtype=float))


class Profile(nn.Module):
    """h(x) by the formula of its family, in the precision of x; its parameters are buffers."""

    def __init__(self, formula: TorchFormula, values: dict[str, Any]) -> None:
        super().__init__()
        self.formula, self.known = formula, tuple(values)
        for key, value in values.items():
            self.register_buffer(key, as_buffer(value))

    def forward(self, gap: Tensor) -> Tensor:
        """The profile h at displacements of shape (..., d); shape (...)."""
        values = [getattr(self, key).to(gap.dtype) for key in self.known]
        return self.formula(torch, gap, *values)


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
        columns = torch.where(gap < 0, -gap, gap).unbind(-1)  # slope 1 at 0, as JAX has it
        value = torch.ones_like(columns[0])
        for column, owner in zip(columns, self.owners, strict=True):
            value = value * self.tables[owner](column)
        return value


def profile_module(activation: Translation) -> nn.Module:
    """The module of h."""
    shape = activation.unrealized()
    if isinstance(shape, RadialTranslation):
        return RadialProfile(shape.table)
    if isinstance(shape, ProductTranslation):
        return ProductProfile(shape.tables)
    if shape.in_torch is None:
        refuse(activation, "a PyTorch module")
    return Profile(shape.in_torch, shape.parameters())
