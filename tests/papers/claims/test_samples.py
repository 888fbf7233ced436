"""Samples against expectations; and that the claim can fail."""

import math

import pytest

from earnshaw.inputs import Gaussian
from earnshaw.papers.claims import verify
from earnshaw.papers.claims.learning import _sampled_networks as sampled_networks
from earnshaw.papers.claims.learning import samples
from earnshaw.papers.claims.learning.samples import SAMPLES
from earnshaw.papers.claims.verdict import Verdict
from papers.claims.one_statement import finding

pytestmark = pytest.mark.slow


def holds(name):
    (part,) = (part for part in SAMPLES.statements if part.name == name)
    return verify.tested(part, verify.draw(SAMPLES, part, 0, seed=0)).holds


def test_verdict(run):
    result = run("samples")
    assert result.verdict == Verdict.CORRECTED
    for outcome in result.outcomes:
        assert outcome.failed == (outcome.role == "printed"), outcome.name


def test_the_witness_of_the_linear_class():
    found = finding("samples", "linear-class")
    assert found.numbers["R_n/B"] == pytest.approx(2 / math.sqrt(50))  # .283, not .200


def test_wrong_samples_are_found_out(monkeypatch):
    right = sampled_networks.empirical_loss

    def wrong(data, **more):
        return right((data[0], 1.1 * data[1]), **more)

    monkeypatch.setattr(sampled_networks, "empirical_loss", wrong)
    assert holds("uniform-convergence") is False


def test_inputs_that_are_not_truncated_are_found_out(monkeypatch):
    monkeypatch.setattr(samples, "TruncatedGaussian", lambda width, radius: Gaussian(width))
    assert holds("truncated-inputs") is False


@pytest.mark.parametrize(
    ("name", "function", "factor"),
    [
        ("truncation", "truncation_radius", 0.99),
        ("linear-class", "linear_complexity", math.sqrt(0.5)),
        ("products-of-constants", "product_complexity", 0.05),
        ("products", "product_complexity", 0.005),
        ("uniform-deviation", "uniform_deviation", 0.02),
    ],
)
def test_bounds_that_are_too_small_are_found_out(monkeypatch, name, function, factor):
    right = getattr(samples, function)
    monkeypatch.setattr(samples, function, lambda *given: factor * right(*given))
    assert holds(name) is False


def test_network_bounds_that_are_too_small_are_found_out(monkeypatch):
    right = sampled_networks.network_deviation
    for part, number in enumerate(finding("samples", "network-bounds").numbers.values()):

        def smaller(*given, part=part, number=number, **more):
            found = list(right(*given, **more))
            found[part] /= 1.01 * number
            return found

        monkeypatch.setattr(sampled_networks, "network_deviation", smaller)
        assert holds("network-bounds") is False
