"""Activations and potentials by name.

A family registers what it offers where it defines it, and nothing else lists names:

    @ACTIVATIONS.register("relu")
    class Relu(DotProduct): ...

Import the two from `named.py`, which has loaded every family.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from earnshaw.errors import EarnshawError, UnknownName

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

    def make(self, name: str, parameters: Mapping[str, Any]) -> Any:
        """self[name](**parameters); unknown names and keywords are answered with the known."""
        if name not in self:
            raise UnknownName(self.what, name, self)
        known = inspect.signature(self[name]).parameters
        for given in parameters:
            if given not in known:
                allowed = ", ".join(known) or "none"
                raise EarnshawError(f"{name} has no parameter {given!r}; allowed: {allowed}")
        for key, parameter in known.items():
            if parameter.default is parameter.empty and key not in parameters:
                raise EarnshawError(f"{name} needs the parameter {key!r}")
        return self[name](**parameters)


ACTIVATIONS = Registry("activation")
POTENTIALS = Registry("potential")  # defined directly; most are those of an activation too
