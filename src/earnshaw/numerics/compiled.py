"""`jax.jit` that spends seconds on what runs for seconds, not on what runs for milliseconds.

XLA's newer code generator and LLVM's expensive passes make loops over large arrays faster, and take
half to two thirds of the time of compiling a loss of a few units, which is then done in
microseconds either way. `compiled` asks for them only where a matrix among the arguments is large.
Measured on `earnshaw learn --activation erf --dim 3 --units 3`, nothing on disk, others at work on
the same cores: 58 CPU s with these passes and the old code generator, 38 without them.

Options are part of the name of a program in the disk cache. Within another compiled function this
is a plain `eqx.filter_jit`: the outermost decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import equinox as eqx
import jax
from jax.extend.core import get_opaque_trace_state

from earnshaw import numerics  # noqa: F401  (float64)

F = TypeVar("F", bound=Callable[..., Any])

SMALL = 2**10  # entries of the largest matrix, along the last two axes of an array
QUICKLY = {
    "xla_backend_optimization_level": 1,  # 0 would leave out fused multiply-adds
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
}
_OUTERMOST = get_opaque_trace_state(convention="nnx")


def compiled(function: F) -> F:
    """The function compiled, as `eqx.filter_jit` does: quickly for small arguments."""
    thorough = eqx.filter_jit(function)
    quick = eqx.filter_jit(function, compiler_options=QUICKLY)  # type: ignore[call-overload]

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        if get_opaque_trace_state(convention="nnx") != _OUTERMOST:
            return thorough(*given, **named)
        shapes = (getattr(leaf, "shape", ()) for leaf in jax.tree.leaves((given, named)))
        largest = max((math.prod(shape[-2:]) for shape in shapes), default=0)
        return (quick if largest <= SMALL else thorough)(*given, **named)

    return call  # type: ignore[return-value]
