"""The house itself: which room may know which. The layers are those of import-linter."""

from functools import cache
from graphlib import TopologicalSorter

import grimp
import pytest


@cache
def imports():
    """Every module of ours with those it imports, late imports inside functions included."""
    graph = grimp.build_graph("earnshaw", exclude_type_checking_imports=True, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_no_two_modules_need_each_other_not_even_by_a_late_import():
    tuple(TopologicalSorter(imports()).static_order())  # raises CycleError, which names the cycle


def private_to(module):
    """The package that alone may touch a module with a leading underscore; None if all may."""
    parts = module.split(".")
    hidden = [i for i, part in enumerate(parts) if part.startswith("_") and part != "__main__"]
    return ".".join(parts[: hidden[0]]) if hidden else None


@pytest.mark.parametrize(
    ("module", "owner"),
    [("a.b._c", "a.b"), ("a._b.c", "a"), ("a.b", None), ("a.__main__", None)],
)
def test_who_owns_a_module(module, owner):
    assert private_to(module) == owner


def test_internal_modules_are_touched_by_their_own_package_only():
    touched = [
        (module, target)
        for module, targets in imports().items()
        for target in targets
        if (owner := private_to(target)) and not f"{module}.".startswith(f"{owner}.")
    ]
    assert not touched
