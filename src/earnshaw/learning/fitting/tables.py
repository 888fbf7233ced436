"""Tables of data: CSV, Parquet and NPZ files as named columns.

A column is an array of numbers, NaN where a value is missing, or an array of texts. What is wrong
inside a column matters only if it is used: `Table.numbers` and `Table.words` say so, with its line.
NPZ files hold either one array of one axis for every column, or `x` (n, d) and, to learn from, `y`
(n,) or (n, m), whose columns are called x1, x2, ... and y, or y1, y2, ...

Why not pandas or pyarrow for text: the core does without them, and a wrong guess about a table
would become a wrong fit. `pandas.read_csv` fills up a row that is too short, renames the second of
two columns of one name, takes a first line of numbers for names, and a class called None for a
missing value; pyarrow takes the names likewise. Neither looks for the separator by default, nor
remembers the line of a row, which every message here gives. They are faster: 100,000 rows of 20
numbers (39 MB) took 8.0 s here, 0.6 s with pandas and 0.8 s with pyarrow (one run on 2 busy cores;
`python benchmarks/readers.py` shows all of this again).
"""

from __future__ import annotations

import csv
import dataclasses
import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from earnshaw.errors import EarnshawError, MissingExtra, UnknownName
from earnshaw.files.atomic import COPIES, check_size, opened, reading_file
from earnshaw.files.npz import Archive
from earnshaw.limits import BYTES, check_memory

TEXT, PARQUET, NPZ = (".csv", ".tsv", ".txt"), (".parquet", ".pq"), (".npz",)
ENDINGS = (*TEXT, *PARQUET, *NPZ)
SEPARATORS = (",", ";", "\t", "|")
NAMED = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "?", "-"))
BLOCK = 400_000  # cells that are held as texts at once, and 32 rows at least
MOST_COLUMNS = 100_000
CHARACTER = 4  # bytes of one in an array of texts
LISTED = 8  # names in one message
DECIMALS = (".", ",")
DECIMAL_COMMA = re.compile(r"\s*[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?\s*")


