"""What all results can do: pictures, a few lines of text, plain values, a notebook's HTML."""

from __future__ import annotations

import base64
import html
import json
import math
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.experiments.training.settings import training
from earnshaw.landscape.certificate import Certificate
from earnshaw.landscape.hunting.critical_points import CriticalPoint, Landscape
from earnshaw.learning.run import Run, Trace
from earnshaw.results import LINES, WIDTH, Result, plain_values

DATA = Path(__file__).parent / "data"
TEACHER = ew.Teacher([[1.0, 0.0], [0.0, 2.0]], [1.0, -0.5], "gaussian")
STUDENT = ew.Student([[0.0, 2.0], [1.0, 0.25]], [-0.5, 0.75])


def certificate() -> Certificate:
    none = np.full(2, np.nan)
    held = np.full(2, -1)
    about = ("not-critical", "the gradient has norm 0.1", 0.1, -math.inf, 0.0, none, held)
    return Certificate(*about, loss=0.25, moved=0.0, tolerance=1e-6)


def run(dim: int = 2) -> Run:
    """A run of two units, made up: nothing is compiled for it. In space, of three."""
    wide, weights = np.eye(3, dim), [1.0, -0.5, 2.0]
    teacher = ew.Teacher(wide, weights, "gaussian") if dim > 2 else TEACHER
    student = ew.Student(wide[::-1] + 0.1, weights) if dim > 2 else STUDENT
    ways = tuple(np.stack([0.5 * end, end]) for end in np.asarray(student.positions))
    losses = np.array([1.0, 0.25])
    return Run(
        teacher=teacher,
        student=student,
        method="gd",
        stop=ew.Stop("iteration-limit"),
        iterations=7,
        loss=0.25,
        relative_loss=math.nan,
        history=Trace(np.array([0, 7]), losses, losses, ways),
        matching=ew.match(teacher, student),
        certificate=certificate(),
        settings={"oracle": "exact", "seed": 0, "activation": "gaussian"},
    )


def landscape() -> Landscape:
    shape = (3, 2, 2)
    point = CriticalPoint(
        *("minimum", "the loss is 0", 0.0, 0.0, 0.5, 1e-9, 3, 1.0, (0.3, 1.0)),
        student=STUDENT,
        starts=np.arange(3),
    )
    ends = np.broadcast_to(np.asarray(STUDENT.positions), shape)
    settings = {"units": 2, "fixed_charges": False, "seed": 0}
    about = (TEACHER, (point,), 3, 0, ew.Stop("converged"), settings, ends + 1.0, ends)
    return Landscape(*about, np.ones(shape[:2]), np.zeros(3), np.full(3, 5))


def trained() -> ew.Trained:
    asked = training({"depth": 2, "width": 3, "iterations": 10})
    errors = np.array([2.0, 1e-3])
    return ew.Trained(asked, 4, np.array([0, 10]), errors, 2.0, None, None)


MADE = {
    "run": run,
    "landscape": landscape,
    "point": lambda: landscape().found[0],
    "path": lambda: ew.load_path(DATA / "path.npz")[0],
    "certificate": certificate,
    "proof": lambda: ew.load_proof(DATA / "proof-minimum.json"),
    "trained": trained,
    "potential": lambda: ew.potential("relu", dim=3),
    "realization": lambda: ew.realize("exp(rho - 1)"),
    "obstruction": lambda: ew.realize("rho**2 - rho", on="sphere").obstruction,
}


@pytest.mark.parametrize("name", MADE)
def test_words_and_values(name):
    result = MADE[name]()
    assert isinstance(result, Result)
    lines = repr(result).splitlines()
    assert 1 <= len(lines) <= LINES
    assert lines[0].startswith(f"{type(result).__name__}: ")
    assert max(map(len, lines)) <= 3 * WIDTH
    assert json.loads(result.to_json()) == result.to_dict() == plain_values(result.summary())


def test_what_a_run_says():
    words = repr(run())
    for part in ("gaussian, d = 2, 2 units by gd", "iteration-limit", "iterations 7"):
        assert part in words
    assert "nan" not in words
    found = run().to_dict()
    assert found["relative_loss"] is None  # NaN is no JSON
    assert found["certificate"]["smallest_eigenvalue"] is None
    assert found["student"]["positions"] == np.asarray(STUDENT.positions).tolist()
    assert found["student"]["activation"] == "gaussian"


