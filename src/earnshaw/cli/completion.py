"""Names for the shell's completion, read from the source: importing JAX would take seconds."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HOUSE = Path(__file__).parent.parent
METHOD_LISTS = ("SIMULTANEOUS", "NODE_WISE")


def activation_names(incomplete: str = "") -> list[str]:
    """The names under which families register activations, that begin as typed."""
    texts = [path.read_text() for path in sorted((HOUSE / "duality" / "families").glob("*.py"))]
    names = re.findall(r'ACTIVATIONS\.register\("([^"]+)"\)', "\n".join(texts))
    return sorted(name for name in names if name.startswith(incomplete))


def potential_names(incomplete: str = "") -> list[str]:
    """The same, and those of potentials that no activation has."""
    texts = [path.read_text() for path in sorted((HOUSE / "duality" / "families").glob("*.py"))]
    names = re.findall(r'(?:ACTIVATIONS|POTENTIALS)\.register\("([^"]+)"\)', "\n".join(texts))
    return sorted({name for name in names if name.startswith(incomplete)})


def method_names(incomplete: str = "") -> list[str]:
    """The names of methods that begin as typed."""
    tree = ast.parse((HOUSE / "descent" / "methods.py").read_text())
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in METHOD_LISTS:
            names += ast.literal_eval(node.value)
    return [name for name in names if name.startswith(incomplete)]
