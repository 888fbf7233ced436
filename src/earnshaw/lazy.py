"""Rooms that say what they offer without loading it.

A package's ``__init__`` lists its public names and where each is defined. A name is imported when
it is first used, so that ``import earnshaw`` does not load JAX, and a network is learned without
SymPy.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def offer(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package (PEP 562).

    `homes` maps every public name to the module that defines it, relative to the package.
    """

    def getattribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    names = sorted(homes)
    return getattribute, lambda: names, names
