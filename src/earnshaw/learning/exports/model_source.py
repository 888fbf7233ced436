"""A model as a Python file that needs NumPy only, for `earnshaw fit --export`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from earnshaw.learning.fitting.model import Model

HEAD = """

# The columns of x, in their order, and what is predicted.
INPUTS = {inputs!r}
TARGETS = {targets!r}
"""

CLASSES = '''CLASSES = {classes!r}


def probabilities(x: np.ndarray) -> np.ndarray:
    """Of the classes, for inputs of shape (..., {dim}); shape (..., {count})."""
    g = predict(x)
    {outputs}
    chances = np.exp(g - np.max(g, axis=-1, keepdims=True))
    return chances / np.sum(chances, axis=-1, keepdims=True)


def classify(x: np.ndarray) -> np.ndarray:
    """The most probable classes, for inputs of shape (..., {dim}); shape (...)."""
    return np.array(CLASSES)[np.argmax(probabilities(x), axis=-1)]
'''


def source_of(model: Model) -> str:
    """The text of a file with ``predict``, and for classes ``probabilities`` and ``classify``."""
    from earnshaw.learning.exports import numpy_network_source
    from earnshaw.learning.exports.committee_source import numpy_committee_source

    whole = model.committee
    text = numpy_network_source(model) if whole is None else numpy_committee_source(whole)
    text += HEAD.format(inputs=list(model.inputs), targets=list(model.targets))
    if not model.classes:
        return text
    two = len(model.classes) == 2
    return text + CLASSES.format(
        classes=list(model.classes),
        dim=model.network.dim,
        count=len(model.classes),
        outputs="g = np.stack([np.zeros_like(g), g], axis=-1)" if two else "g = np.asarray(g)",
    )
