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
    "electrons_and_protons": (
        r"electron \d is bound by proton \d",
        "strict-saddle",
        "minimum",
        r"from 4.0: at 4.0e\+00 .* stop: time",
        r"at distance 1.4: minimum",
        r"at distance 1.5: strict-saddle",
    ),
    "is_this_minimum_bad": (
        "relative loss 0.0033",
        r"cosine with student unit \d: -0.84",
        "saddle",
        r"6 units: 100 at \S+ \(",
        r"random push 2: loss 0.\d+ -> 0.0430",
        "move oppositely: True",
    ),
    "design_an_activation": (
        "the sum, by hand: -0.5",
        "True - the Fourier",
        "False - the Fourier",
        r"minus differs from the wish by at most \de-1[567]",
        "the tent squared, d = 3: True\nthe tent squared, d = 4: False",
    ),
    "recover_a_network": (
        r"\n?2 units\n",
        "the same answers: True",
        r"\n30 rows: 2 units, off on new inputs by \d.\de-1[345]",
        r"with noise, evidence: 4 units, told apart \[.*False",
        "with noise, bic: 3 units",
    ),
    "reproduce_a_table": ("the same rows: True", "did you mean summed"),
    "sweep_on_a_cluster": (
        "to the last bit: True",
        "what they were: True",
        "40 cells done",
        "exit code 0\n20 cells done; the same: True",
    ),
    "prove_a_minimum": (
        "away from 0: True",
        "refused: the proof",
        "strict-saddle",
        "is between: True",
        r"at 10: .* certificate degenerate, proof minimum",
    ),
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
