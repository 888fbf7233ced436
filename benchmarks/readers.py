"""Reading tables: `earnshaw fit`'s own reader beside pandas and pyarrow (extra `tables`).

    python benchmarks/readers.py                     (a few seconds)
    python benchmarks/readers.py --rows 1000000

Two questions. What does each reader make of tables that are not quite right, where a wrong guess
would become a wrong fit? And how long does it take for a good one?
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow.csv

from earnshaw.learning.fitting.tables import read_table

COLUMNS, REPEATS = 20, 3
AWKWARD = {
    "a row with too few cells": "x,y\n1,2\n3\n",
    "two columns of one name": "x,x\n1,2\n",
    "no line of names": "1,2\n3,4\n5,6\n",
    "a class called None": "x,y\n1,None\n2,some\n",
    "semicolons": "x;y\n1;2\n",
}
READERS: dict[str, Callable[[Path], Any]] = {
    "ours": read_table,
    "pandas": pandas.read_csv,
    "pyarrow": pyarrow.csv.read_csv,
}


def outcome(reader: Callable[[Path], Any], path: Path) -> str:
    """The columns and the first value of the last one, or the error."""
    try:
        table = reader(path)
    except Exception as error:
        return f"error: {' '.join(str(error).split())}".replace(str(path), "FILE")[:110]
    if isinstance(table, pandas.DataFrame):
        columns = {str(name): table[name].to_numpy() for name in table.columns}
    elif isinstance(table, pyarrow.Table):
        names = table.column_names
        columns = {f"{name} ({i})": table.column(i).to_pylist() for i, name in enumerate(names)}
    else:
        columns = table.columns
    last = list(columns.values())[-1]
    return f"{', '.join(columns)}: {len(last)} rows, the last column {list(last[:1])}..."


def main() -> None:
    """Both tables, on standard output."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for what, text in AWKWARD.items():
            path.write_text(text)
            print(f"{what}:")
            for name, reader in READERS.items():
                print(f"    {name:8} {outcome(reader, path)}")
        numbers = np.random.default_rng(0).standard_normal((rows, COLUMNS))
        names = [f"x{j}" for j in range(COLUMNS)]
        pandas.DataFrame(numbers, columns=names).to_csv(path, index=False)
        print(f"{rows} rows of {COLUMNS} numbers, {path.stat().st_size / 1e6:.0f} MB, best of 3:")
        for name, reader in READERS.items():
            taken = []
            for _ in range(REPEATS):
                began = time.perf_counter()
                reader(path)
                taken.append(time.perf_counter() - began)
            print(f"    {name:8} {min(taken):.2f} s")


if __name__ == "__main__":
    main()
