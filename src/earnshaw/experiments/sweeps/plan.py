"""A sweep: every combination of a grid of settings, with every seed."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.experiments.kinds.registry import kind_named
from earnshaw.experiments.store.store import canonical
from earnshaw.experiments.training.settings import seeds_of
from earnshaw.limits import check_integer

MANY = 100_000  # cells; more is a mistake


@dataclass(frozen=True)
class Plan:
    """What a sweep runs.

    Attributes:
        name: of the run in the store.
        kind: "train" or "learn".
        settings: those of each place of the grid, all defaults filled in.
        seeds: with which each of them is run.
        axes: the settings that vary, in the order of the grid.
    """

    name: str
    kind: str
    settings: tuple[dict[str, Any], ...]
    seeds: tuple[int, ...]
    axes: tuple[str, ...]

    def cells(self) -> list[tuple[dict[str, Any], int]]:
        """Every setting with every seed."""
        return [(settings, seed) for settings in self.settings for seed in self.seeds]


def plan(
    kind: str,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    fixed: Mapping[str, Any] | None = None,
    seeds: int | Iterable[int] = 1,
    name: str | None = None,
) -> Plan:
    """The plan of a grid; what is wrong with any of its cells is said before any is run."""
    grid, fixed = dict(grid or {}), dict(fixed or {})
    for axis, values in grid.items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or not values:
            raise OutOfRange(f"the grid's {axis!r}", values, "a list of values")
        if axis in fixed:
            raise EarnshawError(f"{axis!r} is both in the grid and fixed; allowed: one of the two")
    check_integer("the number of places", math.prod(map(len, grid.values())), 1, MANY)
    places = (
        fixed | dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())
    )
    return plan_of(kind, places, axes=tuple(grid), seeds=seeds, name=kind if name is None else name)


def plan_of(
    kind: str,
    places: Iterable[Mapping[str, Any]],
    *,
    axes: tuple[str, ...],
    seeds: int | Iterable[int],
    name: str,
) -> Plan:
    """The plan of settings that need not form a grid."""
    if not isinstance(name, str) or not name.isprintable() or not name or name.isdigit():
        allowed = "a text without control characters, not a number"
        raise EarnshawError(f"the name of a sweep is {name!r}; allowed: {allowed}")
    checked = kind_named(kind)
    if isinstance(seeds, int):
        check_integer("seeds", seeds, 1, MANY)
    wanted, places = seeds_of(seeds), list(places)
    check_integer("the number of cells", len(places) * len(wanted), 1, MANY)
    settings = (checked.check(_plain(place)) for place in places)
    each = {canonical(one): one for one in settings}  # 1 and 1.0 may be the same place
    return Plan(name, kind, tuple(each.values()), wanted, axes)


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Values that JSON has, NumPy's numbers among them; so that a store can keep them."""
    plain = {}
    for name, value in settings.items():
        try:
            plain[name] = json.loads(json.dumps(value, allow_nan=False, default=_item))
        except (TypeError, ValueError):
            raise OutOfRange(name, value, "finite numbers, texts, lists and tables") from None
    return plain


def _item(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError
