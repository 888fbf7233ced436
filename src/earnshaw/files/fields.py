"""What the fields of a file may be: declared once, checked whenever a file is read.

A kind of file is a list of fields, each with its type and, for arrays, its shape in letters:

    integer("dim", low=1), array("positions", "units", "dim"), array("weights", "units")

Letters mean the same number in all fields of a file. An integer, and the length of a list of
texts, is the size of the letter that has its name; other letters take the size of the first array
that has them. What does not fit is an `EarnshawError` of one line. That fields fit to each other in
other ways, an index to what it counts, is for the reader of the kind to check.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.files.json_text import check_text
from earnshaw.limits import LARGEST, check_integer

WORDS = {
    str: "text",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    dict: "an object of names",
    list: "a list",
}
LARGEST_EXACT = 2**53  # integers above are no floats
LONGEST = 10_000  # characters of a text
NUMBERED = 1000  # arrays of a field that has them numbered
Sizes = dict[str, tuple[int, str]]  # of letters, and who says so


@dataclass(frozen=True)
class Field:
    """A field: one of the functions below makes it.

    Attributes:
        name: in the file.
        type: `str`, `int`, `float`, `bool`, `dict` or `list` (as in JSON), or `np.ndarray`.
        optional: whether a file may lack it.
        null: whether it may be null, in a JSON file.
        low, high: the least and the largest integer, or number.
        allowed: the texts that it may be, if not any.
        shape: of an array, in letters; a last one with a question mark may be missing.
        integers: whether an array has integers instead of real numbers.
        finite: whether NaN and infinities are refused in an array, or as a number.
        texts: whether a list has to be one of different texts.
        group: the fields of an object that has its own, or of each object of a list.
        numbered: whether it stands for arrays name.0, name.1, ... of numbers, of any shape.
    """

    name: str
    type: type
    optional: bool = False
    null: bool = False
    low: float | None = None
    high: float = LARGEST
    allowed: tuple[str, ...] = ()
    shape: tuple[str, ...] = ()
    integers: bool = False
    finite: bool = True
    texts: bool = False
    group: Group | None = None
    numbered: bool = False

    @property
    def is_json(self) -> bool:
        """Whether an NPZ file holds it as JSON text."""
        return not self.is_part and self.type in (dict, list) and not self.numbered

    @property
    def is_part(self) -> bool:
        """Whether it is an object with fields of its own, which an NPZ file holds one by one."""
        return self.type is dict and self.group is not None

    def checked(self, value: Any, sizes: Sizes) -> Any:
        """The value, as the type that was declared; `sizes` learns from it."""
        if value is None and self.null:
            return None
        if self.numbered:
            return _numbered(self.name, value)
        if self.type is np.ndarray:
            return self._array(value, sizes)
        if self.type is float and type(value) is int:
            value = float(value) if abs(value) < LARGEST_EXACT else math.inf
        found: Any = type(value)  # for mypy: `type(x) is not t` narrows x to what t may be
        if found is not self.type:
            raise EarnshawError(
                f"its {self.name} is a {found.__name__}; allowed: {WORDS[self.type]}"
            )
        return self._plain(value, sizes)

    def _plain(self, value: Any, sizes: Sizes) -> Any:
        """A value of JSON, of the declared type."""
        if self.group is not None:
            return self._grouped(self.group, value)
        if self.type is str:
            check_text(value)
            if len(value) > LONGEST:
                raise OutOfRange(f"its {self.name}", value, f"up to {LONGEST} characters")
            if self.allowed and value not in self.allowed:
                raise OutOfRange(f"its {self.name}", value, ", ".join(self.allowed))
        if self.type is int:
            self._integer(value)
            sizes[self.name] = (value, f"its {self.name} is {value}")
        if self.type is float and self.finite:
            low = -math.inf if self.low is None else self.low
            if not (math.isfinite(value) and low <= value <= self.high):
                raise OutOfRange(f"its {self.name}", value, f"a number in [{low:g}, {self.high:g}]")
        if self.texts:
            if not all(isinstance(one, str) for one in value) or len(set(value)) < len(value):
                raise EarnshawError(f"its {self.name} are not different texts")
            sizes[self.name] = (len(value), f"it has {len(value)} {self.name}")
        return value

    def _grouped(self, group: Group, value: Any) -> Any:
        """An object with fields of its own, or a list of such objects."""
        try:
            if self.type is dict:
                return group.checked(value)
            if not all(isinstance(one, dict) for one in value):
                raise EarnshawError("not a list of objects")
            return [group.checked(one) for one in value]
        except EarnshawError as error:
            raise EarnshawError(f"its {self.name}: {error}") from None

    def _integer(self, value: int) -> None:
        low = -LARGEST if self.low is None else int(self.low)
        check_integer(f"its {self.name}", value, low, int(self.high))

    def _array(self, value: Any, sizes: Sizes) -> np.ndarray:
        """An array of the declared type and shape."""
        name = self.name
        try:
            array = np.asarray(value)
        except ValueError:
            raise EarnshawError(f"its {name} have rows of different lengths") from None
        kinds = "iu" if self.integers and array.size else "fiu"
        if array.dtype.kind not in kinds or array.ndim == 0:
            what = "integers" if self.integers else "numbers"
            raise EarnshawError(f"its {name} are not an array of {what}")
        if self.integers and array.size:
            self._integer(int(array.min()))
            self._integer(int(array.max()))
        with np.errstate(over="ignore"):  # long doubles may become infinite
            array = array.astype(int if self.integers else float)
        if self.finite and not np.all(np.isfinite(array)):
            raise EarnshawError(f"its {name} have NaN or infinite entries; allowed: finite numbers")
        if isinstance(value, list) and array.shape == (0,):
            # JSON has no array (0, d): it is as large as the others say.
            needed = (letter for letter in self.shape if not letter.endswith("?"))
            known = tuple(sizes.get(letter, (0, ""))[0] for letter in needed)
            array = array.reshape(known) if 0 in known else array
        shapes = [tuple(letter.removesuffix("?") for letter in self.shape)]
        if self.shape[-1].endswith("?"):
            shapes.append(shapes[0][:-1])
        allowed = "allowed: " + " or ".join(f"({', '.join(shape)})" for shape in shapes)
        fitting = [shape for shape in shapes if len(shape) == array.ndim]
        if not fitting:
            raise EarnshawError(f"its {name} have shape {array.shape}; {allowed}")
        said = f"its {name} {array.shape}"
        for letter, size in zip(fitting[0], array.shape, strict=True):
            known_size, who = sizes.setdefault(letter, (size, said))
            if size != known_size:
                raise EarnshawError(f"its {name} have shape {array.shape}, {who}; {allowed}")
        return array


@dataclass(frozen=True)
class Group:
    """Fields that belong together: a file's, or those of an object in a file."""

    fields: tuple[Field, ...]

    @property
    def declared(self) -> tuple[Field, ...]:
        """All fields that it has in a file."""
        return self.fields

    def checked(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """The declared fields of what was read, each of them checked; others are ignored."""
        found, sizes = {}, Sizes()
        for field in self.fields:
            if field.name in raw:
                found[field.name] = field.checked(raw[field.name], sizes)
            elif not field.optional:
                raise EarnshawError(f"it has no field {field.name!r}")
        return found


def _numbered(name: str, value: list[np.ndarray]) -> list[np.ndarray]:
    """Arrays of numbers, or of true and false."""
    if len(value) > NUMBERED or any(one.dtype.kind not in "biuf" for one in value):
        raise EarnshawError(f"its {name} are not arrays of numbers, {NUMBERED} at most")
    return value


def text(name: str, *, optional: bool = False, allowed: tuple[str, ...] = ()) -> Field:
    """A text; one of those `allowed`, if any are named."""
    return Field(name, str, optional=optional, allowed=allowed)


def integer(name: str, *, low: int | None = None, high: int = LARGEST, null: bool = False) -> Field:
    """An integer, from `low` to `high`."""
    return Field(name, int, low=low, high=high, null=null)


def number(
    name: str,
    *,
    low: float | None = None,
    high: float = math.inf,
    null: bool = False,
    finite: bool = True,
    optional: bool = False,
) -> Field:
    """A real number from `low` to `high`; not `finite`: any at all, also NaN."""
    return Field(name, float, optional, null=null, low=low, high=high, finite=finite)


def flag(name: str) -> Field:
    """True or false."""
    return Field(name, bool)


def array(name: str, *shape: str, finite: bool = True, optional: bool = False) -> Field:
    """An array of numbers whose shape is given in letters."""
    return Field(name, np.ndarray, shape=shape, finite=finite, optional=optional)


def integers(name: str, *shape: str, low: int | None = None, high: int = LARGEST) -> Field:
    """An array of integers from `low` to `high`, whose shape is given in letters."""
    return Field(name, np.ndarray, shape=shape, integers=True, low=low, high=high)


def texts(name: str) -> Field:
    """A list of texts, all different."""
    return Field(name, list, texts=True)


def values(name: str, *, null: bool = False, optional: bool = False) -> Field:
    """A list of anything that JSON can hold."""
    return Field(name, list, null=null, optional=optional)


def table(name: str, *, optional: bool = False) -> Field:
    """An object with any names and values that JSON can hold."""
    return Field(name, dict, optional=optional)


def part(name: str, group: Group, *, optional: bool = False) -> Field:
    """An object with declared fields; in an NPZ file they are name.field."""
    return Field(name, dict, optional=optional, group=group)


def parts(name: str, group: Group) -> Field:
    """A list of objects with declared fields; in an NPZ file JSON text."""
    return Field(name, list, group=group)


def arrays(name: str) -> Field:
    """Arrays of any type and shape, in order; in an NPZ file they are name.0, name.1, ..."""
    return Field(name, list, numbered=True)