@dataclasses.dataclass(frozen=True)
class Table:
    """Columns of the same length by name.

    Attributes:
        columns: arrays (n,) of numbers or texts.
        places: for every row its line in a text file, or its number.
        place: "line" or "row", what these are.
        groups: names that stand for several columns: `x` and `y` of an NPZ file.
    """

    columns: dict[str, np.ndarray]
    places: np.ndarray
    place: str = "row"
    groups: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Of the columns, in the order of the file."""
        return list(self.columns)

    @property
    def count(self) -> int:
        """n, the number of rows."""
        return len(self.places)

    def is_text(self, name: str) -> bool:
        """Whether a column has texts."""
        return self.columns[name].dtype.kind == "U"

    def is_mostly_numbers(self, name: str) -> bool:
        """Whether a column has texts among more numbers, or infinities: a mistake, not a kind."""
        if not self.is_text(name):
            return bool(np.isinf(self.columns[name]).any())
        found = [_number(str(cell)) for cell in self.columns[name]]
        numbers = [one for one in found if one is not None and one == one]
        return len(numbers) > found.count(None)

    def check(self, what: str, names: Iterable[str]) -> None:
        """Refuse names that no column has."""
        for name in names:
            if name not in self.columns:
                raise UnknownName(what, name, self.names)

    def numbers(self, names: Sequence[str], *, spare: bool = False) -> np.ndarray:
        """These columns as an array (n, len(names)) of finite numbers, or what is in the way.

        `spare` columns are those that a user may do without: then the message says how.
        """
        if texts := [name for name in names if self.is_text(name)]:
            self.check_decimals(texts)
            many, have = ("s", "are") if len(texts) > 1 else ("", "is")
            advice = f", or leave out: --drop {','.join(texts)}" if spare else ""
            raise EarnshawError(
                f"column{many} {_listed(texts)} {have} text ({self.first_text(texts[0])}); "
                f"allowed: numbers{advice}"
            )
        found = np.empty((self.count, len(names)))
        for j, name in enumerate(names):
            found[:, j] = self.columns[name]
            bad = np.flatnonzero(~np.isfinite(found[:, j]))
            if len(bad):
                which = "missing" if np.isnan(found[bad[0], j]) else "infinite"
                more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
                advice = f", or --drop {name}" if spare else ""
                raise EarnshawError(
                    f"column {name!r} has a value that is {which} in {self.place} "
                    f"{self.places[bad[0]]}{more}; allowed: finite numbers{advice}"
                )
        return found

    def check_decimals(self, names: Iterable[str]) -> None:
        """Refuse columns of texts that are numbers with decimal commas, and say how to read them.

        Such are columns in which all that is not missing is a number, once a comma is a point.
        """
        for name in names:
            cells = [str(cell) for cell in self.columns[name]]
            if not all(
                _number(cell) is not None or DECIMAL_COMMA.fullmatch(cell) for cell in cells
            ):
                continue
            if not any("." in cell for cell in cells):
                raise EarnshawError(
                    f"column {name!r} has decimal commas ({self.first_text(name)}); "
                    "allowed: decimal points, or --decimal ,"
                )

    def with_decimal_commas(self) -> Table:
        """The table with columns of numbers with decimal commas, all of them, as numbers."""
        found = {}
        for name in filter(self.is_text, self.columns):
            cells = [str(cell) for cell in self.columns[name]]
            if any(map(DECIMAL_COMMA.fullmatch, cells)) and not any("." in cell for cell in cells):
                numbers = [_number(cell.replace(",", ".")) for cell in cells]
                if None not in numbers:
                    found[name] = np.array(numbers, dtype=float)
        return dataclasses.replace(self, columns=self.columns | found) if found else self

    def words(self, name: str) -> np.ndarray:
        """A column as texts (n,), the same for the same value; none may be missing."""
        column = self.columns[name]
        if column.dtype.kind == "U":
            lower = np.char.lower(np.char.strip(column))
            bad = np.flatnonzero(np.isin(lower, list(MISSING - {"-", "none"})))
            if len(bad):
                raise EarnshawError(
                    f"column {name!r} has no value in {self.place} {self.places[bad[0]]}; "
                    "allowed: a class in every row"
                )
            return column
        return np.array([word(value) for value in self.numbers([name])[:, 0]])

    def first_text(self, name: str) -> str:
        """The first entry of a column of texts that is no number, and where it is."""
        for place, text in zip(self.places, self.columns[name], strict=True):
            if _number(text) is None:
                return f"{_cut(str(text))!r} in {self.place} {place}"
        return "numbers that are stored as text"


def word(value: float) -> str:
    """A number as text: 1 for 1.0."""
    return repr(float(value)).removesuffix(".0")


def read_table(
    path: str | os.PathLike[str], separator: str | None = None, decimal: str = "."
) -> Table:
    """The table in a file, or one line on what is wrong with it.

    The ending says the format. The separator of a text file is the one of , ; tab and | that the
    first line has most of, unless given; `decimal` is the sign in its numbers, a point or a comma.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise EarnshawError(f"cannot read {str(path)!r}; allowed endings: {', '.join(ENDINGS)}")
    if separator is not None:
        separator = NAMED.get(separator, separator)
        if ending not in TEXT:
            raise EarnshawError(f"--separator is for {', '.join(TEXT)} files, not {ending}")
        if len(separator) != 1 or separator in '"\r\n':
            raise EarnshawError(
                f"the separator is {separator!r}; allowed: one character, or {', '.join(NAMED)}"
            )
    if decimal not in DECIMALS:
        raise EarnshawError(f"the decimal sign is {decimal!r}; allowed: {' or '.join(DECIMALS)}")
    if decimal == "," and ending not in TEXT:
        raise EarnshawError(f"--decimal is for {', '.join(TEXT)} files, not {ending}")
    with reading_file(path, "it is not a table, or a damaged one"), opened(path) as file:
        if ending in TEXT:
            return _checked(_read_text(file, separator, set(), decimal))
        return _checked(_read_parquet(file) if ending in PARQUET else _read_npz(file))


