"""Columns of any kind as numbers, and back from files."""

import numpy as np
import pandas as pd
import pytest

from earnshaw.errors import EarnshawError
from earnshaw.learning.fitting.columns import Columns, columns_of, is_plain, table_of

FRAME = pd.DataFrame(
    {
        "size": [1.0, np.nan, 3.0, 4.0] * 10,
        "colour": ["red", "blue", "red", None] * 10,
        "rare": ["a"] * 20 + ["b"] * 19 + ["c"],
        "when": ["2024-01-01", "2024-01-03", "", "2024-02-01"] * 10,
        "yes": [True, False] * 20,
        "same": [7] * 40,
        "name": [f"row {i}" for i in range(40)],
        "kind": pd.Categorical(["x", "y"] * 20),
    }
)


@pytest.fixture
def learned():
    return columns_of(table_of(FRAME))


def test_what_becomes_of_each(learned):
    kinds = {column.name: column.kind for column in learned.columns}
    assert kinds == {
        "size": "number",
        "colour": "text",
        "rare": "text",
        "when": "date",
        "yes": "truth",
        "same": "unused",
        "name": "unused",
        "kind": "text",
    }
    inputs = dict(zip(learned.inputs, learned.coded(table_of(FRAME)).T, strict=True))
    assert list(inputs["size"][:4]) == [1, 3, 3, 4]  # the median of 1, 3 and 4
    assert list(inputs["size missing"][:4]) == [0, 1, 0, 0]
    assert list(inputs["colour=missing"][:4]) == [0, 0, 0, 1]
    assert list(inputs["rare=other"][-2:]) == [0, 1]
    assert inputs["when"][1] - inputs["when"][0] == 2
    assert list(inputs["yes"][:2]) == [1, 0]
    assert len(learned.sources) == len(learned.bend) == len(learned.inputs)
    assert learned.sources[learned.inputs.index("colour=red")] == 1
    assert [n for n, b in zip(learned.inputs, learned.bend, strict=True) if b] == ["size", "when"]


@pytest.mark.parametrize(
    "texts",
    [
        ["2024-02-28", "2024-03-01", "2023-12-31"],
        ["28.2.2024", "01.03.2024", "31.12.2023"],
        ["2024/02/28", "2024/03/01", "2023/12/31"],
    ],
)
def test_dates_as_people_write_them(texts):
    found = columns_of({"day": np.array(texts * 4, dtype=object)})
    assert found.columns[0].kind == "date"
    days = found.coded({"day": np.array(texts, dtype=object)})[:, 0]
    assert list(days - days[0]) == [0, 2, -59]  # of a leap year
    unclear = np.array(["3/4/2024", "4/3/2024"] * 6, dtype=object)
    assert columns_of({"day": unclear}).columns[0].kind == "text"


def test_new_rows_and_files(learned):
    again = Columns.of_plain(learned.plain())
    assert again == learned
    new = FRAME.iloc[:3].assign(colour=["green", "red", "blue"], size=[2.0, 1e9, 3.0])
    table = table_of(new)
    np.testing.assert_array_equal(again.coded(table), learned.coded(table))
    assert list(learned.far(table)) == [True, True, False]
    with pytest.raises(EarnshawError, match="'size' has entries that are no number"):
        learned.coded(table | {"size": np.array(["much"] * 3, dtype=object)})


def test_what_needs_nothing():
    assert is_plain(table_of(pd.DataFrame({"a": [1, 2], "b": [0.5, 1]})))
    assert not is_plain(table_of(FRAME))
    assert table_of(np.zeros((2, 2))) is None
    with pytest.raises(EarnshawError, match="no column varies"):
        columns_of({"a": np.ones(3)})


def test_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [1.0, None, 2.0] * 4, "b": ["x", None, "y"] * 4})
    found = columns_of(table_of(frame))
    assert found.inputs == ["a", "a missing", "b=missing", "b=x", "b=y"]
    assert list(found.coded(table_of(frame))[1]) == [1.5, 1, 1, 0, 0]
