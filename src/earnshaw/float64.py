"""Float64, which earnshaw needs: JAX computes in float32 unless it is told otherwise.

And, in the same moment, the disk cache of compiled programs (`disk_cache.py`).

Importing earnshaw switches `jax_enable_x64` on, for this process: at once if JAX is loaded, else in
the moment it is. The alternatives were worse:

- at the first use of earnshaw: arrays that a user makes with jax.numpy between ``import earnshaw``
  and that use would be float32, and a network would be learned from positions rounded to 1e-8;
- through ``os.environ``: every process that the user starts later, of earnshaw or not, would
  compute in float64 too;
- with ``import jax`` here: ``earnshaw --help`` would take a second longer.

Worker processes of sweeps import earnshaw themselves, and so compute in float64 on any machine. To
have float32 in other code of the same process, say so there: ``jnp.zeros(3, dtype="float32")``.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def require_float64() -> None:
    """Switch JAX to float64: now if it is loaded, else when it is."""
    if "jax" in sys.modules:
        _switch(sys.modules["jax"])
    elif not any(isinstance(finder, _WhenLoaded) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WhenLoaded())


def _switch(jax: ModuleType) -> None:
    from earnshaw.disk_cache import keep_compiled

    jax.config.update("jax_enable_x64", True)
    keep_compiled(jax)


class _WhenLoaded:  # a MetaPathFinder; that class loads half of the standard library
    """Finds JAX as Python itself does, once, and switches it to float64 when it has been loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "jax":
            return None
        import importlib.util

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_switch(module: ModuleType) -> None:
                load(module)
                _switch(module)

            spec.loader.exec_module = load_and_switch  # type: ignore[method-assign]
        return spec
