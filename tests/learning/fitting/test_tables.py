"""Tables are read as pandas reads them, and what cannot be used is said in one line."""

import numpy as np
import pandas as pd
import pytest

from earnshaw.errors import EarnshawError
from earnshaw.learning.fitting import tables
from earnshaw.learning.fitting.problem import problem_of
from earnshaw.learning.fitting.tables import Table, read_table


def frame(rows=7, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=rows) * 10.0 ** rng.integers(-300, 300, rows),
            "b; c": rng.integers(-9, 9, rows),
            'with "quotes", commas': rng.normal(size=rows),
            "label": ["red, or so", 'a "b"', "two\nlines", "x", "ü", " y", "7"][:rows],
        }
    )


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_text_files_hold_what_pandas_wrote(tmp_path, sign, encoding):
    known = frame()
    known.to_csv(tmp_path / "t.csv", sep=sign, index=False, encoding=encoding)
    found = read_table(tmp_path / "t.csv", separator=sign if sign == "|" else None)
    assert found.names == list(known)
    for name in found.names[:3]:
        np.testing.assert_array_equal(found.columns[name], known[name])
    assert [text.strip() for text in found.columns["label"]] == [
        text.strip() for text in known["label"]
    ]
    # The third row has a line break inside, so that the fourth begins a line later.
    assert list(found.places) == [2, 3, 5, 6, 7, 8, 9]
    assert "'red, or so' in line 2" in found.first_text("label")


def test_decimal_commas(tmp_path):
    """As a spreadsheet in most of Europe writes them: recognised by a fit, said by the reader."""
    path = tmp_path / "t.csv"
    numbers = [1.5, -0.25, 3.0, 2e-3]
    lines = [f"{x}".replace(".", ",") + f";{i};word" for i, x in enumerate(numbers)]
    path.write_text("x;n;w\n" + "\n".join(lines))
    table = read_table(path)
    words = r"'x' has decimal commas \('1,5' in line 2\); allowed: .* --decimal ,"
    with pytest.raises(EarnshawError, match=words):
        table.numbers(["n", "x"])
    np.testing.assert_array_equal(problem_of(table, ["n"], drop=["w"]).x[:, 0], numbers)
    np.testing.assert_array_equal(problem_of(table, ["x"], drop=["w"]).y[:, 0], numbers)
    with pytest.raises(EarnshawError, match="'w' is text"):
        table.numbers(["w"])
    read = read_table(path, decimal=",")
    np.testing.assert_array_equal(read.numbers(["x"])[:, 0], numbers)
    # A point is no decimal point there, and 1.500 may be 1500.
    path.write_text("x;n\n1.500;1\n2,5;2\n")
    with pytest.raises(EarnshawError, match=r"it has '1.500' where commas are decimal"):
        read_table(path, decimal=",")
    with pytest.raises(EarnshawError, match=r"'x' is text \('2,5' in line 3\)"):
        read_table(path).numbers(["x"])
    for bad, file in (("x", path), (",", tmp_path / "t.npz")):
        with pytest.raises(EarnshawError, match="decimal"):
            read_table(file, decimal=bad)