def test_the_student_of_a_result_can_be_called_and_loaded(tmp_path):
    """exp(-|x|^2/4) on R^d is the gaussian's potential; its units are what `activation` says."""
    x = np.array([[0.3, -0.2]])
    unit = ew.activation("gaussian", dim=2).unit
    want = sum(
        float(c) * np.asarray(unit(x, w))
        for w, c in zip(STUDENT.positions, STUDENT.weights, strict=True)
    )
    path = tmp_path / "learned.json"
    path.write_text(json.dumps(run().to_dict()["student"]))
    for student in (run().student, landscape().found[0].student, ew.load_student(path)):
        np.testing.assert_allclose(student(x), want, rtol=1e-12)
    np.testing.assert_allclose(ew.load_teacher(path)(x), want, rtol=1e-12)


def drawn(figure: Figure) -> set[str]:
    """The ids of what is drawn."""
    return {one.get_gid() for one in figure.findobj() if one.get_gid()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run", "path", "trained", "potential"])
def test_plots(name, tmp_path):
    """A figure; the same in a file; the main panel in axes of one's own."""
    result = MADE[name]()
    figure = result.plot(tmp_path / "picture.png")
    assert isinstance(figure, Figure)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    mine = Figure()
    left, right = mine.subplots(1, 2)
    assert result.plot(ax=right) is mine
    assert not left.has_data()
    assert right.lines or right.collections or right.images
    assert drawn(mine) <= drawn(figure)


@pytest.mark.slow
def test_the_curves_of_a_picture_are_the_numbers():
    """In the axes of the user: the values of the potential, the errors on the way."""
    figure = Figure()
    upper, lower = figure.subplots(2)
    ew.potential("sign", dim=3).plot(ax=upper)
    rho, values = upper.lines[0].get_data()
    np.testing.assert_allclose(values, 1 - 2 / np.pi * np.arccos(rho), atol=1e-12)
    trained().plot(ax=lower)
    curve = next(line for line in lower.lines if line.get_gid() == "curve")
    np.testing.assert_allclose(curve.get_ydata(), [1.0, 5e-4])


def test_what_cannot_be_drawn_is_one_line(tmp_path):
    flat, deep = Figure().add_subplot(), Figure().add_subplot(projection="3d")
    for draw, words in (
        (lambda: run().plot(tmp_path / "a.txt"), "allowed endings: .png, .svg, .pdf"),
        (lambda: run().plot(tmp_path / "no" / "a.png"), "there is no folder"),
        (lambda: run().plot(3), "allowed: the path of a file"),
        (lambda: run().plot(ax=3), "ax is a int; allowed: axes of Matplotlib"),
        (lambda: run(3).plot(ax=flat), 'allowed: axes with projection="3d"'),
        (lambda: run().plot(ax=deep), "allowed: axes without a projection"),
        (lambda: landscape().plot(ax=flat), "a Landscape has no main panel"),
        (lambda: certificate().plot(), "a Certificate has no picture"),
    ):
        with pytest.raises(EarnshawError) as caught:
            draw()
        assert words in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["run", "certificate"])
def test_notebooks(name):
    """A picture if there is one, and the numbers that the text has, too."""
    result = MADE[name]()
    page = result._repr_html_()
    pictures = re.findall(r'src="data:image/png;base64,([^"]*)"', page)
    assert len(pictures) == (name == "run")
    for picture in pictures:
        assert base64.b64decode(picture).startswith(b"\x89PNG")
        assert len(picture) < 300_000
    for key, value in result._facts().items():
        if value is not None:
            assert f">{html.escape(str(key))}</th>" in page
            assert f">{html.escape(str(value))}</td>" in page


def test_words_of_a_user_are_no_html():
    class Named(Result):
        def _title(self):
            return "<script>"

        def _facts(self):
            return {"<b>": "<i>"}

    page = Named()._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert "<b>" not in page.replace("<b>Named", "")
    assert "<i>" not in page


def subclasses(kind: type) -> set[type]:
    return {one for below in kind.__subclasses__() for one in {below, *subclasses(below)}}


def test_every_named_picture_is_there():
    for name in ew.__all__:
        getattr(ew, name)
    import_module("earnshaw.learning.fitting.picture")
    named = {text for one in subclasses(Result) for text in (one._picture, one._panel) if text}
    assert len(named) > 10
    for text in named:
        module, function = text.split(":")
        assert callable(getattr(import_module(module), function)), text


@pytest.mark.slow
def test_nothing_is_drawn_before_it_is_asked_for():
    code = (
        "import sys, earnshaw as ew; repr(ew.potential('relu', dim=3)); ew.Run, ew.Path, ew.Sweep;"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
