"""`ew.lab` in a notebook: what it refuses, and that it draws."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from lab_page import HOST, Opened

pytest.importorskip("anywidget", reason="needs the extra notebook")

pytestmark = pytest.mark.slow  # anywidget brings all of IPython: not in the test extra

NOTEBOOK = """
import marimo
app = marimo.App()
@app.cell
def _():
    import earnshaw as ew
    import marimo as mo
    teacher = ew.Teacher([[0.0, 1.0], [1.0, -0.5]], [1.0, 1.0], "almost-harmonic")
    student = ew.Student([[-1.0, 0.0], [0.4, 0.2]], [1.0, 1.0])
    mo.ui.anywidget(ew.lab(teacher, student))
    return
if __name__ == "__main__":
    app.run()
"""
SHOW = """async ([script, replay]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  const model = { get: () => replay, on: () => {}, send: () => {} };
  widget.render({ model, el: document.body });
  window.lab = document.body.firstChild.lab;
}"""


@pytest.fixture
def charges():
    teacher = ew.Teacher([[0.0, 1.0], [1.0, -0.5]], np.ones(2), "almost-harmonic")
    return teacher, ew.Student([[-1.0, 0.0], [0.4, 0.2]], np.ones(2))


def test_room_and_function_are_one():
    """Whatever is imported first, `ew.lab` can be called, and `earnshaw.lab` is the room."""
    import earnshaw.lab.page as page

    assert callable(ew.lab)
    assert page.lab_html is not None


def test_bad_arguments(charges):
    teacher, student = charges
    with pytest.raises(EarnshawError, match="needs a Student"):
        ew.lab(teacher, 3)
    with pytest.raises(EarnshawError, match="dimension 3; allowed: 2"):
        ew.lab(teacher, ew.Student(np.ones((1, 3)), np.ones(1)))
    with pytest.raises(EarnshawError, match="a teacher and a student, or a Path"):
        ew.lab(student)


def test_widget_carries_the_start(charges):
    widget = ew.lab(*charges)
    replay = json.loads(widget.replay)
    assert replay["positions"] == [[[-1.0, 0.0], [0.4, 0.2]]]
    assert "export default" in widget._esm


@pytest.mark.browser
def test_widget_renders_and_plays(chromium, charges):
    """Its module, shown as a notebook shows it, with the start given and no server."""
    widget = ew.lab(*charges)
    with Opened(chromium, HOST + "empty.html") as page:
        page.evaluate(SHOW, [str(widget._esm), widget.replay])
        page.wait_for_function("lab.frames > 1")
        assert page.evaluate("lab.state.electrons") == [[-1, 0], [0.4, 0.2]]
        page.evaluate("lab.play()")
        page.wait_for_function("lab.stop === 'bound'", timeout=60_000)
        assert sorted(page.evaluate("[...lab.last.bound]")) == [0, 1]


@pytest.mark.browser
def test_marimo_shows_it(chromium, tmp_path: Path):
    """A real notebook, served headless."""
    pytest.importorskip("marimo", reason="needs marimo")
    import os
    import socket
    import subprocess
    import sys
    import time

    (tmp_path / "notebook.py").write_text(NOTEBOOK)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["run", str(tmp_path / "notebook.py"), "--headless", "--no-token", "-p", str(port)]
    server = subprocess.Popen(
        [sys.executable, "-m", "marimo", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"MARIMO_SKIP_UPDATE_CHECK": "1"},
    )
    try:
        for _ in range(120):
            time.sleep(0.5)
            with socket.socket() as there:
                if there.connect_ex(("127.0.0.1", port)) == 0:
                    break
        with Opened(chromium, f"http://127.0.0.1:{port}/", folder=False) as page:
            page.wait_for_selector("canvas.stage", timeout=120_000)
            assert page.locator(".earnshaw-lab canvas.stage").is_visible()
    finally:
        server.terminate()
        server.wait()
