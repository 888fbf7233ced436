"""The picture of Table 1 shows the curves, the checks on them, and the words, of every pair."""

import numpy as np
import pytest

from earnshaw.papers.plots.table1 import draw_table_one
from earnshaw.papers.reproductions.reproduction import Reproduction
from earnshaw.papers.reproductions.table1 import LINES, PairCurve
from looking import axes_of, check_words, words

pytestmark = pytest.mark.slow

RAN = "on the circle, one node alone, random weights: node-wise-paper, d = 2, k = 4: {} of 20"


def pair_of(line, number, runs, verdict):
    """Invented curves: a spike on R^d, whose height must not flatten the rest."""
    rng = np.random.default_rng(number)
    x = np.linspace(-3, 3, 240)
    at = np.linspace(0.1, 0.9, 9)
    sphere = line.where == "S^(d-1)"
    return PairCurve(
        name=line.name,
        where=line.where,
        x=x,
        sigma=np.tanh(x) * (1 + number) if sphere else 1 / np.abs(x) ** 2,
        variable="theta.w" if sphere else "|theta - w|",
        t=np.linspace(0, 1, 50),
        phi=np.exp(-np.linspace(0, 1, 50) * (1 + number)),
        at=at,
        quadrature=np.exp(-at),
        sampled=np.exp(-at) + 0.01 * rng.standard_normal(9),
        error=rng.uniform(0.01, 0.02, 9),
        printed="corrected: exp(x.theta - 1)" if number % 2 else "right",
        claimed="yes, exp(poly(d)) (EPD Thm 4.2, Cor 4.3); " * (1 + number % 2),
        outcomes=tuple(RAN.format(i) for i in range(runs)),
        verdict=verdict,
    )


def made_of(runs, verdicts, complete=True):
    shown = [{"quadrature": 10.0 ** -(i + 3), "z": 0.5 + i / 4} for i in range(len(LINES))]
    pairs = [
        pair_of(line, number, runs, verdicts[number % len(verdicts)])
        for number, line in enumerate(LINES)
    ]
    return Reproduction(
        name="table1",
        preset="paper",
        title="Activations, their potentials, and what converges",
        rows=shown,
        shown=shown,
        remarks=("a long remark that goes on; " * 12, "another"),
        complete=complete,
        code="0.1.0-1a2b3c4d jax 0.10.2 numpy 2.4.0",
        pairs=tuple(pairs),
    )


def test_curves_and_checks_are_where_they_belong():
    made = made_of(1, ["verified"])
    figure = draw_table_one(made)
    for pair in made.pairs:
        curve = axes_of(figure, f"{pair.name} activation").lines[0]
        assert np.array_equal(curve.get_xydata(), np.c_[pair.x, pair.sigma])
        axes = axes_of(figure, f"{pair.name} potential")
        drawn = [line.get_xydata() for line in axes.lines]
        for values in ((pair.t, pair.phi), (pair.at, pair.quadrature), (pair.at, pair.sampled)):
            assert any(np.array_equal(np.c_[values], found) for found in drawn)
        (bars,) = axes.collections
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        assert np.allclose(ends.T, pair.sampled + np.outer([-2, 2], pair.error))


def test_a_spike_does_not_flatten_the_rest():
    made = made_of(1, ["verified"])
    low, high = axes_of(draw_table_one(made), "bessel activation").get_ylim()
    sigma = next(pair.sigma for pair in made.pairs if pair.name == "bessel")
    assert np.median(sigma) - low > 0.01 * (high - low)


@pytest.mark.parametrize(
    ("runs", "verdicts"),
    [
        (0, ["not run"]),
        (
            5,
            [
                "in part with node-wise-paper (1 of 20); node-wise learns 20 of 20",
                "unknown; gd learns 3 of 3",
                "verified",
            ],
        ),
    ],
)
def test_every_word_can_be_read(runs, verdicts):
    made = made_of(runs, verdicts, complete=bool(runs))
    figure = draw_table_one(made)
    check_words(figure)
    said = " ".join(text.get_text() for text in words(figure)).replace("\xa0", " ")
    assert ("incomplete" in said) == (runs == 0)
    assert "quadrature within 1.0e-03, Monte Carlo within 2.5 standard errors" in said
    for verdict in verdicts:
        assert verdict[1:] in said
    for number in range(runs):
        assert said.count(RAN.format(number)) == len(LINES)
