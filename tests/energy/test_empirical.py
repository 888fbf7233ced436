"""The empirical loss against its definition in NumPy, differences, and least squares."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special
from scipy.linalg import expm

import earnshaw as ew
from earnshaw.charges.network import Student, Teacher
from earnshaw.energy import empirical
from earnshaw.energy.empirical import empirical_loss
from earnshaw.energy.responses.general import GeneralResponse
from earnshaw.energy.streaming import stream

DIM, UNITS, SAMPLES = 3, 3, 45  # the same everywhere, so that compiled code is shared
POLYNOMIAL = (0.5, -1.0, 0.3, 0.2)

SMOOTH = {
    "relu3": lambda z: np.maximum(z, 0) ** 3,
    "erf": special.erf,
    "normal-cdf": special.ndtr,
    "sin": np.sin,
    "cos": np.cos,
    "rbf": lambda z: np.sqrt(2) * np.sin(np.sqrt(2) * z + np.pi / 4),
    "exponential": np.exp,
    "gaussian-bump": lambda z: np.exp(-(z**2) / 2),
    "gelu": lambda z: z * special.ndtr(z),
    "hermite-3": lambda z: (z**3 - 3 * z) / np.sqrt(6),
    "polynomial": lambda z: np.polynomial.polynomial.polyval(z, POLYNOMIAL),
    "tanh": np.tanh,
    "logistic": special.expit,
    "softplus": lambda z: np.logaddexp(0, z),
    "silu": lambda z: z * special.expit(z),
    "mish": lambda z: z * np.tanh(np.logaddexp(0, z)),
}
KINKED = {
    "relu": lambda z: np.maximum(z, 0),
    "leaky-relu": lambda z: np.where(z < 0, 0.01, 1.0) * z,
    "relu2": lambda z: np.maximum(z, 0) ** 2,
    "laplace": lambda z: np.exp(-np.abs(z)),
    "elu": lambda z: np.where(z > 0, z, np.expm1(np.minimum(z, 0))),
}
JUMPING = {"sign": np.sign, "step": lambda z: np.heaviside(z, 0.5)}
DOT_PRODUCT = {**SMOOTH, **KINKED, **JUMPING}
PARAMETERS = {"polynomial": {"coefficients": POLYNOMIAL}}


def network(s, positions, weights, x):
    return s(x @ positions.T) @ weights


def gaussian(positions, weights, x):
    """Units (2 pi)^(d/4) exp(|x|^2/4) (2/pi)^(d/4) exp(-|x - theta|^2)."""
    dim = x.shape[1]
    gaps = np.sum((x[:, None] - positions) ** 2, axis=-1)
    rise = np.exp(np.sum(x**2, axis=1) / 4)[:, None]
    return (4.0 ** (dim / 4) * rise * np.exp(-gaps)) @ weights


def draw(seed=0, units=UNITS, dim=DIM, samples=SAMPLES, sphere=False):
    """x, y, a student and a direction, all random."""
    generator = np.random.default_rng(seed)
    x, y = generator.standard_normal((samples, dim)), generator.standard_normal(samples)
    positions, weights = generator.standard_normal((units, dim)), generator.standard_normal(units)
    if sphere:
        positions /= np.linalg.norm(positions, axis=1, keepdims=True)
    direction = generator.standard_normal((units, dim)), generator.standard_normal(units)
    return x, y, Student(positions, weights), direction


def made(name, x, y, **options):
    return empirical_loss((x, y), activation=name, **PARAMETERS.get(name, {}), **options)


def difference(function, step):
    """The derivative at 0 of a function of one number, to fourth order in `step`."""
    near = function(step) - function(-step)
    far = function(2 * step) - function(-2 * step)
    return (8 * near - far) / (12 * step)


def second_difference(function, step):
    near = function(step) + function(-step)
    far = function(2 * step) + function(-2 * step)
    return (16 * near - far - 30 * function(0.0)) / (12 * step**2)


def slopes(function, positions, weights, step):
    """The gradient of a NumPy loss in positions and weights, entry by entry."""
    out = []
    for which, array in enumerate((positions, weights)):
        gradient = np.zeros_like(array)
        for index in np.ndindex(array.shape):

            def moved(t, which=which, index=index):
                both = [positions.copy(), weights.copy()]
                both[which][index] += t
                return function(*both)

            gradient[index] = difference(moved, step)
        out.append(gradient)
    return out


@pytest.mark.quick("relu", "tanh")
@pytest.mark.parametrize("name", DOT_PRODUCT)
def test_value_and_gradient_against_numpy(name):
    x, y, student, _ = draw()
    positions, weights = np.array(student.positions), np.array(student.weights)
    truth = lambda p, c: np.mean((y - network(DOT_PRODUCT[name], p, c, x)) ** 2)  # noqa: E731
    value, gradient = made(name, x, y, kink_width=0).value_and_gradient(student)
    assert float(value) == pytest.approx(truth(positions, weights), rel=1e-12)
    step = 1e-3 if name in SMOOTH and name != "relu3" else 1e-5
    by_position, by_weight = slopes(truth, positions, weights, step)
    tolerance = 1e-9 if step == 1e-3 else 1e-8
    np.testing.assert_allclose(gradient.positions, by_position, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(gradient.weights, by_weight, rtol=tolerance, atol=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("on", ["space", "sphere"])
@pytest.mark.parametrize("name", ["tanh", "hermite-3", "gelu"])
def test_hessian_vector_products_against_differences_of_the_gradient(name, on):
    x, y, student, direction = draw(1, sphere=on == "sphere")
    loss = made(name, x, y, on=on)
    manifold = loss.manifold
    along = manifold.tangent(student.positions, jnp.asarray(direction[0])), direction[1]

    def gradient(t):
        positions = manifold.retract(student.positions, t * along[0])
        slope = loss.gradient(Student(positions, student.weights + t * along[1]))
        back = manifold.tangent(student.positions, slope.positions)
        return np.concatenate([np.ravel(back), np.ravel(slope.weights)])

    product = loss.hvp(student, along)
    ours = np.concatenate([np.ravel(product.positions), np.ravel(product.weights)])
    np.testing.assert_allclose(ours, difference(gradient, 1e-3), rtol=1e-8, atol=1e-8)
    hessian = np.asarray(loss.hessian(student))
    basis = np.asarray(manifold.basis(student.positions))
    inside = np.concatenate([np.einsum("kdf,kd->kf", basis, along[0]).ravel(), np.ravel(along[1])])
    np.testing.assert_allclose(inside @ hessian @ inside, ours @ np.concatenate(
        [np.ravel(along[0]), np.ravel(along[1])]), rtol=1e-10)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "objective"),
    [("tanh", "full"), ("tanh", "regularized"), ("hermite-3", "full"), ("gaussian", "full")],
)
def test_taylor_slopes(name, objective):
    """Value minus its linear model falls as t^2, minus its quadratic model as t^3."""
    x, y, student, direction = draw(2)
    loss = made(name, x, y, objective=objective)
    value, gradient = loss.value_and_gradient(student)
    product = loss.hvp(student, direction)
    first = sum(float(np.sum(a * b)) for a, b in zip(gradient, direction, strict=True))
    second = sum(float(np.sum(a * b)) for a, b in zip(product, direction, strict=True))
    steps = np.array([1e-2, 5e-3, 2.5e-3])
    moved = np.array([
        float(loss.value(Student(student.positions + t * direction[0],
                                 student.weights + t * direction[1]))) for t in steps
    ])  # fmt: skip
    linear = moved - float(value) - steps * first
    quadratic = linear - steps**2 * second / 2
    for error, order in ((linear, 2), (quadratic, 3)):
        observed = np.diff(np.log(np.abs(error))) / np.diff(np.log(steps))
        np.testing.assert_allclose(observed, order, atol=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relu", "sign", "gaussian"])
def test_chunks_change_nothing_but_rounding(name):
    x, y, student, direction = draw(3)
    whole = made(name, x, y)

    @eqx.filter_jit
    def everything(loss):
        return (
            loss.value_and_gradient(student),
            loss.hvp(student, direction),
            loss.laplacian(student),
            loss.laplacian(student, [0, 2]),
            loss.optimal_weights(student).weights,
        )

    results = [
        everything(loss) for loss in (whole, *(made(name, x, y, chunk=chunk) for chunk in (7, 44)))
    ]
    for other in results[1:]:
        for a, b in zip(jax.tree.leaves(results[0]), jax.tree.leaves(other), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tanh", "sign"])
def test_minibatches_of_a_partition_average_to_the_whole(name):
    x, y, student, direction = draw(4)
    loss = made(name, x, y, batch=9)
    order = np.random.default_rng(0).permutation(45).reshape(5, 9)
    parts = [loss.subset(rows) for rows in order]
    for function in (
        lambda part: part.value_and_gradient(student),
        lambda part: part.hvp(student, direction),
        lambda part: part.laplacian(student),
    ):
        mean = jax.tree.map(lambda *a: sum(a) / len(a), *map(function, parts))
        for a, b in zip(jax.tree.leaves(mean), jax.tree.leaves(function(loss)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [4, 10, 20])
def test_minibatches_are_uniform_and_without_replacement(batch):
    x, _, _, _ = draw(5, samples=20)
    loss = made("tanh", x, np.arange(20.0), batch=batch)
    drawn = jax.vmap(lambda key: loss.minibatch(key).y)(jax.random.split(jax.random.key(0), 4000))
    drawn = np.asarray(drawn).astype(int)
    assert all(len(set(row)) == batch for row in drawn)
    counts = np.bincount(drawn.ravel(), minlength=20)
    mean = 4000 * batch / 20
    spread = np.sqrt(4000 * (batch / 20) * (1 - batch / 20))
    assert np.all(np.abs(counts - mean) <= 5 * spread)
    pairs = np.mean([{0, 1} <= set(row) for row in drawn])  # both of two given samples
    chance = batch * (batch - 1) / (20 * 19)
    assert abs(pairs - chance) <= 5 * np.sqrt(chance * (1 - chance) / 4000) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relu", "gaussian"])
def test_minibatches_and_fresh_samples_in_a_compiled_loop(name):
    teacher = Teacher(np.eye(2), [1.0, -0.5], name)
    loss = empirical_loss(teacher, 200, batch=16)
    student = Student(np.ones((2, 2)) * [[1.0], [0.3]], [0.1, 0.2])

    @eqx.filter_jit
    def run(loss, student, key):
        def step(student, key):
            one, two = jax.random.split(key)
            for part in (loss.minibatch(one), loss.fresh(two)):
                slope = part.gradient(student)
                student = Student(
                    student.positions - 0.01 * slope.positions,
                    student.weights - 0.01 * slope.weights,
                )
            return student, part.value(student)

        return jax.lax.scan(step, student, jax.random.split(key, 30))

    end, values = run(loss, student, jax.random.key(1))
    assert values.shape == (30,)
    assert float(loss.value(end)) < float(loss.value(student))
    again = loss.fresh(jax.random.key(7))
    assert again.samples == 16
    np.testing.assert_allclose(again.y, teacher(again.x), rtol=1e-12, atol=1e-14)


@pytest.mark.slow
def test_samples_of_a_teacher():
    teacher = Teacher(np.eye(3)[:2], [1.0, -2.0], "tanh", width=2.0)
    loss = empirical_loss(teacher, 4000, seed=3)
    np.testing.assert_allclose(loss.y, teacher(loss.x), rtol=1e-12, atol=1e-14)
    assert np.std(loss.x) == pytest.approx(2.0, rel=0.05)
    assert float(loss.value(teacher.student())) < 1e-28
    same, other = empirical_loss(teacher, 4000, seed=3), empirical_loss(teacher, 4000, seed=4)
    assert np.array_equal(loss.x, same.x)
    assert not np.array_equal(loss.x, other.x)


@pytest.mark.slow
def test_truncated_inputs():
    teacher = Teacher(np.eye(3)[:2], [1.0, -2.0], "relu")
    cut = empirical_loss(teacher, 500, inputs=ew.TruncatedGaussian(1.0, 1.2))
    for loss in (cut, cut.fresh(jax.random.key(0))):
        assert np.max(np.linalg.norm(loss.x, axis=1)) <= 1.2
        np.testing.assert_allclose(loss.y, teacher(loss.x), rtol=1e-12, atol=1e-14)
    wide = empirical_loss(teacher, 500, inputs=ew.Gaussian(3.0))
    assert np.std(wide.x) == pytest.approx(3.0, rel=0.1)


@pytest.mark.slow
def test_a_translation_activation():
    generator = np.random.default_rng(6)
    positions, weights = generator.standard_normal((3, 2)), generator.standard_normal(3)
    teacher = Teacher(generator.standard_normal((2, 2)), [1.0, -0.7], "gaussian")
    loss, student = empirical_loss(teacher, 40), Student(positions, weights)
    x = np.asarray(loss.x)
    y = gaussian(np.asarray(teacher.positions), np.asarray(teacher.weights), x)
    np.testing.assert_allclose(loss.y, y, rtol=1e-12, atol=1e-14)
    truth = lambda p, c: np.mean((y - gaussian(p, c, x)) ** 2)  # noqa: E731
    value, gradient = loss.value_and_gradient(student)
    assert float(value) == pytest.approx(truth(positions, weights), rel=1e-12)
    by_position, by_weight = slopes(truth, positions, weights, 1e-3)
    np.testing.assert_allclose(gradient.positions, by_position, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(gradient.weights, by_weight, rtol=1e-8, atol=1e-8)
    named = empirical_loss((x, y), activation="gaussian")
    assert float(named.value(student)) == pytest.approx(float(value), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("on", ["space", "sphere"])
def test_automatic_derivatives_agree_with_the_closed_chain_rule(on):
    x, y, student, direction = draw(7, sphere=on == "sphere")
    closed = made("tanh", x, y, on=on)
    general = eqx.tree_at(
        lambda loss: loss.response, closed, GeneralResponse(ew.activation("tanh"))
    )
    for function in (
        lambda loss: loss.value_and_gradient(student),
        lambda loss: loss.hvp(student, direction),
        lambda loss: loss.laplacian(student),
        lambda loss: loss.laplacian(student, [2, 0]),
        lambda loss: loss.optimal_weights(student).weights,
    ):
        pairs = zip(*(jax.tree.leaves(function(loss)) for loss in (closed, general)), strict=True)
        for a, b in pairs:
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("group", [[0], [1, 2], [0, 1, 2]])
@pytest.mark.parametrize("name", ["tanh", "gaussian"])
def test_the_laplacian_of_a_translated_group(name, group):
    x, y, student, _ = draw(8)
    loss = made(name, x, y)
    weights, chosen = student.weights, np.isin(np.arange(3), group)[:, None]

    def moved(axis):
        step = chosen * np.eye(DIM)[axis]
        return lambda t: float(loss.value(Student(student.positions + t * step, weights)))

    truth = sum(second_difference(moved(axis), 2e-3) for axis in range(DIM))
    assert float(loss.laplacian(student, group)) == pytest.approx(truth, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("group", [[0], [1, 2], [0, 1, 2]])
@pytest.mark.parametrize("name", ["tanh", "gaussian"])
def test_the_laplacian_of_a_rotated_group(name, group):
    x, y, student, _ = draw(9, sphere=True)
    loss = made(name, x, y, on="sphere")
    chosen = np.isin(np.arange(3), group)[:, None]

    def turned(a, b):
        generator = np.zeros((DIM, DIM))
        generator[a, b], generator[b, a] = 1.0, -1.0

        def value(t):
            whole = np.asarray(student.positions) @ expm(t * generator).T
            return float(loss.value(Student(np.where(chosen, whole, student.positions),
                                            student.weights)))  # fmt: skip

        return value

    planes = [(a, b) for a in range(DIM) for b in range(a)]
    truth = sum(second_difference(turned(a, b), 2e-3) for a, b in planes)
    assert float(loss.laplacian(student, group)) == pytest.approx(truth, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relu", "sign", "gaussian"])
@pytest.mark.parametrize("on", ["space", "sphere"])
def test_the_laplacian_of_each_unit_is_the_trace_of_its_block(name, on):
    x, y, student, _ = draw(10, sphere=on == "sphere")
    loss = made(name, x, y, on=on, wrt="positions")
    hessian, freedom = np.asarray(loss.hessian(student)), DIM - (on == "sphere")
    blocks = [hessian[i : i + freedom, i : i + freedom] for i in range(0, 3 * freedom, freedom)]
    traces = [np.trace(block) for block in blocks]
    np.testing.assert_allclose(loss.laplacian(student), traces, rtol=1e-10, atol=1e-12)
    single = [float(loss.laplacian(student, unit)) for unit in range(3)]
    np.testing.assert_allclose(single, traces, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
def test_the_bump_at_the_kink_of_relu():
    x, y, student, direction = draw(11)
    positions, c = np.asarray(student.positions), np.asarray(student.weights)
    plain, smooth = made("relu", x, y, kink_width=0), made("relu", x, y)
    r = y - network(KINKED["relu"], positions, c, x)
    z = x @ positions.T
    width = 45 ** (-1 / 3) * np.sqrt(positions**2 @ np.var(x, axis=0))
    rest = r[:, None] + c * np.maximum(z, 0)  # the residual of the other units, as at the kink
    bump = np.exp(-((z / width) ** 2) / 2) / (width * np.sqrt(2 * np.pi))
    missing = np.einsum("mk,md,me->kde", -2 * rest * c * bump, x, x) / 45
    gained = smooth.hvp(student, direction).positions - plain.hvp(student, direction).positions
    np.testing.assert_allclose(
        gained, np.einsum("kde,ke->kd", missing, direction[0]), rtol=1e-10, atol=1e-12
    )
    for a, b in zip(plain.gradient(student), smooth.gradient(student), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_jumps_of_functions_with_kinks_of_their_own():
    shape = lambda z: jnp.where(z < 0.5, z, 2.0 + 3 * z)  # noqa: E731
    x, y, student, _ = draw(12)
    loss = empirical_loss((x, y), activation=shape, kinks=[0.5])
    (jump,) = loss.response.jumps
    assert jump.at == 0.5
    assert (jump.value, jump.slope) == pytest.approx((3.0, 2.0), abs=1e-9)
    assert (jump.mean_value, jump.mean_slope) == pytest.approx((2.0, 2.0), abs=1e-9)
    assert np.all(np.isfinite(loss.hessian(student)))
    names = {"relu2": 0, "relu": 1, "elu": 0, "tanh": 0, "laplace": 1, "sign": 1}
    assert {name: len(made(name, x, y).response.jumps) for name in names} == names


@pytest.mark.slow
def test_a_unit_at_the_origin_has_finite_derivatives():
    x, y, _, direction = draw(13)
    student = Student(np.zeros((UNITS, DIM)), np.ones(UNITS))
    for name in ("relu", "sign", "tanh"):
        loss = made(name, x, y)
        for leaf in jax.tree.leaves((loss.gradient(student), loss.hvp(student, direction))):
            assert np.all(np.isfinite(leaf))


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["full", "regularized"])
@pytest.mark.parametrize("name", ["relu", "gaussian"])
def test_optimal_weights_against_lstsq(name, objective):
    x, y, student, _ = draw(14)
    loss = made(name, x, y, objective=objective, chunk=17)
    table = np.asarray(loss.response.outputs(loss.x, student.positions))
    best = loss.optimal_weights(student)
    if objective == "regularized":
        table = np.concatenate([table, np.sqrt(45) * np.eye(3)])
        y = np.concatenate([y, np.zeros(3)])
    np.testing.assert_allclose(best.weights, np.linalg.lstsq(table, y)[0], rtol=1e-10)
    np.testing.assert_allclose(loss.gradient(best).weights, 0.0, atol=1e-12)


@pytest.mark.slow
def test_optimal_weights_of_nearly_collinear_units():
    """At 1e-9 apart the normal equations are singular; their cure by QR keeps half the digits."""
    x, _, student, _ = draw(15)
    positions = np.array(student.positions)
    positions[1] = positions[0] + 1e-9 * np.array([1.0, -2.0, 0.5])
    student = Student(positions, student.weights)
    table = np.tanh(x @ positions.T)
    truth = np.array([3.0, -2.0, 0.5])
    loss = made("tanh", x, table @ truth)
    best = loss.optimal_weights(student)
    np.testing.assert_allclose(best.weights, truth, rtol=1e-5)
    np.testing.assert_allclose(
        best.weights, np.linalg.lstsq(table, table @ truth, rcond=1e-14)[0], rtol=1e-5
    )
    assert float(loss.value(best)) < 1e-28


@pytest.mark.slow
def test_optimal_weights_that_are_not_determined():
    x, y, student, _ = draw(16)
    twice = Student(np.asarray(student.positions)[[0, 1, 1]], student.weights)
    loss = made("tanh", x, y)
    best = loss.optimal_weights(twice).weights
    assert float(best[1]) == pytest.approx(float(best[2]), rel=1e-8)
    once = Student(student.positions[:2], student.weights[:2])
    assert float(loss.value(loss.optimal_weights(twice))) == pytest.approx(
        float(loss.value(loss.optimal_weights(once))), rel=1e-12
    )
    few = made("tanh", x[:2], y[:2])
    assert float(few.value(few.optimal_weights(student))) < 1e-24


@pytest.mark.slow
def test_a_node_alone():
    x, y, student, direction = draw(17)
    loss = made("relu", x, y, objective="regularized")
    node, alone = loss.node(1, student), Student(student.positions[1:2], student.weights[1:2])
    assert float(node.value(alone)) == pytest.approx(float(loss.value(student)), rel=1e-12)
    np.testing.assert_allclose(
        node.gradient(alone).positions, loss.gradient(student).positions[1:2], rtol=1e-11
    )
    only = np.zeros((3, DIM))
    only[1] = direction[0][1]
    np.testing.assert_allclose(
        node.hvp(alone, (only[1:2], None)).positions,
        loss.hvp(student, (only, None)).positions[1:2],
        rtol=1e-10,
    )
    with pytest.raises(ew.EarnshawError, match="teacher"):
        node.fresh(jax.random.key(0))


@pytest.mark.slow
def test_what_may_move():
    x, y, student, direction = draw(18)
    for wrt, still in (("positions", 1), ("weights", 0)):
        loss = made("tanh", x, y, wrt=wrt)
        assert np.all(np.asarray(loss.gradient(student)[still]) == 0)
        assert np.all(np.asarray(loss.hvp(student, direction)[still]) == 0)
    teacher = Teacher(np.eye(3), np.ones(3), "tanh")
    fixed = empirical_loss(teacher, 30, objective="assumption-1")
    assert fixed.wrt == "positions"


@pytest.mark.slow
def test_an_empty_student_and_many_students():
    x, y, student, _ = draw(19)
    loss = made("tanh", x, y)
    empty = Student(np.zeros((0, DIM)), np.zeros(0))
    assert float(loss.value(empty)) == pytest.approx(np.mean(y**2), rel=1e-12)
    assert loss.optimal_weights(empty).units == 0
    many = Student(jnp.stack([student.positions] * 3), jnp.stack([student.weights, y[:3], y[3:6]]))
    values = jax.vmap(loss.value)(many)
    for i in range(3):
        one = Student(many.positions[i], many.weights[i])
        assert float(values[i]) == pytest.approx(float(loss.value(one)), rel=1e-12)
    slope = jax.grad(loss.value)(student)
    np.testing.assert_allclose(slope.positions, loss.gradient(student).positions, rtol=1e-12)


@pytest.mark.slow
def test_memory_does_not_hold_samples_times_units():
    x, y, student, _ = draw(20, units=1000, samples=20_000)
    loss = made("relu", x, y)
    compiled = jax.jit(lambda student: loss.euclidean(student)).lower(student).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < 20_000 * 1000 * 8 / 10


@pytest.mark.slow
@pytest.mark.parametrize(("few", "ridge"), [(0, 0.0), (64, 1.0)])
def test_the_hessian_of_the_weights_is_that_of_least_squares(monkeypatch, few, ridge):
    """Both ways to it, and the energies of single units, against the outputs in NumPy."""
    monkeypatch.setattr(empirical, "FEW", few)
    teacher = ew.random_teacher("relu", dim=DIM, units=UNITS, seed=0)
    name = "regularized" if ridge else "full"
    loss = empirical_loss(teacher, SAMPLES, objective=name, chunk=7)
    x, theta = np.asarray(loss.x), np.asarray(teacher.positions) + 0.3
    outputs = np.maximum(x @ theta.T, 0)
    gram = outputs.T @ outputs / SAMPLES
    found = loss.weight_hessian(Student(theta, np.ones(UNITS)))
    np.testing.assert_allclose(found, 2 * (gram + ridge * np.eye(UNITS)), rtol=1e-12)
    np.testing.assert_allclose(loss.self_energies(jnp.asarray(theta)), np.diag(gram), rtol=1e-13)


@pytest.mark.slow
def test_samples_on_the_host_are_streamed_in_chunks_of_one_shape():
    rng = np.random.default_rng(0)
    x, y, weight = rng.normal(size=(10, 2)), rng.normal(size=(10, 3)), rng.uniform(size=10)
    chunks = list(stream(lambda part: (x[part], y[part], weight[part]), 10, 4))
    assert [chunk.x.shape for chunk in chunks] == [(4, 2)] * 3
    assert [chunk.y.shape for chunk in chunks] == [(4, 3)] * 3
    found = sum(np.asarray(chunk.weight @ chunk.y) for chunk in chunks)
    np.testing.assert_allclose(found, weight @ y, rtol=1e-14)
    assert sum(float(jnp.sum(chunk.weight)) for chunk in chunks) == pytest.approx(weight.sum())
