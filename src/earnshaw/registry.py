"""Looking things up by name and constructing them from keywords, with errors a user can act on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from earnshaw.errors import EarnshawError, UnknownName


def construct(
    what: str,
    name: str,
    constructors: Mapping[str, Callable[..., Any]],
    parameters: Mapping[str, Any],
) -> Any:
    """constructors[name](**parameters); unknown names and keywords are answered with the known."""
    if name not in constructors:
        raise UnknownName(what, name, constructors)
    constructor = constructors[name]
    known = inspect.signature(constructor).parameters
    for given in parameters:
        if given not in known:
            allowed = ", ".join(known) or "none"
            raise EarnshawError(f"{name} has no parameter {given!r}; allowed: {allowed}")
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in parameters:
            raise EarnshawError(f"{name} needs the parameter {key!r}")
    return constructor(**parameters)
