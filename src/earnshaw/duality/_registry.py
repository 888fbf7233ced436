"""Activations and potentials by name.

A family registers what it offers where it defines it, and nothing else lists names:

    @ACTIVATIONS.register("relu")
    class Relu(DotProduct): ...

Import the two from `named.py`, which has loaded every family and makes what is asked for by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Maker = TypeVar("Maker", bound=Callable[..., Any])


class Registry(dict[str, Callable[..., Any]]):
    """Names, and the classes or functions that make what is called so from keywords."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def register(self, name: str) -> Callable[[Maker], Maker]:
        """A decorator: what it decorates is known by `name` from then on."""

        def remember(maker: Maker) -> Maker:
            if name in self:
                raise ValueError(f"two families call their {self.what} {name!r}")
            self[name] = maker
            return maker

        return remember


ACTIVATIONS = Registry("activation")
POTENTIALS = Registry("potential")  # defined directly; most are those of an activation too
