"""Columns of any kind as numbers that a network can use, learned from the rows of a fit.

    number    as it is; where one is missing, the median, and a column that says so
    date      days since 1970: 2024-12-31, 31.12.2024 or 2024/12/31, the time of day may follow
    truth     0 or 1
    text      one column a level, those of few rows as one level "other"; missing is a level
    constant  left out, and so are texts of which almost every row has its own

What was learned is plain values, which model files keep.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from earnshaw.errors import EarnshawError

RARE = 0.01  # the part of the rows below which a level is rare, and fewer than
FEWEST = 3  # rows
MOST = 40  # levels of one column
OWN = 0.5  # different texts a row beyond which a column is names or numbers of rows
FAR = 3.0  # times the range of the middle nine tenths beyond it: far outside
ANYWHERE = 1e300
DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?Z?")
DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?= |T|$)")
SLASHED = re.compile(r"\d{4}/\d{2}/\d{2}")
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "nat", "<na>", "?"))
OTHER = "other"


@dataclasses.dataclass(frozen=True)
class Column:
    """What is done with one column.

    Attributes:
        name: of the column. kind: "number", "date", "truth", "text" or "unused".
        levels: of a text, those with a column of their own; "other" and "missing" may follow.
        median: of numbers. gaps: whether some were missing.
        low, high: between these is what was learned from; far outside is flagged.
        why: a word for people.
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    median: float = 0.0
    gaps: bool = False
    low: float = -np.inf
    high: float = np.inf
    why: str = ""

    @property
    def names(self) -> list[str]:
        """Of the inputs that come from it."""
        if self.kind == "unused":
            return []
        if self.kind == "text":
            return [f"{self.name}={level}" for level in self.levels]
        return [self.name, *([f"{self.name} missing"] if self.gaps else [])]

    def coded(self, values: np.ndarray) -> np.ndarray:
        """The inputs (n, len(names)) that come from entries (n,)."""
        if self.kind == "unused":
            return np.zeros((len(values), 0))
        if self.kind == "text":
            words = _words(values)
            known = set(self.levels) - {OTHER}
            words = np.array([w if w in known else OTHER for w in words], dtype=object)
            return np.column_stack([words == level for level in self.levels]).astype(float)
        numbers = self.numbers(values)
        gone = ~np.isfinite(numbers)
        filled = np.where(gone, self.median, numbers)
        return np.column_stack([filled, gone.astype(float)] if self.gaps else [filled])

    def numbers(self, values: np.ndarray) -> np.ndarray:
        """Entries as numbers, NaN where one is missing; refused where one is a text."""
        found = _days(values) if self.kind == "date" else _numbers(values)
        if found is None:
            raise EarnshawError(
                f"column {self.name!r} has entries that are no {self.kind}; allowed: as in the fit"
            )
        return found

    def far(self, values: np.ndarray) -> np.ndarray:
        """Which entries (n,) are far outside what was learned from, or a level never seen."""
        if self.kind == "unused":
            return np.zeros(len(values), dtype=bool)
        if self.kind == "text":
            if OTHER in self.levels:
                return np.zeros(len(values), dtype=bool)
            return np.array([word not in self.levels for word in _words(values)], dtype=bool)
        numbers = self.numbers(values)
        return (numbers < self.low) | (numbers > self.high)

    @property
    def noteworthy(self) -> bool:
        """Whether it is anything but plain numbers."""
        return self.kind != "number" or self.gaps

    def words(self) -> str:
        """One line for people."""
        what = {"text": f"text, {len(self.levels)} levels", "unused": f"left out: {self.why}"}
        gaps = ", missing entries as their median and a column" if self.gaps else ""
        return f"{self.name}: {what.get(self.kind, self.kind)}{gaps}"


@dataclasses.dataclass(frozen=True)
class Columns:
    """All columns of a table, in their order."""

    columns: tuple[Column, ...]

    @property
    def inputs(self) -> list[str]:
        """The names of what networks see."""
        return [name for column in self.columns for name in column.names]

    @property
    def sources(self) -> np.ndarray:
        """The column, of those in use, that each input comes from."""
        used = [column for column in self.columns if column.names]
        return np.repeat(np.arange(len(used)), [len(column.names) for column in used])

    @property
    def bend(self) -> np.ndarray:
        """Which inputs may be seen as quantiles: numbers and dates."""
        found = [
            i == 0 and column.kind in ("number", "date")
            for column in self.columns
            for i in range(len(column.names))
        ]
        return np.array(found, dtype=bool)

    def coded(self, table: Mapping[str, np.ndarray]) -> np.ndarray:
        """The inputs (n, d) of a table."""
        return np.concatenate([one.coded(table[one.name]) for one in self.columns], axis=1)

    def far(self, table: Mapping[str, np.ndarray]) -> np.ndarray:
        """Which rows (n,) have an entry far outside what was learned from."""
        return np.any([one.far(table[one.name]) for one in self.columns], axis=0)

    def plain(self) -> list[dict[str, Any]]:
        """As plain values, for files."""
        keep = [dataclasses.asdict(column) for column in self.columns]
        return [{k: _plain(v) for k, v in one.items()} for one in keep]

    @classmethod
    def of_plain(cls, values: list[dict[str, Any]]) -> Columns:
        """Back from plain values."""
        ends = {"low": -np.inf, "high": np.inf}
        return cls(
            tuple(
                Column(**one | {"levels": tuple(one["levels"])}
                       | {k: v if one[k] is None else one[k] for k, v in ends.items()})
                for one in values
            )
        )  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return list(value) if isinstance(value, tuple) else value


