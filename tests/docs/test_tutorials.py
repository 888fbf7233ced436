"""Every tutorial runs as a plain script, and its prose says what the script finds.

The site runs them as notebooks; here they share a process, and what is compiled.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
SAYS = {  # what the text around the cells relies on
    "electrons_and_protons": (r"electron \d is bound by proton \d", "strict-saddle", "minimum"),
    "is_this_minimum_bad": (
        "relative loss 0.0033",
        r"cosine with student unit \d: -0.84",
        "saddle",
    ),
    "design_an_activation": ("the sum, by hand: -0.5", "True - the Fourier", "False - the Fourier"),
    "recover_a_network": (r"\n?2 units\n", "the same answers: True"),
    "reproduce_a_table": ("the same rows: True",),
    "sweep_on_a_cluster": ("to the last bit: True", "what they were: True", "40 cells done"),
    "prove_a_minimum": ("away from 0: True", "refused: the proof", "strict-saddle"),
}


@pytest.mark.parametrize("name", SAYS)
def test_a_tutorial_is_a_script(name, capsys, monkeypatch, tmp_path):
    if name in ("recover_a_network",):
        pytest.importorskip("sklearn")
    if name == "sweep_on_a_cluster":
        pytest.importorskip("distributed")
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    runpy.run_path(str(TUTORIALS / f"{name}.py"), run_name="__main__")
    plt.close("all")
    printed = capsys.readouterr().out
    for words in SAYS[name]:
        assert re.search(words, printed), words
    assert not list(tmp_path.iterdir())  # a tutorial leaves nothing behind


def test_every_tutorial_is_run():
    assert sorted(SAYS) == sorted(path.stem for path in TUTORIALS.glob("*.py"))
