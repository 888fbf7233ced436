"""The lab as one file: what it carries, and that it asks nobody for anything."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.lab.page import bundled, lab_html, write_lab
from earnshaw.lab.replay import replay_of
from lab_page import Opened


def test_bundle_has_no_imports():
    for entry in ("main", "worker"):
        script = bundled(entry)
        assert "\nimport " not in script
        assert "\nexport " not in script


def test_data_cannot_end_its_element():
    html = lab_html(replay={"title": "</script><script>alert(1)</script>"})
    assert "<script>alert" not in html


def test_only_html_is_written(tmp_path):
    with pytest.raises(EarnshawError, match="allowed endings"):
        write_lab(tmp_path / "lab.png")


@pytest.mark.browser
@pytest.mark.slow
def test_file_works_from_disk_with_no_request(chromium, tmp_path):
    """From file://, offline: plays, and neither the page nor its worker asks anybody."""
    write_lab(tmp_path / "lab.html")
    asked = []
    with Opened(chromium, "about:blank", folder=False, offline=True) as page:
        page.context.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "lab.html").as_uri())
        wait(page, "window.lab?.frames > 1")
        page.evaluate("lab.controls.openScene('five'); lab.play()")
        wait(page, "lab.stop === 'bound'")
        assert page.get_by_role("button", name="certify in Python").is_disabled()
    assert [url for url in asked if not url.startswith(("file:", "blob:"))] == []


@pytest.mark.browser
@pytest.mark.slow
def test_replay_of_a_path(chromium, tmp_path):
    """The slider goes through the path's own times; “continue from here” makes it a start."""
    teacher = ew.random_teacher("almost-harmonic", 2, 3, 0, weights="ones")
    student = ew.Student(np.array([[1.5, 0.2], [-1.0, 1.0], [0.1, -1.4]]), np.ones(3))
    path = ew.simulate(teacher, student, 30.0)
    write_lab(tmp_path / "path.html", replay=replay_of(path))
    with Opened(chromium, (tmp_path / "path.html").as_uri(), folder=False) as page:
        wait(page, "window.lab?.frames > 1")
        assert page.evaluate("lab.last.time") == path.times[-1]
        page.evaluate("lab.goTo(lab.last.time)")
        shown = page.evaluate("[...lab.now().x]")
        assert shown == np.ravel(path.positions[-1]).tolist()
        assert page.evaluate("[...lab.now().bound]") == path.bound.tolist()
        page.get_by_role("button", name="continue from here").click()
        assert page.evaluate("lab.state.electrons.flat()") == shown


@pytest.mark.browser
@pytest.mark.slow
def test_command_serves_the_page_and_answers(chromium):
    """The address with its token opens the lab once; Python answers; Ctrl-C ends it cleanly."""
    command = [sys.executable, "-m", "earnshaw", "lab", "--no-browser", "--json", "--port", "8970"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        with Opened(chromium, url, folder=False) as page:
            wait(page, "window.lab?.frames > 1")
            assert "token" not in page.url
            page.evaluate("lab.askFormula('x*tanh(x)', 'circle'); lab.change({ stage: 'circle' })")
            wait(page, "lab.state.formula === 'x*tanh(x)'")
            page.evaluate("lab.askFormula('__import__(1)', 'circle')")
            wait(page, "!lab.controls.banner.hidden")
            assert page.evaluate("lab.state.formula") == "x*tanh(x)"
        with Opened(chromium, url, folder=False) as stranger:
            assert "has been used" in stranger.inner_text("body")
    finally:
        server.send_signal(signal.SIGINT)
        output, said = server.communicate(timeout=30)
    assert "Traceback" not in said
    assert output == ""


def wait(page, condition):
    """Until a condition holds. Playwright's own waiting needs eval, which the policy forbids."""
    for _ in range(600):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(200)
    pytest.fail(f"not within two minutes: {condition}")
