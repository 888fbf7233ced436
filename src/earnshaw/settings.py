"""Settings that are declared once.

A setting is a field of a dataclass, made by `setting`: its type, its default, the values that are
allowed, and the words that help. From there

- the dataclass checks itself (`check_settings`),
- commands have their options (`cli/options.py`),
- files of sweeps know its name and default (`experiments/kinds`),
- and stored runs are read back (`settings_of`).

The function that takes it as a keyword names it once more, since a signature must be written out to
be seen by editors and type checkers; `given` collects its arguments. Nothing here loads JAX.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from earnshaw.errors import EarnshawError, OutOfRange, UnknownName
from earnshaw.limits import LARGEST, check_integer, check_real

Settings = TypeVar("Settings")


def setting(
    default: Any,
    help: str = "",
    *,
    low: int | None = None,
    high: int = LARGEST,
    above: float | None = None,
    below: float = math.inf,
    allowed: tuple[str, ...] | None = None,
    suggest: bool = False,
    said: str | None = None,
    option: str | None = None,
    newer: bool = False,
) -> Any:
    """A field of a dataclass of settings; None, where it is the default, is always allowed.

    Args:
        default: the value if none is given.
        help: a line for the command line.
        low, high: the range of an integer.
        above, below: the open range of a real number.
        allowed: the texts that it may be.
        suggest: whether an error suggests the nearest of them, instead of listing them.
        said: how errors name it; by its own name if not given.
        option: the name of its option, if it is not its own.
        newer: whether there are files from before it, which have its default.
    """
    rules = {"low": low, "high": high, "above": above, "below": below, "allowed": allowed}
    about = {"help": help, "suggest": suggest, "said": said, "option": option, "newer": newer}
    return dataclasses.field(default=default, metadata=rules | about)


def check_settings(settings: Any) -> None:
    """Refuse, in one line, a setting outside of what its field allows."""
    for field in dataclasses.fields(settings):
        value, rules = getattr(settings, field.name), field.metadata
        what = rules.get("said") or field.name
        if value is None and field.default is None:
            continue
        if rules.get("low") is not None:
            check_integer(what, value, rules["low"], rules["high"])
        if rules.get("above") is not None:
            check_real(what, value, rules["above"], rules["below"])
        if rules.get("allowed") is not None and value not in rules["allowed"]:
            if rules["suggest"]:
                raise UnknownName(what, str(value), rules["allowed"])
            *most, last = rules["allowed"]
            raise OutOfRange(what, value, f"{', '.join(most)} or {last}")


def given(settings: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a function's arguments that are settings and not None: what was asked for."""
    names = [field.name for field in dataclasses.fields(settings)]
    return {name: arguments[name] for name in names if arguments.get(name) is not None}


def settings_of(kind: type[Settings], fields: Mapping[str, Any], what: str) -> Settings:
    """The settings that a file holds, as `dataclasses.asdict` gave them; `what` is such a file.

    Settings that are newer than the file have their defaults.
    """
    types = typing.get_type_hints(kind)
    known = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    missing = [field for name, field in known.items() if name not in fields]
    if not (set(fields) <= set(known) and all(one.metadata.get("newer") for one in missing)):
        raise EarnshawError(f"its settings are not those of {what} of this version")
    for name, value in fields.items():
        allowed = typing.get_args(types[name]) or (types[name],)
        number = float in allowed and type(value) is int
        if type(value) not in allowed and not number:
            words = " or ".join("none" if one is type(None) else one.__name__ for one in allowed)
            raise OutOfRange(f"its setting {name}", value, words)
    return kind(**fields)
