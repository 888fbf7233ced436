"""What is to be learned from a table: which columns are inputs, answers and weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from earnshaw.errors import EarnshawError
from earnshaw.learning.fitting.columns import Columns, columns_of
from earnshaw.learning.fitting.tables import Table, word

FEW = 20  # texts in the column of the target that may be classes whatever the number of rows
OFTEN = 5  # rows that every class must have on average if there are more
HINT = 10  # whole numbers in the column of a target, up to which it may be meant as classes


@dataclasses.dataclass(frozen=True)
class Problem:
    """Inputs, answers and weights of n rows.

    Attributes:
        x: (n, d). y: (n, m); classes as 0 and 1 for two of them, else one-hot.
        weight: (n,), positive.
        inputs, targets: the names of the columns of x, and of the answers.
        classes: the classes as texts; empty for numbers.
        notes: what a user should know.
        columns: how inputs come from columns that are not all numbers; None if they are.
    """

    x: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    columns: Columns | None = None

    @property
    def origins(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The column of each input, and whether it may be seen as quantiles."""
        return None if self.columns is None else (self.columns.sources, self.columns.bend)

    @property
    def kind(self) -> str:
        """Regression or classification."""
        return "classification" if self.classes else "regression"

    @property
    def loss(self) -> str:
        """What fits are compared by."""
        return {0: "squares", 2: "logistic"}.get(len(self.classes), "softmax")

    @property
    def count(self) -> int:
        """n, the number of rows."""
        return len(self.x)

    @property
    def numbers(self) -> np.ndarray:
        """The number of the class of each row, (n,)."""
        return self.y[:, 0].astype(int) if self.y.shape[1] == 1 else np.argmax(self.y, axis=1)

    def take(self, rows: np.ndarray) -> Problem:
        """The problem of some rows."""
        return dataclasses.replace(
            self, x=self.x[rows], y=self.y[rows], weight=self.weight[rows], notes=()
        )


def problem_of(
    table: Table,
    targets: Sequence[str] = (),
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
    weights: str | None = None,
    classify: bool | None = None,
) -> Problem:
    """The problem that names of columns state; every one not named otherwise is an input.

    A target of texts is a class, one of numbers is a number unless `classify`. Inputs that are
    texts, dates or have missing entries become numbers (`columns.py`).
    """
    table = table.with_decimal_commas()
    targets = _expanded(table, "target column", targets or _implied_target(table))
    features = _expanded(table, "column", features)
    drop = _expanded(table, "column", drop)
    if weights is not None:
        table.check("column of weights", [weights])
    taken = {*targets, *([] if weights is None else [weights])}
    if both := [name for name in features if name in taken or name in drop]:
        raise EarnshawError(
            f"column {both[0]!r} is an input and a target, weight or dropped; allowed: one of them"
        )
    if weights in targets:
        raise EarnshawError(f"column {weights!r} is target and weight; allowed: one of them")
    inputs = features or [name for name in table.names if name not in taken and name not in drop]
    if not inputs:
        raise EarnshawError("no column is left for the inputs; allowed: one or more")
    if table.count < 2:
        raise EarnshawError(f"there is {table.count} row of data; allowed: two or more")
    weight = _weights(table, weights)
    y, classes, notes = _answers(table, targets, classify)
    columns = None
    if any(table.is_text(name) or np.isnan(table.columns[name]).any() for name in inputs):
        table.numbers([name for name in inputs if table.is_mostly_numbers(name)], spare=True)
        chosen = {name: table.columns[name] for name in inputs}
        columns = columns_of({name: values[weight > 0] for name, values in chosen.items()})
        x, inputs = columns.coded(chosen), columns.inputs
        notes += [column.words() for column in columns.columns if column.noteworthy]
    else:
        x = table.numbers(inputs, spare=True)
    used = weight > 0
    if not np.all(used):
        notes.append(f"{np.sum(~used)} of {len(used)} rows have weight 0 and are left out")
        x, y, weight = x[used], y[used], weight[used]
    constant = [name for name, column in zip(inputs, x.T, strict=True) if np.ptp(column) == 0]
    if len(constant) == len(inputs):
        raise EarnshawError("every input is the same in all rows; allowed: some that vary")
    if constant:
        notes.append(f"the same in all rows, so of no use: {', '.join(constant)}")
    named = tuple(inputs), tuple(targets)
    return Problem(x, y, weight, *named, classes, tuple(notes), columns)


