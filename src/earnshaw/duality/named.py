"""Activations and potentials by name: `ew.activation` and `ew.potential`.

Every module of `families/` is loaded here, and registers what it defines: a new family is known by
its file being there. PyTorch is not among what they import.
"""

from __future__ import annotations

import inspect
import math
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import jax.numpy as jnp

from earnshaw.duality import families
from earnshaw.duality._registry import ACTIVATIONS, POTENTIALS, Registry
from earnshaw.duality._user import user_function
from earnshaw.duality.activation import Activation, DotProduct, Translation
from earnshaw.duality.cross import cross_dual
from earnshaw.duality.dual import Dual
from earnshaw.duality.pair import LONGEST
from earnshaw.duality.potential import Potential
from earnshaw.duality.series.general import general_moment
from earnshaw.errors import EarnshawError, OutOfRange, UnknownName
from earnshaw.limits import check_dim, check_real, check_width

__all__ = [
    "ACTIVATIONS",
    "ALIASES",
    "POTENTIALS",
    "activation",
    "canonical",
    "check_parameters",
    "is_activation",
    "is_formula",
    "potential",
    "takes_dim",
]

for _module in pkgutil.iter_modules(families.__path__):
    import_module(f"{families.__name__}.{_module.name}")

LEAST_POWER, MOST_POWER = 1e-280, 1e280
_NUMBERED = re.compile(r"hermite-(\d{1,6})")
_FORMULA = re.compile(r"[()+*/^]|(?<![a-z])x\b", re.IGNORECASE)  # what no name has
# Of `potential`, and not of an activation: what else may be given by name.
KEYWORDS = ("dim", "normalize", "width", "max_norm")
ALIASES = {  # what else people call them; a formula where there is no name
    "swish": "silu",
    "sigmoid": "logistic",
    "heaviside": "step",
    "threshold": "step",
    "sgn": "sign",
    "signum": "sign",
    "ramp": "relu",
    "hinge": "relu",
    "rectifier": "relu",
    "lrelu": "leaky-relu",
    "squared-relu": "relu2",
    "hardtanh": "hard-tanh",
    "probit": "normal-cdf",
    "gaussian-cdf": "normal-cdf",
    "sine": "sin",
    "cosine": "cos",
    "exp": "exponential",
    "identity": "hermite-1",
    "linear": "hermite-1",
    "square": "x^2",
    "quadratic": "x^2",
    "cube": "x^3",
    "abs": "abs(x)",
    "arctan": "atan(x)",
    "atan": "atan(x)",
}


def activation(
    name: str | Activation | Callable[[Any], Any],
    *,
    kinks: Sequence[float] = (),
    **parameters: Any,
) -> Activation:
    """An activation by name with its parameters, a formula in x, or a function of one variable.

    ``ew.activation("leaky-relu", negative_slope=0.1)``, ``ew.activation("hermite-3")``,
    ``ew.activation("almost-harmonic", dim=3, radius=0.1)``, ``ew.activation("x*tanh(x)")``,
    ``ew.activation(f, kinks=[0.0])``.

    Parameters
    ----------
    name
        one of `ew.activations()`, a formula in x, an activation, or a function of JAX arrays.
    kinks
        where a function is not smooth.
    **parameters
        those of the named activation.

    Returns
    -------
    Activation
        Of x.w it can be called; of x and w, use `.unit(x, w)`.

    Examples
    --------
    >>> import earnshaw as ew
    >>> float(ew.activation("relu")(2.0))
    2.0
    >>> float(ew.activation("leaky-relu", negative_slope=0.1)(-1.0))
    -0.1
    """
    if isinstance(name, str):
        name = canonical(name)
        if kinks:
            raise EarnshawError(
                "kinks= is for a function of your own; names and formulas know theirs"
            )
        if is_formula(name):
            if parameters:
                raise EarnshawError(f"the formula {name} has no parameter {min(parameters)!r}")
            from earnshaw.duality.formulas.activation import (
                formula_activation,  # loads SymPy: not until it is needed
            )

            return formula_activation(name)
        if numbered := _NUMBERED.fullmatch(name):
            name, parameters = "hermite", {"degree": int(numbered[1]), **parameters}
        made: Activation = _make(ACTIVATIONS, name, parameters)
        return made
    if parameters:
        raise EarnshawError(f"parameters {sorted(parameters)} need an activation given by name")
    if isinstance(name, Activation):
        if kinks:
            raise EarnshawError("kinks= is for a function of your own; activations know theirs")
        return name
    return user_function(name, kinks)


