"""The kinds of experiments by name, and the version of the code that makes their results."""

from __future__ import annotations

import functools
import hashlib
import os
from importlib.metadata import version
from pathlib import Path

from earnshaw.errors import UnknownName
from earnshaw.experiments.kinds.kind import Kind
from earnshaw.experiments.kinds.learning import LearningKind
from earnshaw.experiments.kinds.training import TrainingKind

KINDS: dict[str, Kind] = {kind.name: kind for kind in (TrainingKind(), LearningKind())}


def kind_named(name: object) -> Kind:
    """The kind of that name; an unknown one is answered with the known."""
    if not isinstance(name, str) or name not in KINDS:
        raise UnknownName("kind of experiment", str(name), KINDS)
    return KINDS[name]


@functools.cache
def code_version(name: str) -> str:
    """What the results of a kind depend on besides their settings: results are never mixed.

    The version of earnshaw, a digest of the sources involved, the versions of JAX and NumPy, and
    XLA_FLAGS where they matter: "0.1.0-1a2b3c4d jax 0.10.2 numpy 2.4.0".
    """
    kind = kind_named(name)
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for part in kind.sources:
        files = sorted((root / part).rglob("*.py")) if (root / part).is_dir() else [root / part]
        for file in files:
            digest.update(file.relative_to(root).as_posix().encode())
            digest.update(file.read_bytes())
    libraries = " ".join(f"{name} {version(name)}" for name in ("jax", "numpy"))
    words = f"{version('earnshaw')}-{digest.hexdigest()[:8]} {libraries}"
    flags = "" if kind.pins_compiler else " ".join(os.environ.get("XLA_FLAGS", "").split())
    return f"{words} {flags}".strip()
