"""The house itself: which room may know which. The layers are those of import-linter."""

import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

# Of ours that one way through the house may enter: 35, and three between a learner and its teacher
# (`oracle.py`, `asked_loss.py`, `charged_loss.py`); and three that give what was learned as plain
# values and as a network's file (`results.py`, `network_file.py`, `kind.py`); and three since
# students are brought to their smallest form (`smallest.py`); and `inputs/gaussian.py`, which
# checks means and covariances. To be taken back.
FILES = 45
WALK = """
import os, sys, threading
import earnshaw
from earnshaw.cli.main import main

house, entered = os.path.dirname(earnshaw.__file__) + os.sep, set()

def look(frame, event, _):
    where = frame.f_code.co_filename
    if event == "call" and where.startswith(house) and where not in entered:
        while frame is not None and "importlib" not in frame.f_code.co_filename:
            frame = frame.f_back
        if frame is None:  # not what is called while something is imported
            entered.add(where)

sys.argv[1:] = "learn --activation relu --dim 5 --units 3 --json".split()
threading.setprofile(look)
sys.setprofile(look)
try:
    main()
finally:
    sys.setprofile(None)
    print(*sorted(entered), sep="\\n", file=sys.stderr)
"""


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


@pytest.mark.slow
def test_one_way_through_the_house_enters_few_files():
    """Learning three relu units, from the command line to the certificate and back."""
    walked = subprocess.run([sys.executable, "-c", WALK], capture_output=True, text=True)
    entered = [line for line in walked.stderr.splitlines() if line.endswith(".py")]
    assert walked.returncode == 0
    assert any(file.endswith("certificate.py") for file in entered)  # it was watched to the end
    assert len(entered) <= FILES, entered


FILE = re.compile(r"`((?:\w+/)*\w+\.py)`")


def test_files_that_comments_and_pages_point_to_are_there():
    root = Path(__file__).parents[1]
    folders = ("src", "tests", "benchmarks", "examples")
    code = [path for folder in folders for path in (root / folder).rglob("*.py")]
    pages = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").glob("*.md")]
    there = [f"/{path.relative_to(root)}" for path in code]
    lost = {
        (path.name, name)
        for path in (*code, *pages)
        for name in FILE.findall(path.read_text())
        if not any(file.endswith(f"/{name}") for file in there)
    }
    assert not lost
