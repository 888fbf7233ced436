"""What `monotonic_cst` asks of inputs, checked before the fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from earnshaw.duality.activation import DotProduct
from earnshaw.errors import EarnshawError

LOOKED_AT = np.linspace(-10, 10, 2001)  # where an activation must not fall


def rising_of(
    asked: Any,
    names: Sequence[str],
    inputs: Sequence[str | None],
    activation: DotProduct,
    outputs: int,
) -> tuple[int, ...]:
    """1, -1 or 0 for every input; () where nothing is asked.

    What is asked is a sign for each column of `names`, or a dict of them by name. `inputs` says of
    each input whose number it is, None for a level of a category and the like: these cannot rise.
    """
    if asked is None:
        return ()
    if isinstance(asked, Mapping):
        if strange := [name for name in asked if name not in names]:
            raise EarnshawError(f"monotonic_cst names {strange[0]!r}; allowed: {', '.join(names)}")
        signs = [asked.get(name, 0) for name in names]
    else:
        signs = np.ravel(np.asarray(asked)).tolist()
    if len(signs) != len(names):
        raise EarnshawError(
            f"monotonic_cst has {len(signs)} entries; allowed: one for each of {len(names)} columns"
        )
    if any(sign not in (-1, 0, 1) for sign in signs):
        raise EarnshawError("monotonic_cst has an entry that is none of -1, 0, 1")
    if not any(signs):
        return ()
    for name, sign in zip(names, signs, strict=True):
        if sign and name not in inputs:
            raise EarnshawError(f"column {name!r} is no number; allowed in monotonic_cst: 0")
    if outputs > 1:
        raise EarnshawError("monotonic_cst is for one output: a number, or one of two classes")
    _, slopes = jax.jvp(activation, (LOOKED_AT,), (np.ones_like(LOOKED_AT),))
    if np.min(slopes) < 0:
        raise EarnshawError(
            f"the activation {activation.name!r} does not rise everywhere; allowed with "
            "monotonic_cst: those that do, such as tanh, relu, softplus"
        )
    by_name = dict(zip(names, map(int, signs), strict=True))
    return tuple(0 if name is None else by_name[name] for name in inputs)
