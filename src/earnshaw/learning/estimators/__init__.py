"""The fits of `learning.fitting` as scikit-learn estimators: `earnshaw.sklearn` for users."""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__, {"NodewiseClassifier": "classifier", "NodewiseRegressor": "regressor"}
)
