"""Networks that somebody else has trained, as `Network`: from arrays, scikit-learn or PyTorch.

Neither library is imported: whoever has such an object has imported it. What is read off a model is
checked by its own outputs at random inputs, so that a model whose forward pass does something else
than linear, activation, linear is refused, not misread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from earnshaw.charges.network import given_units
from earnshaw.charges.plain_network import Network
from earnshaw.duality.activation import Activation
from earnshaw.duality.named import activation as named_activation
from earnshaw.errors import EarnshawError

TWO_LAYERS = "allowed: one hidden layer: linear, activation, linear"
OF_SKLEARN = {"identity": "hermite-1", "logistic": "logistic", "tanh": "tanh", "relu": "relu"}
# The modules of PyTorch, with those of their attributes that are parameters of ours.
OF_TORCH: dict[str, tuple[str, dict[str, str]]] = {
    "Tanh": ("tanh", {}),
    "ReLU": ("relu", {}),
    "Sigmoid": ("logistic", {}),
    "GELU": ("gelu", {}),
    "SiLU": ("silu", {}),
    "Mish": ("mish", {}),
    "Softsign": ("softsign", {}),
    "Softplus": ("softplus", {}),
    "Hardtanh": ("hard-tanh", {}),
    "ELU": ("elu", {"alpha": "alpha"}),
    "LeakyReLU": ("leaky-relu", {"negative_slope": "negative_slope"}),
}
# Called as functions they leave no module: then the outputs tell.
GUESSES = ("relu", "tanh", "logistic", "gelu", "silu", "softplus", "elu", "leaky-relu", "softsign")
PASSED_OVER = ("Dropout", "Identity", "Flatten", "Sequential")
PROBES = 64  # random inputs at which a model is asked
AGREE = 1e-4  # relative, of float32 outputs


def from_arrays(
    positions: ArrayLike,
    weights: ArrayLike,
    activation: str | Activation | Callable[[Any], Any] | Sequence[Any],
    *,
    biases: ArrayLike | None = None,
    intercept: ArrayLike | None = None,
    linear: ArrayLike | None = None,
) -> Network:
    """The network sum_j weights_j s(x.positions_j + biases_j) + x.linear + intercept.

    Parameters
    ----------
    positions
        (k, d), the hidden weights.
    weights
        (k,), or (k, m) for m outputs.
    activation
        a name, a formula in x, an activation or a function of one variable; or a list of them,
        one a unit.
    biases
        (k,).
    intercept
        (), or (m,).
    linear
        (d,), or (d, m).

    Returns
    -------
    Network
        It can be called, compared and exported.

    Examples
    --------
    >>> import earnshaw as ew
    >>> network = ew.from_arrays([[1.0, -1.0]], [2.0], "relu", biases=[0.5])
    >>> float(network([[1.0, 0.0]])[0])
    3.0
    """
    arrays = {"biases": biases, "intercept": intercept, "linear": linear}
    given = {name: np.asarray(array) for name, array in arrays.items() if array is not None}
    return Network(np.asarray(positions), np.asarray(weights), given_units(activation), **given)


def from_sklearn(model: Any) -> Network:
    """The network of a fitted ``MLPRegressor``, or of a pipeline that ends with one.

    Scalers before it (``StandardScaler``) become part of its first layer.

    Parameters
    ----------
    model
        fitted, with one hidden layer.

    Returns
    -------
    Network
        as `from_arrays` makes it.

    Examples
    --------
    >>> import earnshaw as ew
    >>> import numpy as np
    >>> from sklearn.neural_network import MLPRegressor
    >>> x = np.linspace(-1, 1, 20)[:, None]
    >>> how = {"activation": "tanh", "solver": "lbfgs", "max_iter": 2000, "random_state": 0}
    >>> model = MLPRegressor(hidden_layer_sizes=3, **how).fit(x, x[:, 0] ** 2)
    >>> network = ew.from_sklearn(model)
    >>> bool(np.allclose(network(x), model.predict(x)))
    True
    """
    steps = [step for _, step in getattr(model, "steps", [])]
    scalers, mlp = steps[:-1], steps[-1] if steps else model
    kind = type(mlp).__name__
    if kind != "MLPRegressor":
        raise EarnshawError(f"this is a {kind}; allowed: MLPRegressor, or a pipeline with one")
    if not hasattr(mlp, "coefs_"):
        raise EarnshawError("this MLPRegressor is not fitted; allowed: fit it first")
    if len(mlp.coefs_) != 2:
        raise EarnshawError(f"it has {len(mlp.coefs_) - 1} hidden layers; {TWO_LAYERS}")
    if mlp.out_activation_ != "identity":
        raise EarnshawError(f"its output is {mlp.out_activation_}; allowed: the sum itself")
    hidden, biases = mlp.coefs_[0].astype(float).T, mlp.intercepts_[0].astype(float)
    for scaler in reversed(scalers):
        if type(scaler).__name__ != "StandardScaler":
            raise EarnshawError(
                f"a {type(scaler).__name__} comes before it; allowed: StandardScaler"
            )
        scale = np.ones(hidden.shape[1]) if scaler.scale_ is None else scaler.scale_
        hidden = hidden / scale
        if scaler.mean_ is not None and scaler.with_mean:
            biases = biases - hidden @ scaler.mean_
    weights, intercept = mlp.coefs_[1].astype(float), mlp.intercepts_[1].astype(float)
    if weights.shape[1] == 1:
        weights, intercept = weights[:, 0], intercept[0]
    return from_arrays(
        hidden, weights, OF_SKLEARN[mlp.activation], biases=biases, intercept=intercept
    )


def from_torch(module: Any) -> Network:
    """The network of a PyTorch module that holds Linear, an activation and Linear, in this order.

    A ``Sequential``, or a module of one's own; there the activation may be a function
    (``torch.relu(...)``), which is told by the outputs.

    Parameters
    ----------
    module
        whose parameters are taken as they are.

    Returns
    -------
    Network
        as `from_arrays` makes it.

    Examples
    --------
    >>> import earnshaw as ew
    >>> import torch
    >>> module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    >>> ew.from_torch(module.double()).units
    3
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(module, torch.nn.Module):
        raise EarnshawError(f"this is a {type(module).__name__}; allowed: a torch.nn.Module")
    leaves = [part for part in module.modules() if not list(part.children())]
    names = [type(part).__name__ for part in leaves]
    linears = [part for part, name in zip(leaves, names, strict=True) if name == "Linear"]
    if len(linears) != 2:
        raise EarnshawError(f"it has {len(linears)} Linear modules; {TWO_LAYERS}")
    others = [
        (part, name)
        for part, name in zip(leaves, names, strict=True)
        if name != "Linear" and name not in PASSED_OVER
    ]
    if len(others) > 1 or any(name not in OF_TORCH for _, name in others):
        found = ", ".join(name for _, name in others)
        raise EarnshawError(f"it holds {found}; {TWO_LAYERS} of {', '.join(OF_TORCH)}")
    inner, outer = linears
    arrays: dict[str, Any] = {
        "positions": _array(inner.weight),
        "biases": None if inner.bias is None else _array(inner.bias),
        "weights": _array(outer.weight).T,
        "intercept": None if outer.bias is None else _array(outer.bias),
    }
    if len(arrays["positions"]) != len(arrays["weights"]):
        raise EarnshawError(f"its Linear modules do not follow each other; {TWO_LAYERS}")
    if others:
        part, kind = others[0]
        name, parameters = OF_TORCH[kind]
        given: dict[str, Any] = {
            ours: float(getattr(part, theirs)) for theirs, ours in parameters.items()
        }
        candidates = [named_activation(name, **given)]
    else:
        candidates = [named_activation(name) for name in GUESSES]
    x = np.random.default_rng(0).standard_normal((PROBES, arrays["positions"].shape[1]))
    wanted = _outputs(torch, module, inner, x)
    for candidate in candidates:
        made = from_arrays(activation=candidate, **arrays)
        if wanted.shape == (PROBES, made.outputs) and _same(made(x), wanted):
            return _of_one_output(made)
    raise EarnshawError(f"its outputs are not those of these layers; {TWO_LAYERS}")


def _array(parameter: Any) -> np.ndarray:
    return parameter.detach().cpu().double().numpy()


def _outputs(torch: Any, module: Any, like: Any, x: np.ndarray) -> np.ndarray:
    """What the module answers, in the mode of evaluation, which it is not left in."""
    training = module.training
    module.eval()
    try:
        with torch.no_grad():
            asked = torch.as_tensor(x, dtype=like.weight.dtype, device=like.weight.device)
            return _array(module(asked))
    finally:
        module.train(training)


def _same(ours: np.ndarray, theirs: np.ndarray) -> bool:
    size = float(np.max(np.abs(theirs))) or 1.0
    return bool(np.max(np.abs(ours - theirs)) <= AGREE * size)


def _of_one_output(made: Network) -> Network:
    """The same network with weights (k,) if it has one output."""
    if made.outputs > 1:
        return made
    intercept = None if made.intercept is None else made.intercept[0]
    return Network(made.positions, made.weights[:, 0], made.activation, made.biases, intercept)
