"""The picture of a run shows what the run holds: every proton, every ring, every number."""

from __future__ import annotations

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.descent.method import Stop
from earnshaw.landscape.certificate import Certificate
from earnshaw.learning.run import Run, Trace
from earnshaw.plots._projection import CAMERA, Components, Globe, choose_view
from earnshaw.plots.learning import draw_run
from earnshaw.plots.style import save

pytestmark = pytest.mark.slow


def make_run(teacher, student=None, losses=None, node_wise=True, relative_loss=1e-20, seed=0):
    """A finished run with straight ways to where the student is."""
    student = teacher.student() if student is None else student
    ends, rng = np.asarray(student.positions), np.random.default_rng(seed)
    starts = rng.normal(size=ends.shape)
    if teacher.manifold.name == "sphere":
        starts /= np.linalg.norm(starts, axis=1, keepdims=True)
    part = np.linspace(0, 1, 20)[:, None]
    paths = tuple((1 - part) * a + part * b for a, b in zip(starts, ends, strict=True))
    if teacher.manifold.name == "sphere":
        paths = tuple(path / np.linalg.norm(path, axis=1, keepdims=True) for path in paths)
    count = student.units
    if losses is None:
        losses = np.append(np.geomspace(1, 1e-3, max(count, 1)), 0.0)
    losses = np.asarray(losses) * float(ew.population_loss(teacher).empty_value())
    trace = Trace(
        iterations=np.arange(len(losses)) * 10,
        losses=losses,
        gradient_norms=np.zeros(0),
        paths=paths,
        node_iterations=np.full(count, 10) if node_wise else None,
    )
    certificate = Certificate(
        kind="minimum",
        reason="",
        gradient_norm=3.21e-14,
        smallest_eigenvalue=0.75,
        residual=0.0,
        cusp_margins=np.full(count, np.nan),
        held_by=np.full(count, -1),
        loss=0.0,
        moved=0.0,
        tolerance=1e-6,
    )
    return Run(
        teacher=teacher,
        student=student,
        method="node-wise" if node_wise else "gd",
        stop=Stop.RECOVERED,
        iterations=170,
        loss=float(losses[-1]),
        relative_loss=relative_loss,
        history=trace,
        matching=ew.match(teacher, student),
        certificate=certificate,
        settings={"seed": 7},
    )


def marks(figure, name):
    return [c for axes in figure.axes for c in axes.collections if c.get_gid() == name]


def count(figure, name):
    return sum(len(collection.get_offsets()) for collection in marks(figure, name))


def words(figure):
    inside = [text.get_text() for axes in figure.axes for text in axes.texts]
    titles = [axes.get_title(loc) for axes in figure.axes for loc in ("left", "right")]
    return [*inside, *titles, *(text.get_text() for text in figure.texts)]


def loss_axes(figure):
    return next(axes for axes in figure.axes if axes.get_title("left").startswith("Loss"))


def line(axes, name):
    (found,) = (line for line in axes.get_lines() if line.get_gid() == name)
    return np.asarray(found.get_xdata()), np.asarray(found.get_ydata())


def test_every_proton_has_its_ring():
    teacher = ew.random_teacher("gaussian", 2, 6)
    figure = draw_run(make_run(teacher))
    assert count(figure, "protons") == count(figure, "landed") == 6
    assert count(figure, "astray") == count(figure, "vacant") == 0
    rings, protons = (marks(figure, name)[0].get_offsets() for name in ("landed", "protons"))
    np.testing.assert_allclose(rings, protons, atol=1e-12)
    np.testing.assert_allclose(protons, teacher.positions, atol=1e-12)
    assert "All 6 units recovered" in words(figure)