def columns_of(table: Mapping[str, np.ndarray]) -> Columns:
    """What to do with the columns of a table, learned from its rows."""
    found = Columns(tuple(_column(name, values) for name, values in table.items()))
    if not found.inputs:
        raise EarnshawError("no column varies; allowed: some that do")
    return found


def _column(name: str, values: np.ndarray) -> Column:
    if values.dtype.kind == "b":
        return _number_column(name, "truth", values.astype(float))
    for kind, read in (("number", _numbers), ("date", _days)):
        numbers = read(values)
        if numbers is not None:
            return _number_column(name, kind, numbers)
    words, counts = np.unique(_words(values), return_counts=True)
    if len(words) > OWN * len(values) and len(words) > 2:
        return Column(name, "unused", why="almost every row has its own text")
    often = counts >= max(FEWEST, RARE * len(values))
    order = np.argsort(-counts[often], kind="stable")[:MOST]
    levels = sorted(str(word) for word in words[often][order])
    if len(levels) < len(words):
        levels.append(OTHER)
    if len(levels) < 2:
        return Column(name, "unused", why="the same in all rows")
    return Column(name, "text", tuple(levels))


def _number_column(name: str, kind: str, numbers: np.ndarray) -> Column:
    there = numbers[np.isfinite(numbers)]
    if not len(there) or (np.ptp(there) == 0 and len(there) == len(numbers)):
        why = "nothing in it" if not len(there) else "the same in all rows"
        return Column(name, "unused", why=why)
    low, median, high = np.quantile(there, [0.05, 0.5, 0.95])
    room = FAR * (high - low)
    least, most = min(float(there.min()), low - room), max(float(there.max()), high + room)
    gaps = bool(len(there) < len(numbers))
    return Column(name, kind, (), float(median), gaps, float(least), float(most))


def _numbers(values: np.ndarray) -> np.ndarray | None:
    """As numbers with NaN for what is missing; None if some are texts."""
    if values.dtype.kind in "biuf":
        return (
            np.where(np.isinf(values), np.nan, values)
            if values.dtype.kind == "f"
            else values.astype(float)
        )
    if values.dtype.kind in "mM":
        return None
    found = np.empty(len(values))
    for i, value in enumerate(values):
        if value is None or (isinstance(value, str) and value.strip().lower() in MISSING):
            found[i] = np.nan
            continue
        try:
            found[i] = float(value)
        except (TypeError, ValueError):
            return None
    return found


def _days(values: np.ndarray) -> np.ndarray | None:
    """Dates as days since 1970, NaN for what is missing; None if some are none."""
    if values.dtype.kind != "M":
        texts = [_iso(str(value).strip()) for value in values]
        gone = [text.lower() in MISSING for text in texts]
        if all(gone) or not all(g or DATE.fullmatch(t) for g, t in zip(gone, texts, strict=True)):
            return None
        cells = ["NaT" if g else t.rstrip("Z") for g, t in zip(gone, texts, strict=True)]
        try:
            values = np.array(cells, dtype="datetime64[s]")
        except ValueError:
            return None
    seconds = values.astype("datetime64[s]").astype("int64").astype(float)
    return np.where(np.isnat(values), np.nan, seconds / 86400)


def _iso(text: str) -> str:
    """31.12.2024 and 2024/12/31 as 2024-12-31, other texts as they are.

    31/12/2024 stays a text: of 3/4/2024 nobody knows which is the month.
    """
    if found := DOTTED.match(text):
        day, month, year = found.groups()
        return f"{year}-{int(month):02d}-{int(day):02d}{text[found.end() :]}"
    return text.replace("/", "-") if SLASHED.fullmatch(text) else text


def _words(values: np.ndarray) -> np.ndarray:
    """As texts, "missing" for what is."""
    texts = ["" if value is None else str(value).strip() for value in values]
    return np.array(["missing" if t.lower() in MISSING else t for t in texts], dtype=object)


def ranges_of(x: np.ndarray) -> np.ndarray:
    """(2, d), below and above which inputs like x (n, d) are far outside.

    An input that never changes has no say, so whatever it becomes is not.
    """
    low, high = np.quantile(x, [0.05, 0.95], axis=0)
    room = np.where(np.ptp(x, axis=0) > 0, FAR * (high - low), ANYWHERE)
    return np.array([np.minimum(x.min(axis=0), low - room), np.maximum(x.max(axis=0), high + room)])


def table_of(frame: Any) -> dict[str, np.ndarray] | None:
    """The columns of a DataFrame of pandas or polars by name; None for anything else."""
    if not (hasattr(frame, "columns") and hasattr(frame, "dtypes") and hasattr(frame, "shape")):
        return None
    return {str(name): np.asarray(frame[name].to_numpy()) for name in frame.columns}


def is_plain(table: Mapping[str, np.ndarray]) -> bool:
    """Whether all columns are finite numbers, for which nothing is to be done."""
    return all(
        values.dtype.kind in "iufb" and bool(np.all(np.isfinite(values)))
        for values in table.values()
    )
