"""scikit-learn estimators that grow two-layer networks node by node: the extra `sklearn`.

from earnshaw.sklearn import NodewiseRegressor

model = NodewiseRegressor().fit(X, y)     # finds the number of units
model.n_units_, model.units_, model.predict(X)
"""

from __future__ import annotations

from earnshaw.errors import MissingExtra

try:
    import sklearn  # noqa: F401
except ImportError:
    raise MissingExtra("earnshaw.sklearn", "scikit-learn", "sklearn") from None

from earnshaw.learning.estimators.classifier import NodewiseClassifier
from earnshaw.learning.estimators.regressor import NodewiseRegressor

__all__ = ["NodewiseClassifier", "NodewiseRegressor"]


def __dir__() -> list[str]:
    """The public names and nothing else."""
    return list(__all__)
