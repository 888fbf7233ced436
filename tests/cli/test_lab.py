"""`earnshaw lab` as a user meets it, and --html of the commands whose results it plays."""

from __future__ import annotations

import json
import re

import pytest


def replay_in(page: str) -> dict:
    found = re.search(
        r'<script type="application/json" id="replay">(.*?)</script>', page, re.DOTALL
    )
    assert found is not None
    return json.loads(found[1])


def test_one_file(invoke, tmp_path):
    file = tmp_path / "lab.html"
    outcome = invoke("lab", "--write", str(file), "--json")
    assert outcome.code == 0, outcome
    assert json.loads(outcome.stdout)["url"] == file.as_uri()
    text = file.read_text()
    assert text.startswith("<!doctype html>")
    assert "http-equiv" in text
    others = set(re.findall(r"https?://[\w./-]+", text))
    assert others == {"http://www.w3.org/2000/svg"}  # a name, which nobody fetches


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--write", "lab.png"), "allowed endings: .html, .htm"),
        (("--write", "no/such/folder/lab.html"), "there is no folder"),
        (("--port", "70000"), "an integer from 0 to 65535"),
        (("--host", "no such host", "--no-browser"), "cannot listen at no such host:8899"),
    ],
)
def test_bad_input_is_one_line(invoke, arguments, words):
    outcome = invoke("lab", *arguments)
    assert outcome.code == 2
    assert words in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "unit"),
    [
        (("simulate", "--units", "2", "--time", "1", "--activation", "gaussian"), "time"),
        (("learn", "--units", "2", "--dim", "2", "--activation", "gaussian"), "step"),
        (
            ("landscape", "--units", "2", "--dim", "2", "--activation", "erf", "--starts", "2"),
            "point",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else value,
)
def test_results_open_in_the_lab(invoke, tmp_path, command, unit):
    file = tmp_path / "result.html"
    outcome = invoke(*command, "--html", str(file), "--json")
    assert outcome.code == 0, outcome
    assert json.loads(outcome.stdout)["html"] == str(file)
    replay = replay_in(file.read_text())
    assert replay["unit"] == unit
    assert len(replay["times"]) == len(replay["positions"]) == len(replay["energy"])


@pytest.mark.slow
def test_html_is_refused_before_any_work(invoke):
    outcome = invoke("learn", "--html", "run.png")
    assert outcome.code == 2
    assert "allowed endings: .html" in outcome.stderr
