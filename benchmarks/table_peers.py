"""What people use on tables, each as it comes; inputs standardised and coded where they need it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from xgboost import XGBClassifier, XGBRegressor

SMALL = 1200  # rows up to which a Gaussian process is tried
MLP = {"hidden_layer_sizes": [(50,), (100, 50)], "alpha": [1e-4, 1e-1]}  # four settings


def coder(x: pd.DataFrame, scaled: bool) -> Any:
    """Texts one-hot; numbers with their median where one is missing, and a column that says so."""
    texts = [name for name in x if not pd.api.types.is_numeric_dtype(x[name])]
    numbers = [name for name in x if name not in texts]
    steps = [SimpleImputer(strategy="median", add_indicator=True)]
    steps += [StandardScaler()] if scaled else []
    hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer((make_pipeline(*steps), numbers), (hot, texts))


class Numbered:
    """A classifier that needs classes 0, 1, ...: xgboost."""

    def __init__(self, model: Any) -> None:
        self.model, self.labels = model, LabelEncoder()

    def fit(self, x: Any, y: Any) -> Numbered:
        """Fit to any labels."""
        self.model.fit(x, self.labels.fit_transform(y))
        self.classes_ = self.labels.classes_
        return self

    def predict(self, x: Any) -> np.ndarray:
        """The labels."""
        return self.labels.inverse_transform(self.model.predict(x))

    def predict_proba(self, x: Any) -> np.ndarray:
        """Their probabilities."""
        return self.model.predict_proba(x)


def peers(x: pd.DataFrame, classes: bool, rows: int) -> dict[str, Any]:
    """Every peer by name, for data like these with so many rows to fit."""
    threads = len(os.sched_getaffinity(0))

    def scaled(model: Any) -> Pipeline:
        return make_pipeline(coder(x, scaled=True), model)

    def standard(model: Any) -> Any:
        return TransformedTargetRegressor(scaled(model), transformer=StandardScaler())

    def plain(model: Any) -> Pipeline:
        return make_pipeline(coder(x, scaled=False), model)

    boosted = {"n_jobs": threads, "random_state": 0}
    mlp = {"max_iter": 1000, "early_stopping": False, "random_state": 0}
    if classes:
        found = {
            "linear": scaled(LogisticRegression(max_iter=5000)),
            "SVM": scaled(SVC(probability=True, random_state=0)),
            "MLP": scaled(GridSearchCV(MLPClassifier(**mlp), MLP, cv=3)),
            "forest": plain(RandomForestClassifier(n_jobs=threads, random_state=0)),
            "HistGB": plain(HistGradientBoostingClassifier(random_state=0)),
            "LightGBM": plain(LGBMClassifier(verbose=-1, **boosted)),
            "XGBoost": Numbered(plain(XGBClassifier(**boosted))),
        }
        if rows <= SMALL:
            found["GP"] = scaled(GaussianProcessClassifier(ConstantKernel() * RBF(3.0)))
        return found
    found = {
        "linear": scaled(Ridge()),
        "SVM": standard(SVR()),
        "MLP": standard(GridSearchCV(MLPRegressor(**mlp), MLP, cv=3)),
        "forest": plain(RandomForestRegressor(n_jobs=threads, random_state=0)),
        "HistGB": plain(HistGradientBoostingRegressor(random_state=0)),
        "LightGBM": plain(LGBMRegressor(verbose=-1, **boosted)),
        "XGBoost": plain(XGBRegressor(**boosted)),
    }
    if rows <= SMALL:
        kernel = ConstantKernel() * RBF(3.0) + WhiteKernel(0.1)
        found["GP"] = standard(GaussianProcessRegressor(kernel))
    return found
