"""What all tests share: a compiler that does not spend minutes on making tiny sizes fast."""

import gc
import importlib.util
import os
import shutil
from fnmatch import fnmatch
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

# Both workers compile much the same, and the next run the same again: what one has compiled, the
# others find. Workers inherit this.
COMPILED = Path(__file__).parents[1] / ".jax_cache"
LARGEST = 2 * 2**30  # bytes that it may grow to, before it begins anew
CACHE = {
    "JAX_COMPILATION_CACHE_DIR": str(COMPILED),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
for name, value in CACHE.items():
    os.environ.setdefault(name, value)

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


def pytest_configure(config):
    """Begin with an empty cache where the old one has grown too large; not in xdist's workers."""
    if not hasattr(config, "workerinput"):
        files = [path for path in COMPILED.glob("*") if path.is_file()]
        if sum(path.stat().st_size for path in files) > LARGEST:
            shutil.rmtree(COMPILED)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Cases that their test's `quick` does not name are slow; without PyTorch its tests skip."""
    missing = importlib.util.find_spec("torch") is None
    for item in items:
        quick = item.get_closest_marker("quick")
        if quick and not any(fnmatch(item.callspec.id, case) for case in quick.args):
            item.add_marker(pytest.mark.slow)
        if missing and item.get_closest_marker("torch"):
            item.add_marker(pytest.mark.skip(reason="PyTorch is not installed: .ci/run does that"))