def _implied_target(table: Table) -> Sequence[str]:
    if "y" in table.groups or (table.groups and "y" in table.columns):
        return ["y"]
    shown = ", ".join(table.names[:12]) + (", ..." if len(table.names) > 12 else "")
    raise EarnshawError(f"--target is missing; allowed: a column ({shown})")


def _expanded(table: Table, what: str, asked: Sequence[str]) -> list[str]:
    """Names, lists of names with commas, and groups of columns as the names of columns."""
    found: list[str] = []
    for entry in asked:
        whole = entry in table.columns or entry in table.groups
        for name in [entry] if whole else entry.split(","):
            found += table.groups.get(name.strip(), [name.strip()])
    table.check(what, found)
    if again := [name for name in found if found.count(name) > 1]:
        raise EarnshawError(f"{what} {again[0]!r} is given twice; allowed: once")
    return found


def _weights(table: Table, name: str | None) -> np.ndarray:
    if name is None:
        return np.ones(table.count)
    weight = table.numbers([name])[:, 0]
    if np.any(weight < 0):
        place = table.places[np.argmax(weight < 0)]
        raise EarnshawError(
            f"the weight in {table.place} {place} is negative; allowed: 0 or positive"
        )
    if np.sum(weight > 0) < 2:
        raise EarnshawError("fewer than two rows have a positive weight; allowed: two or more")
    return weight


def _answers(
    table: Table, targets: Sequence[str], classify: bool | None
) -> tuple[np.ndarray, tuple[str, ...], list[str]]:
    texts = [name for name in targets if table.is_text(name)]
    if classify is None and len(targets) == 1 and texts:
        classify = True
        table.check_decimals(texts)
        _check_few(table, texts[0])
    notes = []
    if classify is None and len(targets) == 1 and not texts and _is_zero_or_one(table, targets[0]):
        classify = True
        notes = [f"{targets[0]} is 0 or 1, taken as classes; --regress takes them as numbers"]
    if not classify:
        y = table.numbers(targets)
        values = np.unique(y[:, 0])
        few = len(targets) == 1 and len(values) <= HINT and np.all(values == np.round(values))
        hint = f"{targets[0]} has {len(values)} different values, taken as numbers"
        notes = [f"{hint}; --classify takes them as classes"] if few and len(values) > 1 else []
        return y, (), notes
    if len(targets) > 1:
        raise EarnshawError(f"there are {len(targets)} targets; allowed for classes: one")
    name = targets[0]
    if table.is_text(name):
        labels, numbers = np.unique(table.words(name), return_inverse=True)
        classes = tuple(map(str, labels))
    else:
        values, numbers = np.unique(table.numbers([name])[:, 0], return_inverse=True)
        classes = tuple(map(word, values))
    if len(classes) < 2:
        raise EarnshawError(f"all rows are of the class {classes[0]!r}; allowed: two or more")
    if len(classes) == table.count:
        raise EarnshawError(f"every row has a {name} of its own; allowed: classes of several rows")
    y = numbers[:, None].astype(float) if len(classes) == 2 else np.eye(len(classes))[numbers]
    return y, classes, notes


def _is_zero_or_one(table: Table, name: str) -> bool:
    return set(np.unique(table.columns[name])) == {0.0, 1.0}


def _check_few(table: Table, name: str) -> None:
    """Refuse to take a column of numbers with a text among them for classes."""
    count = len(np.unique(table.columns[name]))
    if count > FEW and count * OFTEN > table.count:
        raise EarnshawError(
            f"the target {name!r} is text ({table.first_text(name)}) with {count} different values "
            f"in {table.count} rows; allowed: numbers, or --classify to take them as classes"
        )
