"""All that is asked of a training run, with its defaults: plain values that a store can hold."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from earnshaw.errors import EarnshawError, OutOfRange, UnknownName
from earnshaw.limits import check_integer, check_memory, check_real

LINEAR = "linear"  # an output node without activation
LANES = 5  # seeds that are trained together
MOST_LAYERS = 100  # every layer is compiled on its own
MOST_RECORDS = 100_000


@dataclasses.dataclass(frozen=True)
class Training:
    """A student trained on a random teacher of layers of weights: f(x) = s(W_D s(... s(W_1 x))).

    Attributes
    ----------
    depth
        layers of weights D, the output's among them; 2 is the papers' two-layer network.
    width
        units of every hidden layer.
    dim
        of the inputs X ~ N(0, I).
    activation
        the name of a dot-product activation of the library.
    gain
        g in s(g z): tanh with gain 1/2 is the logistic function from -1 to 1.
    output
        the activation of the output node (with the same gain), or "linear".
    bias
        whether units have biases.
    weight_scale
        the standard deviation of all weights and biases, teacher's and student's.
    student_depth
        of the student, where they are not the teacher's.
    student_width
        of the student, where they are not the teacher's.
    data
        "fresh" draws new samples for every step, "fixed" keeps one set.
    samples
        the size of that set; None where samples are fresh.
    batch
        samples a step; None with a fixed set, of which every step takes all.
    loss
        "mean" or "sum" of (f - g)^2 over the samples of a step.
    step
        the step size alpha of theta <- theta - alpha grad.
    iterations
        steps in all.
    precision
        "float64" or "float32".
    test_samples
        over which the test error is averaged.
    records
        about how many times on the way, equally spaced in their logarithm.

    Examples
    --------
    >>> import earnshaw as ew
    >>> ew.Training(width=5).depth
    2
    """

    depth: int = 2
    width: int = 10
    dim: int = 5
    activation: str = "tanh"
    gain: float = 1.0
    output: str = "tanh"
    bias: bool = False
    weight_scale: float = 1.0
    student_depth: int | None = None
    student_width: int | None = None
    data: str = "fresh"
    samples: int | None = None
    batch: int | None = None
    loss: str = "mean"
    step: float = 1e-3
    iterations: int = 1_000_000
    precision: str = "float64"
    test_samples: int = 5000
    records: int = 60

    def __post_init__(self) -> None:
        # Numbers are kept as int and float, whatever was given: 1 and 1.0 are the same run.
        for name in ("depth", "width", "dim", "iterations", "test_samples", "records"):
            self._keep(name, check_integer(name, getattr(self, name), 1))
        for name in ("student_depth", "student_width"):
            if getattr(self, name) is not None:
                self._keep(name, check_integer(name, getattr(self, name), 1))
        for name in ("gain", "weight_scale", "step"):
            self._keep(name, check_real(name, getattr(self, name), 0.0))
        if not isinstance(self.bias, bool):
            raise OutOfRange("bias", self.bias, "true or false")
        _among("data", self.data, ("fresh", "fixed"))
        _among("loss", self.loss, ("mean", "sum"))
        _among("precision", self.precision, ("float64", "float32"))
        if self.data == "fresh":
            if self.samples is not None:
                raise EarnshawError("samples= is the size of a fixed set; allowed: data = 'fixed'")
            self._keep("batch", check_integer("batch", 1 if self.batch is None else self.batch, 1))
        else:
            if self.batch is not None:
                raise EarnshawError("every step takes all of a fixed set; allowed: no batch")
            samples = 1000 if self.samples is None else self.samples
            self._keep("samples", check_integer("samples", samples, 1))
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Refuse what would not fit into memory, for `LANES` seeds trained together."""
        for depth in (self.depth, self.student_depth or 1):
            check_integer("depth", depth, 1, MOST_LAYERS)
        check_integer("records", self.records, 1, MOST_RECORDS)
        depth, width = map(max, (self.depth, self.width), self.student_shape)
        weights = {"layers": depth, "units": width, "inputs": max(width, self.dim)}
        check_memory({"seeds": LANES} | weights, copies=4)
        samples = {"samples": max(self.samples_a_step, self.test_samples)}
        check_memory({"seeds": LANES} | samples | {"nodes": self.dim + depth * width}, copies=4)

    def _keep(self, name: str, value: float) -> None:
        object.__setattr__(self, name, value)

    @property
    def samples_a_step(self) -> int:
        """How many samples one update sees."""
        taken = self.batch if self.data == "fresh" else self.samples
        assert taken is not None
        return taken

    @property
    def student_shape(self) -> tuple[int, int]:
        """Depth and width of the student."""
        return self.student_depth or self.depth, self.student_width or self.width

    def sizes(self, student: bool = False) -> tuple[int, ...]:
        """The numbers of nodes from the inputs to the output, e.g. (5, 10, 1) for depth 2."""
        depth, width = self.student_shape if student else (self.depth, self.width)
        return (self.dim, *[width] * (depth - 1), 1)

    def parameters(self) -> int:
        """How many numbers the student has to learn."""
        sizes = self.sizes(student=True)
        return sum((a + self.bias) * b for a, b in itertools.pairwise(sizes))

    def marks(self) -> list[int]:
        """The iterations at which the test error is taken: 0, the last, and some between."""
        between = range(self.records)
        spaced = {round(self.iterations ** ((i + 1) / self.records)) for i in between}
        return sorted({0, *spaced, self.iterations})


def training(settings: Mapping[str, Any]) -> Training:
    """Those settings, checked; unknown ones are named, with the known."""
    known = [field.name for field in dataclasses.fields(Training)]
    for name in settings:
        if name not in known:
            raise EarnshawError(f"training has no setting {name!r}; allowed: {', '.join(known)}")
    asked = Training(**settings)
    _check_activation("activation", asked.activation)
    if asked.output != LINEAR:
        _check_activation("output", asked.output)
    return asked


def _check_activation(what: str, name: Any) -> None:
    from earnshaw.duality.activation import DotProduct
    from earnshaw.duality.named import activation

    if not isinstance(name, str):
        raise OutOfRange(what, name, "the name of an activation")
    allowed = "functions of x.w without parameters, such as tanh or hermite-3"
    try:
        found = activation(name)
    except UnknownName:
        raise
    except EarnshawError:  # it needs parameters
        raise OutOfRange(what, name, allowed) from None
    if not isinstance(found, DotProduct):
        raise OutOfRange(what, name, allowed)


def _among(what: str, value: object, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise OutOfRange(what, value, " or ".join(allowed))


def work(settings: Training) -> float:
    """About how long a block takes, in updates of one weight: for the time that is left.

    As measured: a step costs as much as 500 weights, drawing a number as 16, compiling as 3e8.
    """
    samples = settings.samples_a_step * (settings.parameters() + 16 * settings.dim)
    return 3e8 + settings.iterations * (500.0 + samples)


def seeds_of(seeds: int | Iterable[int]) -> tuple[int, ...]:
    """0, 1, ... if a number is given, or those given, each once."""
    if isinstance(seeds, (int, str)) or not isinstance(seeds, Iterable):
        return tuple(range(check_integer("seeds", seeds, 1)))
    wanted = tuple(dict.fromkeys(check_integer("seed", seed, 0, 2**31 - 1) for seed in seeds))
    check_integer("the number of seeds", len(wanted), 1)
    return wanted
