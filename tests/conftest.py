"""What all tests share: a compiler that does not spend minutes on making tiny sizes fast."""

import atexit
import gc
import os
import shutil
import tempfile
from pathlib import Path

import pytest

# Most of the time is compilation. These flags change the speed of the code, and its last bits, not
# its meaning. For what users run, `XLA_FLAGS=--xla_backend_optimization_level=3`: the last wins.
os.environ["XLA_FLAGS"] = " ".join(
    (
        "--xla_backend_optimization_level=1",  # 0 would leave out fused multiply-adds
        "--xla_llvm_disable_expensive_passes=true",
        "--xla_cpu_use_fusion_emitters=false",
        os.environ.get("XLA_FLAGS", ""),
    )
).strip()

# Both workers compile much the same: what one has compiled, the other finds. Workers inherit this.
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    compiled = tempfile.mkdtemp(prefix="earnshaw-tests-")
    atexit.register(shutil.rmtree, compiled, ignore_errors=True)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = compiled
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"

# Tracing makes many objects and little garbage: looking through them was 7% of the time.
gc.set_threshold(50_000, 20, 50)

MAPPINGS = Path("/proc/self/maps")
MANY = 30_000  # of the 65530 that Linux allows a process


@pytest.fixture(autouse=True, scope="module")
def _forget_compiled_code():
    """Every compiled function keeps some memory mappings; a worker must not run out of them."""
    yield
    if MAPPINGS.exists() and MAPPINGS.read_text().count("\n") > MANY:
        import jax

        jax.clear_caches()
        gc.collect()
