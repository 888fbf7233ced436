"""Networks as CSV files: a line a unit, as any spreadsheet writes them.

    # activation: relu
    x1,x2,weight
    0.6,0.8,1.5
    -1,0.5,-2

Columns x1, x2, ... are the position, `bias` is the bias, if units have them, `weight` is the
weight. Lines "# name: value" above them say what the other fields of a network's file say:
activation, potential, on, width, parameters and inputs (as JSON); other lines that begin with # are
remarks. Numbers are written to their last bit.
"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import numpy as np

from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import check_size
from earnshaw.files.json_text import parsed

CHARGES = ("positions", "biases", "weights")  # in the order of their columns
TABLES = ("parameters", "inputs")
TEXTS = ("activation", "potential", "on", "format")
NUMBERS = {"width": float, "dim": int, "version": int}
SAYS = re.compile(r"#\s*([A-Za-z_][\w-]*)\s*:(.*)")
COPIES = 25  # of the text in memory: a list of short cells


def csv_text(fields: dict[str, Any]) -> str:
    """The text of the CSV file of a network's fields."""
    said = {name: value for name, value in fields.items() if name not in (*CHARGES, "dim")}
    said |= {name: json.dumps(said[name]) for name in TABLES if name in said}
    lines = [f"# {name}: {value}" for name, value in said.items()]
    biases = ["bias"] if "biases" in fields else []
    lines.append(",".join([*(f"x{i + 1}" for i in range(fields["dim"])), *biases, "weight"]))
    columns = [fields[name] for name in CHARGES if name in fields]
    table = np.column_stack(columns)
    lines += [",".join(map(repr, row)) for row in table.tolist()]
    return "\n".join(lines) + "\n"


def read_csv(content: bytes) -> dict[str, Any]:
    """The fields of a CSV file, to be checked as those of a JSON file are."""
    check_size(len(content), COPIES)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeError:
        raise EarnshawError("it is not text in UTF-8") from None
    found: dict[str, Any] = {}
    rows: list[tuple[int, list[str]]] = []
    for number, line in enumerate(io.StringIO(text), start=1):
        if line.startswith("#"):
            if said := SAYS.match(line):
                name, value = said[1].lower(), said[2].strip()
                if name in found:
                    raise EarnshawError(f"its line {number} says its {name} again")
                found[name] = _value(name, value, number)
        elif line.strip():
            rows.append((number, _cells(line, number)))
    if not rows:
        raise EarnshawError("it is empty; allowed: columns x1, x2, ... and weight, a line a unit")
    charges = _charges([cell.strip() for cell in rows[0][1]], rows[1:])
    return {"dim": charges["positions"].shape[1]} | found | charges


def _cells(line: str, number: int) -> list[str]:
    try:
        return next(csv.reader([line], skipinitialspace=True))
    except csv.Error as error:
        raise EarnshawError(f"its line {number} is no row of a table: {error}") from None


def _value(name: str, text: str, line: int) -> Any:
    """What a line "# name: text" says."""
    if name in TABLES:
        return parsed(text, f"its {name} in line {line} are no JSON")
    if name in TEXTS:
        return text
    if name not in NUMBERS:
        allowed = (
            "activation, potential, parameters, on, width, inputs, and remarks without a colon"
        )
        raise EarnshawError(f"its line {line} says {name!r}; allowed: {allowed}")
    try:
        return NUMBERS[name](text)
    except ValueError:
        raise EarnshawError(f"its {name} in line {line} is no number") from None


def _charges(names: list[str], rows: list[tuple[int, list[str]]]) -> dict[str, Any]:
    """Positions (k, d), biases and weights (k,) from the columns' names and the lines below."""
    others = ["bias", "weight"] if "bias" in names else ["weight"]
    wanted = [*(f"x{i}" for i in range(1, len(names) - len(others) + 1)), *others]
    if sorted(names) != sorted(wanted) or len(names) <= len(others):
        raise EarnshawError(
            "its columns are others; allowed: x1, x2, ... and weight, each once, and bias"
        )
    order = [names.index(name) for name in wanted]
    table = np.empty((len(rows), len(names)))
    for i, (line, cells) in enumerate(rows):
        if len(cells) != len(names):
            raise EarnshawError(
                f"its line {line} has {len(cells)} cells; allowed: {len(names)}, separated by "
                "commas, with decimal points"
            )
        try:
            table[i] = [float(cells[column]) for column in order]
        except ValueError:
            raise EarnshawError(
                f"its line {line} has a cell that is no number; allowed: numbers such as -0.5"
            ) from None
    dim = len(names) - len(others)
    biases = {"biases": table[:, dim]} if "bias" in names else {}
    return {"positions": table[:, :dim], "weights": table[:, -1]} | biases