def canonical(name: str) -> str:
    """The name that the library uses: swish is silu, ReLU is relu. Others are left as they are."""
    if name in ACTIVATIONS or name in POTENTIALS:
        return name
    plain = name.lower().replace("_", "-")
    if plain in ACTIVATIONS or plain in POTENTIALS or _NUMBERED.fullmatch(plain):
        return plain
    return ALIASES.get(plain, name)


def is_formula(name: str) -> bool:
    """Whether a text that is no name is meant as a formula in x, such as ``x*tanh(x)``."""
    return _FORMULA.search(name) is not None


def is_activation(name: str) -> bool:
    """Whether `ew.activation` takes it: a name or a formula. Some potentials have other names."""
    name = canonical(name)
    return name in ACTIVATIONS or _NUMBERED.fullmatch(name) is not None or is_formula(name)


def takes_dim(name: str) -> bool:
    """Whether the named activation is made for one dimension."""
    name = canonical(name)
    return name in ACTIVATIONS and "dim" in inspect.signature(ACTIVATIONS[name]).parameters


def potential(
    activation: str | Activation | Callable[[Any], Any],
    second: str | Activation | Callable[[Any], Any] | int | None = None,
    *,
    dim: int | None = None,
    normalize: bool = True,
    width: float = 1.0,
    kinks: Sequence[float] = (),
    max_norm: float = 4.0,
    **parameters: Any,
) -> Potential:
    """The potential Phi(theta, w) = E[sigma(X, theta) sigma(X, w)] of an activation, or of two.

    Parameters
    ----------
    activation
        a name (``"relu"``, ``"hermite-3"``, ``"almost-harmonic"``, ...; also the
        potentials ``"harmonic"``, ``"lambda-harmonic"``, ``"distance"``, which no activation
        has), a formula in x (``"x*tanh(x)"``), an activation object, or any elementwise
        function of one variable.
    second
        the activation of w, if it is another one: ``ew.potential("relu", "erf")``. A number
        is the dimension.
    dim
        the dimension d. On the sphere it is needed only for the Laplacian.
    normalize
        on the sphere, divide by the value at rho = 1, as the papers do.
    width
        the standard deviation of the Gaussian inputs.
    kinks
        where a user's own function is not smooth.
    max_norm
        for activations without a closed form, the longest weight vector for which
        ``.moment`` must be accurate.
    parameters
        those of the named activation (``radius``, ``core``, ``alpha``, ...).

    Returns
    -------
    Zonal, Radial or Separable
        A potential: a function of rho, of r, or a product over coordinates.

    Examples
    --------
    >>> import earnshaw as ew
    >>> phi = ew.potential("relu", dim=10)
    >>> round(float(phi(0.5)), 6), phi.method
    (0.608998, 'closed form')
    >>> float(ew.potential("gaussian", dim=2)(0.0))  # of the distance r
    1.0
    """
    pair = isinstance(second, (str, Activation)) or callable(second)
    if second is not None and not pair:
        if dim is not None:
            raise EarnshawError(f"two dimensions, {second!r} and {dim!r}; allowed: dim=")
        dim = second  # type: ignore[assignment]
    dim = None if dim is None else check_dim(dim)
    width = check_width(width)
    if pair:
        if kinks or parameters:
            raise EarnshawError(
                "two activations with parameters: make each with activation(name, ...) first"
            )
        return cross_dual(_dot_product(activation), _dot_product(second), dim, normalize, width)
    max_norm = check_real("max_norm", max_norm, 0.0, LONGEST)
    if isinstance(activation, str):
        activation = canonical(activation)
        check_parameters(activation, parameters, say=KEYWORDS)
    if isinstance(activation, str) and activation in POTENTIALS:
        given = parameters if dim is None else {"dim": dim, **parameters}
        made: Potential = _make(POTENTIALS, activation, given)
        return made
    try:
        source = _activation(activation, kinks=kinks, **parameters)
    except UnknownName:
        known = {*ACTIVATIONS, *POTENTIALS}
        raise UnknownName("activation or potential", str(activation), known, ALIASES) from None
    if isinstance(source, Translation):
        return _autocorrelation(source, dim)
    assert isinstance(source, DotProduct)
    return _dual(source, dim, normalize, width, max_norm)


