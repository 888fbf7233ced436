"""Names from files and from users are values of an exported file, never parts of its program."""

from __future__ import annotations

import ast
import json

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.charges.plain_network import Network
from earnshaw.errors import EarnshawError
from earnshaw.learning.exports import numpy_network_source, numpy_source
from earnshaw.learning.exports._writing import Code
from earnshaw.learning.exports.model_source import source_of
from earnshaw.learning.fitting.model_file import load_model

CALL = "__import__('os').system('touch /tmp/earnshaw-was-here')"
HOSTILE = [
    '"""',
    "'''",
    f'"""\n{CALL}\n"""',
    f"'\n{CALL}\n'",
    f'"]; {CALL}; x = ["',
    f"']; {CALL}; x = ['",
    "\\",
    '\\"""',
    "a\\",
    "line\nline",
    "line\r\nline",
    "# comment",
    "{0}{inputs!r}{{}}",
    "%s %d",
    f"\u2028{CALL}\u2029",
    "\x85\x0c\x0b\x1c",
    "\0",
    "\u202e right to left",
    "\ufeff",
    "naïve \U0001f600",
    "\\N{BULLET}\\x41\\u0041",
    CALL,
    "x" * 500,
]
# What a file that we write is made of, and nothing else.
EXPECTED = (ast.Import, ast.Assign, ast.FunctionDef)


def parsed(source: str) -> ast.Module:
    """The program, if it can be written and consists of what it should."""
    tree = ast.parse(source.encode().decode())
    docstring, *rest = tree.body
    assert isinstance(docstring, ast.Expr)
    assert isinstance(docstring.value, ast.Constant)
    assert all(isinstance(statement, EXPECTED) for statement in rest)
    called = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not {"__import__", "eval", "exec", "open", "os"} & called
    return tree


def constant(tree: ast.Module, name: str) -> object:
    (found,) = (
        one.value
        for one in tree.body
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == name
    )
    return ast.literal_eval(found)


def model(folder, inputs, targets, classes=(), **changes):
    """A model that was read from a file with these names."""
    outputs = 1 if len(classes) == 2 or not classes else len(classes)
    fields = {
        "format": "earnshaw-model",
        "version": 1,
        "activation": "leaky-relu",
        "parameters": {"negative_slope": 0.25},
        "inputs": list(inputs),
        "targets": list(targets),
        "classes": list(classes),
        "scores": {},
        "settings": {},
        "positions": [[0.5] * len(inputs)],
        "biases": [0.25],
        "weights": [[1.0] * outputs],
        "linear": [[0.0] * outputs] * len(inputs),
        "intercept": np.arange(outputs, dtype=float).tolist(),
    }
    path = folder / "model.json"
    path.write_text(json.dumps(fields | changes))
    return load_model(path)


def test_names_of_columns_and_classes(tmp_path):
    made = model(tmp_path, HOSTILE, [CALL], HOSTILE)
    source = source_of(made)
    tree = parsed(source)
    assert constant(tree, "INPUTS") == HOSTILE
    assert constant(tree, "TARGETS") == [CALL]
    assert constant(tree, "CLASSES") == HOSTILE
    space: dict = {}
    exec(compile(source, "model.py", "exec"), space)
    # NumPy's texts end where only zeros follow: it is the last class that is found.
    assert space["classify"](np.zeros(len(HOSTILE))) == HOSTILE[-1]


@pytest.mark.parametrize("name", HOSTILE)
def test_one_name_alone(name, tmp_path):
    tree = parsed(source_of(model(tmp_path, [name], [f"y{name}"])))
    assert constant(tree, "INPUTS") == [name]
    assert constant(tree, "TARGETS") == [f"y{name}"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_activations(name):
    """Of a class of one's own, that has the formula of one of the library's."""
    relu = type(ew.activation("relu"))
    own = type("Own", (relu,), {"name": name, "source": name})()
    for source in (
        numpy_source(own),
        numpy_network_source(Network(np.ones((1, 2)), np.ones(1), own)),
    ):
        parsed(source)
        space: dict = {}
        exec(compile(source, "own.py", "exec"), space)
        assert space["activation"](np.array([-1.0, 2.0])).tolist() == [0.0, 2.0]


@pytest.mark.parametrize("name", HOSTILE)
def test_the_words_of_a_docstring_are_its_words(name):
    source = Code(
        [f"title {name}", f"more {name}"], {"X": "1"}, [], ["def f():\n    pass"], {}
    ).file()
    docstring = ast.get_docstring(parsed(source), clean=False)
    kept = "".join(docstring.split())
    assert kept.count("".join(name.replace('"""', "'''").split())) >= 2


@pytest.mark.parametrize(
    "changes",
    [
        {"activation": CALL},
        {"activation": "leaky-relu\n"},
        {"parameters": {CALL: 1.0}},
        {"parameters": {"negative_slope": CALL}},
        {"parameters": {"negative_slope": [CALL]}},
        {"parameters": {"name": "relu"}},
        {"parameters": {"self": 1.0}},
        {"parameters": {"kinks": [CALL]}},
        {"targets": ["\ud800"]},
        {"targets": [["x"]]},
    ],
)
def test_what_is_no_activation_is_not_read(changes, tmp_path):
    with pytest.raises(EarnshawError, match="cannot read") as error:
        model(tmp_path, ["x"], **{"targets": ["y"]} | changes)
    assert "\n" not in str(error.value)
