"""The tables that the page is delivered with, beside the library that made them."""

from __future__ import annotations

import base64

import jax.numpy as jnp
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError
from earnshaw.lab import catalogue
from earnshaw.lab.tables import ERROR, Pieces, pieces_of, potential_table


@pytest.fixture(scope="module")
def kept():
    return catalogue.read()


def unpacked(pieces: dict) -> Pieces:
    edges, coefficients = (
        np.frombuffer(base64.b64decode(pieces[name]), "<f8") for name in ("edges", "coefficients")
    )
    shape = (len(edges) - 1, pieces["functions"], -1)
    return Pieces(edges, coefficients.reshape(shape), pieces["error"])


def test_pieces_follow_a_function_to_the_stated_error():
    pieces = pieces_of(lambda t: (jnp.sin(7 * t), jnp.exp(-t)), [0.0, 1.0, 9.0])
    points = np.random.default_rng(1).uniform(0, 9, 500)
    found = pieces(points)
    assert np.max(np.abs(found[0] - np.sin(7 * points))) < ERROR
    assert np.max(np.abs(found[1] - np.exp(-points)) * np.exp(points)) < 200 * ERROR
    assert pieces.error <= ERROR


def test_a_jump_is_refused():
    with pytest.raises(EarnshawError, match="too rough near"):
        pieces_of(lambda t: (jnp.where(t < 0.3, 0.0, 1.0),), [0.0, 1.0])


def test_every_name_is_there(kept):
    assert sorted(kept["entries"]) == sorted(catalogue.names())
    for entry in kept["entries"].values():
        assert set(entry["stages"]) | set(entry["reasons"]) == set(catalogue.STAGES)


@pytest.mark.parametrize(
    ("name", "stage"),
    [("almost-harmonic", "plane"), ("gaussian", "line"), ("lambda-harmonic", "plane")],
)
def test_radial_tables(kept, name, stage):
    """f, f' and f'' at random r, against the potential itself."""
    table = kept["tables"][kept["entries"][name]["stages"][stage]]
    on, dim = catalogue.STAGES[stage]
    phi = ew.Teacher(np.eye(1, dim), [1.0], name, on=on).potential
    r = np.random.default_rng(2).uniform(0.02, 6.0, 200)
    value, slope, second = unpacked(table["pieces"])(r)
    slope = slope * r if table["divided"] else slope
    for found, exact in ((value, phi.value), (slope, phi.first), (second, phi.second)):
        expected = np.asarray(exact(jnp.asarray(r)))
        assert np.max(np.abs(found - expected) / np.max(np.abs(expected))) < 2 * ERROR


@pytest.mark.parametrize("name", ["sign", "relu", "erf"])
def test_angular_tables(kept, name):
    """f as a function of the angle, against that of its cosine."""
    table = kept["tables"][kept["entries"][name]["stages"]["sphere"]]
    phi = ew.Teacher(np.eye(1, 3), [1.0], name, on="sphere").potential
    angle = np.random.default_rng(3).uniform(0.05, 3.1, 200)
    value, slope, _ = unpacked(table["pieces"])(angle)
    slope = slope * np.sin(angle) if table["divided"] else slope
    rho = jnp.cos(jnp.asarray(angle))
    assert np.max(np.abs(value - phi.value(rho))) < 2 * ERROR
    assert np.max(np.abs(slope + np.sin(angle) * phi.first(rho))) < 1e-11


@pytest.mark.parametrize(
    ("formula", "words"), [("sign(x) + x", "jumps at 0"), ("abs(x - 0.3)", "a corner at 0.3")]
)
def test_what_has_no_table_says_so(formula, words):
    with pytest.raises(EarnshawError, match=f"{words}.*allowed: on='sphere'"):
        potential_table(ew.Teacher([[1.0, 0.0]], [1.0], formula))


def test_tables_of_units_with_corners(kept):
    """s, s' and s'' between the corners, which are named."""
    table = kept["tables"][kept["entries"]["elu"]["stages"]["plane"]]
    assert table["kinks"] == [0.0]
    x = np.random.default_rng(5).uniform(-9, 9, 200)
    low = np.exp(np.minimum(x, 0))
    expected = [np.where(x > 0, x, low - 1), low, np.where(x > 0, 0, low)]
    for here, there in zip(unpacked(table["pieces"])(x), expected, strict=True):
        assert np.max(np.abs(here - there)) < 20 * ERROR


def test_tables_of_dot_product_units(kept):
    """Of the activation itself, and of its derivatives near 0."""
    table = kept["tables"][kept["entries"]["tanh"]["stages"]["plane"]]
    x = np.random.default_rng(4).uniform(-3, 3, 200)
    s = np.tanh(x)
    expected = [s, 1 - s**2, -2 * s * (1 - s**2), (6 * s**2 - 2) * (1 - s**2)]
    found = unpacked(table["derivatives"])(x)
    for here, there in zip(found, expected, strict=False):
        assert np.max(np.abs(here - there)) < 10 * ERROR
    assert np.max(np.abs(unpacked(table["pieces"])(20 * x)[0] - np.tanh(20 * x))) < ERROR
