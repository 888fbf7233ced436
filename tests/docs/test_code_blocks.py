"""The Python blocks of README and of how-tos that are not notebooks run, and do what they say."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import numpy as np
import pytest
from jax.scipy.special import erf

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)


def run_blocks(page: Path) -> dict:
    """All blocks of a page, one after the other, in one namespace."""
    names: dict = {}
    for block in BLOCK.findall(page.read_text()):
        exec(compile(block, str(page), "exec"), names)
    return names


@pytest.mark.slow
def test_readme(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    names = run_blocks(ROOT / "README.md")
    assert names["run"].result == "recovered"
    assert names["found"].kind == names["proof"].kind == "minimum"
    assert names["model"].n_units_ == 2
    assert {path.name for path in tmp_path.iterdir()} == {"run.png", "model.py"}


@pytest.mark.slow
def test_biases_and_inputs(tmp_path, monkeypatch):
    """The exact loss beside a mean over samples, and the same function found to be the same."""
    monkeypatch.chdir(tmp_path)
    names = run_blocks(ROOT / "docs" / "howto" / "biases_and_inputs.md")
    x = names["inputs"].sample(jax.random.key(0), 20_000, 2)
    squares = np.asarray(erf(x[:, 0] + 0.5) - erf(x[:, 0])) ** 2
    assert abs(names["off"] - squares.mean()) < 5 * squares.std() / 20_000**0.5
    assert names["found"].shared == 2


@pytest.mark.slow
@pytest.mark.torch
def test_bring_a_pytorch_network(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="PyTorch is not in the test extra")
    monkeypatch.chdir(tmp_path)
    names = run_blocks(ROOT / "docs" / "howto" / "pytorch.md")
    assert names["found"].distance > 0
    assert abs(names["back"] - names["there"]).max() < 1e-6


def test_readme_has_what_ci_reads():
    """The two commands, marked, and no more to read than two minutes ask for."""
    text = (ROOT / "README.md").read_text()
    assert re.search(r"<!-- main command -->\n```\npython3 -m venv .*earnshaw learn --plot", text)
    assert re.search(r"<!-- test command -->\n```\npython3 -m venv .*pytest -q -n 2\n```", text)
    assert len(BLOCK.findall(text)) == 3
    assert text.count("![") == 4