def test_the_sign_and_size_of_weights_are_shown():
    teacher = ew.Teacher([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [1.0, -0.5, 0.1], "gaussian")
    (protons,) = marks(draw_run(make_run(teacher)), "protons")
    faces, areas = protons.get_facecolors(), protons.get_sizes()
    white = np.all(faces[:, :3] == 1.0, axis=1)
    np.testing.assert_array_equal(white, [False, True, False])
    assert areas[0] > areas[1] > areas[2]


def test_units_astray_are_marked_and_their_protons_too():
    teacher = ew.Teacher([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [1.0, 1.0, 1.0], "gaussian")
    student = ew.Student([[0.0, 0.0], [0.6, 0.3], [3.0, 3.0], [0.0, 1.0]], [1.0, 1.0, 0.1, 0.9])
    figure = draw_run(make_run(teacher, student, relative_loss=0.1))
    assert (count(figure, "protons"), count(figure, "landed")) == (3, 2)
    assert (count(figure, "astray"), count(figure, "vacant")) == (2, 1)
    assert "2 of 3 units found, weights off by up to 0.1" in words(figure)
    assert any("1 student unit without a proton" in text for text in words(figure))


def test_flipped_units_are_drawn_where_they_are_the_teachers():
    teacher = ew.random_teacher("sign", 3, 4, on="sphere")
    turn = np.array([1.0, -1.0, -1.0, 1.0])
    student = ew.Student(turn[:, None] * teacher.positions, turn * teacher.weights)
    figure = draw_run(make_run(teacher, student))
    rings, protons = (marks(figure, name)[0].get_offsets() for name in ("landed", "protons"))
    np.testing.assert_allclose(rings, protons, atol=1e-7)
    assert any("2 units drawn mirrored" in text for text in words(figure))


def test_the_loss_is_on_a_logarithmic_axis_down_to_rounding():
    teacher = ew.random_teacher("gaussian", 2, 4)
    losses = [1.0, 0.1, 1e-5, 1e-13, -3e-17]
    axes = loss_axes(draw_run(make_run(teacher, losses=losses, relative_loss=-3e-17)))
    assert axes.get_yscale() == "log"
    x, y = line(axes, "curve")
    np.testing.assert_array_equal(x, range(5))
    np.testing.assert_allclose(y, [1.0, 0.1, 1e-5, 1e-13, 1e-16], rtol=1e-10)
    np.testing.assert_array_equal(line(axes, "floor")[0], [4])
    assert axes.get_title("right") == "0 to rounding"
    assert axes.get_xlabel() == "units placed"


def test_other_methods_have_iterations():
    run = make_run(ew.random_teacher("gaussian", 2, 3), losses=[2.0, 0.5, 0.2], node_wise=False)
    axes = loss_axes(draw_run(run))
    np.testing.assert_array_equal(line(axes, "curve")[0], [0, 10, 20])
    assert axes.get_xlabel() == "iteration"


def test_a_negative_objective_is_not_drawn_as_rounding():
    axes = loss_axes(draw_run(make_run(ew.random_teacher("gaussian", 2, 2), losses=[1, 0.5, -2])))
    assert axes.get_yscale() == "linear"
    np.testing.assert_allclose(line(axes, "curve")[1], [1, 0.5, -2])


def test_the_table_of_many_units_is_short_and_begins_with_the_worst():
    teacher = ew.random_teacher("gaussian", 101, 100)
    moved = np.array(teacher.positions)
    moved[57] += 0.8
    run = make_run(teacher, ew.Student(moved, teacher.weights), relative_loss=0.01)
    texts = words(draw_run(run))
    first = texts.index("unit") + 4
    assert texts[first] == "57"
    assert "… and 84 more, largest distance 0" in texts
    assert "99 of 100 units found" in texts
    assert sum(text.isdigit() for text in texts[first::4]) == 16


def test_certificate_and_title():
    texts = words(draw_run(make_run(ew.random_teacher("almost-harmonic", 3, 2, radius=0.2))))
    assert "Certificate: minimum" in texts
    assert any("3.2e-14" in text and "smallest eigenvalue 0.75" in text for text in texts)
    assert "almost-harmonic (radius 0.2) on R³  ·  2 units  ·  node-wise  ·  seed 7" in texts


@pytest.mark.parametrize("dim", [4, 7])
def test_principal_components_are_those_of_the_covariance(dim):
    rng = np.random.default_rng(3)
    protons, ways = rng.normal(size=(9, dim)) * np.arange(1, dim + 1), rng.normal(size=(9, 5, dim))
    view = choose_view("space", protons, list(ways))
    assert isinstance(view, Components)
    cloud = np.concatenate([protons, ways[:, 0], ways[:, -1]])
    variances = np.sort(np.linalg.eigvalsh(np.cov(cloud.T)))[::-1]
    np.testing.assert_allclose(view.shares, variances[:2] / np.sum(variances), rtol=1e-10)
    np.testing.assert_allclose(np.var(view.place(cloud), axis=0, ddof=1), variances[:2])
    assert view.labels[0] == f"principal component 1 ({100 * view.shares[0]:.0f} %)"


def test_the_globe_is_seen_in_perspective():
    view = Globe(np.array([[0.0, 0.6, 0.8]]))
    grid = view.grid(41)
    np.testing.assert_allclose(np.linalg.norm(grid.points, axis=1), 1.0)
    assert not np.any(view.behind(grid.points * (1 - 1e-9) + 1e-9 * view.eye))
    u = np.linspace(-view.edge, view.edge, 41)
    wanted = np.stack(np.meshgrid(u, u), axis=-1).reshape(-1, 2)
    inside = np.linalg.norm(wanted, axis=1) < 0.999 * view.edge
    np.testing.assert_allclose(view.place(grid.points)[inside], wanted[inside], atol=1e-9)
    # The ray from the eye through a point of the picture passes through the point of the globe.
    eye = CAMERA * view.eye
    flat = wanted @ np.stack([view.right, view.up])
    across = np.cross(flat - eye, grid.points - eye)[inside]
    np.testing.assert_allclose(across, 0, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "dim", "units", "on", "students"),
    [
        ("gaussian", 1, 3, None, 2),
        ("gaussian", 2, 3, None, 0),
        ("gaussian", 3, 1, None, 1),
        ("gaussian", 9, 1, None, 1),
        ("sign", 2, 3, "sphere", 5),
        ("sign", 5, 40, "sphere", 2),
        ("exp(-abs(x1))*exp(-abs(x2))*exp(-abs(x3)) + 0*exp(-abs(x1)-abs(x2))", 3, 2, None, 2),
    ],
)
def test_everything_draws(name, dim, units, on, students, tmp_path):
    given = {"potential": name} if "(" in name else {}
    teacher = ew.random_teacher(None if given else name, dim, units, on=on, **given)
    student = ew.random_student(teacher, students)
    file = tmp_path / "run.png"
    save(draw_run(make_run(teacher, student, relative_loss=np.inf)), file)
    assert file.read_bytes().startswith(b"\x89PNG")


def test_the_title_tells_a_recovery_from_an_equal_function():
    """Five units that do what three do: no recovery, though each of the three is among them."""
    w, b = np.array([[1.0, 0.2], [-0.3, 0.9], [0.5, -0.7]]), np.array([1.0, -0.6, 0.8])
    teacher = ew.Teacher(w, b, "relu")
    line = b[0] * w[0]
    places, weights = np.vstack([-w[:1], w[1:], line, -line]), np.append(b, [1.0, -1.0])
    texts = words(draw_run(make_run(teacher, ew.Student(places, weights), relative_loss=0.0)))
    assert "An equal function of 5 units: all 3 units found" in texts
    far = ew.Student(w + np.array([[0.4, 0], [0, 0], [0, 0]]), b)
    texts = words(draw_run(make_run(teacher, far, relative_loss=1e-11)))
    assert "An equal function of other units: 2 of 3 units found" in texts
    near = ew.Student(w, b + np.array([0, 0, 2e-4]))
    texts = words(draw_run(make_run(teacher, near, relative_loss=1e-8)))
    assert "All 3 units recovered, to 2.0e-4" in texts


def test_one_far_start_does_not_squash_the_stage():
    teacher = ew.random_teacher("gaussian", 2, 6)
    run = make_run(teacher)
    far = [np.array(path) for path in run.history.paths]
    far[2] += np.linspace(1, 0, len(far[2]))[:, None] * [1000.0, 0.0]
    trace = Trace(**{**vars(run.history), "paths": tuple(far)})
    figure = draw_run(Run(**{**vars(run), "history": trace}))
    low, high = figure.axes[0].get_xlim()
    assert high - low < 100
    arrows = [t for t in figure.axes[0].texts if t.get_gid() == "far starts"]
    assert [arrow.xy[0] for arrow in arrows] == pytest.approx([high])
    assert count(figure, "starts") == 5


def test_protons_carry_the_numbers_of_the_table_and_the_legend_what_is_there():
    teacher = ew.random_teacher("gaussian", 2, 6, weights="ones")
    figure = draw_run(make_run(teacher))
    numbers = [t for t in figure.axes[0].texts if t.get_gid() == "number"]
    assert [t.get_text() for t in numbers] == [str(i) for i in range(6)]
    np.testing.assert_allclose([t.xy for t in numbers], teacher.positions, atol=1e-12)
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert "start" in names
    assert "proton, −" not in names
