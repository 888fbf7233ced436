"""Numbers and names as pictures and tables show them."""

from __future__ import annotations

import math
from typing import Any

from earnshaw.text import plural as plural
from earnshaw.text import shown

# Why a simulation ended, for people; the names are those of `dynamics.path.Stop`.
ENDINGS = {
    "time": "the time asked for has passed",
    "equilibrium": "all speeds are 0 to the tolerances",
    "bound": "every electron is held by a proton",
    "collision": "an electron came to where the force has no limit",
    "diverged": "positions, weights or energy are no longer finite",
    "step-limit": "all allowed steps were used",
    "interrupted": "interrupted; the path is complete up to its last time",
}

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def short(number: float | None, digits: int = 1) -> str:
    """3.2e-16, 0, or a dash for what does not exist."""
    if number is None or not math.isfinite(number):
        return "–"
    if number == 0:
        return "0"
    if 1e-3 <= abs(number) < 1e5:
        return f"{number:.{digits + 2}g}"
    mantissa, exponent = f"{number:.{digits}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def shortened(name: str, room: int = 48) -> str:
    """`name` in letters that can be seen, or its two ends if it is long."""
    name = shown(name)
    if len(name) <= room:
        return name
    return f"{name[: room - room // 3 - 1]}…{name[-(room // 3) :]}"


def plain(words: str) -> str:
    r"""Words as Matplotlib is to draw them: a dollar begins no formula."""
    return words.replace("$", r"\$")


def fitting(line: str, size: float, room: int) -> float:
    """The font size for `line`: `size`, or less where it has more than `room` letters."""
    return size * min(1.0, room / max(len(line), 1))


def units_of(teacher: Any) -> str:
    """What the units of a teacher are and where they live, as in a title."""
    sphere = teacher.manifold.name == "sphere"
    where = "S" + str(teacher.dim - 1) if sphere else "R" + str(teacher.input_dim)
    where = where[0] + where[1:].translate(RAISED) + (" with biases" if teacher.biased else "")
    given = ", ".join(f"{key} {_value(value)}" for key, value in teacher.species.parameters)
    return shortened(teacher.species.name + (f" ({given})" if given else "")) + f" on {where}"


def _value(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(_value, value)) + "]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