def test_a_column_that_turns_to_text_late_keeps_its_first_entries(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BLOCK", 3)
    cells = ["01", "2.50", "3", "4", "5", "six", "7"]
    (tmp_path / "t.csv").write_text("n,k\n" + "".join(f"{i},{c}\n" for i, c in enumerate(cells)))
    found = read_table(tmp_path / "t.csv")
    assert list(found.columns["k"]) == cells
    assert list(found.columns["n"]) == list(range(7))


def test_parquet_files_hold_what_pandas_wrote(tmp_path, monkeypatch):
    known = frame().assign(
        yes=[True, False] * 3 + [True],
        few=pd.array([1, None, 3, 4, 5, 6, 7], dtype="Int64"),
        kind=pd.Categorical(list("abcabca")),
        day=pd.Timestamp("2024-05-01"),
    )
    known.to_parquet(tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet")
    assert found.names == list(known)
    np.testing.assert_array_equal(found.columns["a"], known["a"])
    np.testing.assert_array_equal(found.columns["yes"], [1, 0, 1, 0, 1, 0, 1])
    assert list(found.columns["kind"]) == list("abcabca")
    with pytest.raises(EarnshawError, match=r"'few' has a value that is missing in row 2;"):
        found.numbers(["a", "few"])
    with pytest.raises(EarnshawError, match=r"columns 'label', 'day' are text .*--drop label,day"):
        found.numbers(["label", "a", "day"], spare=True)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(EarnshawError, match=r"needs pyarrow; install .*earnshaw\[tables\]"):
        read_table(tmp_path / "t.parquet")


def test_npz_files_hold_columns_or_x_and_y(tmp_path):
    x, y = np.arange(12.0).reshape(4, 3), np.arange(4) % 2
    np.savez(tmp_path / "xy.npz", y=y, x=x, other=np.zeros((2, 2)))
    problem = problem_of(read_table(tmp_path / "xy.npz"))
    np.testing.assert_array_equal(problem.x, x)
    np.testing.assert_array_equal(problem.y[:, 0], y)
    assert problem.inputs == ("x1", "x2", "x3")
    np.savez(tmp_path / "many.npz", x=x, y=np.c_[y, 1 - y])
    assert problem_of(read_table(tmp_path / "many.npz")).targets == ("y1", "y2")
    np.savez(tmp_path / "named.npz", u=x[:, 0], v=y, name=np.array(list("abca")))
    found = read_table(tmp_path / "named.npz")
    assert (found.names, found.is_text("name")) == (["u", "v", "name"], True)
    np.testing.assert_array_equal(found.numbers(["v", "u"]), np.c_[y, x[:, 0]])


HEAD = "a,b,y\n1,2,3\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("a,b,y\n", "column names but no rows"),
        ("1,2,3\n4,5,6\n", "numbers only"),
        ("a,a,y\n1,2,3\n", "2 columns 'a'"),
        ("a,,y\n1,2,3\n", "column 2 has no name"),
        (HEAD + "1,2\n", "line 3 has 2 cells, the first line 3"),
        (HEAD + "\n1,2,3,4\n", "line 4 has 4 cells"),
        (HEAD + "1,\xe9,3\n", "not text in UTF-8"),
        ("a\0b,c\n1,2\n", "not a text file"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, content, words):
    (tmp_path / "t.csv").write_bytes(content.encode("latin-1"))
    with pytest.raises(EarnshawError) as error:
        read_table(tmp_path / "t.csv")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_foreign_files_are_refused(tmp_path):
    for ending in (".parquet", ".npz"):
        (tmp_path / f"t{ending}").write_bytes(b"\x7fELF" + bytes(range(256)))
        with pytest.raises(EarnshawError, match=r"not an? (Parquet|NPZ) file"):
            read_table(tmp_path / f"t{ending}")
    np.savez(tmp_path / "pickled.npz", a=np.array([{}, 1], dtype=object))
    np.savez(tmp_path / "deep.npz", a=np.zeros((2, 2)))
    np.savez(tmp_path / "uneven.npz", a=np.zeros(2), b=np.zeros(3))
    for name, words in (
        ("pickled.npz", "pickled"),
        ("deep.npz", "shape"),
        ("uneven.npz", "different lengths"),
        ("none.csv", "no such file"),
        ("t.xls", "allowed endings"),
    ):
        with pytest.raises(EarnshawError, match=words):
            read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("-inf,", "infinite in line 3"),
        ("1.5 km,", r"'b' is text ('1.5 km' in line 3)"),
    ],
)
def test_bad_cells_are_named_with_their_line(tmp_path, cells, words):
    (tmp_path / "t.csv").write_text(f"{HEAD}1,{cells.rstrip(',')},5\n3,4,5\n")
    found = read_table(tmp_path / "t.csv")
    with pytest.raises(EarnshawError) as error:
        problem_of(found, ["y"])
    assert words in str(error.value)
    assert problem_of(found, ["y"], drop=["b"]).inputs == ("a",)