def _checked(table: Table) -> Table:
    if not table.columns:
        raise EarnshawError("it has no columns")
    if not table.count:
        raise EarnshawError("it has column names but no rows")
    return table


# -- text -----------------------------------------------------------------------------------------


def _read_text(file: BinaryIO, separator: str | None, texts: set[str], decimal: str) -> Table:
    """`texts` are columns that are known to be no numbers."""
    file.seek(0)
    lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        return _read_lines(lines, separator, texts, decimal)
    except UnicodeError:
        raise EarnshawError("it is not text in UTF-8") from None
    except csv.Error as error:
        raise EarnshawError(f"not a table: {error}") from None
    finally:
        lines.detach()  # the file stays open


def _read_lines(
    file: io.TextIOWrapper, separator: str | None, texts: set[str], decimal: str
) -> Table:
    """The same from its lines; read once more where a column is found to be no numbers late."""
    separator = separator or _separator(_first_line(file))
    file.seek(0)
    rows = csv.reader(file, delimiter=separator, skipinitialspace=True)
    names = _header(next((row for row in rows if any(cell.strip() for cell in row)), []))
    blocks: list[list[np.ndarray]] = [[] for _ in names]
    lines: list[int] = []
    late: set[str] = set()
    height = max(BLOCK // len(names), 32)
    while block := list(islice(_cells(rows, len(names), lines), height)):
        for j, column in enumerate(zip(*block, strict=True)):
            found = None if names[j] in texts else _numbers(column, decimal)
            if found is None:
                if names[j] not in texts and blocks[j]:
                    late.add(names[j])
                texts.add(names[j])
                found = _texts(column)
            blocks[j].append(found)
    if late:  # earlier blocks were taken for numbers, and their texts are gone
        file.seek(0)
        return _read_lines(file, separator, texts, decimal)
    columns = {name: _joined(part) for name, part in zip(names, blocks, strict=True)}
    return Table(columns, np.array(lines, dtype=int), "line")


def _texts(cells: Sequence[str]) -> np.ndarray:
    """As texts, all of which take as much memory as the longest."""
    _check_texts(len(cells), max(map(len, cells)))
    return np.array(cells)


def _joined(blocks: list[np.ndarray]) -> np.ndarray:
    if not blocks:
        return np.zeros(0)
    if blocks[0].dtype.kind == "U":
        longest = max(block.dtype.itemsize for block in blocks) // CHARACTER
        _check_texts(sum(map(len, blocks)), longest)
    return np.concatenate(blocks)


def _check_texts(rows: int, longest: int) -> None:
    sizes = {"rows": rows, "characters of the longest text in a column": longest}
    check_memory(sizes, COPIES * CHARACTER / BYTES)


def _first_line(file: io.TextIOBase) -> str:
    for line in file:
        if "\0" in line:
            raise EarnshawError("it is not a text file")
        if line.strip():
            return line
    raise EarnshawError("it is empty; allowed: a line of column names, then rows")


def _separator(first: str) -> str:
    """That of which the first line has most, outside quotes; a comma if there is none."""

    def cells(sign: str) -> int:
        try:
            return len(next(csv.reader([first], delimiter=sign)))
        except csv.Error:  # a cell too long: it has this sign too rarely
            return 0

    return max(SEPARATORS, key=cells)


def _header(cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    if not names or len(names) > MOST_COLUMNS:
        raise EarnshawError(f"it has {len(names)} columns; allowed: from 1 to {MOST_COLUMNS}")
    if all(_number(name) is not None for name in names):
        raise EarnshawError(
            "its first line has numbers only; allowed: a line of column names, then rows"
        )
    counts = Counter(names)
    for number, name in enumerate(names, start=1):
        if not name:
            raise EarnshawError(f"its column {number} has no name")
        if counts[name] > 1:
            raise EarnshawError(f"it has {counts[name]} columns {name!r}; allowed: one")
    return names


def _cells(rows: Any, width: int, lines: list[int]) -> Iterator[list[str]]:
    """The rows that are not blank, each with `width` cells; their lines are kept in `lines`."""
    for row in rows:
        if not row:
            continue
        if len(row) != width:
            raise EarnshawError(
                f"line {rows.line_num} has {len(row)} cells, the first line {width}; "
                "allowed: the same number in every line (or give --separator)"
            )
        lines.append(rows.line_num)
        yield row


def _numbers(cells: Sequence[str], decimal: str) -> np.ndarray | None:
    """As numbers, NaN where nothing is; None if some are texts.

    Where commas are decimal, a number with a point is refused: 1.500 may be meant as 1500.
    """
    if decimal == ",":
        if pointed := [cell for cell in cells if "." in cell and _number(cell) is not None]:
            raise EarnshawError(
                f"it has {_cut(pointed[0])!r} where commas are decimal; allowed: numbers without "
                "points, such as 1500 or 1,5"
            )
        cells = [cell.replace(",", ".") for cell in cells]
    try:
        return np.array(cells, dtype=float)
    except ValueError:
        pass
    numbers = [_number(cell) for cell in cells]
    return None if None in numbers else np.array(numbers, dtype=float)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return float("nan") if cell.strip().lower() in MISSING else None


# -- Parquet and NPZ ------------------------------------------------------------------------------


def arrow() -> Any:
    """pyarrow with its Parquet part, or how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("a Parquet file", "pyarrow", "tables") from None
    return pyarrow


def _read_parquet(file: BinaryIO) -> Table:
    pa = arrow()
    try:
        whole = pa.parquet.ParquetFile(file)
        about = whole.metadata
        check_memory({"rows": about.num_rows, "columns": about.num_columns}, COPIES)
        check_size(sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups)))
        found = whole.read()
        names = _header(found.column_names)
        columns = {name: _plain(pa, found.column(i)) for i, name in enumerate(names)}
    except (pa.ArrowException, OSError):
        raise EarnshawError("not a Parquet file, or a damaged one") from None
    return Table(columns, np.arange(1, found.num_rows + 1))


def _plain(pa: Any, column: Any) -> np.ndarray:
    """Numbers and truth values as numbers, anything else as texts."""
    kind, types = column.type, pa.types
    if types.is_decimal(kind) or types.is_boolean(kind):
        column, kind = column.cast(pa.float64() if types.is_decimal(kind) else pa.int8()), None
    if kind is None or types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind):
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=float)
    return _texts(["", *("" if value is None else str(value) for value in column.to_pylist())])[1:]


def _read_npz(file: BinaryIO) -> Table:
    archive = Archive(file)
    if "format" in archive:
        raise EarnshawError("it is a file of earnshaw, not a table")
    arrays = dict(archive)
    groups: dict[str, list[str]] = {}
    if arrays.get("x", np.zeros(0)).ndim == 2:
        arrays = {name: array for name, array in arrays.items() if name in ("x", "y")}
        for name in list(arrays):
            if arrays[name].ndim == 2:
                table = arrays.pop(name)
                groups[name] = [f"{name}{j + 1}" for j in range(table.shape[1])]
                arrays |= dict(zip(groups[name], table.T, strict=True))
    for name, array in arrays.items():
        if array.ndim != 1 or array.dtype.kind not in "biufU":
            raise EarnshawError(
                f"its array {name!r} has shape {array.shape} and type {array.dtype}; allowed: "
                "arrays of numbers or texts with one axis, or x (n, d) and y"
            )
    counts = {len(array) for array in arrays.values()}
    if len(counts) > 1:
        sizes = ", ".join(f"{name} {len(array)}" for name, array in islice(arrays.items(), LISTED))
        raise EarnshawError(f"its arrays have different lengths ({sizes}); allowed: the same")
    columns = {k: a if a.dtype.kind == "U" else a.astype(float) for k, a in arrays.items()}
    order = [*groups.get("x", []), *(name for name in columns if name not in groups.get("x", []))]
    places = np.arange(1, max(counts, default=0) + 1)
    return Table({name: columns[name] for name in order}, places, groups=groups)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(map(repr, names[:LISTED])) + more


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
