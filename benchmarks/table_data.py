"""The tables of `tables.py`: public data sets from a folder, and scikit-learn's own."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.model_selection import KFold, StratifiedKFold

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
NUMBERS = ("yacht", "autompg", "auto_imports", "energy", "concrete", "kin8nm", "parkinsons")
CLASSES = ("sonar", "ionosphere", "pima", "vehicle", "glass", "phoneme", "breast_cancer")
LOADED = {  # linnerud, with 20 rows and three answers, is left out
    "diabetes": datasets.load_diabetes,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "wisconsin": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
}
SPLITS = 5


@dataclass(frozen=True)
class Data:
    """A data set: inputs as a DataFrame, answers (n,), and whether these are classes."""

    name: str
    x: pd.DataFrame
    y: np.ndarray
    classes: bool

    def splits(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows to fit and rows to test, five times; every row is tested once."""
        kind = StratifiedKFold if self.classes else KFold
        return list(kind(SPLITS, shuffle=True, random_state=0).split(self.x, self.y))


def data_of(name: str, folder: Path) -> Data:
    """A data set by name; ends the program with one line where its file is missing."""
    if name in LOADED:
        found = LOADED[name](as_frame=True)
        return Data(name, found.data, found.target.to_numpy(), name != "diabetes")
    path = folder / f"{name}.csv"
    if not path.exists():
        sys.exit(f"tables.py needs {path}; give the folder of the data sets with --data")
    table = pd.read_csv(path)
    x, y = table.iloc[:, :-1], table.iloc[:, -1].to_numpy()
    return Data(name, x, y, name in CLASSES)


def names(kind: str) -> list[str]:
    """Of all data sets with numbers or with classes as answers."""
    if kind == "regression":
        return [*NUMBERS, "diabetes"]
    return [*CLASSES, *(name for name in LOADED if name != "diabetes")]