@pytest.mark.parametrize("cell", ["", "NA", "nan"])
def test_missing_numbers_become_a_median_and_a_column(tmp_path, cell):
    (tmp_path / "t.csv").write_text(f"{HEAD}1,{cell},5\n3,4,5\n")
    found = problem_of(read_table(tmp_path / "t.csv"), ["y"])
    assert found.inputs == ("a", "b", "b missing")
    np.testing.assert_array_equal(found.x, [[1, 2, 0], [1, 3, 1], [3, 4, 0]])
    assert found.notes[-1] == "b: number, missing entries as their median and a column"


def table(**columns):
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    arrays = {name: a if a.dtype.kind == "U" else a.astype(float) for name, a in arrays.items()}
    return Table(arrays, np.arange(1, len(next(iter(arrays.values()))) + 1))


def test_targets_of_text_are_classes_and_numbers_are_numbers():
    data = table(a=[1, 2, 3, 4], b=[5, 5, 5, 5], k=[2, 10, 2, 10], t=list("zazb"), w=[1, 0, 2, 3])
    problem = problem_of(data, ["t"], drop=["k,w"])
    assert (problem.classes, problem.loss) == (("a", "b", "z"), "softmax")
    np.testing.assert_array_equal(problem.y, np.eye(3)[[2, 0, 2, 1]])
    np.testing.assert_array_equal(problem.numbers, [2, 0, 2, 1])
    assert any("of no use: b" in note for note in problem.notes)

    problem = problem_of(data, ["k"], features=["a"], weights="w", classify=True)
    assert (problem.classes, problem.loss) == (("2", "10"), "logistic")
    np.testing.assert_array_equal(problem.y, [[0], [0], [1]])
    np.testing.assert_array_equal(problem.weight, [1, 2, 3])
    np.testing.assert_array_equal(problem.x, [[1], [3], [4]])

    problem = problem_of(data, ["k"], features=["a"])
    assert (problem.kind, problem.loss, problem.classes) == ("regression", "squares", ())
    assert "--classify" in problem.notes[0]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "--target is missing; allowed: a column (age, income, name, w)"),
        ({"targets": ["incom"]}, "unknown target column 'incom'; did you mean income?"),
        ({"targets": ["age"], "drop": ["nam"]}, "did you mean name?"),
        ({"targets": ["age"], "features": ["name"]}, "no column varies"),
        ({"targets": ["age"], "features": ["income,age"]}, "'age' is an input and a target"),
        ({"targets": ["age"], "drop": ["income,name,w"]}, "no column is left"),
        ({"targets": ["age", "age"]}, "given twice"),
        ({"targets": ["name"], "features": ["age"]}, "every row has a name of its own"),
        (
            {"targets": ["age"], "features": ["income"], "weights": "w"},
            "weight in row 2 is negative",
        ),
        ({"targets": ["name"], "features": ["age"], "classify": False}, "'name' is text"),
        ({"targets": ["age", "income"], "features": ["w"], "classify": True}, "for classes: one"),
    ],
)
def test_problems_that_make_no_sense(asked, words):
    data = table(age=[1, 2, 3], income=[4, 4, 6], name=["x", "y", "z"], w=[1, -1, 1])
    with pytest.raises(EarnshawError) as error:
        problem_of(data, **asked)
    assert words in str(error.value)


def test_few_rows_classes_and_variation():
    for data, words in (
        (table(a=[1], y=[2]), "1 row"),
        (table(a=[1, 2], y=["x", "x"]), "all rows are of the class 'x'"),
        (table(a=[1, 1], y=[2, 3]), "every input is the same"),
        (table(a=range(30), y=[*map(str, range(29)), "3 km"]), "'3 km' in row 30"),
    ):
        with pytest.raises(EarnshawError) as error:
            problem_of(data, ["y"])
        assert words in str(error.value)