def check_parameters(
    name: str,
    parameters: Mapping[str, Any],
    also: Iterable[str] = (),
    say: Iterable[str] = (),
) -> None:
    """Refuse names that are no parameters of the named activation or potential.

    Parameters that come from a command line or a file are checked here before they become keywords
    of a function, whose other arguments could have the same names. `also` may be there too; `say`
    are keywords of that function itself, which a refusal names as well.
    """
    name = canonical(name)
    registry = POTENTIALS if name in POTENTIALS else ACTIVATIONS
    maker = "hermite" if _NUMBERED.fullmatch(name) else name
    if maker in registry:
        _check_among(name, inspect.signature(registry[maker]).parameters, parameters, also, say)
    elif is_formula(name):  # of other names `potential` says that nobody knows them
        _check_among(name, (), parameters, also, say)


def _check_among(
    name: str,
    known: Iterable[str],
    parameters: Iterable[str],
    also: Iterable[str] = (),
    say: Iterable[str] = (),
) -> None:
    for given in parameters:
        if given not in known and given not in also:
            allowed = ", ".join(dict.fromkeys([*known, *also, *say])) or "none"
            raise EarnshawError(f"{name} has no parameter {given!r}; allowed: {allowed}")


_activation = activation  # `potential` has a parameter of that name


def _make(registry: Registry, name: str, parameters: Mapping[str, Any]) -> Any:
    """registry[name](**parameters); unknown names and keywords are answered with the known."""
    if name not in registry:
        raise UnknownName(registry.what, name, registry, ALIASES)
    known = inspect.signature(registry[name]).parameters
    _check_among(name, known, parameters)
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in parameters:
            raise EarnshawError(f"{name} needs the parameter {key}=")
    return registry[name](**parameters)


def _dual(
    activation: DotProduct, dim: int | None, normalize: bool, width: float, max_norm: float
) -> Dual:
    """The closed form, or else the general way, as a potential."""
    variance = width**2
    form = activation.moment()
    if form is None:
        form = general_moment(activation, variance, max_norm)
    power = float(form.on_sphere(jnp.asarray(1.0), variance))
    if not math.isfinite(power):
        allowed = f"a finite value; {activation.name} grows too fast for this width"
        raise OutOfRange("E[s(X)^2]", power, allowed)
    if normalize and power <= 0:
        raise OutOfRange("E[s(X)^2]", power, "a positive value, or normalize=False for the raw one")
    if power and not LEAST_POWER < power < MOST_POWER:
        allowed = f"a number in ({LEAST_POWER:g}, {MOST_POWER:g}), where float64 keeps its digits"
        raise OutOfRange("E[s(X)^2]", power, allowed)
    return Dual(
        form=form,
        power=power,
        scale=1 / power if normalize else 1.0,
        variance=variance,
        dim=dim,
        label=activation.name,
        reference=activation.source,
        origin=activation,
    )


def _dot_product(given: Any) -> DotProduct:
    """An activation s(x.w), of which two can be paired."""
    made = activation(given)
    if not isinstance(made, DotProduct):
        raise EarnshawError(
            f"{made.name} is no function of x.w; allowed for two activations: s(x.w)"
        )
    return made


def _autocorrelation(activation: Translation, dim: int | None) -> Potential:
    found = activation.autocorrelation()
    if dim is not None and dim != activation.dim:
        raise EarnshawError(f"{activation.name} was made for dimension {activation.dim}, not {dim}")
    return found
