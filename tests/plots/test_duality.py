"""The pictures show what they say: curves against closed forms, shading against signs."""

from __future__ import annotations

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.plots.duality import draw_pair

pytestmark = pytest.mark.slow


def curve(axes, index: int = 0) -> tuple[np.ndarray, np.ndarray]:
    line = axes.get_lines()[index]
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def test_gaussian_panels_show_the_closed_forms():
    figure = draw_pair(ew.activation("gaussian", dim=2), ew.potential("gaussian", dim=2))
    activation, potential, force, laplacian = figure.axes
    x, h = curve(activation)
    np.testing.assert_allclose(h, np.sqrt(2 / np.pi) * np.exp(-(x**2)), atol=1e-12)
    r, phi = curve(potential)
    np.testing.assert_allclose(phi, np.exp(-(r**2) / 2), atol=1e-12)
    np.testing.assert_allclose(curve(force)[1], r * np.exp(-(r**2) / 2), atol=1e-12)
    np.testing.assert_allclose(curve(laplacian)[1], r**2 - 2, atol=1e-9)


def test_the_force_on_the_sphere_is_along_the_angle():
    figure = draw_pair(ew.activation("sign"), ew.potential("sign", dim=3))
    degrees, force = curve(figure.axes[2])
    inner = (degrees > 1) & (degrees < 179)
    np.testing.assert_allclose(force[inner], 2 / np.pi, rtol=1e-10)


def test_without_a_dimension_the_laplacian_is_that_of_the_ordinary_sphere():
    figure = draw_pair(ew.activation("hermite-1"), ew.potential("hermite-1"))
    rho, laplacian = curve(figure.axes[3])
    np.testing.assert_allclose(laplacian, -2 * rho, atol=1e-12)
    assert "S^2" in figure.axes[3].get_title()
    assert figure.get_suptitle() == "hermite-1"  # nobody has said d = 3


def test_the_sign_of_the_laplacian_is_shaded():
    figure = draw_pair(None, ew.potential("gaussian", dim=2))
    below, above = (collection.get_paths() for collection in reversed(figure.axes[3].collections))
    (left,) = (path.get_extents() for path in below)
    (right,) = (path.get_extents() for path in above)
    np.testing.assert_allclose([left.x1, right.x0], np.sqrt(2), atol=0.02)


@pytest.mark.parametrize(
    "formula", ["exp(-abs(x1))*exp(-x2^2)", "max(1-r,0)", "1-r^2", "heaviside(1-r)"]
)
def test_every_kind_of_answer_draws(formula, tmp_path):
    from earnshaw.plots.style import save

    result = ew.realize(formula, on="space", dim=2)
    target = tmp_path / "answer.png"
    save(draw_pair(result.activation, result.potential, result.obstruction), target)
    assert target.read_bytes().startswith(b"\x89PNG")


def test_an_answer_that_is_inconclusive_is_not_drawn_as_a_no():
    result = ew.realize("cos(r)", on="space", dim=1)
    assert result.realizable is None
    figure = draw_pair(None, result.potential, missing="inconclusive, with no activation to draw")
    (text,) = (text.get_text() for text in figure.axes[0].texts)
    assert text == "inconclusive, with no activation to draw"


def test_the_spike_of_an_activation_and_lambda_are_both_seen():
    """h falls by 1e12 within the reach of the potential; Laplacian / Phi is lambda = 1 off it."""
    figure = draw_pair(
        ew.activation("almost-harmonic", dim=7), ew.potential("almost-harmonic", dim=7)
    )
    activation, potential, _, laplacian = figure.axes
    x, size = curve(activation)
    reach = curve(potential)[0][-1]
    np.testing.assert_allclose([x[0], x[-1]], [-reach, reach])
    bottom, top = activation.get_ylim()
    assert np.mean((size >= bottom) & (size <= top)) > 0.9
    assert activation.get_yscale() == "log"
    r, ratio = curve(laplacian)
    outside = r > 0.1
    np.testing.assert_allclose(ratio[outside], 1.0, rtol=1e-6)
    height = laplacian.transData.transform([(0.3, 1.0), (0.3, 0.0)])[:, 1]
    assert abs(np.subtract(*height)) > 0.05 * laplacian.bbox.height  # 1 is not drawn as 0
