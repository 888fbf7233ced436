"""The examples run, and what they print is true."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent.parent / "examples"
NUMBER = r"[\d.]+e[+-]\d+"


def test_design_an_activation(capsys):
    runpy.run_path(str(EXAMPLES / "design_an_activation.py"), run_name="__main__")
    printed = capsys.readouterr().out
    exact, mean, error = map(
        float, re.search(r"potential ([\d.]+), sampled ([\d.]+) \+- ([\d.]+)", printed).groups()
    )
    assert abs(exact - mean) < 5 * error
    assert error < 0.01
    assert "a tent in the plane: False" in printed


def test_energy_of_charges(capsys):
    runpy.run_path(str(EXAMPLES / "energy_of_charges.py"), run_name="__main__")
    printed = capsys.readouterr().out
    exact, sampled, fitted = map(float, re.findall(r"\d+\.\d{5}", printed))
    assert abs(exact - sampled) < 0.05 * exact
    assert fitted < exact
    assert float(re.search(r"Newton steps ([\d.e+-]+),", printed)[1]) < 1e-10
    distances = [float(found) for found in re.findall(r"distance ([\d.e+-]+)", printed)]
    assert len(distances) == 3
    assert max(distances) < 1e-3


def test_learn_a_network(capsys):
    runpy.run_path(str(EXAMPLES / "learn_a_network.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "recovered: 5 units" in printed
    assert float(re.search(r"largest distance ([\d.e+-]+)", printed)[1]) < 1e-9
    assert "certificate: cusp-minimum" in printed
    before, after = map(float, re.search(r"energy ([\d.e+-]+) -> ([\d.e+-]+)", printed).groups())
    assert "flow: bound" in printed
    assert after < 1e-6 * before


def test_certify_a_point(capsys):
    runpy.run_path(str(EXAMPLES / "certify_a_point.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "in the middle: strict-saddle" in printed
    assert re.search(r"Full Thm 3.6.*agrees: True", printed)
    assert "on the protons: proved cusp-minimum" in printed
    assert "checked again: cusp-minimum" in printed


def test_depth_and_width(capsys):
    runpy.run_path(str(EXAMPLES / "depth_and_width.py"), run_name="__main__")
    printed = capsys.readouterr().out
    shallow, deep = (float(re.search(rf"depth {d}: error ([\d.]+)", printed)[1]) for d in (2, 3))
    assert shallow < deep
    assert "10 cells there, the same: True" in printed
    first, last = map(float, re.search(r"error ([\d.]+) -> ([\d.]+)", printed).groups())
    assert last < 0.2 * first


def test_fit_data(capsys):
    runpy.run_path(str(EXAMPLES / "fit_data.py"), run_name="__main__")
    printed = capsys.readouterr().out
    exact = re.search(r"without noise: 3 units, positions within ([\d.e+-]+)", printed)
    noisy = re.search(r"with 10% noise: a committee of \d+ networks, off by ([\d.]+)", printed)
    assert float(exact[1]) < 1e-8
    assert float(noisy[1]) < 0.05
    inside = float(re.search(r"90% intervals hold ([\d.]+)%", printed)[1])
    assert abs(inside - 90) < 4  # four standard errors of a thousand answers
    assert "the same answers: True" in printed


@pytest.mark.torch
def test_compare_two_networks(capsys):
    pytest.importorskip("torch", reason="PyTorch is not in the test extra")
    runpy.run_path(str(EXAMPLES / "compare_two_networks.py"), run_name="__main__")
    printed = capsys.readouterr().out
    exact = float(re.search(rf"distance ({NUMBER}),", printed)[1])
    mean, error = map(float, re.search(rf"sampled ({NUMBER}) \+- ({NUMBER})", printed).groups())
    assert abs(exact - mean) < 5 * error
    assert error < 0.05 * exact
    assert re.search(r"shared units: \d+ of 20", printed)
    assert len(re.findall(r"correlation [+-]0\.\d+", printed)) == 3
    assert re.search(r"student of the first: (slope|minimum|saddle|flat)", printed)


def test_every_example_is_tested():
    tested = re.findall(r'EXAMPLES / "(\w+\.py)"', Path(__file__).read_text())
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted(tested)
