"""What users see of the package: names, types, dependencies, and what an import does."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import earnshaw as ew

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "earnshaw").rglob("*.py"))


def run(code: str, **environment: str) -> str:
    """What a fresh process prints."""
    import os

    variables = {key: value for key, value in os.environ.items() if key != "JAX_ENABLE_X64"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=variables | environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_names():
    """All public names are there, and `dir` shows them and nothing else."""
    assert dir(ew) == sorted(ew.__all__)
    for name in ew.__all__:
        assert getattr(ew, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ew.nothing


def test_other_doors_show_their_names_only():
    for name in ("sklearn", "exports"):
        module = importlib.import_module(f"earnshaw.{name}")
        assert dir(module) == sorted(module.__all__)


def test_type_checkers_see_the_same_names():
    tree = ast.parse((ROOT / "src/earnshaw/__init__.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {}
    for imported in block.body:
        assert isinstance(imported, ast.ImportFrom)
        for alias in imported.names:
            assert alias.asname == alias.name  # which is what makes it public
            seen[alias.name] = imported.module
    assert sorted(seen) == sorted(ew.__all__)
    for name, module in seen.items():
        assert getattr(sys.modules[module], name) is getattr(ew, name)


def test_types_are_for_users_too():
    assert (ROOT / "src/earnshaw/py.typed").exists()


def imports_of(path: Path) -> set[str]:
    """The packages that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"earnshaw"}


@pytest.mark.slow
def test_every_import_is_a_declared_dependency():
    """And every dependency is imported; what is in an extra is asked for by one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]

    def names(requirements):
        return {re.match(r"[\w.-]+", line)[0].lower() for line in requirements}

    needed = names(project["dependencies"])
    ours = {"test", "lint", "docs"}  # for developers: the sources import none of it
    optional = {n for extra, lines in extras.items() if extra not in ours for n in names(lines)}
    packages = metadata.packages_distributions()
    used = {name for path in SOURCES for name in imports_of(path)}
    by_us = {one.lower() for name in used for one in packages.get(name, [name.replace("_", "-")])}
    assert by_us - needed - optional == set()
    through_others = {"pyarrow"}  # pandas reads Parquet files with it
    assert needed - by_us == set()
    assert optional - by_us - through_others == set()


FLOWS = {
    "first use": "import earnshaw as ew; ew.Gaussian; import jax.numpy as jnp",
    "arrays before the first use": "import earnshaw as ew; import jax.numpy as jnp",
    "JAX first": "import jax.numpy as jnp; import earnshaw as ew",
    "a part of JAX": "import earnshaw; from jax import numpy as jnp",
    "an inner module": "import earnshaw.charges.network; import jax.numpy as jnp",
}


@pytest.mark.quick("a part of JAX")
@pytest.mark.parametrize("flow", FLOWS)
def test_jax_computes_in_float64(flow):
    assert run(f"{FLOWS[flow]}; print(jnp.array([0.1]).dtype, float(jnp.array(0.1)))") == (
        "float64 0.1"
    )


@pytest.mark.slow
def test_an_import_changes_nothing_else():
    code = """
import os, sys
os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "1", "TPU_SKIP_MDS_QUERY": "1"}  # which JAX sets itself
before, finders = dict(os.environ), list(sys.meta_path)
import earnshaw
assert dict(os.environ) == before
assert "jax" not in sys.modules
import jax
assert sys.meta_path == finders  # what waited for JAX has gone
assert dict(os.environ) == before
print(jax.__spec__.name, jax.config.jax_enable_x64)
"""
    assert run(code) == "jax True"


CHILD = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import earnshaw as ew
if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        teacher = pool.submit(ew.random_teacher, "gaussian", 2, 1).result()
    print(teacher.positions.dtype)
"""


@pytest.mark.slow
def test_child_processes_compute_in_float64(tmp_path):
    """They import earnshaw to find what they are to do."""
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "float64", done.stderr
